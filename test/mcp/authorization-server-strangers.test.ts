import { createServer, type Server } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import Database from 'better-sqlite3'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/domain/clock.ts'
import { siteNetwork } from '../../src/http/endpoint/network.ts'
import { gate } from '../gate.ts'
import { freePort } from '../ports.ts'
import { UserAgent } from '../user-agent.ts'
import {
  type AuthorizationServerWorld,
  allow,
  answerIn,
  REDIRECT_URI,
  startAuthorizationServer,
  toConsent,
} from './authorization-server-world.ts'

// What a stranger without a key makes the authorization server do: rows, outgoing requests, redirects.

let world: AuthorizationServerWorld
/** A server inside the network, which GATEPASS_ALLOWED_HOSTS permits for other purposes. */
let internal: Server
let connections = 0
beforeAll(async () => {
  world = await startAuthorizationServer()
  internal = createServer((_, response) => response.end('{}'))
  internal.on('connection', () => connections++)
  await new Promise<void>((resolve) => internal.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  vi.restoreAllMocks()
  await world[Symbol.asyncDispose]()
  internal.close()
})

const portOf = (server: Server) => (server.address() as { port: number }).port
const open = (one = world) => new Database(one.gatepass.databasePath)
function rows(one = world): number {
  const database = open(one)
  const { n } = database.prepare('select count(*) as n from mcp_records').get() as { n: number }
  database.close()
  return n
}

/** Publishes a client's metadata document on a host of the Internet. */
function publish(one: AuthorizationServerWorld, id: string, redirectUri: string): void {
  const { clientDocuments } = one.gatepass.broker
  vi.spyOn(clientDocuments, 'stream').mockImplementation(async () => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: new Blob([
      JSON.stringify({ client_id: id, client_name: 'X', redirect_uris: [redirectUri] }),
    ]).stream(),
  }))
}

describe('hosts inside the network', () => {
  test('are not asked for the metadata document of a client', async () => {
    const id = `https://127.0.0.1:${portOf(internal)}/client.json`
    const page = await new UserAgent().get(world.request(id).url)
    expect(page.status).toBe(400)
    expect(page.body).toContain('client_document')
    expect(connections).toBe(0)
  })

  test('are not asked for the keys of a client', async () => {
    const clientId = await world.newClient(REDIRECT_URI, {
      token_endpoint_auth_method: 'private_key_jwt',
      jwks_uri: `https://127.0.0.1:${portOf(internal)}/jwks`,
    })
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const { kid = 'k' } = await exportJWK(publicKey)
    const assertion = await new SignJWT({})
      .setProtectedHeader({ alg: 'ES256', kid })
      .setIssuer(clientId)
      .setSubject(clientId)
      .setAudience(world.gatepass.url)
      .setJti('1')
      .setIssuedAt()
      .setExpirationTime('1m')
      .sign(privateKey)
    const answer = await world.token({
      grant_type: 'authorization_code',
      client_id: clientId,
      code: 'x',
      redirect_uri: REDIRECT_URI,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion,
    })
    expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    expect(connections).toBe(0)
  })

  test('that the operator allows for clients are asked, and no answer tells what they said', async () => {
    await using own = await startAuthorizationServer({
      environment: { GATEPASS_MCP_CLIENT_HOSTS: '127.0.0.1' },
    })
    let asked = 0
    const plain = createTcpServer((socket) => {
      asked++
      socket.end('HTTP/1.1 200 OK\r\n\r\n')
    })
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
    const ports = [portOf(plain as Server), await freePort()]
    const answers = ports.map(async (port) => {
      const id = `https://127.0.0.1:${port}/client.json`
      const page = await new UserAgent().get(own.request(id).url)
      const { status, body } = await own.token({
        grant_type: 'refresh_token',
        client_id: id,
        refresh_token: 'x',
      })
      return [page.status, page.body.replaceAll(String(port), 'PORT'), status, body]
    })
    // documents on the Internet that are no JSON, or of another client
    const spy = vi.spyOn(own.gatepass.broker.clientDocuments, 'stream')
    const [first, ...others] = await Promise.all(answers)
    expect(asked).toBeGreaterThan(0)
    for (const [i, text] of [
      '<html>',
      '{"client_id":"https://other.test/"}',
      '[]',
      JSON.stringify({ client_id: 'https://other.test/', redirect_uris: [REDIRECT_URI] }),
    ].entries()) {
      spy.mockImplementation(async () => ({
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: new Blob([text]).stream(),
      }))
      const id = `https://127.0.0.1:${ports[1]}/${i}`
      const page = await new UserAgent().get(own.request(id).url)
      const { status, body } = await own.token({
        grant_type: 'refresh_token',
        client_id: id,
        refresh_token: 'x',
      })
      others.push([page.status, page.body.replaceAll(String(ports[1]), 'PORT'), status, body])
    }
    for (const one of others) expect(one).toEqual(first)
    plain.close()
  })
})

describe('a document that cannot be read', () => {
  test('is named by its host on the page, which says what helps; the log says why', async () => {
    const id = 'https://unreachable.invalid/client.json'
    const page = await new UserAgent().get(world.request(id).url)
    expect(page.status).toBe(400)
    expect(page.body).toContain('<bdi>unreachable.invalid</bdi>')
    expect(page.body).toContain('<code>GATEPASS_MCP_<wbr>CLIENT_<wbr>DOCUMENTS=off</code>')
    expect(world.gatepass.logLines.join('\n')).toContain('"host":"unreachable.invalid","why":"unreachable"')
  })

  test('is not fetched again for a while, and one address has few fetched', async () => {
    await using own = await startAuthorizationServer()
    const send = (id: string) => new UserAgent().get(own.request(id).url)
    const known = 'https://known.example.test/c.json'
    publish(own, known, REDIRECT_URI)
    expect((await send(known)).status).toBe(303)
    const spy = vi.spyOn(own.gatepass.broker.clientDocuments, 'stream').mockReset()
    spy.mockRejectedValue(new Error('away'))
    for (let i = 0; i < 3; i++) await send('https://hosted.example.test/one')
    expect(spy).toHaveBeenCalledTimes(1)
    const statuses = []
    for (let i = 0; i < 40; i++) statuses.push((await send(`https://hosted.example.test/${i}`)).status)
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(400))
    expect(statuses.at(-1)).toBe(429)
    expect(spy.mock.calls.length).toBeLessThan(40)
    // they do not stop a client whose document was read before, once it is fetched again
    publish(own, known, REDIRECT_URI)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
    try {
      expect((await send(known)).status).toBe(303)
    } finally {
      vi.useRealTimers()
    }
  })

  test('that does not answer, however many of them from however many addresses, stops no known client', async () => {
    await using own = await startAuthorizationServer({
      environment: { GATEPASS_TRUSTED_PROXIES: '127.0.0.1' },
    })
    const known = 'https://known.example.test/c.json'
    publish(own, known, REDIRECT_URI)
    const send = (id: string, from = '192.0.2.1') =>
      new UserAgent().get(own.request(id).url, { headers: { 'x-forwarded-for': from } })
    expect((await send(known)).status).toBe(303)
    const { opened, open } = gate()
    const spy = vi.spyOn(own.gatepass.broker.clientDocuments, 'stream').mockReset()
    let asked = 0
    spy.mockImplementation(async () => {
      asked++
      await opened
      throw new Error('away')
    })
    let refused = 0
    const waiting = Array.from({ length: 70 }, async (_, i) => {
      const { status } = await send(`https://hosted.example.test/${i}`, `198.51.100.${i}`)
      if (status === 429) refused++
    })
    await expect.poll(() => asked + refused).toBe(70)
    publish(own, known, REDIRECT_URI)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 })
    try {
      expect((await send(known)).status).toBe(303)
    } finally {
      vi.useRealTimers()
      open()
    }
    await Promise.all(waiting)
    expect(refused).toBeGreaterThan(0)
  })

  test.each([
    'HTTPS://hosted.example.test/c',
    'https://HOSTED.example.test/c',
    'https://hosted.example.test:443/c',
  ])('%s is another spelling of a client id, and is not fetched', async (id) => {
    const spy = vi
      .spyOn(world.gatepass.broker.clientDocuments, 'stream')
      .mockRejectedValue(new Error('asked'))
    expect((await new UserAgent().get(world.request(id).url)).status).toBe(400)
    expect(spy).not.toHaveBeenCalled()
    spy.mockRestore()
  })

  test('is asked for by no client where the setting takes them away', async () => {
    await using own = await startAuthorizationServer({
      environment: { GATEPASS_MCP_CLIENT_DOCUMENTS: 'off' },
    })
    const spy = vi.spyOn(own.gatepass.broker.clientDocuments, 'stream').mockRejectedValue(new Error('asked'))
    for (const path of ['oauth-authorization-server', 'openid-configuration']) {
      const { body } = await own.gatepass.call('GET', `/.well-known/${path}`)
      expect(body.client_id_metadata_document_supported).toBeUndefined()
      expect(body.registration_endpoint).toBeDefined()
    }
    const page = await new UserAgent().get(own.request('https://hosted.example.test/c').url)
    expect([page.status, spy.mock.calls.length]).toEqual([400, 0])
    expect(page.body).toContain('invalid_client')
    expect((await allow(new UserAgent(), own.request(await own.newClient()))).status).toBe(303)
  })
})

describe('a client on a host of its own', () => {
  test('has no browser sent there, unless its user has allowed it', async () => {
    await using own = await startAuthorizationServer()
    const id = 'https://evil.example.test/c.json'
    const redirect_uri = 'https://evil.example.test/phish'
    publish(own, id, redirect_uri)
    const silent = () => own.request(id, { redirect_uri, prompt: 'none' })
    const browser = new UserAgent()
    for (const agent of [new UserAgent(), browser]) {
      const page = await toConsent(agent, silent())
      expect([page.status, page.response.headers.get('location')]).toEqual([400, null])
    }
    expect((await allow(browser, own.request(id, { redirect_uri }))).status).toBe(303)
    expect(answerIn(await toConsent(browser, silent())).get('error')).toBe('consent_required')
    expect((await toConsent(new UserAgent(), silent())).status).toBe(400)
  })
})

describe('an authorization request', () => {
  test('leaves no row, and waits in the browser that sent it', async () => {
    const clientId = await world.newClient()
    const before = rows()
    const browser = new UserAgent()
    for (let i = 0; i < 5; i++) await new UserAgent().get(world.request(clientId).url)
    const request = world.request(clientId)
    const page = await toConsent(browser, request)
    expect(rows()).toBe(before)
    expect((await new UserAgent().get(page.url)).status).toBe(400)
    const back = await browser.submitForm(
      page,
      {},
      { button: 'allow', until: (to) => to.href.startsWith(REDIRECT_URI) },
    )
    expect(answerIn(back).get('code')).not.toBeNull()
    expect((await browser.get(page.url)).status).toBe(400)
  })

  test('that no cookie can hold is refused', async () => {
    const page = await new UserAgent().get(
      world.request(await world.newClient(), { state: 'x'.repeat(4_000) }).url,
    )
    expect(page.status).toBe(400)
    expect(page.body).toContain('error_description=The+authorization+request+is+too+long.')
  })

  test('that was answered gives no other code once the client is disconnected', async () => {
    const clientId = await world.newClient()
    const browser = new UserAgent()
    const page = await toConsent(browser, world.request(clientId))
    const answered = await browser.submitForm(page, {}, { button: 'allow', until: () => true })
    const resume = new URL(answered.response.headers.get('location') ?? '', page.url)
    const cookie = Object.entries(browser.cookies(resume))
      .map(([name, value]) => `${name}=${value}`)
      .join('; ')
    const copy = () => new UserAgent().get(resume, { headers: { cookie } })
    expect(
      new URL((await copy()).response.headers.get('location') ?? '').searchParams.get('code'),
    ).not.toBeNull()
    const { store } = world.gatepass.broker
    for (const { id } of await store.mcpConsents.ofUser(world.projectId, 'ada'))
      await store.mcpConsents.delete(world.projectId, id)
    expect((await copy()).response.headers.get('location') ?? '').not.toContain('code=')
  })
})

describe('the assertion of a client', () => {
  test('that a stranger has registered leaves no row', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const jwk = { ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' }
    const clientId = await world.newClient(REDIRECT_URI, {
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [jwk] },
    })
    const before = rows()
    for (const path of ['/token', '/revoke'])
      for (let i = 0; i < 3; i++) {
        const assertion = await new SignJWT({})
          .setProtectedHeader({ alg: 'ES256', kid: 'k' })
          .setIssuer(clientId)
          .setSubject(clientId)
          .setAudience(world.gatepass.url)
          .setJti(`${path} ${i}`)
          .setIssuedAt()
          .setExpirationTime('10y')
          .sign(privateKey)
        const form = new URLSearchParams({
          grant_type: 'authorization_code',
          client_id: clientId,
          code: 'x',
          token: 'x',
          redirect_uri: REDIRECT_URI,
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: assertion,
        })
        const { status } = await fetch(new URL(path, world.gatepass.url), { method: 'POST', body: form })
        // authenticated: the code is unknown, and the token to revoke need not exist
        expect(status).toBe(path === '/token' ? 400 : 200)
      }
    expect(rows()).toBe(before)
  })

  test.each([
    ['eleven', Array(11).fill({ kty: 'EC' })],
    ['one of 8,192 bits', [{ kty: 'RSA', n: 'x'.repeat(1366), e: 'AQAB' }]],
    ['one with a long exponent', [{ kty: 'RSA', n: 'x'.repeat(342), e: 'x'.repeat(342) }]],
  ])('is not verified with keys that cost much: %s', async (_, keys) => {
    const metadata = {
      redirect_uris: [REDIRECT_URI],
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys },
    }
    const { status, body } = await world.register(metadata)
    expect([status, body.error_description]).toEqual([400, expect.stringContaining('at most 10 keys')])
  })
})

describe('a registration', () => {
  test('is never refused: of too many clients the oldest of the largest network give way', async () => {
    let ahead = 0
    await using own = await startAuthorizationServer({ now: () => systemClock() + ahead })
    await own.newClient()
    const database = open(own)
    const insert = database.prepare(
      "insert into mcp_records (model, id, payload, expires_at, network) values ('Client', ?, 'x', ?, ?)",
    )
    const soon = Math.floor(Date.now() / 1000) + 3600
    database.transaction(() => {
      for (let i = 0; i < 10_000; i++)
        insert.run(`c${i}`, soon + i, i % 10 === 0 ? '198.51.100' : '203.0.113')
    })()
    const ofNetwork = (network: string) =>
      (
        database.prepare('select count(*) as n from mcp_records where network = ?').get(network) as {
          n: number
        }
      ).n
    ahead = 11 // a count is kept for 10 s
    for (let i = 0; i < 3; i++) await own.newClient()
    expect([ofNetwork('198.51.100'), ofNetwork('203.0.113'), ofNetwork('127.0.0')]).toEqual([1_000, 8_997, 4])
    expect(database.prepare("select 1 from mcp_records where id = 'c1'").get()).toBeUndefined()
    database.close()
  })

  test.each([
    ['192.0.2.7', '192.0.2'],
    ['::ffff:192.0.2.7', '192.0.2'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1'],
    ['2001:db8::6', '2001:db8:0'],
  ])('of %s belongs to the network %s', (address, network) => {
    expect(siteNetwork(address)).toBe(network)
  })

  test('of more than 8 KiB is refused', async () => {
    const answer = await world.register({ redirect_uris: [REDIRECT_URI], client_name: 'x'.repeat(9_000) })
    expect(answer.status).toBe(413)
  })
})
