import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { toArcadeExecuteResponse, toExecuteResponse } from '../../src/operations/dialects/arcade.ts'
import type { Execution } from '../../src/tools/run/execution.ts'

const schema = JSON.parse(readFileSync(new URL('execute-response.schema.json', import.meta.url), 'utf8'))
const ajv = new Ajv({ allErrors: true, strictTypes: false })
ajv.addFormat('uri', (text) => URL.canParse(text))
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
const validate = ajv.compile(schema)

function execution(outcome: Execution['outcome']): Execution {
  return { id: 'exec_1', durationMs: 12.5, finishedAt: '2026-01-02T03:04:05.000Z', outcome, wasCalled: true }
}

const logs = [{ level: 'info', message: 'done' }]
const rateLimit = {
  kind: 'UPSTREAM_RUNTIME_RATE_LIMIT',
  message: 'Slow down.',
  canRetry: true,
  developerMessage: 'GitHub said 429',
  additionalPromptContent: 'Wait.',
  retryAfterMs: 30000,
  statusCode: 429,
  stacktrace: 'at call()',
  extra: { limit: 60 },
} as const
const rateLimitOnTheWire = {
  kind: 'UPSTREAM_RUNTIME_RATE_LIMIT',
  message: 'Slow down.',
  can_retry: true,
  developer_message: 'GitHub said 429',
  additional_prompt_content: 'Wait.',
  retry_after_ms: 30000,
  status_code: 429,
  extra: { limit: 60 },
}
const authorization = {
  id: 'auth_1',
  url: 'https://gatepass.test/connect/auth_1',
  scopes: ['read'],
  status: 'pending',
  userId: 'u-1',
  steps: [],
  expiresAt: 600,
  providerId: 'github',
} as const
const artifact = {
  url: 'https://files.test/report.csv',
  contentType: 'text/csv',
  size: 3,
  description: 'A report',
}
const artifactOnTheWire = {
  url: 'https://files.test/report.csv',
  content_type: 'text/csv',
  size: 3,
  meta: { description: 'A report' },
}

const OUTCOMES: [string, Execution['outcome'], boolean, unknown][] = [
  ['an object', { outcome: 'value', value: { a: [1] }, logs }, true, { value: { a: [1] } }],
  ['a text', { outcome: 'value', value: '', logs }, true, { value: '' }],
  ['a number', { outcome: 'value', value: 0, logs }, true, { value: 0 }],
  ['false', { outcome: 'value', value: false, logs }, true, { value: false }],
  ['a list', { outcome: 'value', value: [1, 'two'], logs }, true, { value: { items: [1, 'two'] } }],
  ['null', { outcome: 'value', value: null, logs }, true, undefined],
  [
    'an error',
    { outcome: 'error', error: rateLimit, logs },
    false,
    {
      error: {
        message: 'Slow down.',
        developer_message: 'UPSTREAM_RUNTIME_RATE_LIMIT: GitHub said 429',
        can_retry: true,
        additional_prompt_content: 'Wait.',
        retry_after_ms: 30000,
      },
    },
  ],
  [
    'a short error',
    { outcome: 'error', error: { kind: 'UNKNOWN', message: 'No.', canRetry: false }, logs: [] },
    false,
    { error: { message: 'No.', developer_message: 'UNKNOWN: No.', can_retry: false } },
  ],
  [
    'an authorization',
    { outcome: 'authorization_required', authorization },
    false,
    { requires_authorization: { id: 'auth_1', url: authorization.url, scopes: ['read'], status: 'pending' } },
  ],
  ['an artifact', { outcome: 'artifact', artifact, logs }, true, { artifact: artifactOnTheWire }],
]

describe('seeds/000', () => {
  test.each(OUTCOMES)('%s', (_, outcome, success, output) => {
    const response = toExecuteResponse(execution(outcome))
    expect(response).toEqual({
      execution_id: 'exec_1',
      duration: 12.5,
      finished_at: '2026-01-02T03:04:05.000Z',
      success,
      ...(output !== undefined && { output }),
    })
    validate(JSON.parse(JSON.stringify(response)))
    expect(validate.errors ?? []).toEqual([])
  })

  test('the schema takes no output of two kinds', () => {
    const response = toExecuteResponse(execution({ outcome: 'value', value: 1, logs: [] }))
    expect(validate({ ...response, output: { value: 1, error: { message: 'No.' } } })).toBe(false)
  })
})

describe("Arcade's dialect", () => {
  const outputOf = (outcome: Execution['outcome'], includeStacktrace?: boolean) =>
    toArcadeExecuteResponse(execution(outcome), includeStacktrace === undefined ? {} : { includeStacktrace })
      .output

  test('frames the output', () => {
    expect(toArcadeExecuteResponse(execution({ outcome: 'value', value: [1], logs }))).toEqual({
      id: 'exec_1',
      execution_id: 'exec_1',
      execution_type: 'immediate',
      status: 'completed',
      success: true,
      finished_at: '2026-01-02T03:04:05.000Z',
      duration: 12.5,
      output: { value: [1], logs },
    })
  })

  test('says null', () => {
    expect(outputOf({ outcome: 'value', value: null, logs: [] })).toEqual({ value: null })
  })

  test('shows a stack trace only when asked', () => {
    const error = rateLimitOnTheWire
    expect(outputOf({ outcome: 'error', error: rateLimit, logs: [] })).toEqual({ error })
    expect(outputOf({ outcome: 'error', error: rateLimit, logs: [] }, true)).toEqual({
      error: { ...error, stacktrace: 'at call()' },
    })
  })

  test('names the parameters that are wrong in extra', () => {
    const error = {
      kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE',
      message: 'No.',
      canRetry: false,
      parameterErrors: { count: 'is no number' },
    } as const
    expect(outputOf({ outcome: 'error', error, logs: [] })).toEqual({
      error: {
        kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE',
        message: 'No.',
        can_retry: false,
        extra: { parameter_errors: { count: 'is no number' } },
      },
    })
  })

  test('an authorization is a failed run', () => {
    const response = toArcadeExecuteResponse(execution({ outcome: 'authorization_required', authorization }))
    expect(response).toMatchObject({
      success: false,
      status: 'failed',
      output: {
        authorization: {
          id: 'auth_1',
          url: authorization.url,
          user_id: 'u-1',
          provider_id: 'github',
          scopes: ['read'],
          status: 'pending',
          context: {},
        },
      },
    })
  })
})
