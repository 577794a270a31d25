import { startWorld, type World } from '../../http/world.ts'
import { type OidcProvider, startOidcProvider } from '../../oidc-provider.ts'

export const TOOL = 'Demo.EchoWithToken'

/** A Gatepass whose operators log in at an issuer. */
export interface InboxWorld extends World {
  readonly oidc: OidcProvider
  /** Says who logs in at the issuer from now on. */
  become(sub: string, groups?: readonly string[], more?: object): void
  setRule(approve: object, more?: object): Promise<void>
  /** Lets another agent make the calls, which has asked no one yet. */
  renewAgent(): Promise<void>
  /** Makes the call, and returns the answer. */
  run(text: string): Promise<string>
  /** Makes the call, and returns the id of its approval, if it waits for one. */
  ask(
    text: string,
    options?: { readonly key?: string | undefined; readonly userId?: string },
  ): Promise<string | undefined>
}

export const RULES = [
  'groups=security approver:security',
  'groups=legal approver:legal on *',
  'sub=boss admin',
  'sub=both admin',
  'sub=both approver:security',
  'sub=reader readonly',
].join(', ')

export async function startInboxWorld(
  environment: Readonly<Record<string, string>> = {},
): Promise<InboxWorld> {
  let redirectUri = ''
  const oidc = await startOidcProvider({ redirectUris: () => [redirectUri] })
  const world = await startWorld({
    gatepass: {
      mode: 'development',
      environment: {
        GATEPASS_DASHBOARD_ISSUER: oidc.issuer,
        GATEPASS_DASHBOARD_CLIENT_ID: oidc.clientId,
        GATEPASS_DASHBOARD_CLIENT_SECRET: oidc.clientSecret ?? '',
        GATEPASS_DASHBOARD_SCOPES: 'openid email profile',
        GATEPASS_DASHBOARD_ROLES: RULES,
        ...environment,
      },
    },
  })
  redirectUri = `${world.gatepass.url}/dashboard/callback`
  for (const userId of ['ada', 'eve']) await world.connect(userId, ['read'])
  let agent = world.gatepass.apiKey
  const run = async (text: string, key: string, user_id = 'ada') =>
    (await world.call('POST', '/v1/tools/run', { tool_id: TOOL, user_id, args: { text } }, { key })).body
  return {
    ...world,
    oidc,
    become(sub, groups = [], more = {}) {
      const email = `${sub}@example.test`
      oidc.settings.account = { sub, name: sub, email, email_verified: true, groups, ...more }
    },
    async setRule(approve, more = {}) {
      const body = { id: 'ask', effect: 'approve', match: { tools: [TOOL] }, approve, ...more }
      const made = await world.call('POST', '/v1/admin/policies', body)
      if (made.status !== 201) throw new Error(JSON.stringify(made.body))
    },
    async renewAgent() {
      agent = await world.gatepass.makeKey('caller')
    },
    run: async (text) => JSON.stringify(await run(text, agent)),
    ask: async (text, { key = agent, userId = 'ada' } = {}) =>
      (await run(text, key, userId)).requires_authorization?.id,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]()
      await oidc.close()
    },
  }
}
