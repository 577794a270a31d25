import type { ScopeMeaning } from './scopes.ts'

export const USE_KINDS = ['tool', 'proxy', 'token'] as const
/** `tool`: a tool is run with the tokens; `proxy`: a request is forwarded; `token`: a token is handed to the caller. */
export type UseKind = (typeof USE_KINDS)[number]

export const HINTS = ['read_only', 'destructive', 'open_world'] as const
/** What a tool does, by its annotations (MCP `ToolAnnotations`). */
export type Hint = (typeof HINTS)[number]

export const CONNECTION_OWNERS = ['user', 'project'] as const
/** `user`: a user connected it; `project`: an administrator shares it. */
export type ConnectionOwner = (typeof CONNECTION_OWNERS)[number]

/** What a caller is about to do with tokens. */
export interface RequestedUse {
  readonly projectId: string
  readonly userId?: string | undefined
  readonly use: UseKind
  readonly tool?: UsedTool
  /** The request that a proxy forwards. `readings` are all paths that servers may read in it. */
  readonly request?: { readonly method: string; readonly path: string; readonly readings: readonly string[] }
  /** The id of the worker that gets the token or runs the tool. */
  readonly worker?: string
  readonly executionId?: string
  /** The arguments as the worker gets them. */
  readonly input?: unknown
  /** The providers whose tokens are used; empty when no token is needed. */
  readonly providers: readonly UsedProvider[]
  /** The known destinations of the tokens: `host` or `host:port`. */
  readonly hosts: readonly string[]
  /** Keys of the secrets that may be sent too: those of all alternatives of the tool. */
  readonly secrets?: readonly string[]
}

export interface UsedTool {
  readonly id: string
  /** Every spelling of its name, in lower case (`toolAliases`). */
  readonly aliases: readonly string[]
  /** The spellings that no other source can give to a tool of its own. None if its name belongs to another source. */
  readonly ownNames: readonly string[]
  readonly hints: readonly Hint[]
  /** JSON Schema of its arguments, if it is known. */
  readonly inputSchema?: Readonly<Record<string, unknown>>
}

export interface UsedProvider {
  /** The provider entry's readable id. */
  readonly id: string
  /** The id of the entry whose token is exchanged for this one (RFC 8693). */
  readonly subjectId?: string
  /** The token's scopes, or the needed ones while there is no token. */
  readonly scopes: readonly string[]
  readonly userInfo?: Readonly<Record<string, unknown>>
  /** What the scopes mean at this provider, so that a rule against a scope also matches its other names. */
  readonly meaning?: ScopeMeaning
  /** Who owns the connection whose token is used. Absent: not known. */
  readonly owner?: ConnectionOwner
}
