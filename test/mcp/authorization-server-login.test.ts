import Database from 'better-sqlite3'
import { generateKeyPair, SignJWT } from 'jose'
import { describe, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/domain/clock.ts'
import { createAuthorizationServer } from '../../src/mcp/authorization-server/authorization-server.ts'
import { Gatepass as SdkClient } from '../../src/sdk/client/gatepass.ts'
import { runHere } from '../cli/gatepass.ts'
import { startGatepass } from '../gatepass.ts'
import { UserAgent } from '../user-agent.ts'
import {
  allow,
  codeIn,
  redeem,
  refresh,
  startAuthorizationServer,
  toConsent,
} from './authorization-server-world.ts'

const VERIFIER = 'https://app.example.test/verify'

describe('the login', () => {
  test('at the caller’s page: one parameter, and only the browser that began goes on', async () => {
    await using world = await startAuthorizationServer({
      environment: {
        GATEPASS_USER_VERIFIER: VERIFIER,
        GATEPASS_OIDC_CLIENT_ID: '',
        GATEPASS_OIDC_CLIENT_SECRET: '',
      },
    })
    const { gatepass } = world
    const request = world.request(await world.newClient())
    const browser = new UserAgent()
    const away = await browser.follow(request.url, { until: (to) => to.href.startsWith(VERIFIER) })
    const visit = new URL(away.response.headers.get('location') ?? '')
    expect([...visit.searchParams.keys()]).toEqual(['flow_id'])
    const flow_id = visit.searchParams.get('flow_id') ?? ''
    const confirm = (body: object, key = gatepass.apiKey) =>
      gatepass.call('POST', '/v1/auth/confirm_user', body, { key })
    expect((await confirm({ flow_id: `${flow_id}x`, user_id: 'ada' })).status).toBe(404)
    const foreign = await gatepass.makeKey('admin', 'another')
    expect((await confirm({ flow_id, user_id: 'ada' }, foreign)).status).toBe(404)
    const { status, body } = await confirm({ flow_id, user_id: 'ada' })
    expect(status).toBe(200)
    expect(new URL(body.next_uri).origin).toBe(gatepass.url)
    expect(body.next_uri).not.toContain('ada')
    expect((await new UserAgent().get(body.next_uri)).status).toBe(403)
    const page = await browser.follow(body.next_uri)
    expect(page.body).toContain('You are logged in as')
    expect(page.body).toContain('ada')
  })

  test('in development asks for the user id, and says that it is development', async () => {
    await using gatepass = await startGatepass({ mode: 'development' })
    const browser = new UserAgent()
    const page = await browser.follow(new URL('/me/clients', gatepass.url))
    expect(page.body).toContain('Development only')
    const clients = await browser.submitForm(page, { user_id: 'ada' })
    expect(clients.url).toBe(`${gatepass.url}/me/clients`)
    expect(clients.body).toContain('ada')
    expect((await new UserAgent().post(page.url, { state: 'forged', user_id: 'ada' })).status).toBe(403)
  })

  test('does not exist where no one vouches for users', async () => {
    await using gatepass = await startGatepass()
    for (const path of [
      '/.well-known/oauth-authorization-server',
      '/authorize',
      '/me/clients',
      '/login/open',
    ])
      expect((await gatepass.call('GET', path, undefined, { key: null })).status).toBe(404)
  })

  test('that is cancelled at the issuer says so, and can be tried again', async () => {
    await using world = await startAuthorizationServer()
    const request = world.request(await world.newClient())
    const browser = new UserAgent()
    world.issuer.behaviour.error = 'access_denied'
    const page = await browser.follow(request.url)
    expect(page.body).toContain('login_cancelled')
    world.issuer.behaviour.error = undefined
    const again = await browser.submitForm(page)
    expect(again.body).toContain('wants to use your tools')
  })

  test('is refused where the master key that sealed its cookie was replaced meanwhile, and nothing is reported', async () => {
    await using world = await startAuthorizationServer()
    const browser = new UserAgent()
    const list = new URL('/me/clients', world.gatepass.url)
    const { response } = await browser.follow(list, {
      until: ({ pathname }) => pathname === '/login/callback',
    })
    const back = new URL(response.headers.get('location') ?? '')
    const cookies = Object.entries(browser.cookies(back))
    expect(cookies.some(([name]) => name.startsWith('gatepass-login-'))).toBe(true)
    const cookie = cookies.map(
      ([name, value]) => `${name}=${value.replace(/^v2\.[0-9a-f]{8}\./, 'v2.00000000.')}`,
    )
    const page = await new UserAgent().get(back, { headers: { cookie: cookie.join('; ') } })
    expect(page.status).toBe(403)
    expect(page.body).toContain('unknown_login')
    expect(world.gatepass.logLines.join('\n')).not.toContain('an envelope does not open')
  })

  test('is asked for again where the client wants a fresh one, and after eight hours', async () => {
    let ahead = 0
    await using world = await startAuthorizationServer({ now: () => systemClock() + ahead })
    const browser = new UserAgent()
    const clientId = await world.newClient()
    const logins = () => world.issuer.requestsTo('/authorize').length
    await toConsent(browser, world.request(clientId))
    await toConsent(browser, world.request(clientId))
    expect(logins()).toBe(1)
    ahead = 8 * 3600
    await toConsent(browser, world.request(clientId))
    expect(logins()).toBe(2)
  })
})

describe('users', () => {
  test('see their own clients and disconnect them: the tokens are refused at once, on every node', async () => {
    await using world = await startAuthorizationServer()
    const { gatepass, projectId, resource } = world
    await using second = await startGatepass({
      databasePath: gatepass.databasePath,
      environment: {
        GATEPASS_PUBLIC_URL: gatepass.url,
        GATEPASS_USER_VERIFIER: `oidc:${world.issuer.issuer}`,
        GATEPASS_OIDC_CLIENT_ID: world.issuer.clientId,
        GATEPASS_OIDC_CLIENT_SECRET: world.issuer.clientSecret,
      },
    })
    const onSecond = createAuthorizationServer(second.broker, { projectId }).verify
    const client = await world.connect()
    const { browser } = client
    expect(await onSecond(client.accessToken, resource)).toMatchObject({ outcome: 'valid', userId: 'ada' })
    expect(await world.verify(client.accessToken, resource)).toMatchObject({ outcome: 'valid' })

    world.signIn('bob')
    const bob = await world.connect()
    const list = await browser.get(new URL('/me/clients', gatepass.url))
    expect(list.body.match(/value="disconnect"/g)).toHaveLength(1)
    const [bobs] = (await gatepass.call('GET', '/v1/admin/mcp_clients?user_id=bob')).body.items
    expect(bobs).toMatchObject({ client_id: bob.clientId, scopes: ['mcp'], last_used_at: expect.any(String) })
    const csrf = /name="csrf" value="([^"]+)"/.exec(list.body)?.[1] ?? ''
    await browser.post(list.url, { csrf, id: bobs.id, decision: 'disconnect' })
    await browser.post(list.url, { id: 'x', decision: 'disconnect' }, { from: 'https://evil.test/' })
    expect(await world.verify(bob.accessToken, resource)).toMatchObject({ outcome: 'valid' })

    const after = await browser.submitForm(list, {}, { button: 'disconnect' })
    expect(after.body).toContain('No applications are connected')
    expect(await world.verify(client.accessToken, resource)).toMatchObject({ reason: 'revoked' })
    await expect.poll(() => onSecond(client.accessToken, resource)).toMatchObject({ reason: 'revoked' })
    expect((await world.token(refresh(client))).status).toBe(400)
    expect((await toConsent(browser, world.request(client.clientId))).status).toBe(200)

    const removed = await gatepass.call('DELETE', `/v1/admin/mcp_clients/${bobs.id}`)
    expect(removed.status).toBe(204)
    expect(await world.verify(bob.accessToken, resource)).toMatchObject({ reason: 'revoked' })
    expect((await gatepass.call('DELETE', `/v1/admin/mcp_clients/${bobs.id}`)).status).toBe(404)
    const trail = await gatepass.call('GET', '/v1/admin/audit?action=mcp_client.revoked')
    expect(trail.body.items.map(({ reason }: { reason: string }) => reason)).toEqual([
      'administrator',
      'user',
    ])
  })
})

test('administrators list and disconnect the clients of all users, by command and by the SDK', async () => {
  await using world = await startAuthorizationServer()
  const { url, apiKey } = world.gatepass
  const environment = { GATEPASS_URL: url, GATEPASS_API_KEY: apiKey }
  expect((await runHere(environment, 'mcp-clients')).stdout).toContain('No MCP clients.')
  const client = await world.connect()
  const { mcpClients } = new SdkClient({ baseUrl: url, apiKey }).admin
  const [listed] = await mcpClients.list({ user: 'ada' }).toArray()
  expect(listed).toMatchObject({ user_id: 'ada', client_id: client.clientId, client_name: 'Test client' })
  const table = await runHere(environment, 'mcp-clients', '--user', 'ada')
  expect(table.stdout).toMatch(/mcpc_\w+ +ada +Test client +https:\/\/client\.example\.test\/callback +mcp /)
  expect(await runHere(environment, 'mcp-clients', 'delete', listed?.id ?? '')).toMatchObject({ code: 0 })
  expect(await world.verify(client.accessToken, world.resource)).toMatchObject({ reason: 'revoked' })
  await world.connect()
  const [again] = await mcpClients.list().toArray()
  await mcpClients.delete(again?.id ?? '')
  expect(await mcpClients.list().toArray()).toEqual([])
})

describe('nodes', () => {
  test('share everything: begun on one, allowed and redeemed on another, and after a restart', async () => {
    await using world = await startAuthorizationServer()
    const { gatepass } = world
    const clientId = await world.newClient()
    const request = world.request(clientId)
    const code = codeIn(await allow(new UserAgent(), request))
    const second = await startGatepass({
      databasePath: gatepass.databasePath,
      environment: {
        GATEPASS_PUBLIC_URL: gatepass.url,
        GATEPASS_USER_VERIFIER: `oidc:${world.issuer.issuer}`,
        GATEPASS_OIDC_CLIENT_ID: world.issuer.clientId,
        GATEPASS_OIDC_CLIENT_SECRET: world.issuer.clientSecret,
      },
    })
    const redeemed = await fetch(new URL('/token', `http://127.0.0.1:${second.config.port}`), {
      method: 'POST',
      body: new URLSearchParams(redeem(clientId, request, code)),
    })
    expect(redeemed.status).toBe(200)
    const { access_token, refresh_token } = await redeemed.json()
    await second.close()
    expect(await world.verify(access_token, world.resource)).toMatchObject({ outcome: 'valid' })
    expect((await world.token(refresh({ clientId, refreshToken: refresh_token }))).status).toBe(200)
    const keys = await gatepass.call('GET', '/jwks', undefined, { key: null })
    expect(keys.body.keys).toHaveLength(1)
    expect(keys.body.keys[0].d).toBeUndefined()
  })

  test('read the keys again for a token of an unknown key alone, at most once in five seconds', async () => {
    let ahead = 0
    await using world = await startAuthorizationServer({ now: () => systemClock() + ahead })
    const { gatepass } = world
    const { broker } = gatepass
    const [{ kid }] = (await gatepass.call('GET', '/jwks', undefined, { key: null })).body.keys
    const { privateKey } = await generateKeyPair('ES256')
    const present = async (kid: string) => {
      const token = await new SignJWT({ client_id: 'c', grant_id: 'g' })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid })
        .setIssuer(broker.settings.publicUrl.origin)
        .setSubject('ada')
        .setAudience(`${broker.settings.publicUrl.origin}/mcp`)
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(privateKey)
      const { status } = await gatepass.call('POST', '/mcp', {}, { key: token })
      expect(status).toBe(401)
    }
    const reads = vi.spyOn(broker.store.facts, 'find')
    const readsOf = async (kid: string) => {
      reads.mockClear()
      await Promise.all(Array.from({ length: 10 }, () => present(kid)))
      return reads.mock.calls.filter(([name]) => name === 'mcp_signing_keys').length
    }
    ahead += 10
    expect(await readsOf(kid)).toBe(0)
    expect(await readsOf('unknown')).toBe(1)
    expect(await readsOf('another')).toBe(0)
  })

  test('replace the signing key after 90 days; tokens of the old one are valid for their hour', async () => {
    let ahead = 0
    await using world = await startAuthorizationServer({ now: () => systemClock() + ahead })
    const kids = async () =>
      (await world.gatepass.call('GET', '/jwks', undefined, { key: null })).body.keys.map(
        ({ kid }: { kid: string }) => kid,
      )
    const [first] = await kids()
    ahead = 90 * 24 * 3600
    const both = await kids()
    expect(both).toHaveLength(2)
    expect(both[1]).toBe(first)
    ahead += 2 * 3600
    expect(await kids()).toEqual([both[0]])
  })

  test('forget a registered client that no user has approved after a day', async () => {
    let ahead = 0
    await using world = await startAuthorizationServer({ now: () => systemClock() + ahead })
    const used = await world.connect()
    const unused = await world.newClient()
    ahead = 24 * 3600
    const asks = async (id: string) => (await new UserAgent().get(world.request(id).url)).status
    expect(await asks(unused)).toBe(400)
    expect(await asks(used.clientId)).toBe(303)
  })

  test('keep no code and no token readable in the database, and no secret in the log', async () => {
    await using world = await startAuthorizationServer({ environment: { GATEPASS_LOG_LEVEL: 'debug' } })
    const client = await world.connect()
    // a code that its client has not redeemed yet
    const code = codeIn(await allow(client.browser, world.request(client.clientId)))
    const { broker, logLines } = world.gatepass
    expect(JSON.stringify(await broker.store.envelopes.countByKey())).toContain('mcpRecords')
    await broker.store.probe() // what is committed is in the file
    const database = new Database(world.gatepass.databasePath, { readonly: true })
    await using _ = { [Symbol.asyncDispose]: async () => void database.close() }
    const tables = database.prepare("select name from sqlite_master where type = 'table'").pluck().all()
    const rows = tables.map((name) => JSON.stringify(database.prepare(`select * from "${name}"`).all()))
    for (const secret of [code, client.accessToken, client.refreshToken]) {
      expect(logLines.join('\n')).not.toContain(secret)
      expect(rows.join('\n')).not.toContain(secret)
    }
  })
})
