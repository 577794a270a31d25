import {
  type FakeAuthorizationServer,
  type FakeAuthorizationServerOptions,
  startFakeAuthorizationServer,
} from '../fake-authorization-server.ts'
import { toolMetadata } from '../fixtures.ts'
import { type Answer, type Gatepass, type GatepassOptions, startGatepass, testClock } from '../gatepass.ts'
import { type Page, UserAgent } from '../user-agent.ts'

/** A Gatepass and an authorization server, its provider `demo`, on a clock that the test moves. */
export interface Scene extends AsyncDisposable {
  readonly as: FakeAuthorizationServer
  readonly gatepass: Gatepass
  readonly clock: ReturnType<typeof testClock>
  readonly call: Gatepass['call']
  /** `POST /v1/auth/authorize`, by default for `u1` at `demo`. */
  authorize(need?: Need): Promise<Answer>
  status(id: string): Promise<Answer>
  /** Begins an authorization, opens its link and clicks; answers its status afterwards. */
  connect(need?: Need): Promise<Answer>
  /** Begins an authorization and approves it at the provider, whose redirect back the browser has not yet followed. */
  approve(need?: Need): Promise<Approved>
}

export interface Need {
  readonly user_id?: string
  readonly scopes?: readonly string[]
  readonly provider?: string
  readonly next_uri?: string
  readonly user_display?: string
  readonly lang?: string
  readonly account?: string
}

export interface Approved {
  readonly id: string
  readonly url: string
  readonly browser: UserAgent
  readonly callback: URL
}

export type OAuth2 = Readonly<Record<string, unknown>>

export interface SceneOptions {
  readonly as?: FakeAuthorizationServerOptions
  readonly gatepass?: GatepassOptions
  /** Merged over the provider's `oauth2`; `false`: the provider is not added. */
  readonly oauth2?: OAuth2 | false
}

export async function startScene({ as: behaviour, gatepass: options, oauth2 }: SceneOptions = {}) {
  const clock = testClock()
  const as = await startFakeAuthorizationServer({ now: () => clock() * 1000, ...behaviour })
  const gatepass = await startGatepass({ now: clock, ...options })
  const { call } = gatepass
  if (oauth2 !== false) await addProvider(gatepass, as, oauth2)

  const scene: Scene = {
    as,
    gatepass,
    clock,
    call,
    authorize: (need) => authorize(gatepass, need),
    status: (id) => call('GET', `/v1/auth/status?id=${id}`),
    async connect(need) {
      const { id, url } = (await authorize(gatepass, need)).body
      await click(url)
      return scene.status(id)
    },
    async approve(need) {
      const { id, url } = (await authorize(gatepass, need)).body
      return { id, url, ...(await approve(url)) }
    },
    async [Symbol.asyncDispose]() {
      await gatepass.close()
      await as.close()
    },
  }
  return scene
}

export function authorize(gatepass: Gatepass, need: Need = {}): Promise<Answer> {
  const { user_id = 'u1', scopes = ['read'], provider = 'demo', ...rest } = need
  return gatepass.call('POST', '/v1/auth/authorize', {
    auth_requirement: { id: provider, oauth2: { scopes } },
    user_id,
    ...rest,
  })
}

/** Opens the link and clicks; answers the last page. */
export async function click(url: string, browser = new UserAgent()): Promise<Page> {
  return browser.submitForm(await browser.get(url))
}

/** As `click`, but does not follow the provider's redirect back. */
export async function approve(
  url: string,
  browser = new UserAgent(),
): Promise<{ browser: UserAgent; callback: URL }> {
  const isCallback = (to: URL) => to.pathname.startsWith('/callback/')
  const page = await browser.submitForm(await browser.get(url), {}, { until: isCallback })
  return { browser, callback: new URL(page.hops.at(-1)?.location ?? 'about:blank') }
}

/** As a caller's verifier page: confirms the user, and sends the browser on. */
export async function confirmAndGoOn(
  { call }: Pick<Gatepass, 'call'>,
  { browser, flowId, userId }: { browser: UserAgent; flowId: string; userId: string },
): Promise<Answer> {
  const answer = await call('POST', '/v1/auth/confirm_user', { flow_id: flowId, user_id: userId })
  if (answer.status === 200) await browser.get(answer.body.next_uri)
  return answer
}

/** The `oauth2` of a provider, with all blocks but introspection, as an administrator would write it. */
export function oauth2For(as: FakeAuthorizationServer, overrides: OAuth2 = {}): Record<string, unknown> {
  return {
    client_id: as.clientId,
    client_secret: as.clientSecret,
    pkce: { enabled: true, code_challenge_method: 'S256' },
    authorize_request: {
      endpoint: as.authorizationUrl,
      params: {
        response_type: 'code',
        client_id: '{{client_id}}',
        redirect_uri: '{{redirect_uri}}',
        scope: '{{scopes}} {{existing_scopes}}',
      },
    },
    token_request: { endpoint: as.tokenUrl, auth_method: 'client_secret_basic' },
    refresh_request: { endpoint: as.tokenUrl, auth_method: 'client_secret_basic' },
    user_info_request: { endpoint: as.userInfoUrl, triggers: { on_token_grant: true } },
    revocation_request: { endpoint: as.revocationUrl, auth_method: 'client_secret_basic' },
    ...overrides,
  }
}

export async function addProvider(
  gatepass: Gatepass,
  as: FakeAuthorizationServer,
  overrides: OAuth2 = {},
  body: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  const added = await gatepass.call('POST', '/v1/admin/auth_providers', {
    id: 'demo',
    oauth2: oauth2For(as, overrides),
    ...body,
  })
  if (added.status !== 201) throw new Error(`the provider was refused: ${JSON.stringify(added.body)}`)
  return added
}

/** Imports a tool whose only `oauth` entry, named `Demo`, is for this server, with the members of `entry`. */
export async function importEntry(
  gatepass: Gatepass,
  as: FakeAuthorizationServer,
  entry: Readonly<Record<string, unknown>> = {},
): Promise<Answer> {
  return gatepass.call('POST', '/v1/tools/import', toolMetadata(as, entry))
}
