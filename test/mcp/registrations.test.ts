import { randomUUID } from 'node:crypto'
import {
  Client,
  createPrivateKeyJwtAuth,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { decodeJwt, exportJWK, exportPKCS8, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runConformanceSuite } from '../conformance-suite.ts'
import { verifierOf } from '../flows/login-fixtures.ts'
import { approve, startWorld, type World } from '../http/world.ts'
import { listenHttps } from '../https-loopback.ts'
import { answerJson, type Loopback } from '../loopback.ts'
import { type OidcProvider, startOidcProvider } from '../oidc-provider.ts'
import { freePort } from '../ports.ts'
import { UserAgent } from '../user-agent.ts'
import { type ClientRegistration, REGISTRATIONS } from './client-registrations.ts'
import { ERAS, type Era } from './clients.ts'
import { exchange, legacy } from './raw.ts'

// The registrations of well-known MCP clients: each registers, has its user log in at the verifier and allow it, gets
// tokens for the resource, lists and calls. The OAuth and MCP client is the official one.

const USER = 'ada'

let oidc: OidcProvider
let documents: Loopback
const published = new Map<string, unknown>()
let world: World
let keys: { readonly pem: string; readonly jwk: object }
beforeAll(async () => {
  let redirectUri = ''
  oidc = await startOidcProvider({
    redirectUris: () => [redirectUri],
    account: { sub: USER, name: 'Ada', email: 'ada@example.test' },
  })
  documents = await listenHttps((req, res) => {
    const document = published.get(req.url ?? '')
    answerJson(res, document === undefined ? 404 : 200, document ?? {})
  })
  const environment = { ...verifierOf(oidc), GATEPASS_MCP_CLIENT_HOSTS: '127.0.0.1' }
  world = await startWorld({ gatepass: { environment } })
  redirectUri = `${world.gatepass.url}/login/callback`
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  keys = {
    pem: await exportPKCS8(privateKey),
    jwk: { ...(await exportJWK(publicKey)), kid: 'key-1', alg: 'RS256', use: 'sig' },
  }
  const { body } = await world.call('POST', '/v1/toolsets', { id: 'demo', namespaces: ['Demo'] })
  expect(body.id).toBe('demo')
})
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
  await documents?.close()
  await oidc?.close()
})

/** Publishes the client's metadata document, or registers the client. Returns what its OAuth client knows of itself. */
async function introduce({ by, metadata, signsAssertions }: ClientRegistration) {
  if (by === 'registration') {
    const { status, body } = await world.call('POST', '/register', metadata, { key: null })
    expect(body).toMatchObject({ client_id: expect.any(String), redirect_uris: metadata.redirect_uris })
    expect(status).toBe(201)
    expect(body).not.toHaveProperty('client_secret')
    return { clientInformation: () => body as StoredOAuthClientInformation }
  }
  const path = `/${randomUUID()}/client-metadata.json`
  const url = `${documents.url}${path}`
  published.set(`${path}.keys`, { keys: [keys.jwk] })
  published.set(path, {
    client_id: url,
    ...metadata,
    ...(signsAssertions && { jwks_uri: `${url}.keys` }),
  })
  const addClientAuthentication = createPrivateKeyJwtAuth({
    issuer: url,
    subject: url,
    privateKey: keys.pem,
    alg: 'RS256',
  })
  let known: StoredOAuthClientInformation | undefined
  return {
    clientMetadataUrl: url,
    clientInformation: () => known,
    saveClientInformation: (saved: StoredOAuthClientInformation) => {
      known = saved
    },
    ...(signsAssertions && { addClientAuthentication }),
  }
}

interface LoggedIn {
  readonly transport: StreamableHTTPClientTransport
  readonly tokens: StoredOAuthTokens
  readonly consentPage: string
}

/** The user's browser and the client, from the 401 of the resource to the client's tokens. */
async function logIn(registration: ClientRegistration, path = '/mcp'): Promise<LoggedIn> {
  const { redirectUri, metadata, origin } = registration
  let loginUrl = new URL('about:blank')
  let tokens: StoredOAuthTokens | undefined
  let verifier = ''
  let discovered: OAuthDiscoveryState | undefined
  const state = randomUUID()
  const authProvider: OAuthClientProvider = {
    redirectUrl: redirectUri,
    clientMetadata: metadata as never, // the clients leave out what the SDK requires
    state: () => state,
    tokens: () => tokens,
    saveTokens: (saved) => {
      tokens = saved
    },
    redirectToAuthorization: (url) => {
      loginUrl = url
    },
    saveCodeVerifier: (saved) => {
      verifier = saved
    },
    codeVerifier: () => verifier,
    saveDiscoveryState: (saved) => {
      discovered = saved
    },
    discoveryState: () => discovered,
    ...(await introduce(registration)),
  }
  const options = { authProvider, ...(origin && { fetch: fetchOfPage(origin) }) }
  const url = new URL(path, world.gatepass.url)
  const first = new StreamableHTTPClientTransport(url, options)
  await expect(new Client({ name: 'test', version: '1' }).connect(first)).rejects.toThrow()
  expect(loginUrl.searchParams.get('resource')).toBe(url.href)

  const browser = new UserAgent()
  const until = ({ href }: URL) => href.startsWith(redirectUri)
  const consent = await browser.follow(loginUrl, { until })
  expect(consent.body).toContain('name="decision" value="allow"')
  const allowed = await browser.submitForm(consent, {}, { button: 'allow', until })
  const { searchParams } = new URL(allowed.response.headers.get('location') ?? '')
  expect(Object.fromEntries(searchParams)).toEqual({
    state,
    iss: world.gatepass.url,
    code: expect.any(String),
  })
  await first.finishAuth(searchParams)
  if (tokens === undefined) throw new Error('the client has got no tokens')
  return { transport: new StreamableHTTPClientTransport(url, options), tokens, consentPage: consent.body }
}

/** As a browser: what the page may not read is an error, and so is a request that the preflight does not allow. */
function fetchOfPage(origin: string): typeof fetch {
  return async (input, init) => {
    const { method = 'GET', headers } = init ?? {}
    const names = [...new Headers(headers).keys()]
    const preflight = await fetch(input, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': names.join(','),
      },
    })
    const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase() ?? ''
    const isSafe = (name: string) => ['accept', 'accept-language', 'content-language'].includes(name)
    for (const name of names) expect(isSafe(name) || allowed.includes(name), `${input}: ${name}`).toBe(true)
    const response = await fetch(input, {
      ...init,
      headers: { ...Object.fromEntries(new Headers(headers)), origin },
    })
    expect(['*', origin], String(input)).toContain(response.headers.get('access-control-allow-origin'))
    return response
  }
}

async function listAndCall({ transport }: LoggedIn, era: Era) {
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: era === 'legacy' ? 'legacy' : 'auto' } },
  )
  await client.connect(transport)
  try {
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('Demo_WhoAmI')
    return await client.callTool({ name: 'Demo_WhoAmI', arguments: {} })
  } finally {
    await client.close()
  }
}

describe.each(REGISTRATIONS)('$client by $by', (registration) => {
  test('registers, logs its user in, gets tokens for the resource, lists and calls', async () => {
    const loggedIn = await logIn(registration)
    const { tokens, consentPage } = loggedIn
    const { client_name: name } = registration.metadata
    expect(consentPage).toContain(String(name))
    expect(consentPage.includes('Unverified')).toBe(registration.by === 'registration')
    expect(tokens).toMatchObject({ token_type: 'Bearer', scope: 'mcp', refresh_token: expect.any(String) })
    expect(decodeJwt(tokens.access_token)).toMatchObject({
      iss: world.gatepass.url,
      aud: `${world.gatepass.url}/mcp`,
      sub: USER,
    })
    const era = ERAS[REGISTRATIONS.indexOf(registration) % 2]?.era ?? 'legacy'
    const called = await listAndCall(loggedIn, era)
    const required = called._meta?.['gatepass/requires_authorization'] as { url: string } | undefined
    if (required === undefined) return expect(JSON.stringify(called)).toContain(USER)
    await approve(required.url)
    const again = new StreamableHTTPClientTransport(new URL('/mcp', world.gatepass.url), {
      authProvider: { token: async () => tokens.access_token },
    })
    expect(JSON.stringify(await listAndCall({ ...loggedIn, transport: again }, era))).toContain(USER)
    return undefined
  })
})

test('a token of one resource gets at another what an invented one gets', async () => {
  const { access_token: token } = (await logIn(REGISTRATIONS[1] as ClientRegistration, '/mcp/demo')).tokens
  const ask = async (credential: string, path: string) => {
    const headers = { authorization: `Bearer ${credential}` }
    const answer = await exchange(world.gatepass, legacy('tools/list'), { path, key: null, headers })
    return { status: answer.status, body: answer.body, challenge: answer.headers.get('www-authenticate') }
  }
  expect(await ask(token, '/mcp/demo')).toMatchObject({ status: 200 })
  const [head = '', claims = ''] = token.split('.')
  const invented = `${head}.${claims}.${'A'.repeat(86)}`
  for (const path of ['/mcp', '/mcp/other', '/v1/tools/execute']) {
    const refused = await ask(token, path)
    expect(refused.status).toBe(401)
    expect(await ask(invented, path)).toEqual(refused)
  }
})

test('the scenarios of the official suite for authorization servers pass', async () => {
  const port = await freePort()
  const { url } = world.gatepass
  const metadata = { client_name: 'Suite', redirect_uris: [`http://127.0.0.1:${port}/callback`] }
  const { body: client } = await world.call('POST', '/register', metadata, { key: null })
  let isLoggedIn = false
  const { code, output } = await runConformanceSuite(
    [
      'authorization',
      '--url',
      url,
      '--client-id',
      client.client_id,
      '--resource',
      `${url}/mcp`,
      '--port',
      String(port),
    ],
    (written) => {
      const loginUrl = /^http\S+\/authorize\?\S+$/m.exec(written)?.[0]
      if (isLoggedIn || loginUrl === undefined) return
      isLoggedIn = true
      const browser = new UserAgent()
      void browser.follow(loginUrl).then((page) => browser.submitForm(page, {}, { button: 'allow' }))
    },
  )
  expect(code, output).toBe(0)
  expect(output).toMatch(/authorization-code-grant: 1 passed, 0 failed/)
})
