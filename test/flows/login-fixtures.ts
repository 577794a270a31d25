import { type FakeIssuer, type IssuerBehaviour, startFakeIssuer } from '../fake-issuer.ts'
import { type OidcProvider, type OidcProviderOptions, startOidcProvider } from '../oidc-provider.ts'
import type { Page, UserAgent } from '../user-agent.ts'
import { type Scene, type SceneOptions, startScene } from './fixtures.ts'

export interface LoginOptions extends SceneOptions {
  readonly environment?: Readonly<Record<string, string>>
}

/** A scene whose users log in at the certified oidc-provider, by default as `u1`. */
export async function startLoginScene(
  { environment = {}, gatepass, ...options }: LoginOptions = {},
  oidcOptions: Partial<OidcProviderOptions> = {},
): Promise<Scene & { readonly oidc: OidcProvider }> {
  let redirectUri = ''
  const oidc = await startOidcProvider({
    redirectUris: () => [redirectUri],
    account: { sub: 'u1', name: 'Ada', email: 'ada@example.test' },
    ...oidcOptions,
  })
  const scene = await startScene({
    ...options,
    gatepass: { ...gatepass, environment: { ...verifierOf(oidc), ...environment } },
  })
  redirectUri = `${scene.gatepass.url}/login/callback`
  const close = async () => {
    await scene[Symbol.asyncDispose]()
    await oidc.close()
  }
  return { ...scene, oidc, [Symbol.asyncDispose]: close }
}

/** A scene whose users log in at an issuer that can lie. */
export async function startLyingScene(
  behaviour: Partial<IssuerBehaviour> = {},
  { environment = {}, gatepass, ...options }: LoginOptions = {},
): Promise<Scene & { readonly issuer: FakeIssuer }> {
  const issuer = await startFakeIssuer(behaviour)
  const scene = await startScene({
    ...options,
    gatepass: { ...gatepass, environment: { ...verifierOf(issuer), ...environment } },
  })
  const close = async () => {
    await scene[Symbol.asyncDispose]()
    await issuer.close()
  }
  return { ...scene, issuer, [Symbol.asyncDispose]: close }
}

export function verifierOf({
  issuer,
  clientId,
  clientSecret,
}: Pick<OidcProvider, 'issuer' | 'clientId' | 'clientSecret'>): Record<string, string> {
  return {
    GATEPASS_USER_VERIFIER: `oidc:${issuer}`,
    GATEPASS_OIDC_CLIENT_ID: clientId,
    ...(clientSecret !== undefined && { GATEPASS_OIDC_CLIENT_SECRET: clientSecret }),
  }
}

/** Clicks on the page and logs in, but does not follow the issuer's redirect back, whose address it answers. */
export async function upToLoginCallback(browser: UserAgent, page: Page): Promise<URL> {
  const until = ({ pathname }: URL) => pathname === '/login/callback'
  const last = await browser.submitForm(page, {}, { until })
  return new URL(last.hops.at(-1)?.location ?? 'about:blank')
}

/** The number of connections of all users. */
export async function countConnections({ call }: Pick<Scene, 'call'>): Promise<number> {
  return (await call('GET', '/v1/connections')).body.total_count
}
