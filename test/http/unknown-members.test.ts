import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import { STAINLESS } from './world.ts'

// What is said and not known is never ignored in silence: a misspelled member would run a tool without its input, or
// ask for other scopes than were meant.

let gatepass: Gatepass

beforeAll(async () => {
  gatepass = await startGatepass()
  await gatepass.call('POST', '/v1/admin/auth_providers', {
    id: 'github',
    provider_id: 'github',
    oauth2: { client_id: 'c', client_secret: 's' },
  })
})

afterAll(async () => {
  await gatepass.close()
})

const requirement = { provider_id: 'github' }

test.each([
  [
    'scopes one level too high',
    'POST',
    '/v1/auth/authorize',
    { user_id: 'u', auth_requirement: { ...requirement, scopes: ['repo'] } },
    'auth_requirement.scopes',
    'auth_requirement.oauth2.scopes',
  ],
  [
    'another case',
    'POST',
    '/v1/auth/authorize',
    { user_id: 'u', auth_requirement: requirement, nextUri: 'https://app.example' },
    'nextUri',
    'next_uri',
  ],
  [
    'the input of a tool',
    'POST',
    '/v1/tools/execute',
    { tool_name: 'X.Y', inputs: { a: 1 } },
    'inputs',
    'input',
  ],
  ['the begin of a name', 'POST', '/v1/tools/execute', { tool_name: 'X.Y', user: 'ada' }, 'user', 'user_id'],
  [
    'a step of a chain',
    'POST',
    '/v1/tools/run_chain',
    { steps: [{ toolId: 'X.Y', usePrevios: true }] },
    'steps.0.usePrevios',
    'steps.0.usePrevious',
  ],
  ['two letters exchanged', 'GET', '/v1/tools?limti=5', undefined, 'limti', 'limit'],
  ['a letter too few', 'GET', '/v1/connections?user_i=ada', undefined, 'user_i', 'user_id'],
  [
    'a block of a worker',
    'POST',
    '/v1/workers',
    { id: 'w', http: { uri: 'https://w.example', secret: 's', timeot: 5 } },
    'http.timeot',
    'http.timeout',
  ],
  [
    'a block of a provider',
    'PATCH',
    '/v1/admin/auth_providers/github',
    { oauth2: { token_request: { auth_metod: 'client_secret_basic' } } },
    'oauth2.token_request.auth_metod',
    'oauth2.token_request.auth_method',
  ],
  [
    'a policy, which would match everything',
    'POST',
    '/v1/admin/policies',
    { id: 'p', effect: 'deny', match: { user: ['mallory'] } },
    'match.user',
    'match.users',
  ],
  [
    'an OXP call',
    'POST',
    '/oxp/tools/call',
    { request: { tool_id: 'X.Y', imput: {} } },
    'request.imput',
    'request.input',
  ],
  [
    'a member where a query parameter is meant',
    'POST',
    '/v1/workers/w/authorize?user_id=u',
    { next_url: 'https://app.example' },
    'next_url',
    undefined,
  ],
] as const)('%s is refused with what was meant', async (_, method, path, body, wrong, meant) => {
  const answer = await gatepass.call(method, path, body)
  expect([answer.status, answer.body.name], JSON.stringify(answer.body)).toEqual([400, 'invalid_request'])
  const fault = answer.body.errors.find((one: { path: string }) => one.path === wrong)
  expect(fault.code).toBe(method === 'GET' ? 'unknown_parameter' : 'unknown_member')
  if (meant !== undefined) expect(fault.message).toContain(`did you mean ${meant}?`)
  expect(answer.body.message).toContain(fault.message)
})

test('a name that comes near none is answered with those there are', async () => {
  const { body } = await gatepass.call('GET', '/v1/connections?zzz=1')
  expect(body.message).toContain('known here: user_id, provider_id, offset, limit')
})

test('a parameter that is given twice is refused', async () => {
  const { status, body } = await gatepass.call('GET', '/v1/connections?user_id=ada&user_id=bob')
  expect([status, body.errors]).toMatchObject([400, [{ path: 'user_id', code: 'repeated_parameter' }]])
})

test('a header of the proxy says nothing elsewhere, and is refused there', async () => {
  const headers = { 'x-gatepass-user': 'ada' }
  const { status, body } = await gatepass.call('GET', '/v1/connections', undefined, { headers })
  expect([status, body.errors]).toMatchObject([400, [{ path: 'x-gatepass-user' }]])
})

test('names of members are answered without what could harm a terminal, and bounded', async () => {
  const name = `a\u001b[31m"${'x'.repeat(5_000)}`
  const { status, body } = await gatepass.call('POST', '/v1/tools/execute', { tool_name: 'x', [name]: 1 })
  expect(status).toBe(400)
  expect(body.message).not.toContain('\u001b')
  expect(body.message.length).toBeLessThan(1_000)
})

test('of very many only some are told', async () => {
  const body = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`toolname${i}`, i]))
  const answer = await gatepass.call('POST', '/v1/tools/execute', body)
  expect(answer.status).toBe(400)
  expect(answer.body.errors.length).toBeLessThanOrEqual(10)
})

test('a load balancer may ask for health with a query of its own', async () => {
  expect((await gatepass.call('GET', '/health?probe=1', undefined, { key: null })).status).toBe(200)
})

describe('in Arcade’s dialect', () => {
  test('what is not known is taken, with a Warning and a line in the log', async () => {
    const lines = gatepass.logLines.length
    const answer = await gatepass.call(
      'POST',
      '/v1/auth/authorize?beta=1',
      { user_id: 'u', auth_requirement: { ...requirement, scopes: ['repo'] } },
      { headers: STAINLESS },
    )
    expect(answer).toMatchObject({ status: 200, body: { status: 'pending' } })
    const warning = answer.headers.get('warning') ?? ''
    expect(warning).toMatch(/^299 gatepass "/)
    expect(warning).toContain('auth_requirement.scopes')
    expect(warning).toContain('did you mean auth_requirement.oauth2.scopes?')
    expect(warning).toContain('beta')
    const told = gatepass.logLines.slice(lines).join('\n')
    expect(told).toContain('auth_requirement.scopes')
  })

  test('what is wrong is refused all the same', async () => {
    const answer = await gatepass.call(
      'POST',
      '/v1/auth/authorize',
      { user_id: 5, auth_requirement: requirement, extra: 1 },
      { headers: STAINLESS },
    )
    expect(answer.status).toBe(400)
    expect(answer.body.errors[0]).toEqual({
      path: 'user_id',
      code: 'wrong_type',
      message: 'user_id must be text.',
    })
  })

  test('a misspelled member of a policy is refused: it would match everything', async () => {
    const body = { id: 'p', effect: 'deny', match: { user: ['mallory'] } }
    const answer = await gatepass.call('POST', '/v1/admin/policies', body, { headers: STAINLESS })
    expect(answer.status).toBe(400)
    expect(answer.body.message).toContain('match.users')
  })

  test('a list that is longer than a page may be is a page', async () => {
    const { status, body, headers } = await gatepass.call('GET', '/v1/tools?limit=1000', undefined, {
      headers: STAINLESS,
    })
    expect([status, body.limit, headers.get('warning')]).toEqual([200, 100, null])
  })
})
