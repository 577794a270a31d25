import { generateKeyPairSync } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { exportConnections } from '../../src/features/imports/export-connections.ts'
import { onBothDatabases } from '../features/approvals/both-databases.ts'
import { type GatepassOptions, startGatepass, testClock } from '../gatepass.ts'
import { type OAuth1Server, startOAuth1Server } from '../oauth1-server.ts'
import { UserAgent } from '../user-agent.ts'
import { approve, click } from './fixtures.ts'

// OAuth 1.0a (RFC 5849), from the click to signed requests.

interface WorldOptions {
  readonly server?: Parameters<typeof startOAuth1Server>[0]
  readonly oauth1?: Readonly<Record<string, unknown>>
  readonly gatepass?: GatepassOptions
}

async function startWorld({ server: given, oauth1, gatepass: options }: WorldOptions = {}) {
  const now = testClock()
  const server = await startOAuth1Server({ now, ...given })
  const gatepass = await startGatepass({ now, ...options })
  const added = await gatepass.call('POST', '/v1/admin/auth_providers', {
    id: 'photos',
    type: 'oauth1',
    oauth1: {
      client_id: server.clientId,
      client_secret: server.clientSecret,
      temporary_request: { endpoint: `${server.url}/temporary` },
      authorize_request: { endpoint: `${server.url}/authorize`, params: { name: 'Gatepass' } },
      token_request: { endpoint: `${server.url}/token` },
      account: { id: ['$.user_id', '$.id'], name: ['$.screen_name', '$.login'] },
      api: { base_url: `${server.url}/api` },
      ...oauth1,
    },
  })
  const begin = async (user_id = 'u1') =>
    (await gatepass.call('POST', '/v1/auth/authorize', { auth_requirement: { id: 'photos' }, user_id }))
      .body as {
      id: string
      url: string
    }
  const status = async (id: string) => (await gatepass.call('GET', `/v1/auth/status?id=${id}`)).body
  const world = {
    now,
    server,
    gatepass,
    added,
    begin,
    status,
    async connect(user?: string) {
      const { id, url } = await begin(user)
      const page = await click(url)
      return { id, page, status: await status(id) }
    },
    proxy: (path: string, init: RequestInit = {}) =>
      fetch(`${gatepass.url}/proxy/photos${path}`, {
        ...init,
        headers: {
          authorization: `Bearer ${gatepass.apiKey}`,
          'x-gatepass-user': 'u1',
          ...(init.headers as Record<string, string>),
        },
      }),
    async [Symbol.asyncDispose]() {
      await gatepass.close()
      await server[Symbol.asyncDispose]()
    },
  }
  return world
}

const secretsOf = ({ issued, clientSecret }: OAuth1Server) => [
  clientSecret,
  ...issued.flatMap(({ token, secret }) => [token, secret]),
]

const { publicKey, privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})

describe('a user connects', () => {
  test.each(['HMAC-SHA1', 'HMAC-SHA256', 'RSA-SHA1', 'PLAINTEXT'])('with %s', async (signature_method) => {
    const rsa = signature_method === 'RSA-SHA1' && { clientSecret: privateKey, publicKey }
    await using world = await startWorld({
      server: { signatureMethod: signature_method, realm: 'Photos of ada', ...rsa },
      oauth1: { signature_method, realm: 'Photos of ada' },
    })
    expect(world.added).toMatchObject({
      status: 201,
      body: { type: 'oauth1', oauth1: { signature_method, client_secret: { exists: true } } },
    })
    const { status } = await world.connect()
    expect(world.server.refused).toEqual([])
    expect(status).toMatchObject({ status: 'completed', context: { token_type: 'oauth1' } })
    expect(status.context.token).toBeUndefined()
    const { items } = (await world.gatepass.call('GET', '/v1/connections?user_id=u1')).body
    expect(items).toMatchObject([{ account: { id: '7', name: 'ada' }, status: 'active' }])
    expect(items[0].expires_at ?? null).toBeNull()
    const answered = await world.proxy('/me?z=%C3%BC&a=1+2&a=0')
    expect(answered.status).toBe(200)
    expect((await answered.json()).params).toEqual({ z: 'ü', a: '0' })
  })

  test('the browser carries the temporary token, the state rides in the callback, and the trail names the step', async () => {
    await using world = await startWorld()
    const { id, url } = await world.begin()
    const { callback } = await approve(url)
    expect([...callback.searchParams.keys()]).toEqual(['state', 'oauth_token', 'oauth_verifier'])
    const { steps } = (await world.gatepass.call('GET', `/v1/auth/${id}/explain`)).body
    const asked = steps.find(({ step }: { step: string }) => step === 'temporary_credentials')
    expect(asked.details).toMatchObject({ endpoint: `${world.server.url}/temporary`, status: 200 })
    const sent = steps.find(({ step }: { step: string }) => step === 'sent_to_provider')
    expect(sent.details).toMatchObject({
      endpoint: `${world.server.url}/authorize`,
      parameters: ['name', 'oauth_token'],
    })
  })

  test.each(onBothDatabases)(
    'a signed request for user info names the account, on %s',
    async (_, optionsOf) => {
      await using world = await startWorld({ gatepass: await optionsOf() })
      await world.gatepass.call('PATCH', '/v1/admin/auth_providers/photos', {
        oauth1: {
          user_info_request: { endpoint: `${world.server.url}/api/me` },
          account: { id: ['$.id'], name: ['$.login'] },
        },
      })
      expect((await world.connect()).status.status).toBe('completed')
      const { items } = (await world.gatepass.call('GET', '/v1/connections?user_id=u1')).body
      expect(items).toMatchObject([{ account: { id: '7', name: 'ada' } }])
    },
  )

  test.each(onBothDatabases)(
    'threat: a server that does not confirm the callback is refused, and no browser is sent there, on %s',
    async (_, optionsOf) => {
      await using world = await startWorld({ gatepass: await optionsOf() })
      world.server.behaviour.confirmsCallback = false
      const { id, page } = await world.connect()
      expect(page.hops.filter(({ location }) => location.startsWith(world.server.url))).toEqual([])
      expect(await world.status(id)).toMatchObject({
        status: 'failed',
        reason: 'provider_bad_response',
      })
    },
  )

  test('threat: what the server repeats of a secret is no user info, no account and no error', async () => {
    await using world = await startWorld()
    const { gatepass, server } = world
    await gatepass.call('PATCH', '/v1/admin/auth_providers/photos', {
      oauth1: {
        user_info_request: { endpoint: `${server.url}/api/me` },
        account: { id: ['$.id'], name: ['$.echo[0]', '$.echo[1]', '$.echo[2]'] },
      },
    })
    const { status } = await world.connect()
    expect(status).toMatchObject({ status: 'completed', context: { user_info: { login: 'ada' } } })
    const { body: connections } = await gatepass.call('GET', '/v1/connections')
    expect(connections.items).toMatchObject([{ account: { id: '7' } }])
    server.behaviour.problem = server.clientSecret
    const refused = await world.connect('u2')
    expect(refused.status).toMatchObject({ status: 'failed', reason: 'invalid_client' })
    const { body: explained } = await gatepass.call('GET', `/v1/admin/authorizations/${refused.id}/explain`)
    const shown = [status, connections, refused.page.body, explained].map((one) => JSON.stringify(one))
    for (const secret of secretsOf(server))
      for (const text of [...shown, ...gatepass.logLines]) expect(text).not.toContain(secret)
  })

  test.each(onBothDatabases)(
    'threat: the token of another request is not redeemed, on %s',
    async (_, optionsOf) => {
      await using world = await startWorld({ gatepass: await optionsOf() })
      const theirs = await world.begin('mallory')
      const stolen = (await approve(theirs.url)).callback.searchParams.get('oauth_token') ?? ''
      world.server.behaviour.returnsToken = stolen
      const { status } = await world.connect()
      expect(status).toMatchObject({ status: 'failed', reason: 'provider_bad_response' })
      expect(world.server.issued).toEqual([])
      expect(world.server.accepted.map(({ path }) => path)).not.toContain('/token')
    },
  )

  test.each(onBothDatabases)(
    'threat: the callback in another browser changes nothing, on %s',
    async (_, optionsOf) => {
      await using world = await startWorld({ gatepass: await optionsOf() })
      const { id, url } = await world.begin()
      const { callback } = await approve(url)
      await new UserAgent().follow(callback)
      expect((await world.status(id)).status).toBe('pending')
      expect(world.server.issued).toEqual([])
    },
  )

  test('threat: with a fixed callback, the cookie and the token bind the attempt', async () => {
    await using world = await startWorld({ oauth1: { fixed_callback: true } })
    const first = await world.begin()
    const { browser, callback } = await approve(first.url)
    expect([...callback.searchParams.keys()]).toEqual(['oauth_token', 'oauth_verifier'])
    await new UserAgent().follow(callback)
    expect((await world.status(first.id)).status).toBe('pending')
    // a stranger's answer in this browser is not redeemed
    const theirs = (await approve((await world.begin('mallory')).url)).callback
    await browser.follow(theirs)
    expect(await world.status(first.id)).toMatchObject({
      status: 'failed',
      reason: 'provider_bad_response',
    })
    expect(world.server.issued).toEqual([])
    expect((await world.connect()).status.status).toBe('completed')
  })

  test.each(onBothDatabases)('a refusal at the server is the user’s refusal, on %s', async (_, optionsOf) => {
    await using world = await startWorld({ gatepass: await optionsOf() })
    world.server.behaviour.denies = true
    expect((await world.connect()).status).toMatchObject({
      status: 'failed',
      reason: 'access_denied',
    })
  })

  test.each(onBothDatabases)('a wrong client secret is the operator’s fault, on %s', async (_, optionsOf) => {
    await using world = await startWorld({ oauth1: { client_secret: 'wrong' }, gatepass: await optionsOf() })
    expect((await world.connect()).status).toMatchObject({
      status: 'failed',
      reason: 'invalid_client',
    })
  })
})

describe('requests of the proxy', () => {
  test.each(onBothDatabases)(
    'query, form and JSON are signed as the RFC says, each with a nonce of its own, on %s',
    async (_, optionsOf) => {
      await using world = await startWorld({ gatepass: await optionsOf() })
      await world.connect()
      const form = {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' },
      }
      const json = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"a":"b=c&d"}' }
      const answers = await Promise.all([
        world.proxy('/x?q=a%20b%2Bc&q=~'),
        world.proxy('/x?q=1', { ...form, body: 'status=Hello+W%C3%B6rld%21&empty=&b=*' }),
        world.proxy('/x', json),
        world.proxy('/x', { method: 'DELETE' }),
      ])
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      expect(world.server.refused).toEqual([])
    },
  )

  test('a form of more than 256 KiB cannot be signed, JSON of that size can', async () => {
    await using world = await startWorld()
    await world.connect()
    const body = `a=${'x'.repeat(300_000)}`
    const send = (type: string) =>
      world.proxy('/x', { method: 'POST', headers: { 'content-type': type }, body })
    const refused = await send('application/x-www-form-urlencoded')
    expect(refused.status).toBe(413)
    expect(refused.headers.get('x-gatepass-error')).toBe('request_too_large')
    expect((await send('text/plain')).status).toBe(200)
  })

  test('no answer repeats a secret, and no token is handed out', async () => {
    await using world = await startWorld({
      server: { signatureMethod: 'PLAINTEXT' },
      oauth1: { signature_method: 'PLAINTEXT' },
    })
    const { id } = await world.connect()
    const text = await (await world.proxy('/echo')).text()
    for (const secret of secretsOf(world.server)) {
      expect(text).not.toContain(secret)
      expect(text).not.toContain(encodeURIComponent(secret))
    }
    const { items } = (await world.gatepass.call('GET', '/v1/connections?user_id=u1')).body
    const token = await world.gatepass.call('POST', `/v1/connections/${items[0].id}/token`, {})
    expect(token).toMatchObject({ status: 409, body: { name: 'proxy_only' } })
    const said = JSON.stringify([
      await world.status(id),
      items,
      token,
      (await world.gatepass.call('GET', `/v1/auth/${id}/explain`)).body,
      (await world.gatepass.call('GET', '/v1/admin/auth_providers/photos')).body,
      (await world.gatepass.call('GET', '/v1/admin/audit')).body,
    ])
    for (const secret of secretsOf(world.server)) expect(said).not.toContain(secret)
    const folder = dirname(world.gatepass.databasePath)
    const files = (await readdir(folder)).filter((name) =>
      name.startsWith(basename(world.gatepass.databasePath)),
    )
    const stored = (await Promise.all(files.map((name) => readFile(join(folder, name), 'latin1')))).join('')
    expect(stored).toContain(world.server.url)
    for (const secret of secretsOf(world.server)) expect(stored).not.toContain(secret)
  })

  test.each(onBothDatabases)(
    'a token that the API refuses twice, a minute apart, needs a new consent, on %s',
    async (_, optionsOf) => {
      await using world = await startWorld({ gatepass: await optionsOf() })
      await world.connect()
      world.server.behaviour.isRevoked = true
      world.now.advance(100)
      expect((await world.proxy('/x')).status).toBe(401)
      world.now.advance(100)
      expect((await world.proxy('/x')).status).toBe(403)
      const { items } = (await world.gatepass.call('GET', '/v1/connections?user_id=u1')).body
      expect(items).toMatchObject([{ status: 'needs_authorization' }])
      world.server.behaviour.isRevoked = false
      expect((await world.connect()).status.status).toBe('completed')
      expect((await world.proxy('/x')).status).toBe(200)
    },
  )

  test.each(onBothDatabases)(
    'disconnecting revokes nothing at the server, and says so, on %s',
    async (_, optionsOf) => {
      await using world = await startWorld({ gatepass: await optionsOf() })
      await world.connect()
      const { items } = (await world.gatepass.call('GET', '/v1/connections?user_id=u1')).body
      const gone = await world.gatepass.call('DELETE', `/v1/connections/${items[0].id}`)
      expect(gone.body.revocation).toBe('unsupported')
      expect((await world.proxy('/x')).status).toBe(403)
    },
  )
})

describe('a tool', () => {
  const form = {
    'application/x-www-form-urlencoded': {
      schema: { type: 'object', properties: { note: { type: 'string' } } },
    },
  }
  const operation = (operationId: string, more: object = {}) => ({
    operationId,
    parameters: [{ name: 'q', in: 'query', schema: { type: 'string' } }],
    security: [{ photos: [] }],
    responses: { 200: { description: 'ok' } },
    ...more,
  })
  const document = (url: string) => ({
    openapi: '3.1.0',
    info: { title: 'Photos', version: '1' },
    servers: [{ url }],
    paths: {
      '/api/things': {
        get: operation('listThings'),
        post: operation('addThing', { requestBody: { content: form } }),
      },
    },
    components: {
      securitySchemes: {
        photos: {
          type: 'oauth2',
          flows: { clientCredentials: { tokenUrl: 'https://login.example.com/token', scopes: {} } },
        },
      },
    },
  })

  test('that is an HTTP request signs it, query and form', async () => {
    await using world = await startWorld()
    await world.connect()
    const openapi = { document: document(world.server.url), namespace: 'photos' }
    const added = await world.gatepass.call('POST', '/v1/workers', { id: 'things', openapi })
    expect(added.status, JSON.stringify(added.body)).toBe(201)
    const run = async (tool_name: string, input: object) =>
      (await world.gatepass.call('POST', '/v1/tools/execute', { tool_name, input, user_id: 'u1' })).body
    const listed = await run('photos.listThings', { q: 'a b+c&d' })
    expect(listed.output, JSON.stringify(listed)).toMatchObject({
      value: { id: 7, params: { q: 'a b+c&d' } },
    })
    const posted = await run('photos.addThing', { q: 'x', note: 'Hello Wörld & *' })
    expect(posted.output, JSON.stringify(posted)).toMatchObject({
      value: { params: { note: 'Hello Wörld & *' } },
    })
    for (const secret of secretsOf(world.server))
      expect(JSON.stringify([listed, posted])).not.toContain(secret)
    expect(world.server.refused).toEqual([])
  })
})

describe('connections that are moved', () => {
  test.each(onBothDatabases)(
    'have the secret of their token, without which they are refused, on %s',
    async (_kind, optionsOf) => {
      await using world = await startWorld({ gatepass: await optionsOf() })
      await world.connect()
      const { broker } = world.gatepass
      const [project] = await broker.store.projects.list()
      const counts = { written: 0, leftOut: 0 }
      const rows: object[] = []
      for await (const row of exportConnections(broker, project?.id ?? '', {}, counts)) rows.push(row)
      const [row] = JSON.parse(JSON.stringify(rows))
      expect(row).toMatchObject({
        access_token: world.server.issued[0]?.token,
        token_secret: world.server.issued[0]?.secret,
      })
      const importRow = async (connection: object) =>
        (
          await world.gatepass.call('POST', '/v1/admin/user_connections/import', {
            connections: [connection],
          })
        ).body.items
      const { token_secret: _, ...without } = row
      expect(await importRow({ ...without, user_id: 'u2' })).toMatchObject([
        { result: 'refused', member: 'token_secret' },
      ])
      expect(await importRow({ ...row, user_id: 'u2' })).toMatchObject([{ result: 'created' }])
      expect((await world.proxy('/x', { headers: { 'x-gatepass-user': 'u2' } })).status).toBe(200)
    },
  )
})

describe('settings', () => {
  test.each([
    ['members of another type', { type: 'oauth1', oauth2: { client_id: 'c' } }, 'oauth2'],
    [
      'no request for temporary credentials',
      { type: 'oauth1', oauth1: { client_id: 'c' } },
      'oauth1.temporary_request',
    ],
    ['an unknown signature method', { oauth1: { signature_method: 'MD5' } }, 'oauth1.signature_method'],
    ['a realm that ends its quotes', { oauth1: { realm: 'a", oauth_token="b' } }, 'oauth1.realm'],
  ])('%s is refused', async (_, body, path) => {
    await using gatepass = await startGatepass()
    const refused = await gatepass.call('POST', '/v1/admin/auth_providers', { id: 'p', ...body })
    expect(refused.status).toBe(400)
    expect(JSON.stringify(refused.body)).toContain(path)
  })

  test('a change keeps what it leaves out, and an answer can be sent back', async () => {
    await using world = await startWorld({ oauth1: { realm: 'r' } })
    const at = '/v1/admin/auth_providers/photos'
    const before = (await world.gatepass.call('GET', at)).body
    const changed = await world.gatepass.call('PATCH', at, { oauth1: { signature_method: 'HMAC-SHA256' } })
    expect(changed.body.oauth1).toEqual({ ...before.oauth1, signature_method: 'HMAC-SHA256' })
    const { oauth1 } = changed.body
    const { client_secret: _, ...sendable } = oauth1
    expect((await world.gatepass.call('PATCH', at, { oauth1: sendable })).body.oauth1).toEqual(oauth1)
  })
})
