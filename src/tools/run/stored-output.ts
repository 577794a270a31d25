import { hasItems } from '../large-json.ts'
import { withMedia } from '../mcp/media-content.ts'
import { artifactToJson } from '../tool-answer.ts'
import type { ToolError } from '../tool-error.ts'
import type { ExecutionOutcome } from './execution.ts'

// The output of a run as the database stores it, with the names of the first release, so that nodes of an older release
// can read new rows while an installation is upgraded node by node.

/** The stored form of an outcome: one of `value`, `error`, `authorization` and `artifact`, and `logs` where there are any. */
export type StoredOutput = Readonly<Record<string, unknown>>

/** Converts an outcome to its stored form. */
export function toStoredOutput(outcome: ExecutionOutcome): StoredOutput {
  const logs = 'logs' in outcome && hasItems(outcome.logs) ? { logs: outcome.logs } : {}
  const shown = withMedia(outcome)
  switch (shown.outcome) {
    case 'value':
      return { value: shown.value ?? null, ...logs }
    case 'error':
      return { error: toStoredError(shown.error), ...logs }
    case 'artifact':
      return { artifact: artifactToJson(shown.artifact), ...logs }
    case 'authorization_required': {
      const { id, url, scopes, status, userId, providerId } = shown.authorization
      return {
        authorization: {
          id,
          status,
          url,
          scopes: [...scopes],
          user_id: userId,
          provider_id: providerId,
          context: {},
        },
      }
    }
  }
}

/** The stored name of each member of an error. A stack trace is not stored. */
const STORED_NAMES = {
  kind: 'kind',
  message: 'message',
  canRetry: 'can_retry',
  developerMessage: 'developer_message',
  additionalPromptContent: 'additional_prompt_content',
  retryAfterMs: 'retry_after_ms',
  statusCode: 'status_code',
  extra: 'extra',
} as const satisfies Record<Exclude<keyof ToolError, 'stacktrace' | 'parameterErrors'>, string>

/** The stored form of an error, without its stack trace. */
export function toStoredError({ stacktrace: _, parameterErrors, ...error }: ToolError): StoredOutput {
  const members = Object.entries(error).map(([name, value]) => [
    STORED_NAMES[name as keyof typeof STORED_NAMES], // the type of `Object.entries` loses the names
    value,
  ])
  const extra = parameterErrors && { extra: { parameter_errors: parameterErrors } }
  return { ...Object.fromEntries(members), ...extra }
}
