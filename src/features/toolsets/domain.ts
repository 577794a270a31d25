import type { EpochSeconds } from '../../domain/clock.ts'
import type { ToolListing } from '../../domain/shown-tools.ts'

/** A selection of a project's tools, which MCP clients reach at `/mcp/{id}`: every tool that a selector names. */
export interface Toolset extends ToolSelectors {
  /** 1 to 64 of `[a-z0-9-]`, unique in its project. */
  readonly id: string
  readonly projectId: string
  readonly names: ToolNaming
  /**
   * The source of each tool of `tools` that existed when an administrator named it, by its text there. A tool of another
   * source is not selected.
   */
  readonly toolSources?: Readonly<Record<string, string>>
  /** Text for the model about these tools (`instructions` of MCP's `initialize` and `server/discover`). */
  readonly instructions?: string
  /** Absent: `search` for more than `MAX_LISTED_TOOLS` tools, otherwise `all`. */
  readonly listing?: ToolListing
  /** Keyed MAC over the members except the times (`store.ts`); the store writes it. */
  readonly mac?: string
  readonly createdAt: EpochSeconds
  readonly updatedAt: EpochSeconds
}

export const TOOL_SELECTORS = ['tools', 'namespaces', 'tags', 'providers'] as const

/** Which tools are selected. An absent list selects none. */
export interface ToolSelectors {
  /** Any names of tools (`toolAliases`), also with a version or a range of versions; `*` alone is every tool. */
  readonly tools?: readonly string[]
  /** Namespaces, compared without regard to case. */
  readonly namespaces?: readonly string[]
  /** Normalized (`normalizeTags`). */
  readonly tags?: readonly string[]
  /** Tools that need one of these: ids of provider entries, or of well-known providers. */
  readonly providers?: readonly string[]
}

export const TOOL_NAMINGS = ['prefixed', 'bare'] as const
/** `prefixed`: `Namespace_Tool`, as in the other lists of the project; `bare`: the tool's own name. */
export type ToolNaming = (typeof TOOL_NAMINGS)[number]
