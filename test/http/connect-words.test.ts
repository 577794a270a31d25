import { afterAll, beforeAll, expect, test } from 'vitest'
import { enteredAs } from '../features/portal/portal-world.ts'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import { UserAgent } from '../user-agent.ts'
import { approve, metadata, providerBody, startWorld } from './world.ts'

// What the connect page shows of a provider's definition: the logo, and scopes in words.

let gatepass: Gatepass
beforeAll(async () => {
  gatepass = await startGatepass()
})
afterAll(() => gatepass.close())

const client = { client_id: 'c', client_secret: 's' }

/** The connect page of an authorization at that entry. */
async function pageOf(id: string, scopes: readonly string[]): Promise<string> {
  const need = { user_id: 'ada', auth_requirement: { id, provider_type: 'oauth2', oauth2: { scopes } } }
  const { status, body } = await gatepass.call('POST', '/v1/auth/authorize', need)
  expect([status, body.status]).toEqual([200, 'pending'])
  return (await fetch(body.url)).text()
}

async function add(id: string, body: object): Promise<void> {
  const { status, body: answer } = await gatepass.call('POST', '/v1/admin/auth_providers', { id, ...body })
  expect([status, answer.message]).toEqual([201, undefined])
}

test('scopes are shown in words, with the scopes themselves, under the logo', async () => {
  await add('github', { provider_id: 'github', oauth2: client })
  const html = await pageOf('github', ['read:user', 'made:up'])
  expect(html).toMatch(/<li><span lang="en"><bdi>See your profile<\/bdi><\/span>/)
  expect(html).toContain(
    'Use <code><bdi>made:up</bdi></code>, as <a href="https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps" target="_blank" rel="noopener noreferrer"><bdi>GitHub</bdi></a> describes it',
  )
  expect(html.match(/<details.*<\/details>/s)?.[0]).toContain('<code><bdi>read:user</bdi></code>')
  const [, src = ''] = /class="tile"[^>]*><img src="([^"]+)" alt=""/.exec(html) ?? []
  expect(src).toMatch(/^\/assets\/logo\/github-[0-9a-f]{12}\.svg$/)
  const logo = await fetch(new URL(src, gatepass.url))
  expect([logo.status, logo.headers.get('content-type'), logo.headers.get('cache-control')]).toEqual([
    200,
    'image/svg+xml',
    expect.stringContaining('immutable'),
  ])
  expect(logo.headers.get('content-security-policy')).toContain("default-src 'none'; sandbox")
  expect(await logo.text()).toMatch(/^<svg xmlns=[^>]* viewBox="0 0 24 24" fill="#[0-9A-Fa-f]{6}"><path d="M/)
  expect((await fetch(new URL('/assets/logo/github-000000000000.svg', gatepass.url))).status).toBe(404)
})

test('a provider without a logo has its first letter', async () => {
  await add('tenzo', { provider_id: 'tenzo', oauth2: client })
  expect(await pageOf('tenzo', ['read'])).toContain('<bdi>T</bdi></p>')
})

test('a provider of which no collection has a logo has a monogram', async () => {
  const oauth2 = { ...client, variables: { instance: { value: 'acme' } } }
  await add('servicenow', { provider_id: 'servicenow', oauth2 })
  expect(await pageOf('servicenow', ['useraccount'])).toContain('<img src="/assets/logo/servicenow-')
})

test.each([
  ['microsoft', ['User.Read'], 'offline_access'],
  ['salesforce', ['api'], 'refresh_token'],
])('%s: every scope that is sent is shown in words', async (id, scopes, added) => {
  await add(id, { provider_id: id, oauth2: client })
  const need = { user_id: 'ada', auth_requirement: { id, provider_type: 'oauth2', oauth2: { scopes } } }
  const { body } = await gatepass.call('POST', '/v1/auth/authorize', need)
  const html = await (await fetch(body.url)).text()
  const sent = await fetch(body.url, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: gatepass.url, 'sec-fetch-site': 'same-origin' },
  })
  const asked = new URL(sent.headers.get('location') ?? '').searchParams.get('scope')?.split(' ')
  expect(asked).toEqual([...scopes, added])
  expect(html).toContain('<bdi>Keep this access while you are away</bdi>')
  expect(html.match(/<details.*<\/details>/s)?.[0]).toContain(`<code><bdi>${added}</bdi></code>`)
})

test('a variable in the host leaves them: it is a server of the provider', async () => {
  await add('shop', { provider_id: 'shopify', oauth2: { ...client, variables: { shop: { value: 'acme' } } } })
  const html = await pageOf('shop', ['read_products'])
  expect(html).toContain('See your products')
  expect(html).toContain('<img src="/assets/logo/shopify-')
})

test('an administrator may say what a server of its own is', async () => {
  const variables = { host: { value: 'git.example.com' } }
  await add('our-git', { provider_id: 'gitlab-self-managed', oauth2: { ...client, variables } })
  expect(await pageOf('our-git', ['read_api'])).toContain('Read everything in GitLab that you can')
})

test.each([
  ['endpoints of its own', 'github', 'https://github.evil.example/authorize'],
  ['a server that anyone can have', 'gitlab-self-managed', 'https://evil.example/oauth/authorize'],
])(
  'a tool that takes a known name for %s gets neither its logo nor its words',
  async (_, name, authorizationUrl) => {
    const oauth = [
      {
        name,
        authorizationUrl,
        tokenUrl: authorizationUrl.replace('authorize', 'token'),
        redirectUrl: 'https://x.example',
        clientId: 'c',
        clientSecret: 's',
        scopes: ['read_api', 'read:user'],
      },
    ]
    const imported = await gatepass.call('POST', '/v1/tools/import', metadata(`Takes ${name}`, { oauth }))
    expect(imported.status).toBe(200)
    const { items } = (await gatepass.call('GET', '/v1/admin/auth_providers')).body
    const { id } = items.find(
      ({ oauth2 }: { oauth2: { authorize_request: { endpoint: string } } }) =>
        oauth2.authorize_request.endpoint === authorizationUrl,
    )
    const html = await pageOf(id, ['read_api', 'read:user'])
    expect(html).toContain('<code><bdi>read_api</bdi></code>')
    expect(html).not.toMatch(/Read everything|See your profile|fill="#/)
  },
)

test('/me names in words what the provider does not list as granted, and links to where others are described', async () => {
  await using world = await startWorld()
  const { oauth2, ...body } = providerBody('lasting', world.as)
  const params = { ...oauth2.authorize_request.params, scope: '{{scopes}} offline_access' }
  const authorize_request = { ...oauth2.authorize_request, params }
  await world.call('POST', '/v1/admin/auth_providers', { ...body, oauth2: { ...oauth2, authorize_request } })
  world.as.behaviour.consent = 'partial' // all but the last scope
  const need = { id: 'lasting', provider_type: 'oauth2', oauth2: { scopes: ['read'] } }
  const begun = await world.call('POST', '/v1/auth/authorize', { user_id: 'ada', auth_requirement: need })
  await approve(begun.body.url)
  const { body: list } = await world.call('GET', '/v1/connections?user_id=ada')
  expect(list.items[0].scopes).toEqual(['read'])
  const page = await (await enteredAs(world, 'ada')).get(new URL('/me', world.gatepass.url).href)
  expect(page.body).toContain('<li><bdi>Keep this access while you are away</bdi></li>')
  expect(page.body).toContain('Use <code><bdi>read</bdi></code>, as <bdi>lasting</bdi> describes it')
})

test('the page of a provider that is not set up tells the operator which commands to run', async () => {
  await add('unset', { provider_id: 'github', oauth2: client })
  const need = { user_id: 'ada', auth_requirement: { id: 'unset', provider_type: 'oauth2', oauth2: {} } }
  const { body } = await gatepass.call('POST', '/v1/auth/authorize', need)
  await gatepass.call('PATCH', '/v1/admin/auth_providers/unset', { oauth2: { client_secret: null } })
  const browser = new UserAgent()
  const page = await browser.submitForm(await browser.get(body.url))
  expect(page.status).toBe(503)
  expect(page.body).toContain('<code>not_set_up</code>')
  expect(page.body).toContain('The entry &quot;unset&quot; has no client id or no client secret.')
  expect(page.body).toContain(`${gatepass.url}/callback/`) // the redirect URI to register
  expect(page.body).toContain('<code>gatepass providers set unset</code>')
  expect(page.body).toContain(`<code>gatepass explain ${body.id}</code>`)
})
