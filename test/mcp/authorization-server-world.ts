import { createHash, randomBytes } from 'node:crypto'
import type { VerifyAccessToken } from '../../src/mcp/authorization-server/access-token.ts'
import { createAuthorizationServer } from '../../src/mcp/authorization-server/authorization-server.ts'
import { type FakeIssuer, startFakeIssuer } from '../fake-issuer.ts'
import { type Answer, type Gatepass, type GatepassOptions, startGatepass } from '../gatepass.ts'
import { type Page, UserAgent } from '../user-agent.ts'

/** A Gatepass whose users log in at an issuer, and the requests of MCP clients to its authorization server. */
export interface AuthorizationServerWorld extends AsyncDisposable {
  readonly gatepass: Gatepass
  readonly issuer: FakeIssuer
  readonly projectId: string
  /** `<url>/mcp`. */
  readonly resource: string
  readonly verify: VerifyAccessToken
  /** The user who logs in at the issuer from now on. */
  signIn(user: string): void
  register(metadata: Record<string, unknown>): Promise<Answer>
  /** Registers a public client; returns its id. */
  newClient(redirectUri?: string, more?: Record<string, unknown>): Promise<string>
  /** The request of a client to `/authorize`, with the verifier that its code needs. */
  request(clientId: string, more?: Readonly<Record<string, string | undefined>>): AuthorizationRequest
  token(form: Readonly<Record<string, string>>): Promise<Answer>
  /** Registers a client, logs the user in, clicks Allow and redeems the code. */
  connect(browser?: UserAgent, more?: Readonly<Record<string, string>>): Promise<ConnectedClient>
}

export interface AuthorizationRequest {
  readonly url: string
  readonly codeVerifier: string
  readonly state: string
  readonly redirectUri: string
}

export interface ConnectedClient {
  readonly clientId: string
  readonly accessToken: string
  readonly refreshToken: string
  readonly browser: UserAgent
}

export const REDIRECT_URI = 'https://client.example.test/callback'

export async function startAuthorizationServer(
  options: GatepassOptions = {},
): Promise<AuthorizationServerWorld> {
  const issuer = await startFakeIssuer({ claims: { sub: 'ada' } })
  const gatepass = await startGatepass({
    ...options,
    environment: {
      GATEPASS_USER_VERIFIER: `oidc:${issuer.issuer}`,
      GATEPASS_OIDC_CLIENT_ID: issuer.clientId,
      GATEPASS_OIDC_CLIENT_SECRET: issuer.clientSecret,
      ...options.environment,
    },
  })
  const { id: projectId } = await gatepass.broker.store.projects.ensure('default', 0)
  const resource = `${gatepass.url}/mcp`

  const world: AuthorizationServerWorld = {
    gatepass,
    issuer,
    projectId,
    resource,
    verify: createAuthorizationServer(gatepass.broker, { projectId }).verify,
    signIn(user) {
      issuer.behaviour.claims = { sub: user }
    },
    register: (metadata) => gatepass.call('POST', '/register', metadata, { key: null }),
    async newClient(redirectUri = REDIRECT_URI, more = {}) {
      const { status, body } = await world.register({
        client_name: 'Test client',
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        token_endpoint_auth_method: 'none',
        ...more,
      })
      if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
      return body.client_id
    },
    request(clientId, more = {}) {
      const codeVerifier = randomBytes(32).toString('base64url')
      const url = new URL('/authorize', gatepass.url)
      const parameters = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: REDIRECT_URI,
        scope: 'mcp',
        state: randomBytes(8).toString('hex'),
        resource,
        code_challenge: createHash('sha256').update(codeVerifier).digest('base64url'),
        code_challenge_method: 'S256',
        ...more,
      }
      for (const [name, value] of Object.entries(parameters))
        if (value !== undefined) url.searchParams.set(name, value)
      return {
        url: url.href,
        codeVerifier,
        state: parameters.state ?? '',
        redirectUri: parameters.redirect_uri ?? '',
      }
    },
    async token(form) {
      const response = await fetch(new URL('/token', gatepass.url), {
        method: 'POST',
        body: new URLSearchParams(form),
      })
      return { status: response.status, headers: response.headers, body: await response.json() }
    },
    async connect(browser = new UserAgent(), more = {}) {
      const clientId = await world.newClient(more.redirect_uri)
      const request = world.request(clientId, more)
      const code = codeIn(await allow(browser, request))
      const { status, body } = await world.token(redeem(clientId, request, code))
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
      return { clientId, accessToken: body.access_token, refreshToken: body.refresh_token, browser }
    },
    async [Symbol.asyncDispose]() {
      await gatepass.close()
      await issuer.close()
    },
  }
  return world
}

/** Opens the request and logs in; answers the consent page or the redirect to the client. */
export async function toConsent(
  browser: UserAgent,
  { url, redirectUri }: AuthorizationRequest,
): Promise<Page> {
  return browser.follow(url, { until: (to) => to.href.startsWith(redirectUri) })
}

/** Opens the request, logs in, and presses the button on the consent page where one is shown. */
export async function allow(
  browser: UserAgent,
  request: AuthorizationRequest,
  button = 'allow',
): Promise<Page> {
  const page = await toConsent(browser, request)
  if (page.status !== 200) return page
  return browser.submitForm(page, {}, { button, until: (to) => to.href.startsWith(request.redirectUri) })
}

/** The parameters of the redirect to the client. */
export function answerIn(page: Page): URLSearchParams {
  const location = page.response.headers.get('location')
  if (location === null) throw new Error(`${page.status} ${page.url}: ${page.body.slice(0, 500)}`)
  return new URL(location).searchParams
}

export function codeIn(page: Page): string {
  const code = answerIn(page).get('code')
  if (code === null) throw new Error(`no code: ${answerIn(page)}`)
  return code
}

/** The token request for a code. */
export function redeem(
  clientId: string,
  { codeVerifier, redirectUri }: AuthorizationRequest,
  code: string,
): Record<string, string> {
  return {
    grant_type: 'authorization_code',
    client_id: clientId,
    code,
    code_verifier: codeVerifier,
    redirect_uri: redirectUri,
  }
}

export function refresh({ clientId, refreshToken }: Pick<ConnectedClient, 'clientId' | 'refreshToken'>) {
  return { grant_type: 'refresh_token', client_id: clientId, refresh_token: refreshToken }
}
