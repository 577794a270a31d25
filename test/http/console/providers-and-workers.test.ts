import { generateKeyPairSync } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { gate } from '../../gate.ts'
import { startGatepass } from '../../gatepass.ts'
import { type Page, UserAgent } from '../../user-agent.ts'
import { providerBody, startWorld, WORKER_SECRET, type World } from '../world.ts'

// What the console finds out about a provider and a worker: it asks them, and says what they answered.

let world: World
let admin: UserAgent
let csrf: string
beforeAll(async () => {
  world = await startWorld()
  admin = new UserAgent()
  const page = await admin.submitForm(await admin.follow(`${world.gatepass.url}/dashboard`), {
    key: world.gatepass.apiKey,
  })
  csrf = /name="csrf" value="([\w-]+)"/.exec(page.body)?.[1] ?? ''
})
afterAll(() => world[Symbol.asyncDispose]())

const textOf = ({ body }: Page) => body.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
const at = (path: string) => `${world.gatepass.url}/dashboard${path}`

/** Sends the form, and follows to the page after it. */
const send = (path: string, form: Record<string, string> = {}) =>
  admin.submitForm(
    { url: at(path), body: `<form method="post" action="/dashboard${path}"></form>` },
    { csrf, ...form },
  )

async function addProvider(id: string, oauth2: Record<string, unknown>) {
  const body = providerBody(id, world.as)
  const { status } = await world.call('POST', '/v1/admin/auth_providers', {
    ...body,
    oauth2: { ...body.oauth2, ...oauth2 },
  })
  expect(status).toBe(201)
}

test('a key file gives the client of a machine account, and nothing else', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const oauth2 = { client_id: 'old', client_secret: pem }
  const body = { id: 'robot', provider_id: 'google-service-account', oauth2 }
  expect((await world.call('POST', '/v1/admin/auth_providers', body)).status).toBe(201)
  const page = textOf(await admin.get(at('/providers/robot')))
  expect(page).toMatch(/Tokens come by jwt_bearer.*by asking for one token that is dropped/)
  expect(page).not.toContain('Connect a test account')
  const file = {
    client_email: 'robot@acme.example',
    private_key: pem,
    private_key_id: 'f00d',
    token_uri: 'https://evil.example',
  }
  await send('/providers/robot/client', { 'oauth2.client_secret': JSON.stringify(file) })
  const { body: entry } = await world.call('GET', '/v1/admin/auth_providers/robot')
  expect(entry.oauth2).toMatchObject({
    client_id: 'robot@acme.example',
    assertion: { key_id: 'f00d', claims: { scope: '{{scopes}}' } },
    token_request: { endpoint: 'https://oauth2.googleapis.com/token' },
  })
  expect(JSON.stringify(entry)).not.toMatch(/evil|PRIVATE/)
})

test.each([
  ['google-password', 'https://www.google.com/me', true],
  ['of-a-site', 'https://{{domain}}.zendesk.com/api/me', true],
  ['own-key', 'https://keys.nobody-knows.example/me', false],
])('a form for credentials of a service with consents is warned of: %s', async (id, endpoint, isWarned) => {
  const credentials = {
    fields: {
      domain: { label: 'Domain', pattern: '[a-z]+', example: 'acme' },
      password: { label: 'Password', secret: true },
    },
    place: { basic: { username: '{{domain}}', password: '{{password}}' } },
    test_request: { endpoint },
    api: { base_url: endpoint.replace('/me', '') },
  }
  expect(
    (await world.call('POST', '/v1/admin/auth_providers', { id, type: 'credentials', credentials })).status,
  ).toBe(201)
  const page = textOf(await admin.get(at(`/providers/${id}`)))
  expect(page.includes('where they can consent instead')).toBe(isWarned)
})

describe('the test of a provider', () => {
  test('says that hosts answer and that the client was taken, and leaves no consent behind', async () => {
    const page = await send('/providers/demo/test')
    expect(textOf(page)).toMatch(/Nothing wrong was found.*It answers.*refused only the made-up code/)
    expect(textOf(page)).toContain('names no issuer')
    expect((await world.call('GET', '/v1/connections?user_id=ada')).body.items).toEqual([])
  })

  test('says that the client was refused, without its secret', async () => {
    await addProvider('mistyped', { client_secret: 'mistyped-secret-of-the-tests' })
    const page = await send('/providers/mistyped/test')
    expect(textOf(page)).toMatch(/Something is not right.*Client failed .*refused the client/)
    expect(page.body).not.toContain('mistyped-secret-of-the-tests')
  })

  test('names the host that does not answer, and what is not set', async () => {
    const token_request = {
      ...providerBody('x', world.as).oauth2.token_request,
      endpoint: 'http://127.0.0.1:9/token',
    }
    await addProvider('away', { token_request, client_secret: undefined })
    await world.call('POST', '/v1/admin/auth_providers', { id: 'slack', provider_id: 'slack' })
    expect(textOf(await send('/providers/away/test'))).toMatch(/127\.0\.0\.1:9 \(token\) +failed/)
  })

  test('sends nothing to an endpoint that depends on a value of each user', async () => {
    const token_request = {
      ...providerBody('x', world.as).oauth2.token_request,
      endpoint: `${world.as.tokenUrl}/{{tenant}}`,
    }
    const variables = { tenant: { ask: 'user', label: 'Your tenant', example: 'acme', pattern: '[a-z]+' } }
    await addProvider('tenants', { token_request, variables })
    const sent = world.as.requests.length
    const text = textOf(await send('/providers/tenants/test'))
    expect(text).toMatch(/An address of each user \(token\) .*no request was sent/)
    expect(text).toMatch(/Client .*The token endpoint depends on a value that each user has/)
    expect(
      world.as.requests
        .slice(sent)
        .map(({ path }) => path)
        .join(),
    ).not.toContain('token')
  })
})

test('a client of the environment is shown as that, in the list and on the page of its provider', async () => {
  await using gatepass = await startGatepass({
    environment: {
      GATEPASS_PROVIDER_GITHUB_CLIENT_ID: 'id-of-the-tests',
      GATEPASS_PROVIDER_GITHUB_CLIENT_SECRET: 'secret-of-the-tests',
    },
  })
  for (const id of ['github', 'gitlab'])
    await gatepass.call('POST', '/v1/admin/auth_providers', { id, provider_id: id })
  const agent = new UserAgent()
  const url = `${gatepass.url}/dashboard`
  await agent.submitForm(await agent.follow(url), { key: gatepass.apiKey })
  const list = textOf(await agent.get(`${url}/providers`))
  expect(list).toMatch(/github GitHub active from the environment .* gitlab GitLab client is missing not set/)
  const page = textOf(await agent.get(`${url}/providers/github`))
  expect(page).toMatch(/Client ID from the environment Client secret from the environment/)
  expect(textOf(await agent.get(`${url}/providers/gitlab`))).toMatch(
    /Client ID not set Client secret not set/,
  )
})

describe('the form of a provider', () => {
  test('keeps the lines of a key', async () => {
    const { broker } = world.gatepass
    const oauth2 = {
      client_id: 'c',
      client_assertion: { algorithm: 'ES256' },
      authorize_request: { endpoint: world.as.authorizationUrl },
      token_request: { endpoint: world.as.tokenUrl, auth_method: 'private_key_jwt' },
    }
    await world.call('POST', '/v1/admin/auth_providers', { id: 'keyed', oauth2 })
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString().trim()
    await send('/providers/keyed/client', { 'oauth2.client_secret': pem.replaceAll('\n', '\r\n') })
    const { id: projectId } = await broker.store.projects.ensure('default', 0)
    const entry = await broker.store.providers.findById(projectId, 'keyed')
    expect(entry && broker.clientFor(entry)?.clientSecret).toBe(pem)
    expect((await admin.get(at('/providers/keyed'))).body).toMatch(
      /<textarea[^>]* name="oauth2\.client_secret"/,
    )
  })

  test('undoes no newer change of a value that it only showed, and takes values as JSON beside its own', async () => {
    const path = '/v1/admin/auth_providers'
    const variables = (host: string, realm: string) => ({ host: { value: host }, realm: { value: realm } })
    const stored = async () => (await world.call('GET', `${path}/sso`)).body.oauth2
    const oauth2 = { client_id: 'c', variables: variables('sso.example.com', 'first') }
    await world.call('POST', path, { id: 'sso', provider_id: 'keycloak', oauth2 })
    const { body } = await admin.get(at('/providers/sso'))
    const form = Object.fromEntries(
      [...body.matchAll(/name="((?:shown\.)?variable\.[^"]+)"[^>]* value="([^"]*)"/g)].map(
        ([, field = '', value = '']) => [field, value],
      ),
    )
    expect(form).toMatchObject({ 'variable.host': 'sso.example.com', 'variable.realm': 'first' })
    await world.call('PATCH', `${path}/sso`, { oauth2: { variables: { realm: { value: 'second' } } } })

    await send('/providers/sso/client', { ...form, 'oauth2.client_id': 'another' })
    expect(await stored()).toMatchObject({
      client_id: 'another',
      variables: variables('sso.example.com', 'second'),
    })

    const more = '{"variables": {"host": {"value": "login.example.com"}}}'
    await send('/providers/sso/client', { ...form, 'variable.realm': 'third', more })
    expect(await stored()).toMatchObject({ variables: variables('login.example.com', 'third') })
  })
})

describe('a worker', () => {
  test('is tried, which registers nothing, then registered with its tools', async () => {
    const form = { type: 'http', id: 'second', 'http.uri': world.worker.url, 'http.secret': WORKER_SECRET }
    const tried = await send('/worker/new', { ...form, do: 'try' })
    expect(textOf(tried)).toMatch(/Tried answers It lists \d+ tools/)
    expect(tried.body).not.toContain(WORKER_SECRET)
    expect((await world.call('GET', '/v1/workers/second')).status).toBe(404)
    const registered = await send('/worker/new', { ...form, do: 'set' })
    expect(new URL(registered.url).pathname).toBe('/dashboard/workers/second')
    expect(textOf(registered)).toContain('The worker second was registered.')
    expect((await world.call('GET', '/v1/workers/second')).body.status).toBe('active')
  })

  test('that cannot be reached is registered with the reason, which its page has; read again, it has it still', async () => {
    const form = {
      type: 'http',
      id: 'away',
      'http.uri': 'http://127.0.0.1:9',
      'http.secret': 's',
      do: 'set',
      'http.retry': '0',
    }
    const page = await send('/worker/new', form)
    expect(textOf(page)).toMatch(/cannot be reached/)
    expect(page.body).toContain('class="note bad"')
    expect(textOf(await send('/workers/away/sync'))).toMatch(/cannot be reached/)
    const changed = await send('/workers/away/settings', { 'http.timeout': '7' })
    expect(textOf(changed)).toMatch(/The changes were saved\. .*cannot be reached/)
    const moved = await send('/workers/away/settings', {
      'http.uri': world.worker.url,
      'http.secret': WORKER_SECRET,
    })
    // another worker of this file lists the same tools, so they are left out
    expect(textOf(moved)).toMatch(/The changes were saved\. The tool .+ was left out/)
    expect((await world.call('GET', '/v1/workers/away')).body.status).toBe('active')
    expect(textOf(await admin.get(at('')))).toContain(
      'not working Not all tools of the worker away were read.',
    )
  })

  test('of the type MCP gets its token in the header, and no page has the token', async () => {
    const form = {
      type: 'mcp',
      id: 'notes',
      'mcp.uri': 'http://127.0.0.1:9/mcp',
      token: 'token-of-the-tests',
      do: 'set',
    }
    const page = await send('/worker/new', form)
    expect(page.body).not.toContain('token-of-the-tests')
    const { mcp } = (await world.call('GET', '/v1/workers/notes')).body
    expect(mcp).toMatchObject({ headers: { Authorization: `Bearer $\{secret:TOKEN}` } })
    expect((await admin.get(at('/workers/notes'))).body).not.toContain('token-of-the-tests')
  })

  test('of GATEPASS_TOOLS is not switched off by a form', async () => {
    const GATEPASS_TOOLS = fileURLToPath(new URL('../../fixtures/run-tools.ts', import.meta.url))
    await using gatepass = await startGatepass({ environment: { GATEPASS_TOOLS } })
    const agent = new UserAgent()
    const page = await agent.submitForm(await agent.follow(`${gatepass.url}/dashboard`), {
      key: gatepass.apiKey,
    })
    const [{ id }] = (await gatepass.call('GET', '/v1/workers')).body.items
    const refused = await agent.post(`${gatepass.url}/dashboard/workers/${id}/enabled`, {
      csrf: /name="csrf" value="([\w-]+)"/.exec(page.body)?.[1] ?? '',
      enabled: 'false',
    })
    expect([refused.status, textOf(refused)]).toEqual([400, expect.stringContaining('GATEPASS_TOOLS')])
    expect((await gatepass.call('GET', `/v1/workers/${id}`)).body.enabled).toBe(true)
  })

  test('of the type HTTP is authorized by no link', async () => {
    const page = await send('/workers/demo/authorize', { user: 'ada' })
    expect([page.status, textOf(page)]).toEqual([400, expect.stringContaining('only an MCP server')])
  })
})

test('a dry run is sent and not linked to, by readonly operators too, and one at a time', async () => {
  const reader = new UserAgent()
  const key = await world.gatepass.makeKey('readonly')
  const page = await reader.submitForm(await reader.follow(at('')), { key })
  const own = /name="csrf" value="([\w-]+)"/.exec(page.body)?.[1] ?? ''
  expect(textOf(await reader.get(at('/policy/dry-run')))).not.toContain('Permitted')
  expect((await reader.post(at('/policy/dry-run'))).status).toBe(403)
  expect(textOf(await reader.post(at('/policy/dry-run'), { csrf: own }))).toContain('Permitted')
  const path = '/v1/admin/policies/dry_run'
  const { audit } = world.gatepass.broker.store
  const { blocks } = audit
  const { opened, open } = gate()
  const reading = vi.spyOn(audit, 'blocks').mockImplementation(async (...args) => {
    await opened
    return blocks(...args)
  })
  const first = world.call('POST', path, {})
  await expect.poll(() => reading.mock.calls.length).toBeGreaterThan(0)
  expect((await world.call('POST', path, {})).status).toBe(429)
  open()
  reading.mockRestore()
  expect((await first).status).toBe(200)
  expect((await world.call('POST', path, {})).status).toBe(200)
})
