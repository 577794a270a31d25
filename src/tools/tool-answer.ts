import type { Authorization } from '../domain/authorization.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { LargeJson } from './large-json.ts'
import type { ToolError } from './tool-error.ts'

/** The answer of a worker to one call. It is untrusted, and is scrubbed before a caller sees it (scrub-answer.ts). */
export type ToolAnswer = ToolOutcome & AnswerDetails

export type ToolOutcome = ToolResult | AuthorizationRequested | AuthorizationRequired

export interface AnswerDetails {
  readonly logs: ToolLogs
  /** As reported by the worker. */
  readonly durationMs?: number
  /** RFC 3339, as reported by the worker. */
  readonly finishedAt?: string
  /** The file of an answer that has just been read. No caller sees it. */
  readonly unstored?: UnstoredFile
}

/** The value, artifact or error that a run ended with. */
export type ToolResult =
  | {
      readonly outcome: 'value'
      readonly value: unknown
      /** The CallToolResult of an MCP server. `value` is made of it and may lack some of its content. */
      readonly mcpResult?: Readonly<Record<string, unknown>>
      /** The files to which the value refers. */
      readonly files?: readonly Artifact[]
    }
  | {
      readonly outcome: 'error'
      readonly error: ToolError
      /** The broker reports this error, not the tool: the tool was not called, or its worker broke the protocol. */
      readonly isOwn?: true
      readonly mcpResult?: Readonly<Record<string, unknown>>
    }
  | { readonly outcome: 'artifact'; readonly artifact: Artifact }

/** The worker needs a consent of the user before it continues. */
export interface AuthorizationRequested {
  readonly outcome: 'authorization_requested'
  readonly requested: RequestedAuthorization
}

/** The user must approve first: the tool's own consent is missing, or that of a tool that it calls. */
export interface AuthorizationRequired {
  readonly outcome: 'authorization_required'
  readonly authorization: RequiredAuthorization
}

/** The authorization that the user must complete before the tool can run. */
export interface RequiredAuthorization extends Pick<Authorization, 'id' | 'userId' | 'steps' | 'expiresAt'> {
  /** The connect page that the user must open. */
  readonly url: string
  readonly scopes: readonly string[]
  readonly status: AuthorizationStatus
  /** The id of the entry whose consent comes next; absent if the entry was deleted. */
  readonly providerId?: string
}

/** An error that the broker reports: the tool was not called, or its worker broke the protocol. */
export function ownError(
  error: ToolError,
  logs: ToolLogs = [],
): Extract<ToolResult, { outcome: 'error' }> & AnswerDetails {
  return { outcome: 'error', error, isOwn: true, logs }
}

/**
 * The consent that a worker requests. There is no URL: users are only sent to this broker's own authorizations. The `id`
 * is the worker's and means nothing here.
 */
export interface RequestedAuthorization {
  readonly id?: string | undefined
  /** `server`: an MCP server's own authorization. Absent: the authorization of the tool. */
  readonly use?: 'server'
  readonly scopes?: readonly string[]
  readonly status?: AuthorizationStatus | undefined
}

export const AUTHORIZATION_STATUSES = ['not_started', 'pending', 'completed', 'failed'] as const
export type AuthorizationStatus = (typeof AUTHORIZATION_STATUSES)[number]

/** A result that is stored elsewhere, by reference. */
export interface Artifact {
  readonly url: string
  /** A media type. */
  readonly contentType: string
  /** In bytes. */
  readonly size: number
  readonly description: string
  readonly name?: string
  /** RFC 3339: until when it can be fetched. */
  readonly expiresAt?: string
}

/** The address of a file that is not stored yet, so that the answer can name it before. */
export interface FilePlace {
  readonly id: string
  readonly url: string
  readonly expiresAt: EpochSeconds
}

/** A file of an answer, which `keepFile` (stored-file.ts) stores before a caller sees the answer. */
export interface UnstoredFile {
  readonly place: FilePlace
  readonly artifact: Artifact & { readonly name: string }
  readonly base64: string
}

/** The artifact as a JSON value, for callers and tools that take only values, and for history. */
export function artifactToJson({ url, contentType, size, description, name, expiresAt }: Artifact) {
  return {
    url,
    content_type: contentType,
    size,
    ...(name !== undefined && { name }),
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
    meta: { description },
  }
}

/** Logs of more than some kilobytes in a large answer stay JSON text. */
export type ToolLogs = readonly ToolLog[] | LargeJson

export interface ToolLog {
  readonly level: string
  readonly message: string
  readonly subtype?: string | undefined
}
