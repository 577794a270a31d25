import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Behaviour,
  type FakeAuthorizationServer,
  startFakeAuthorizationServer,
} from './fake-authorization-server.ts'
import { type FakeWorker, startFakeWorker } from './fake-worker.ts'
import { toolMetadata } from './fixtures.ts'
import { type Answer, type CallOptions, type Gatepass, startGatepass, testClock } from './gatepass.ts'
import { type Loopback, listen } from './loopback.ts'
import { type Page, UserAgent } from './user-agent.ts'

// The whole main job with everything that can go wrong in it; then every place where something can be read is
// searched for every secret there was.

const MASTER_KEY = randomBytes(32)
const API_KEY = `gp_${randomBytes(24).toString('base64url')}`
const WORKER_SECRET = `worker-${randomBytes(24).toString('base64url')}`
const TOOL_SECRET = `tool-${randomBytes(24).toString('base64url')}`

let as: FakeAuthorizationServer
let worker: FakeWorker
let verifier: Loopback
let gatepass: Gatepass
const clock = testClock()
/** What was readable, by where it was read. */
const readable = new Map<string, string>()
/** Answers that exist to give a token, and what they gave. */
const given: string[] = []
/** Cookies and flow ids: they open nothing without the rest, and yet are kept as hashes alone. */
const handles: string[] = []

const isCallback = ({ pathname }: URL) => pathname.startsWith('/callback/')

beforeAll(async () => {
  as = await startFakeAuthorizationServer({ now: () => clock() * 1000, refresh: 'rotate' })
  worker = await startFakeWorker({
    secret: WORKER_SECRET,
    apiUrl: `${as.url}/api/me`,
    requirement: { id: 'demo', scopes: ['read'] },
  })
  verifier = await listen((_, res) => res.end('Who are you?'))
  gatepass = await startGatepass({
    now: clock,
    environment: {
      GATEPASS_MASTER_KEY: MASTER_KEY.toString('base64'),
      GATEPASS_API_KEY: API_KEY,
      GATEPASS_USER_VERIFIER: `${verifier.url}/verify`,
      GATEPASS_LOG_LEVEL: 'debug',
    },
  })
  await setUp()
  await mainJob()
  await failures()
  await leakingTools()
  await refusals()
  await readDisk()
  gatepass.logLines.forEach((line, i) => void readable.set(`log line ${i}`, line))
})

afterAll(async () => {
  await gatepass?.close()
  await verifier?.close()
  await worker?.close()
  await as?.close()
})

/** Calls the API; what is answered must hold no secret, but for the token of a completed authorization in its place. */
async function call(
  method: string,
  path: string,
  body?: unknown,
  options: CallOptions = {},
): Promise<Answer> {
  const answer = await gatepass.call(method, path, body, { key: API_KEY, ...options })
  const { context } = answer.body ?? {}
  if (path.startsWith('/v1/auth/status') && context?.token !== undefined) {
    given.push(context.token)
    context.token = 'given'
  }
  const headers = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join('\n')
  readable.set(`answer ${readable.size}: ${method} ${path}`, `${headers}\n${JSON.stringify(answer.body)}`)
  return answer
}

/** Calls for a token. */
async function fetchToken(path: string, body?: unknown): Promise<Answer> {
  const answer = await gatepass.call('POST', path, body, { key: API_KEY })
  given.push(answer.body.access_token ?? answer.body.context?.token)
  return answer
}

/** A page as the browser has it, and the redirects after the callback that led there. */
function look(what: string, page: Page): Page {
  const own = page.hops.filter(({ url }) => isCallback(new URL(url))).map(({ location }) => location)
  const headers = [...page.response.headers].filter(([name]) => name !== 'set-cookie' && name !== 'location')
  readable.set(`page ${readable.size}: ${what}`, [page.body, ...headers, ...own].join('\n'))
  return page
}

async function begin(user: string): Promise<{ readonly id: string; readonly url: string }> {
  const { body } = await call('POST', '/v1/tools/authorize', { tool_name: 'Demo.WhoAmI', user_id: user })
  expect(body).toMatchObject({ status: 'pending' })
  return body
}

/** Click, approve, come back; where the verifier is visited, the caller confirms that user. */
async function consent(user: string, { as: comesBack = user } = {}): Promise<string> {
  const { id, url } = await begin(user)
  const browser = new UserAgent()
  const connect = look('connect', await browser.get(url))
  const back = await browser.submitForm(connect, {}, { until: isCallback })
  handles.push(...Object.values(browser.cookies(gatepass.url)))
  const callback = back.hops.at(-1)?.location ?? ''
  handles.push(new URL(callback).searchParams.get('state') ?? '')
  const atVerifier = await browser.follow(callback, { until: ({ origin }) => origin === verifier.url })
  const location = new URL(atVerifier.hops.at(-1)?.location ?? gatepass.url)
  const flowId = location.origin === verifier.url ? location.searchParams.get('flow_id') : null
  if (flowId !== null) {
    handles.push(flowId)
    look('waiting for the verifier', await browser.get(url))
    await call('POST', '/v1/auth/confirm_user', { flow_id: flowId, user_id: comesBack })
    if (comesBack === user) {
      const again = await call('POST', '/v1/auth/confirm_user', { flow_id: flowId, user_id: user })
      handles.push(new URL(again.body.next_uri).searchParams.get('confirmation') ?? '')
      look('confirmed, in another browser', await new UserAgent().get(again.body.next_uri))
      look('confirmed, before it is opened', await browser.get(url))
      look('confirmed', await browser.follow(again.body.next_uri))
    }
  }
  look('the end', await browser.follow(url))
  look('the callback again', await browser.follow(callback))
  look('the callback in another browser', await new UserAgent().follow(callback))
  await call('GET', `/v1/auth/status?id=${id}`)
  return id
}

async function setUp(): Promise<void> {
  await call('POST', '/v1/tools/import', toolMetadata(as))
  const registered = await call('POST', '/v1/workers', {
    id: 'demo',
    http: { uri: worker.url, secret: WORKER_SECRET, timeout: 60, retry: 0 },
  })
  expect(registered.status).toBe(201)
  const set = await call('POST', '/v1/admin/secrets/API_KEY', { value: TOOL_SECRET })
  expect(set.status).toBeLessThan(300)
  for (const path of ['/v1/admin/auth_providers', '/v1/admin/secrets', '/v1/workers', '/v1/tools'])
    await call('GET', path)
}

async function mainJob(): Promise<void> {
  expect((await call('GET', `/v1/auth/status?id=${await consent('ada')}`)).body.status).toBe('completed')
  const run = () => call('POST', '/v1/tools/execute', { tool_name: 'Demo.WhoAmI', user_id: 'ada' })
  expect((await run()).body.success).toBe(true)
  clock.advance(4000)
  expect((await run()).body.success).toBe(true)
  expect(as.tokenRequests('refresh_token')).toHaveLength(1)
  const [{ id }] = (await call('GET', '/v1/connections?user_id=ada')).body.items
  await call('GET', `/v1/connections/${id}`)
  await call('GET', '/v1/admin/user_connections')
  expect((await fetchToken(`/v1/connections/${id}/token`)).status).toBe(200)
  const need = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } }, user_id: 'ada' }
  expect((await fetchToken('/v1/auth/authorize', need)).body.status).toBe('completed')
  await call('POST', '/v1/tools/execute', { tool_name: 'Demo.NeedsSecret', user_id: 'ada' })
}

/** The provider answers wrongly, and with our own secrets in what it says. */
async function failures(): Promise<void> {
  const { behaviour } = as
  const usual = { ...behaviour }
  const everySecret = (members: Readonly<Record<string, unknown>>) => ({
    ...members,
    echoed: as.secrets().slice(-3).join(' '),
  })
  const raw = (
    change: (members: Readonly<Record<string, unknown>>) => unknown,
    type = 'application/json',
  ) => ({
    rawTokenAnswer: { type, body: (members: Readonly<Record<string, unknown>>) => String(change(members)) },
  })
  const wrongs: Partial<Behaviour>[] = [
    { exchange: 'refuse' },
    { exchange: 'invalid_client' },
    { exchange: 'html-500' },
    { exchange: 'drop' },
    { exchange: '429' },
    { errorDescription: `client_secret ${as.clientSecret} is wrong`, exchange: 'refuse' },
    { errorDescription: as.clientSecret, errorsWith200: true, exchange: 'refuse' },
    { errorDescription: as.clientSecret, consent: 'deny' },
    { consent: 'server_error' },
    { consent: 'no-code' },
    { consent: 'repeated-code' },
    { tokenMembers: { token_type: undefined } },
    { tokenMembers: { token_type: 'mac' } },
    { tokenMembers: { expires_in: 'soon' } },
    { tokenMembers: { scope: ['read'] } },
    raw((members) => JSON.stringify(everySecret(members)).slice(0, -20)),
    raw((members) => JSON.stringify([everySecret(members)])),
    raw((members) => `<h1>${JSON.stringify(everySecret(members))}</h1>`, 'text/html'),
    raw((members) =>
      JSON.stringify({ error: members.access_token, error_description: members.refresh_token }),
    ),
    raw((members) => JSON.stringify({ ...members, access_token: `${members.access_token}\r\nx: y` })),
  ]
  for (const [i, wrong] of wrongs.entries()) {
    Object.assign(behaviour, usual, wrong)
    await consent(`unlucky ${i}`)
  }
  Object.assign(behaviour, usual)
  await consent('mistaken', { as: 'somebody else' })

  const refreshes: Partial<Behaviour>[] = [
    { refresh: '503' },
    { refresh: 'invalid_client' },
    { refresh: 'html-500' },
    raw((members) => JSON.stringify(everySecret(members)).slice(0, -20)),
    raw((members) =>
      JSON.stringify({ error: `${members.access_token}`, error_description: as.clientSecret }),
    ),
    { refresh: 'refuse', errorDescription: as.clientSecret },
  ]
  for (const [i, wrong] of refreshes.entries()) {
    await consent(`refreshed ${i}`)
    clock.advance(4000)
    Object.assign(behaviour, usual, wrong)
    await call('POST', '/v1/tools/execute', { tool_name: 'Demo.WhoAmI', user_id: `refreshed ${i}` })
    const [{ id }] = (await call('GET', `/v1/connections?user_id=refreshed%20${i}`)).body.items
    await call('POST', `/v1/connections/${id}/token`)
    Object.assign(behaviour, usual)
  }
}

async function leakingTools(): Promise<void> {
  await consent('eve')
  const run = (tool: string, input: object) =>
    call('POST', '/v1/tools/execute', { tool_name: `Demo.${tool}`, user_id: 'eve', input })
  for (const where of ['value', 'nested', 'key', 'error', 'logs', 'body']) await run('Leak', { in: where })
  await run('EchoWithToken', { text: 'hello', leak: true })
  for (const invoke of ['500', 'html', 'redirect', 'drop'] as const) {
    worker.behaviour.invoke = invoke
    await run('WhoAmI', {})
  }
  worker.behaviour.invoke = 'ok'
  worker.behaviour.rejectJwt = true
  await run('WhoAmI', {})
  worker.behaviour.rejectJwt = false
  const [{ id }] = (await call('GET', '/v1/connections?user_id=eve')).body.items
  await call('DELETE', `/v1/connections/${id}`)
}

/** Requests that are refused, with secrets where they do not belong. */
async function refusals(): Promise<void> {
  const wrongKey = `${API_KEY}x`
  await call('GET', '/v1/connections', undefined, { key: wrongKey })
  await call('POST', '/v1/auth/authorize', { user_id: 5 })
  await call('POST', '/v1/admin/auth_providers', { id: 'demo', oauth2: { client_secret: as.clientSecret } })
  await call('POST', '/v1/workers', {
    id: 'second',
    http: { uri: 'http://10.0.0.1', secret: WORKER_SECRET, timeout: 60, retry: 0 },
  })
  await call('POST', '/v1/workers', { id: 'second', http: { uri: 5, secret: WORKER_SECRET } })
  await call('POST', '/v1/admin/secrets/OTHER', { value: { nested: TOOL_SECRET } })
  for (const path of [
    '/',
    '/docs',
    '/openapi.json',
    '/health',
    '/v1/health',
    '/ready',
    '/connect/auth_unknown',
  ])
    look(path, await new UserAgent().follow(`${gatepass.url}${path}`))
}

/** Every file beside the database: the write-ahead log holds what the database does not yet. */
async function readDisk(): Promise<void> {
  const folder = dirname(gatepass.databasePath)
  for (const name of await readdir(folder))
    readable.set(`file ${name}`, (await readFile(join(folder, name))).toString('latin1'))
}

/** In characters: what a failure shows beside a secret. */
const AROUND = 60

/** The secret, and the encodings in which it may have been written. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString('hex'),
    // wherever it starts in a longer text, the middle of it is written like this
    ...[0, 1, 2].flatMap((shift) => {
      const shifted = Buffer.concat([Buffer.alloc(shift), bytes])
      return (['base64', 'base64url'] as const).map((form) =>
        shifted
          .subarray(0, shifted.length - (shifted.length % 3))
          .toString(form)
          .slice(shift === 0 ? 0 : 4),
      )
    }),
  ]
}

/** The places that hold a secret, each with the text around it. */
function foundIn(secrets: readonly string[]): string[] {
  const forms = [...new Set(secrets.flatMap(formsOf))]
  return [...readable].flatMap(([where, text]) => {
    const form = forms.find((one) => text.includes(one))
    if (form === undefined) return []
    const at = text.indexOf(form)
    const around = [text.slice(Math.max(0, at - AROUND), at), text.slice(at + form.length).slice(0, AROUND)]
    return [`${where}: ${around.join(form.slice(0, 8))}`]
  })
}

describe('after all that', () => {
  test('there was something to find, and it would have been found', () => {
    const { access_tokens } = Object.groupBy(as.secrets(), (one) =>
      one.startsWith('at_') ? 'access_tokens' : 'others',
    )
    expect(access_tokens?.length).toBeGreaterThan(15)
    expect(as.tokenRequests().some(({ params }) => params.code_verifier)).toBe(true)
    expect(given.length).toBeGreaterThan(5)
    expect(given.every((token) => as.secrets().includes(token))).toBe(true)
    expect(handles.length).toBeGreaterThan(60)
    expect([...readable.keys()]).toContain(`file ${basename(gatepass.databasePath)}-wal`)
    expect(gatepass.logLines.length).toBeGreaterThan(20)
    const leaked = worker.invocations.find(({ call }) => call.tool.name === 'Leak')?.call.context
      .authorization?.token
    expect(as.secrets()).toContain(leaked)
    for (const before of ['', 'a', 'ab']) {
      const written = Buffer.from(`${before}${API_KEY}, and more`)
      for (const text of [written.toString('base64'), written.toString('base64url'), written.toString()])
        expect(formsOf(API_KEY).some((form) => text.includes(form))).toBe(true)
    }
    // what is no secret is there
    const files = foundIn(['unlucky 3']).filter((where) => where.startsWith('file '))
    expect(files).not.toEqual([])
  })

  test.each<[string, () => readonly string[]]>([
    ['code, token, verifier or client secret of the provider', () => as.secrets()],
    ['API key', () => [API_KEY]],
    ['worker secret', () => [WORKER_SECRET]],
    ['tool secret', () => [TOOL_SECRET]],
    [
      'master key',
      () => [MASTER_KEY.toString('base64'), MASTER_KEY.toString('latin1'), MASTER_KEY.toString('hex')],
    ],
  ])('no %s stands in the database, the log, a page or an answer', (_, secrets) => {
    expect(foundIn(secrets())).toEqual([])
  })

  test('no state, flow id or cookie is kept or logged', () => {
    const kept = foundIn(handles).filter(
      (where) => !where.startsWith('answer ') && !where.startsWith('page '),
    )
    expect(kept).toEqual([])
  })
})
