import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { click } from '../flows/fixtures.ts'
import { type Gatepass, startGatepass, testClock } from '../gatepass.ts'
import { type OidcProvider, startOidcProvider } from '../oidc-provider.ts'
import { UserAgent } from '../user-agent.ts'

const SCOPES = ['openid', 'profile', 'email', 'offline_access']

let oidc: OidcProvider
let gatepass: Gatepass
let clock: ReturnType<typeof testClock>
let redirectUris: string[]

beforeEach(async () => {
  redirectUris = []
  oidc = await startOidcProvider({ redirectUris: () => redirectUris, pkceRequired: true })
  clock = testClock(Math.floor(Date.now() / 1000)) // ID tokens are checked against the machine's clock
  gatepass = await startGatepass({ now: clock })
})

afterEach(async () => {
  expect(oidc.failures).toEqual([])
  await gatepass.close()
  await oidc.close()
})

async function addProvider(issuer = oidc.issuer): Promise<void> {
  const request = { endpoint: oidc.tokenUrl, auth_method: 'client_secret_basic' }
  const added = await gatepass.call('POST', '/v1/admin/auth_providers', {
    id: 'oidc',
    oauth2: {
      client_id: oidc.clientId,
      client_secret: oidc.clientSecret,
      issuer,
      pkce: { enabled: true },
      authorize_request: { endpoint: oidc.authorizationUrl },
      token_request: request,
      refresh_request: request,
      revocation_request: { ...request, endpoint: oidc.revocationUrl },
    },
  })
  expect(added.status).toBe(201)
  redirectUris.push(added.body.oauth2.redirect_uri)
}

function authorize(scopes = SCOPES) {
  return gatepass.call('POST', '/v1/auth/authorize', {
    auth_requirement: { id: 'oidc', oauth2: { scopes } },
    user_id: 'u1',
  })
}

const status = (id: string) => gatepass.call('GET', `/v1/auth/status?id=${id}`)

describe('the certified oidc-provider', () => {
  test('from consent to revocation', async () => {
    await addProvider()
    const { id, url } = (await authorize()).body
    const waiting = gatepass.call('GET', `/v1/auth/status?id=${id}&wait=30`)
    const browser = new UserAgent()
    const end = await browser.submitForm(await browser.get(url))
    expect(end.status).toBe(200)
    const asked = new URL(end.hops[0]?.location ?? '').searchParams
    expect(asked.get('nonce')).toMatch(/^[\w-]{43}$/)
    expect(asked.get('code_challenge_method')).toBe('S256')

    const completed = (await waiting).body
    expect(completed).toMatchObject({ id, status: 'completed', provider_id: 'oidc' })
    // it never lists offline_access, which is no reason to ask for ever
    expect([...completed.scopes].sort()).toEqual(['email', 'openid', 'profile'])
    // the claims of the ID token, without those of the protocol
    expect(completed.context.user_info).toEqual({ sub: oidc.settings.account.sub })
    const first = completed.context.token
    expect(await oidc.isLive(first)).toBe(true)
    const [connection] = (await gatepass.call('GET', '/v1/connections')).body.items
    expect(connection.account.id).toBe(oidc.settings.account.sub)

    clock.advance(3600)
    const answers = await Promise.all(Array.from({ length: 20 }, () => authorize()))
    const tokens = new Set(answers.map(({ body }) => body.context.token))
    expect(tokens.size).toBe(1)
    const [second = ''] = tokens
    expect(second).not.toBe(first)
    expect(answers[0]?.body.context.user_info).toMatchObject({ sub: oidc.settings.account.sub })
    clock.advance(3600)
    const third = (await authorize()).body.context.token
    expect(third).not.toBe(second)
    const refreshes = oidc.tokenRequests.filter((one) => one.grant_type === 'refresh_token')
    expect(refreshes).toHaveLength(2)
    expect(refreshes[0]?.refresh_token).not.toBe(refreshes[1]?.refresh_token)

    expect((await gatepass.call('DELETE', `/v1/connections/${connection.id}`)).body.revocation).toBe(
      'revoked',
    )
    expect(await oidc.isLive(third)).toBe(false)
    expect((await authorize()).body.status).toBe('pending')
  })

  test('with its login and consent pages, and a user who cancels', async () => {
    oidc.settings.interaction = 'form'
    await addProvider()
    const browser = new UserAgent()
    const login = await click((await authorize()).body.url, browser)
    const consent = await browser.submitForm(login)
    const end = await browser.submitForm(consent)
    expect(end.url).toContain('/connect/')
    expect((await authorize()).body.status).toBe('completed')

    const other = await gatepass.call('POST', '/v1/auth/authorize', {
      auth_requirement: { id: 'oidc', oauth2: { scopes: SCOPES } },
      user_id: 'u2',
    })
    const cancelling = new UserAgent()
    await cancelling.submitForm(await click(other.body.url, cancelling), {}, { button: 'Cancel' })
    expect((await status(other.body.id)).body).toMatchObject({ status: 'failed', reason: 'access_denied' })
  })

  test('partial consent completes with what was granted', async () => {
    oidc.settings.refusedScopes = ['email']
    await addProvider()
    const { id, url } = (await authorize()).body
    await click(url)
    const { body } = await status(id)
    expect(body.status).toBe('completed')
    expect(body.scopes).not.toContain('email')
    expect((await authorize()).body.status).toBe('pending')
  })

  test('under another issuer than the entry’s is not believed', async () => {
    await addProvider('https://accounts.example')
    const { id, url } = (await authorize()).body
    await click(url)
    expect((await status(id)).body).toMatchObject({ status: 'failed', reason: 'issuer_mismatch' })
    expect(oidc.tokenRequests).toEqual([])
  })

  test('two accounts of one user', async () => {
    await addProvider()
    await click((await authorize()).body.url)
    oidc.settings.account = { sub: 'oidc-2', name: 'Bob', email: 'bob@example.test' }
    const more = await gatepass.call('POST', '/v1/auth/authorize', {
      auth_requirement: { id: 'oidc', oauth2: { scopes: SCOPES } },
      user_id: 'u1',
      account: 'new',
    })
    await click(more.body.url)
    const { items } = (await gatepass.call('GET', '/v1/connections')).body
    expect(items.map((one: { account: { id: string } }) => one.account.id).sort()).toEqual([
      'oidc-1',
      'oidc-2',
    ])
  })
})
