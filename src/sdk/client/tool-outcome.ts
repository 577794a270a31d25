import type * as Wire from '../generated/wire.ts'
import type { PendingAuthorization } from './authorization.ts'
import { toRequired } from './authorizations.ts'
import { GatepassError } from './errors.ts'
import { ToolError } from './tool-error.ts'
import type { Answer, Transport } from './transport.ts'

interface FinishedRun {
  /** The run in the history: `gatepass.executions.get(executionId)`. */
  readonly executionId: string
  /** How long it took, in milliseconds. */
  readonly durationMs: number
  readonly finishedAt: Date
}

/** The tool has answered. */
export interface ValueOutcome<Value = Wire.JsonValue> extends FinishedRun {
  readonly outcome: 'value'
  /** What the tool answered; `null` where it answered nothing. */
  readonly value: Value
}

/** The tool has failed. */
export interface ErrorOutcome extends FinishedRun {
  readonly outcome: 'error'
  readonly error: ToolError
}

/** The user must approve first; the tool did not run. */
export interface AuthorizationOutcome extends FinishedRun {
  readonly outcome: 'requires_authorization'
  /** One link for every provider that the tool needs. */
  readonly authorization: PendingAuthorization
}

/** The tool has stored its result elsewhere. */
export interface ArtifactOutcome extends FinishedRun {
  readonly outcome: 'artifact'
  readonly artifact: Artifact
}

/** The run is scheduled; `gatepass.scheduled.get(executionId)` gives its result. */
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
  readonly name?: string
  /** Until when Gatepass keeps the file; fetch its `url` with the API key that ran the tool. */
  readonly expiresAt?: Date
}

/** How a run ended: switch on `outcome`. */
export type ToolOutcome<Value = Wire.JsonValue> =
  | ValueOutcome<Value>
  | ErrorOutcome
  | AuthorizationOutcome
  | ArtifactOutcome

export function toOutcome<Value>(
  transport: Transport,
  { body, headers }: Answer<Wire.ExecuteResult>,
): ToolOutcome<Value> {
  const { execution_id: executionId, duration: durationMs, finished_at, output } = body
  // without this, the answer of another server would pass for that of a tool that answered nothing
  if (typeof executionId !== 'string')
    throw new GatepassError(
      'unexpected_answer',
      'The answer is not a run of a tool. Check that baseUrl is the URL of a Gatepass.',
    )
  const ran = { executionId, durationMs, finishedAt: new Date(finished_at) }
  if (output === undefined) return { ...ran, outcome: 'value', value: null as Value } // the tool answered nothing
  if ('error' in output) {
    // Gatepass sends no other kinds
    const kind = (headers.get('x-gatepass-error-kind') ?? 'UNKNOWN') as Wire.ToolErrorKind
    return { ...ran, outcome: 'error', error: toToolError({ kind, ...output.error }, executionId) }
  }
  if ('requires_authorization' in output) {
    const authorization = toRequired(transport, output.requires_authorization)
    return { ...ran, outcome: 'requires_authorization', authorization }
  }
  if ('artifact' in output) return { ...ran, outcome: 'artifact', artifact: toArtifact(output.artifact) }
  return { ...ran, outcome: 'value', value: unwrapped(output.value, headers) as Value } // the caller names the type
}

/** The value of an answer cannot be a list: Gatepass sends a list as the member `items`, and a header says so. */
function unwrapped(value: Wire.JsonValue, headers: Headers): Wire.JsonValue {
  const isWrapped = headers.get('x-gatepass-value') === 'list'
  return isWrapped ? (value as { readonly items: Wire.JsonValue }).items : value // as the header says
}

/** An error of a run. */
type RunFailure = Omit<Wire.ExecuteError, 'developer_message'> &
  Pick<Wire.ToolError, 'kind' | 'developer_message'>

export function toToolError(error: RunFailure, executionId: string | undefined): ToolError {
  const { kind, message, developer_message: developer } = error
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

function toArtifact({ url, content_type, size, meta, name, expires_at }: Wire.Artifact): Artifact {
  return {
    url,
    contentType: content_type,
    size,
    description: meta.description,
    ...(name !== undefined && { name }),
    ...(expires_at !== undefined && { expiresAt: new Date(expires_at) }),
  }
}
