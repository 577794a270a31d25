import { expectTypeOf } from 'vitest'
import { openaiTools } from '../../src/sdk/adapters/openai.ts'
import {
  type AccessToken,
  type AuthorizationRequired,
  type CompletedAuthorization,
  type ErrorCode,
  type FailureReason,
  Gatepass,
  type InvalidRequest,
  type JsonValue,
  type List,
  type PendingAuthorization,
  type RateLimited,
  type Tool,
  type ToolError,
  type Wire,
} from '../../src/sdk/client/gatepass.ts'
import type { WebhookData, WebhookEvent } from '../../src/sdk/webhooks.ts'

// `npm run types` checks that this file compiles. It never runs.

const gatepass = new Gatepass({ baseUrl: 'https://gatepass.example', apiKey: 'key' })
const ada = gatepass.as('ada')

export async function outcomes() {
  const result = await gatepass.tools.execute<{ sum: number }>('Add', { a: 1 }, { user: 'ada' })
  expectTypeOf(result.outcome).toEqualTypeOf<'value' | 'error' | 'requires_authorization' | 'artifact'>()
  switch (result.outcome) {
    case 'value':
      expectTypeOf(result.value).toEqualTypeOf<{ sum: number }>()
      // @ts-expect-error a value has no error
      return result.error
    case 'error':
      expectTypeOf(result.error).toEqualTypeOf<ToolError>()
      // @ts-expect-error kinds are a closed list
      return result.error.kind === 'TOO_LATE'
    case 'requires_authorization':
      expectTypeOf(result.authorization).toEqualTypeOf<PendingAuthorization>()
      expectTypeOf(result.authorization.url).toEqualTypeOf<string>()
      return result.authorization
    case 'artifact':
      expectTypeOf(result.artifact.size).toEqualTypeOf<number>()
      return result.artifact
    default:
      return result satisfies never
  }
}

export async function values() {
  expectTypeOf(await ada.tools.run('Add')).toEqualTypeOf<JsonValue>()
  expectTypeOf(await ada.tools.run<string[]>('Names')).toEqualTypeOf<string[]>()
  expectTypeOf(await ada.tools.stream<string>('Says').result).toEqualTypeOf<string>()
  for await (const event of ada.tools.stream<string>('Says')) {
    expectTypeOf(event.type).toEqualTypeOf<'progress' | 'chunk' | 'done' | 'error'>()
    if (event.type === 'done') expectTypeOf(event.value).toEqualTypeOf<string>()
  }
  const later = { runAt: new Date() }
  // @ts-expect-error `run` waits for the result
  await ada.tools.run('Add', {}, later)
  const scheduled = await ada.tools.execute('Add', {}, { runAt: new Date() })
  expectTypeOf(scheduled.outcome).toEqualTypeOf<'scheduled' | 'error' | 'requires_authorization'>()
  interface Input {
    readonly count: number
  }
  const input: Input = { count: 1 }
  await ada.tools.run('Add', input) // an interface is an input
  // @ts-expect-error a text is no input
  await ada.tools.run('Add', 'text')
  const chain = await ada.tools.chain<number>([
    { tool: 'Add', input: { a: 1 } },
    { tool: 'Add', usePrevious: true },
  ])
  if (chain.status === 'completed') expectTypeOf(chain.value).toEqualTypeOf<number>()
  // @ts-expect-error only a chain that waits for a consent can be resumed
  else chain.resume?.()
  if (chain.status === 'requires_authorization') await chain.resume?.()
}

export async function authorizations() {
  const authorization = await ada.connect('github', {
    scopes: ['repo'],
    nextUri: new URL('https://app.example'),
  })
  expectTypeOf(authorization.url).toEqualTypeOf<string | undefined>()
  if (authorization.status === 'pending') expectTypeOf(authorization.url).toEqualTypeOf<string>()
  expectTypeOf(await authorization.wait({ timeoutMs: 1 })).toEqualTypeOf<CompletedAuthorization>()
  expectTypeOf(authorization.kind).toEqualTypeOf<'consent' | 'approval'>()
  void ada.tools.run('Add', {}, { approval: ({ url }) => expectTypeOf(url).toEqualTypeOf<string>() })
  // @ts-expect-error an authorization never has the token
  authorization.token
  // @ts-expect-error it is read-only
  authorization.id = 'other'
  const status = await gatepass.authorization('auth_1', { waitMs: 1_000 })
  if (status.status === 'failed') expectTypeOf(status.reason).toEqualTypeOf<FailureReason>()
  const token = await ada.token('github')
  expectTypeOf(token).toEqualTypeOf<AccessToken>()
  // @ts-expect-error it is read-only
  token.value = ''
}

export async function approvals() {
  const { runCalls } = await openaiTools(gatepass, {
    user: 'ada',
    tools: ['Add'],
    consent: 'return',
    approval({ call }) {
      expectTypeOf(call.tool).toEqualTypeOf<string>()
    },
  })
  for (const missing of (await runCalls([])).pending) {
    if (missing.kind === 'approval') expectTypeOf(missing.call.tool).toEqualTypeOf<string>()
    // @ts-expect-error a consent is for no call
    else missing.call
  }
  // @ts-expect-error no such mode
  void openaiTools(gatepass, { user: 'ada', tools: [], approval: 'ask' })
}

export function users() {
  // @ts-expect-error the user is named already
  void ada.tools.run('Add', {}, { user: 'eve' })
  // @ts-expect-error the user is named already
  ada.connections.list({ user: 'eve' })
  // @ts-expect-error the user is missing
  void gatepass.connect('github')
  // @ts-expect-error an option that does not exist
  void gatepass.tools.run('Add', {}, { users: 'ada' })
  // @ts-expect-error users do not administer
  void ada.admin
  expectTypeOf(gatepass.tools.list({ user: 'ada', met: true })).toEqualTypeOf<List<Tool>>()
  const asFetch: typeof fetch = ada.fetchFor('github') // can be given to clients that take a fetch
  return asFetch
}

export function errors(error: unknown) {
  if (Gatepass.isError(error)) expectTypeOf(error.code).toEqualTypeOf<ErrorCode>()
  if (Gatepass.isError(error, 'authorization_required'))
    expectTypeOf(error).toEqualTypeOf<AuthorizationRequired>()
  if (Gatepass.isError(error, 'rate_limited')) expectTypeOf(error).toEqualTypeOf<RateLimited>()
  if (Gatepass.isError(error, 'tool_error')) expectTypeOf(error.kind).toEqualTypeOf<Wire.ToolErrorKind>()
  if (Gatepass.isError(error, 'invalid_input')) expectTypeOf(error).toEqualTypeOf<InvalidRequest>()
  if (Gatepass.isError(error, 'ambiguous_tool')) expectTypeOf(error.code).toEqualTypeOf<'ambiguous_tool'>()
  // @ts-expect-error codes are a closed list
  Gatepass.isError(error, 'rate_limit')
  // @ts-expect-error without `isError` the type of the error is unknown
  error.code
}

export async function administration() {
  const key = await gatepass.admin.keys.create({ role: 'caller', expires_in: 60 })
  expectTypeOf(key.key).toEqualTypeOf<string>()
  // @ts-expect-error no such role
  await gatepass.admin.keys.create({ role: 'owner' })
  // @ts-expect-error no such member
  await gatepass.admin.policies.create({ id: 'p', effect: 'deny', match: { user: ['ada'] } })
  expectTypeOf(gatepass.admin.workers.list()).toEqualTypeOf<List<Wire.Worker>>()
}

export function webhooks(event: WebhookEvent) {
  if (event.type === 'connection.needs_authorization')
    expectTypeOf(event.data.userId).toEqualTypeOf<string | undefined>()
  // @ts-expect-error this event has no user
  if (event.type === 'worker.requirements_changed') event.data.userId
  expectTypeOf<Exclude<keyof WebhookData, 'webhook.test'>>().toEqualTypeOf<
    NonNullable<Wire.Webhook['types']>[number]
  >()
  if (event.type === 'approval.decided')
    expectTypeOf(event.data.status).toEqualTypeOf<'approved' | 'denied'>()
}
