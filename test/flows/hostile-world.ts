import { startFakeAuthorizationServer } from '../fake-authorization-server.ts'
import { type Gatepass, type GatepassOptions, startGatepass, testClock } from '../gatepass.ts'
import { listen } from '../loopback.ts'
import { startOidcProvider } from '../oidc-provider.ts'
import { freePort } from '../ports.ts'
import { UserAgent } from '../user-agent.ts'
import { addProvider, authorize } from './fixtures.ts'
import { verifierOf } from './login-fixtures.ts'

export const VERIFIERS = ['open', 'caller', 'oidc'] as const
export type VerifierKind = (typeof VERIFIERS)[number]

export interface HostileOptions extends Pick<GatepassOptions, 'environment'> {
  /** A browser takes the provider, the issuer and the application for other sites than the broker. */
  readonly crossSite?: boolean
}

export type HostileWorld = Awaited<ReturnType<typeof startHostileWorld>>

/**
 * A Gatepass with one of the verifiers, a provider that requires PKCE, and users: each has a browser, and is signed in
 * at the application and at the issuer.
 */
export async function startHostileWorld(
  kind: VerifierKind,
  { environment, crossSite = false }: HostileOptions = {},
) {
  const clock = testClock()
  const as = await startFakeAuthorizationServer({ now: () => clock() * 1000, requirePkce: 'S256' })
  let gatepass: Gatepass | undefined
  // the caller's application, which knows its user by a session cookie, never by the query
  const application = await listen(async (req, res) => {
    const url = new URL(req.url ?? '', 'http://application')
    const user = url.searchParams.get('user')
    if (url.pathname === '/sign-in' && user !== null)
      return res.writeHead(200, { 'set-cookie': `user=${user}; Path=/; HttpOnly` }).end()
    const user_id = /(?:^|; )user=([^;]*)/.exec(req.headers.cookie ?? '')?.[1]
    if (user_id === undefined)
      return res.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in first</h1>')
    const flow_id = url.searchParams.get('flow_id')
    const answer = await gatepass?.call('POST', '/v1/auth/confirm_user', { flow_id, user_id })
    if (answer?.status === 200) return res.writeHead(303, { location: answer.body.next_uri }).end()
    return res.writeHead(answer?.status ?? 500).end(answer?.body.name)
  })
  const oidc = await startOidcProvider({
    redirectUris: () => [new URL('/login/callback', gatepass?.config.publicUrl).href],
    account: { sub: 'alice', name: 'Alice', email: 'alice@example.test' },
  })
  const settings = {
    open: { GATEPASS_USER_VERIFIER: 'open' },
    caller: { GATEPASS_USER_VERIFIER: `${application.url}/verify` },
    oidc: verifierOf(oidc),
  }[kind]
  const port = await freePort()
  gatepass = await startGatepass({
    now: clock,
    port,
    environment: {
      ...settings,
      ...(crossSite && { GATEPASS_PUBLIC_URL: `http://localhost:${port}` }),
      ...environment,
    },
  })
  await addProvider(gatepass, as)
  const { call } = gatepass
  const url = gatepass.url
  const started = gatepass

  return {
    kind,
    as,
    oidc,
    application,
    gatepass: started,
    clock,
    url,
    call,
    /** A user with their own browser. The issuer logs its next visitor in as the user for whom this was called last. */
    async person(user: string, browser = new UserAgent()): Promise<UserAgent> {
      oidc.settings.account = { sub: user, name: user, email: `${user}@example.test` }
      await browser.get(`${application.url}/sign-in?user=${user}`)
      return browser
    },
    begin: async (user_id: string) =>
      (await authorize(started, { user_id })).body as { readonly id: string; readonly url: string },
    status: async (id: string) => (await call('GET', `/v1/auth/status?id=${id}`)).body,
    /** How many connections are stored and how many token requests were sent: an attack must not increase them. */
    async damage() {
      const { total_count } = (await call('GET', '/v1/connections')).body
      return { connections: total_count, tokenRequests: as.tokenRequests().length }
    },
    async [Symbol.asyncDispose]() {
      await started.close()
      await Promise.all([as.close(), application.close(), oidc.close()])
    },
  }
}

export const NO_DAMAGE = { connections: 0, tokenRequests: 0 }
export const ONCE = { connections: 1, tokenRequests: 1 }
