import { type Members, membersOf } from '../../providers/response-body.ts'
import { isDeeperThan } from '../read-json.ts'
import {
  type Artifact,
  AUTHORIZATION_STATUSES,
  type RequestedAuthorization,
  type ToolAnswer,
  type ToolLog,
  type ToolOutcome,
} from '../tool-answer.ts'
import { badOutputError, readErrorKind, type ToolError, withoutStacks } from '../tool-error.ts'

const MAX_DEPTH = 100

/** Reads a worker's ToolCallResponse; an invalid one becomes an error outcome. `null` counts as absent. */
export function readWorkerAnswer(body: unknown): ToolAnswer {
  const response = membersOf(body)
  if (typeof response?.success !== 'boolean') return badOutput('The answer has no `success`.')
  if (isDeeperThan(body, MAX_DEPTH)) return badOutput(`The answer nests deeper than ${MAX_DEPTH} levels.`)
  const output = membersOf(response.output)
  if (output === undefined && response.output !== undefined && response.output !== null)
    return badOutput('The answer has an `output` that is not an object.')
  const { duration, finished_at: finishedAt } = response
  return {
    ...readOutput(output ?? {}, response.success),
    logs: readLogs(output?.logs),
    ...(typeof duration === 'number' && duration >= 0 && { durationMs: duration }),
    ...(typeof finishedAt === 'string' && isTimestamp(finishedAt) && { finishedAt }),
  }
}

function readOutput(output: Members, success: boolean): ToolOutcome {
  const error = membersOf(output.error)
  if (error !== undefined) return { outcome: 'error', error: readError(error) }
  const requirement = membersOf(output.requires_authorization)
  if (requirement !== undefined)
    return { outcome: 'authorization_requested', requested: readRequirement(requirement) }
  if (!success)
    return {
      outcome: 'error',
      error: { kind: 'UNKNOWN', message: 'The tool failed without saying why.', canRetry: false },
    }
  if (output.artifact === undefined || output.artifact === null)
    return { outcome: 'value', value: output.value ?? null }
  const artifact = readArtifact(membersOf(output.artifact))
  return artifact ? { outcome: 'artifact', artifact } : badOutput('The artifact lacks a valid member.')
}

function readError(error: Members): ToolError {
  const { retry_after_ms: wait, status_code: status } = error
  const extra = membersOf(error.extra)
  const more = extra && withoutStacks(extra)
  return {
    kind: readErrorKind(error.kind),
    message: text(error, 'message', 'message').message ?? 'The tool failed without saying why.',
    canRetry: error.can_retry === true,
    ...text(error, 'developer_message', 'developerMessage'),
    ...text(error, 'additional_prompt_content', 'additionalPromptContent'),
    ...(typeof wait === 'number' && wait >= 0 && { retryAfterMs: Math.ceil(wait) }),
    ...(typeof status === 'number' && Number.isInteger(status) && { statusCode: status }),
    ...more,
    ...text(error, 'stacktrace', 'stacktrace'),
  }
}

function readRequirement(requirement: Members): RequestedAuthorization {
  const id = requirement.authorization_id ?? requirement.id
  const { scopes } = requirement
  const status = AUTHORIZATION_STATUSES.find((known) => known === requirement.status)
  return {
    ...(typeof id === 'string' && { id }),
    ...(Array.isArray(scopes) && { scopes: scopes.filter((scope) => typeof scope === 'string') }),
    status,
  }
}

function readArtifact(artifact: Members | undefined): Artifact | undefined {
  const { url, content_type: contentType, size } = artifact ?? {}
  const description = membersOf(artifact?.meta)?.description
  // callers may show the URL as a link, so only http and https are accepted
  if (typeof url !== 'string' || !['https:', 'http:'].includes(URL.parse(url)?.protocol ?? ''))
    return undefined
  if (typeof contentType !== 'string' || typeof description !== 'string') return undefined
  if (typeof size !== 'number' || !Number.isInteger(size)) return undefined
  return { url, contentType, size, description }
}

function readLogs(logs: unknown): ToolLog[] {
  if (!Array.isArray(logs)) return []
  return logs.flatMap((line) => {
    const { message, level } = membersOf(line) ?? {}
    if (typeof message !== 'string') return []
    const subtype = text(membersOf(line) ?? {}, 'subtype', 'subtype')
    return [{ level: typeof level === 'string' ? level : 'info', message, ...subtype }]
  })
}

/** Returns `{[name]: value}` with the member's value, or `{}` if the member is not a string or is empty. */
function text<Name extends string>(of: Members, member: string, name: Name): { [_ in Name]?: string } {
  const value = of[member]
  // TypeScript widens computed keys to `string`
  return (typeof value === 'string' && value !== '' ? { [name]: value } : {}) as { [_ in Name]?: string }
}

function isTimestamp(value: string): boolean {
  return (
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(value) &&
    !Number.isNaN(Date.parse(value))
  )
}

function badOutput(developerMessage: string): ToolAnswer & { readonly outcome: 'error' } {
  return { outcome: 'error', error: badOutputError(developerMessage), logs: [] }
}
