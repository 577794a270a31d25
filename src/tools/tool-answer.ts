import type { ToolError } from './tool-error.ts'

/** What a tool answered. Nothing in it is trusted: scrub it before it is shown to anyone. */
export type ToolAnswer = ToolOutcome & {
  readonly logs: readonly ToolLog[]
  /** As far as the worker told. */
  readonly durationMs?: number
  /** RFC 3339. */
  readonly finishedAt?: string
}

export type ToolOutcome =
  | {
      readonly outcome: 'value'
      readonly value: unknown
      /** As an MCP server had it. */
      readonly mcpResult?: Readonly<Record<string, unknown>>
    }
  | {
      readonly outcome: 'error'
      readonly error: ToolError
      /** These are not the tool's words: it was not reached, or what runs it gave no answer of the protocol. */
      readonly isOwn?: true
      readonly mcpResult?: Readonly<Record<string, unknown>>
    }
  | { readonly outcome: 'requires_authorization'; readonly requirement: AskedAuthorization }
  | { readonly outcome: 'artifact'; readonly artifact: Artifact }

/** The tool was not reached, not asked, or what runs it gave no answer of the protocol. */
export function ownError(error: ToolError, logs: readonly ToolLog[] = []): ToolAnswer {
  return { outcome: 'error', error, isOwn: true, logs }
}

/**
 * A consent that a worker asks for of its own accord. It has no URL: a link a user may follow comes from this broker's
 * own authorizations alone, and its `id` is the worker's word too.
 */
export interface AskedAuthorization {
  readonly id?: string
  /** It is for what runs the tool (an MCP server's own authorization), not for the tool. */
  readonly use?: 'server'
  readonly scopes?: readonly string[]
  readonly status?: AuthorizationStatus
}

export const AUTHORIZATION_STATUSES = ['not_started', 'pending', 'completed', 'failed'] as const
export type AuthorizationStatus = (typeof AUTHORIZATION_STATUSES)[number]

/** Data kept elsewhere, as seeds/000 has it. */
export interface Artifact {
  readonly url: string
  readonly content_type: string
  /** In bytes. */
  readonly size: number
  readonly meta: { readonly description: string }
}

export interface ToolLog {
  readonly level: string
  readonly message: string
  readonly subtype?: string
}
