import type { PendingAuthorization } from './authorization.ts'
import { type RequiredAuthorizationWire, toRequired } from './authorizations.ts'
import { ToolError, type ToolErrorKind } from './tool-error.ts'
import type { Answer, Transport } from './transport.ts'

interface Ran {
  /** The run in the history: `gatepass.executions.get(executionId)`. */
  readonly executionId: string
  /** How long it took, in milliseconds. */
  readonly durationMs: number
  readonly finishedAt: Date
}

/** The tool has answered. */
export interface ValueOutcome<Value = unknown> extends Ran {
  readonly outcome: 'value'
  /** What the tool answered; `null` where it answered nothing. */
  readonly value: Value
}

/** The tool has failed. */
export interface ErrorOutcome extends Ran {
  readonly outcome: 'error'
  readonly error: ToolError
}

/** The user must approve first; the tool did not run. */
export interface AuthorizationOutcome extends Ran {
  readonly outcome: 'requires_authorization'
  /** One link for every provider that the tool needs. */
  readonly authorization: PendingAuthorization
}

/** The tool has stored its result elsewhere. */
export interface ArtifactOutcome extends Ran {
  readonly outcome: 'artifact'
  readonly artifact: Artifact
}

/** The run was put off; `gatepass.scheduled.get(executionId)` has what came of it. */
export interface ScheduledOutcome {
  readonly outcome: 'scheduled'
  readonly executionId: string
}

/** A result by reference. */
export interface Artifact {
  readonly url: string
  /** A media type. */
  readonly contentType: string
  /** In bytes. */
  readonly size: number
  readonly description: string
}

/** How a run ended: switch on `outcome`. */
export type ToolOutcome<Value = unknown> =
  | ValueOutcome<Value>
  | ErrorOutcome
  | AuthorizationOutcome
  | ArtifactOutcome

export interface ArtifactWire {
  readonly url: string
  readonly content_type: string
  readonly size: number
  readonly meta: { readonly description: string }
}

export interface ToolErrorWire {
  readonly kind?: ToolErrorKind
  readonly message: string
  readonly developer_message?: string
  readonly can_retry: boolean
  readonly additional_prompt_content?: string
  readonly retry_after_ms?: number
}

/** The answer of `POST /v1/tools/execute`. */
export interface ExecuteWire {
  readonly execution_id: string
  readonly duration: number
  readonly finished_at: string
  readonly success: boolean
  readonly output?: {
    readonly value?: unknown
    readonly error?: ToolErrorWire
    readonly requires_authorization?: RequiredAuthorizationWire
    readonly artifact?: ArtifactWire
  }
}

export function toOutcome<Value>(
  transport: Transport,
  { body, headers }: Answer<ExecuteWire>,
): ToolOutcome<Value> {
  const { execution_id: executionId, duration: durationMs, finished_at, output } = body
  const ran = { executionId, durationMs, finishedAt: new Date(finished_at) }
  if (output?.error !== undefined) {
    const kind = (headers.get('x-gatepass-error-kind') ?? 'UNKNOWN') as ToolErrorKind // as Gatepass lists them
    return { ...ran, outcome: 'error', error: toToolError({ kind, ...output.error }, executionId) }
  }
  if (output?.requires_authorization !== undefined)
    return {
      ...ran,
      outcome: 'requires_authorization',
      authorization: toRequired(transport, output.requires_authorization),
    }
  if (output?.artifact !== undefined)
    return { ...ran, outcome: 'artifact', artifact: toArtifact(output.artifact) }
  return { ...ran, outcome: 'value', value: unwrapped(output?.value, headers) as Value } // the caller names the type
}

/** The contract of the answer knows no list as a value: it is sent as `items`, and a header says so. */
function unwrapped(value: unknown, headers: Headers): unknown {
  if (headers.get('x-gatepass-value') === 'list') return (value as { readonly items: unknown }).items
  return value ?? null
}

export function toToolError(error: ToolErrorWire, executionId: string | undefined): ToolError {
  const { kind = 'UNKNOWN', message, developer_message: developer } = error
  return new ToolError(message, {
    kind,
    canRetry: error.can_retry,
    // the answer of `execute` has the kind at the beginning of this text
    developerMessage: developer?.startsWith(`${kind}: `) ? developer.slice(kind.length + 2) : developer,
    additionalPromptContent: error.additional_prompt_content,
    retryAfterMs: error.retry_after_ms,
    executionId,
  })
}

function toArtifact({ url, content_type, size, meta }: ArtifactWire): Artifact {
  return { url, contentType: content_type, size, description: meta.description }
}
