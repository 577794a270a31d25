import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/domain/clock.ts'
import type { Behaviour, FakeAuthorizationServer } from '../fake-authorization-server.ts'
import { startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { addProvider, click, type OAuth2 } from '../flows/fixtures.ts'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import { answer, listen, record } from '../loopback.ts'
import { MASTER_KEY } from '../served.ts'
import { runHere, runHereReading } from './gatepass.ts'

// `gatepass providers test --live` beside a running server, with the test as the user in the browser. The server's clock
// is a minute behind the command's, so that the command need not wait until the token is old enough for a refresh.

let gatepass: Gatepass
let as: FakeAuthorizationServer
let usual: Behaviour
let providers = 0

beforeAll(async () => {
  gatepass = await startGatepass({ now: () => systemClock() - 60 })
  as = await startFakeAuthorizationServer()
  usual = { ...as.behaviour }
})
afterAll(async () => {
  await gatepass.close()
  await as.close()
})
afterEach(() => void Object.assign(as.behaviour, usual))

const environment = () => ({
  GATEPASS_DATABASE_URL: `file:${gatepass.databasePath}`,
  GATEPASS_MASTER_KEY: MASTER_KEY,
  GATEPASS_PUBLIC_URL: gatepass.url,
  GATEPASS_USER_VERIFIER: 'open',
  GATEPASS_ALLOWED_HOSTS: '127.0.0.1,localhost',
})

/** Adds a provider of this definition, runs the command, and approves in its link. */
async function live(behaviour: Partial<Behaviour>, oauth2: OAuth2 = {}, ...args: readonly string[]) {
  const id = `demo-${++providers}`
  Object.assign(as.behaviour, behaviour)
  await addProvider(gatepass, as, oauth2, { id })
  const running = runHere(environment(), 'providers', 'test', id, '--live', '--no-open', ...args)
  const url = await vi.waitFor(() => {
    const printed = vi.mocked(process.stdout.write).mock.calls.join('')
    return /http\S+\/connect\/auth_\w+/.exec(printed)?.[0] ?? expect.fail(`no link in: ${printed}`)
  }, 300_000)
  await click(url)
  return { id, ...(await running) }
}

async function liveJson(behaviour: Partial<Behaviour>, oauth2: OAuth2 = {}, ...args: readonly string[]) {
  const { stdout, ...rest } = await live(behaviour, oauth2, '--json', '--scopes', 'read,write', ...args)
  const told = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
  const steps = new Map<string, { outcome: string; detail: string }>(
    told.steps.map(({ step, ...one }: { step: string; outcome: string; detail: string }) => [step, one]),
  )
  return { ...rest, stdout, told, of: (step: string) => steps.get(step) }
}

const differs = (detail: RegExp) => ({ outcome: 'differs', detail: expect.stringMatching(detail) })
const ok = (detail: RegExp) => ({ outcome: 'ok', detail: expect.stringMatching(detail) })

test('a provider as its definition says: every step, no patch, and no secret', async () => {
  const { id, code, stdout, stderr } = await live({}, {}, '--scopes', 'read', '--revoke')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  for (const step of [
    'consent',
    'code exchange',
    'token type',
    'scopes',
    'expires_in',
    'refresh token',
    'account',
  ])
    expect(stdout).toMatch(new RegExp(`✓.* ${step} `))
  expect(stdout).toMatch(/refresh +the same refresh token came back; the definition does not say rotation/)
  expect(stdout).toMatch(/revocation +the provider revoked the tokens/)
  expect(stdout).not.toContain('PATCH')
  const { body } = await gatepass.call('GET', '/v1/connections?user_id=gatepass-live-test')
  expect(body.items.filter((one: { provider_id: string }) => one.provider_id === id)).toEqual([])
  const trail = await gatepass.call('GET', `/v1/auth/${/auth_\w+/.exec(stdout)?.[0]}/explain`)
  const shown = stdout + JSON.stringify(trail.body)
  expect(shown).toContain('expires_in: number')
  const sent = as.requests.flatMap(({ params }) => [params.code, params.refresh_token, params.token])
  const secrets = [as.clientSecret, ...sent].filter((one) => one !== undefined)
  expect(secrets.length).toBeGreaterThan(3)
  for (const secret of secrets) expect(shown).not.toContain(secret)
  expect(shown).not.toMatch(/\b(at|rt|code)-?_?[0-9a-f]{16}/)
})

test('a time of expiry, commas, and a rotated refresh token: the patch makes the definition true', async () => {
  const deviations: Partial<Behaviour> = {
    tokenFormat: 'comma-scope',
    refresh: 'rotate',
    tokenMembers: { expires_in: systemClock() + 3600 },
  }
  const { id, code, told, of } = await liveJson(deviations, { rotation: { kind: 'none' } })
  expect(code).toBe(1)
  expect(of('expires_in')).toEqual(differs(/unix_seconds.*says relative_seconds/))
  expect(of('scopes')).toEqual(ok(/separated by commas.*granted: read write/))
  expect(of('refresh')).toEqual(differs(/a new refresh token came; rotation says none/))
  const oauth2 = {
    token_request: { expiration_format: 'absolute_unix_timestamp' },
    refresh_request: { expiration_format: 'absolute_unix_timestamp' },
  }
  const path = `/v1/admin/auth_providers/${id}`
  expect(told.patch).toEqual({ method: 'PATCH', path, body: { oauth2 } })
  expect(told.definition).toEqual({ oauth2 })
  expect(await gatepass.call('PATCH', path, told.patch.body)).toMatchObject({ status: 200, body: { oauth2 } })
  const again = await liveJson(deviations, oauthOf(oauth2))
  expect(again.of('expires_in')).toMatchObject({ outcome: 'ok' })
  expect(again.told.patch).toBeUndefined()
})

/** The usual blocks with these members. */
function oauthOf(patch: Readonly<Record<string, object>>): OAuth2 {
  const block = { endpoint: as.tokenUrl, auth_method: 'client_secret_basic' }
  return Object.fromEntries(Object.entries(patch).map(([name, members]) => [name, { ...block, ...members }]))
}

test('what only hints at something is said and not patched', async () => {
  const { code, told, of } = await liveJson({
    tokenFormat: 'no-expiry',
    omitRefreshToken: true,
    grantedScopes: ['read', 'writing'],
    userInfo: '500',
  })
  expect(code).toBe(1)
  expect(told.patch).toBeUndefined()
  expect(of('expires_in')).toEqual(differs(/none came.*cannot be seen/))
  expect(of('refresh token')).toEqual(differs(/none came, although the definition has refresh_request/))
  expect(of('scopes')).toEqual(differs(/not granted: write; if writing is .*scope_aliases .*cannot be seen/))
  expect(of('account')).toEqual(differs(/no id was read/))
  expect(of('refresh')).toMatchObject({ outcome: 'not_tried' })
})

test('a lifetime that is not in the response: an introspection has it', async () => {
  const token_introspection_request = {
    endpoint: as.introspectionUrl,
    params: { token: '{{access_token}}' },
    triggers: { on_token_grant: true },
  }
  const { of } = await liveJson({ tokenFormat: 'no-expiry' }, { token_introspection_request })
  expect(of('expires_in')).toEqual(ok(/none came; introspection is asked/))
})

test('members that the definition computes or locates: joined, by a quoted name, in a list', async () => {
  const response_map = {
    scope: "join('$.scope', ' ')",
    expires_in: "$['expires_in']",
    token_type: '$.types[0]',
    refresh_token: "jwt_decode('$.access_token', '$.refresh')",
  }
  const { code, of } = await liveJson({}, oauthOf({ token_request: { response_map } }))
  expect(of('scopes')).toEqual(ok(/separated by spaces; .*granted: read write/))
  expect(of('expires_in')).toEqual(ok(/number, as relative_seconds/))
  expect(of('token type')).toEqual(ok(/read by response_map/))
  expect(of('refresh token')).toEqual(ok(/read by response_map/))
  expect(code).toBe(0)
})

test('a refresh token that the definition does not use, and rotation that does not take place', async () => {
  const unused = await liveJson({}, { refresh_request: undefined })
  expect(unused.of('refresh token')).toEqual(differs(/it came, and the definition has no refresh_request/))
  expect(unused.told.patch).toBeUndefined()
  const still = await liveJson({}, { rotation: { kind: 'single_use' } })
  expect(still.of('refresh')).toEqual(differs(/the same refresh token came back; rotation says single_use/))
  expect(still.told.patch.body).toEqual({ oauth2: { rotation: { kind: 'none' } } })
})

test.each<[string, Partial<Behaviour>, object]>([
  ['a token type of its own', { tokenFormat: 'odd-token-type' }, { token_types: ['bot'] }],
  [
    'tokens in an object',
    { tokenFormat: 'nested' },
    {
      token_request: {
        response_map: {
          access_token: '$.authed_user.access_token',
          refresh_token: '$.authed_user.refresh_token',
          expires_in: '$.authed_user.expires_in',
          scope: '$.authed_user.scope',
        },
      },
    },
  ],
])('an exchange that failed by the form of its answer: %s', async (_, behaviour, oauth2) => {
  const failed = await liveJson(behaviour)
  expect(failed.code).toBe(1)
  expect(failed.of('code exchange')).toMatchObject({ outcome: 'failed' })
  expect(failed.told.patch.body).toEqual({ oauth2 })
  const path = `/v1/admin/auth_providers/${failed.id}`
  expect(await gatepass.call('PATCH', path, failed.told.patch.body)).toMatchObject({ status: 200 })
})

test('a refused client and a refused consent say why; an unknown provider and --file are refused', async () => {
  const refused = await liveJson({ clientAuth: 'refuse' })
  expect(refused).toMatchObject({ code: 1 })
  expect(refused.of('code exchange')?.detail).toMatch(/HTTP 401.*client_secret_basic; wrong_client_secret/)
  const denied = await liveJson({ consent: 'deny' })
  expect(denied).toMatchObject({ code: 5, stderr: expect.stringContaining('access_denied') })
  expect(denied.of('consent')).toMatchObject({ outcome: 'failed' })
  const file = await runHere({}, 'providers', 'test', 'demo', '--live', '--file', 'x.json')
  expect(file).toMatchObject({ code: 2, stderr: expect.stringContaining('providers add') })
})

test('where no user consents, one request of the client tells, or what is typed; nothing is kept', async () => {
  const asked: string[] = []
  const server = await listen(async (req, res) => {
    const request = await record(req)
    asked.push(request.path)
    if (request.path === '/me')
      return answer(
        res,
        request.headers.authorization === 'Bearer right-key' ? 200 : 401,
        'application/json',
        '{}',
      )
    const isRight = request.params.client_secret === 'right-secret'
    const token = { access_token: 'dropped-token', token_type: 'Bearer', expires_in: 60 }
    return answer(
      res,
      isRight ? 200 : 401,
      'application/json',
      JSON.stringify(isRight ? token : { error: 'invalid_client' }),
    )
  })
  try {
    const add = async (body: object) =>
      expect(await gatepass.call('POST', '/v1/admin/auth_providers', body)).toMatchObject({ status: 201 })
    const machine = (id: string, client_secret: string) =>
      add({
        id,
        oauth2: {
          grant: { type: 'client_credentials' },
          client_id: 'machine',
          client_secret,
          token_request: { endpoint: `${server.url}/token` },
        },
      })
    await machine('live-machine', 'right-secret')
    await machine('live-mistyped', 'wrong-secret')
    await add({
      id: 'live-key',
      type: 'credentials',
      credentials: {
        fields: { api_key: { label: 'Key', secret: true } },
        place: { bearer: '{{api_key}}' },
        test_request: { endpoint: `${server.url}/me` },
        api: { base_url: server.url },
      },
    })
    const run = (id: string, stdin = '', ...args: readonly string[]) =>
      runHereReading(stdin, environment(), ['providers', 'test', id, '--live', ...args])
    const right = await run('live-machine')
    expect(right).toMatchObject({ code: 0, stdout: expect.stringContaining('gave a token for no scope') })
    const wrong = await run('live-mistyped')
    expect(wrong).toMatchObject({ code: 1, stdout: expect.stringContaining('refused the client') })
    const typed = await run('live-key', 'right-key\n', '--field', 'api_key=-')
    expect(typed).toMatchObject({ code: 0, stdout: expect.stringContaining('accepted them') })
    const refused = await run('live-key', 'wrong-key\n', '--field', 'api_key=-')
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining('does not accept them') })
    expect(await run('live-key')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--field name=value'),
    })
    expect(await run('live-key', '', '--field', 'other=x')).toMatchObject({ code: 2 })
    const all = JSON.stringify([right, wrong, typed, refused])
    expect(all).not.toMatch(/dropped-token|right-secret|wrong-secret|right-key|wrong-key/)
    expect((await gatepass.call('GET', '/v1/admin/connections')).body.items).toEqual([])
    const remote = { GATEPASS_URL: gatepass.url, GATEPASS_API_KEY: gatepass.apiKey }
    expect(await runHere(remote, 'providers', 'test', 'live-machine', '--live')).toMatchObject({
      stderr: expect.stringContaining('only without --url'),
    })
  } finally {
    await server.close()
  }
})
