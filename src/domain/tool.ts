import { createHash } from 'node:crypto'
import type { EpochSeconds } from './clock.ts'
import type { Hint } from './requested-use.ts'

/** A JSON Schema document. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** A tool in the catalogue, whichever source it came from. */
export interface Tool {
  readonly uid: string
  readonly projectId: string
  /** `[A-Za-z0-9_.-]`, 1 to 128 characters. */
  readonly name: string
  readonly namespace: string
  /** SemVer without a `v`; absent when the tool has no version. */
  readonly version?: string | undefined
  /** The name as its source writes it, such as `X/Twitter Post`. */
  readonly title: string
  readonly description: string
  /** JSON Schema 2020-12, or draft-07 if `$schema` says so. */
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema | undefined
  /** Search terms: lower case, `[a-z0-9-_.]`, at most 20 of at most 64 characters. */
  readonly tags: readonly string[]
  /** MCP's hints about what the tool does. */
  readonly annotations?: ToolAnnotations | undefined
  /** MCP's `_meta` and `icons`, unchanged. */
  readonly meta?: Readonly<Record<string, unknown>> | undefined
  readonly icons?: readonly Readonly<Record<string, unknown>>[] | undefined
  readonly requirements: ToolRequirements
  readonly source: ToolSource
  /** The worker that runs the tool. A worker's own tool always has one; a metadata tool may be bound to one. */
  readonly binding?: ToolBinding | undefined
  /** Who owns the tool's name; absent: it has no owner, or the tool was not read from the store. */
  readonly owner?: NameOwner
  /** SHA-256 of the imported document: an identical import changes nothing. */
  readonly digest: string
  /** Set while another definition of the tool waits for acceptance, so that it does not run: the digest of what was listed. */
  readonly held?: string
  /** Keyed MAC over the members except the binding, the owner and the times (`protected-tables.ts`); the store writes it. */
  readonly mac?: string
  /** Separate from `mac`, since a binding ends with its worker. */
  readonly bindingMac?: string
  readonly createdAt: EpochSeconds
  readonly updatedAt: EpochSeconds
}

export interface ToolRequirements {
  /** All of these are needed. */
  readonly authorization: readonly AuthorizationRequirement[]
  /**
   * Needed besides: all requirements of any one alternative. The first that the user has already granted is used,
   * else the first whose providers are configured (`_meta.securityRequirements` of MCP tools, `security` of OpenAPI).
   * An empty alternative needs nothing.
   */
  readonly alternatives?: readonly (readonly AuthorizationRequirement[])[]
  /**
   * The keys of the secrets that each alternative needs, by its index: an alternative whose secret is not set is
   * skipped. Absent: none needs a secret.
   */
  readonly alternativeSecrets?: readonly (readonly string[])[]
  /** Keys of all secrets that the tool may receive, those of its alternatives among them. */
  readonly secrets: readonly string[]
  readonly metadata: readonly string[]
}

/** MCP's ToolAnnotations: hints, never promises. */
export interface ToolAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/**
 * A provider and the scopes a tool needs there. A metadata tool names the entry (`providerUid`); a worker's tool
 * names it by `id`, else by the well-known `providerId`, and the entry is looked up when the tool runs.
 */
export interface AuthorizationRequirement {
  readonly providerUid?: string
  readonly id?: string
  readonly providerId?: string
  readonly scopes: readonly string[]
  /** The token is for the server that runs the tool (MCP authorization) and is not passed to the tool itself. */
  readonly use?: 'server'
}

export type ToolSource =
  | { readonly kind: 'metadata'; readonly document: Readonly<Record<string, unknown>> }
  | {
      readonly kind: 'worker'
      readonly workerUid: string
      readonly document: Readonly<Record<string, unknown>>
    }

/** Who owns the name of a tool, and since when (`tool-name.ts`). */
export interface NameOwner {
  /** The uid of a worker, or `IMPORTS`. */
  readonly source: string
  readonly since: EpochSeconds
  /** Keyed MAC over the name and its owner (`protected-tables.ts`); the store writes it. */
  readonly mac?: string
}

/** `toolkit` and `name` as the worker spells them. */
export interface ToolBinding {
  readonly workerUid: string
  readonly toolkit: string
  readonly name: string
  readonly version?: string | undefined
}

/** Whether the tool declares that running it twice has no more effect than running it once. */
export function isSafeToRepeat({ annotations }: Pick<Tool, 'annotations'>): boolean {
  return annotations?.readOnlyHint === true || annotations?.idempotentHint === true
}

/** What the tool does, by its annotations. One that says nothing counts as destructive and open (MCP's defaults). */
export function hintsOf({ annotations = {} }: Pick<Tool, 'annotations'>): readonly Hint[] {
  const { readOnlyHint, destructiveHint, openWorldHint } = annotations
  const effect: Hint[] =
    readOnlyHint === true ? ['read_only'] : destructiveHint === false ? [] : ['destructive']
  return openWorldHint === false ? effect : [...effect, 'open_world']
}

/** `namespace:name[:version]`, or `name` alone without a namespace. */
export function toolId(tool: Pick<Tool, 'namespace' | 'name' | 'version'>): string {
  const named = tool.namespace === '' ? tool.name : `${tool.namespace}:${tool.name}`
  return tool.version === undefined ? named : `${named}:${tool.version}`
}

type Aliased = Pick<Tool, 'namespace' | 'name' | 'version' | 'title'> & {
  readonly source: Pick<ToolSource, 'kind'>
}

/**
 * Every spelling by which the tool is found, in lower case: its id, its imported name and Arcade's names, each with
 * and without the version. The title of a worker's tool is text for people, which the worker chooses, and no name.
 */
export function toolAliases(tool: Aliased): string[] {
  const { name, title, source } = tool
  return withVersions(tool, [...(source.kind === 'metadata' ? [title] : []), name, ...toolkitNames(tool)])
}

/**
 * The aliases that tell the toolkit of a worker's tool; all of an imported tool. No worker can choose these freely, since
 * its toolkits are accepted.
 */
export function qualifiedAliases(tool: Aliased): string[] {
  return tool.source.kind === 'metadata' ? toolAliases(tool) : withVersions(tool, toolkitNames(tool))
}

/** Whether the name, in lower case and without a version, tells the toolkit of the tool, or is all of its id. */
export function isQualifiedName(tool: Pick<Tool, 'namespace' | 'name'>, name: string): boolean {
  return toolkitNames(tool).some((spelling) => spelling.toLowerCase() === name)
}

function toolkitNames(tool: Pick<Tool, 'namespace' | 'name'>): readonly string[] {
  const { namespace, name } = tool
  const separated = [`${namespace}:${name}`, `${namespace}.${name}`, `${namespace}_${name}`]
  return [functionName(tool), ...(namespace === '' ? [name] : separated)]
}

function withVersions(tool: Aliased, names: readonly string[]): string[] {
  const { version } = tool
  const plain = new Set(names)
  const spelled = [...plain].flatMap((name) =>
    version === undefined ? [name] : [name, `${name}@${version}`],
  )
  return [...new Set([...spelled, toolId(tool)].map((name) => name.toLowerCase()))]
}

/** The length, in characters, that every model API takes. */
export const MAX_FUNCTION_NAME = 64

/**
 * `Toolkit_Tool` as model APIs allow it: 1 to `max` of `[A-Za-z0-9_-]`. A longer name is cut and gets a digest, which
 * keeps it unique.
 */
export function functionName(
  { namespace, name }: Pick<Tool, 'namespace' | 'name'>,
  max = MAX_FUNCTION_NAME,
): string {
  const whole = namespace === '' ? name : `${namespace}_${name}`
  const plain = whole.replaceAll(/[^A-Za-z0-9_-]/g, '_')
  if (plain.length <= max) return plain
  const digest = createHash('sha256').update(whole).digest('hex').slice(0, 8)
  return `${plain.slice(0, max - digest.length - 1)}_${digest}`
}
