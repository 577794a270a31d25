import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { UserAgent } from '../user-agent.ts'
import {
  type AuthorizationServerWorld,
  allow,
  answerIn,
  codeIn,
  redeem,
  refresh,
  startAuthorizationServer,
  toConsent,
} from './authorization-server-world.ts'

let world: AuthorizationServerWorld
beforeAll(async () => {
  world = await startAuthorizationServer()
})
afterAll(() => world[Symbol.asyncDispose]())

describe('a client', () => {
  test('reads the metadata, registers, sends its user to log in and to allow it, and gets tokens', async () => {
    const { gatepass, resource } = world
    const metadata = await gatepass.call('GET', '/.well-known/oauth-authorization-server', undefined, {
      key: null,
    })
    expect(metadata.body).toMatchObject({ issuer: gatepass.url, token_endpoint: `${gatepass.url}/token` })
    const clientId = await world.newClient()
    const request = world.request(clientId)
    const browser = new UserAgent()
    const page = await toConsent(browser, request)
    expect(page.status).toBe(200)
    expect(page.body).toContain('Test client')
    expect(page.body).toContain('ada')
    const back = await allow(browser, request)
    const answer = answerIn(back)
    expect(answer.get('state')).toBe(request.state)
    expect(answer.get('iss')).toBe(gatepass.url)
    const { status, body } = await world.token(redeem(clientId, request, codeIn(back)))
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 3600, scope: 'mcp' })
    expect(status).toBe(200)
    expect(await world.verify(body.access_token, resource)).toMatchObject({
      outcome: 'valid',
      userId: 'ada',
      clientId,
      scopes: ['mcp'],
    })
    const again = await world.token(refresh({ clientId, refreshToken: body.refresh_token }))
    expect(again.status).toBe(200)
    expect(await world.verify(again.body.access_token, resource)).toMatchObject({ outcome: 'valid' })
  })
})

describe('an official client', () => {
  test('finds the way from the 401 of /mcp, logs its user in, and lists the tools', async () => {
    const { gatepass, resource } = world
    const redirectUrl = 'http://localhost:33418/callback'
    const state: {
      client?: OAuthClientInformationMixed
      tokens?: OAuthTokens
      verifier?: string
      page?: URL
    } = {}
    const authProvider: OAuthClientProvider = {
      redirectUrl,
      clientMetadata: {
        client_name: 'Official client',
        redirect_uris: [redirectUrl],
        grant_types: ['authorization_code', 'refresh_token'],
      },
      clientInformation: () => state.client,
      saveClientInformation: (client) => void Object.assign(state, { client }),
      tokens: () => state.tokens,
      saveTokens: (tokens) => void Object.assign(state, { tokens }),
      redirectToAuthorization: (page) => void Object.assign(state, { page }),
      saveCodeVerifier: (verifier) => void Object.assign(state, { verifier }),
      codeVerifier: () => state.verifier ?? '',
    }
    const connect = async () => {
      const transport = new StreamableHTTPClientTransport(new URL(resource), { authProvider })
      const client = new Client({ name: 'official', version: '1' })
      return { transport, client, connected: client.connect(transport) }
    }
    const first = await connect()
    await expect(first.connected).rejects.toThrow(UnauthorizedError)
    expect(state.page?.searchParams.get('resource')).toBe(resource)
    const browser = new UserAgent()
    const request = { url: state.page?.href ?? '', redirectUri: redirectUrl, codeVerifier: '', state: '' }
    const answer = answerIn(await allow(browser, request))
    await first.transport.finishAuth(answer)
    const second = await connect()
    await second.connected
    const { tools } = await second.client.listTools()
    expect(tools.map(({ name }) => name)).toContain('gatepass_connections')
    await second.client.close()

    const clients = await gatepass.call('GET', '/v1/admin/mcp_clients?user_id=ada&limit=100')
    const own = clients.body.items.find(
      (one: { client_name: string }) => one.client_name === 'Official client',
    )
    await gatepass.call('DELETE', `/v1/admin/mcp_clients/${own.id}`)
    const refused = await fetch(resource, {
      method: 'POST',
      headers: { authorization: `Bearer ${state.tokens?.access_token}`, 'content-type': 'application/json' },
      body: '{}',
    })
    expect(refused.status).toBe(401)
  })
})
