import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { reserveProvider } from '../../../src/flows/reserve-provider.ts'
import { testClock } from '../../gatepass.ts'
import { type Page, UserAgent } from '../../user-agent.ts'
import { approve, providerBody, startWorld, type World } from '../world.ts'

// Adding a provider in the console, step by step, as a person without script does it: links, forms and redirects.

let world: World
let admin: UserAgent
let csrf: string
const clock = testClock(Math.floor(Date.now() / 1000))
const usual = () => ({ ...world.as.behaviour })
let behaviour: ReturnType<typeof usual>

async function logIn(agent: UserAgent, key: string): Promise<string> {
  const page = await agent.submitForm(await agent.follow(at('')), { key })
  return csrfIn(page)
}
const csrfIn = ({ body }: Page) => /name="csrf" value="([\w-]+)"/.exec(body)?.[1] ?? ''

async function logInAgain(): Promise<void> {
  admin = new UserAgent()
  csrf = await logIn(admin, world.gatepass.apiKey)
}

beforeAll(async () => {
  world = await startWorld({ gatepass: { now: clock } })
  await logInAgain()
  behaviour = usual()
})
afterAll(() => world[Symbol.asyncDispose]())

const textOf = ({ body }: Page) =>
  body
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/&#39;|&quot;/g, '"')
    .replaceAll(/\s+/g, ' ')
const at = (path: string) => `${world.gatepass.url}/dashboard${path}`
const placeOf = ({ url }: Page) => url.slice(at('').length)
const copied = ({ body }: Page) => /<code class="copy">([^<]+)<\/code>/.exec(body)?.[1] ?? ''
const clientOf = ({ body }: Page) =>
  /href="\/dashboard(\/[^"]+\/client\?reserved=[^"]+)"/.exec(body)?.[1] ?? ''
/** The form of the page itself, without those of its header. */
const fill = (page: Page, form: Record<string, string>, by = admin) =>
  by.submitForm({ ...page, body: page.body.slice(page.body.indexOf('<main')) }, form)
const projectId = async () => (await world.gatepass.broker.store.projects.ensure('default', 0)).id
const reserve = async () => reserveProvider(world.gatepass.broker, await projectId())

/** Sends the form, and follows to the page after it. */
const send = (path: string, form: Record<string, string> = {}, by = admin) =>
  by.submitForm(
    { url: at(path), body: `<form method="post" action="/dashboard${path}"></form>` },
    { csrf, ...form },
  )

const SECRET = 'secret-that-no-page-shows'
let added = 0

/** Adds a provider at the fake authorization server by its definition, and returns its id. */
async function addByDefinition(oauth2: Record<string, unknown> = {}): Promise<string> {
  const id = `acme-${++added}`
  const {
    client_id: clientId,
    client_secret: clientSecret,
    ...usualOAuth2
  } = providerBody(id, world.as).oauth2
  const page = await send(`/other-provider/definition/client?reserved=${await reserve()}`, {
    id,
    definition: JSON.stringify({ name: 'Acme', oauth2: { ...usualOAuth2, ...oauth2 } }),
    'oauth2.client_id': clientId,
    'oauth2.client_secret': clientSecret,
  })
  expect(textOf(page)).toContain(`The provider ${id} was added.`)
  expect(placeOf(page)).toBe(`/providers/${id}/test-account`)
  return id
}

describe('the steps before an entry', () => {
  test('show the redirect URI first, then the client, and the entry has that redirect URI', async () => {
    const found = await admin.get(at('/catalogue?search=gitlab'))
    expect(textOf(found)).toContain('GitLab development')
    const register = await admin.follow(at('/catalogue/gitlab'))
    const redirectUri = copied(register)
    expect(redirectUri).toMatch(/\/callback\/prov_[0-9a-f]{32}$/)
    const text = textOf(register)
    expect(text.indexOf(redirectUri)).toBeLessThan(text.indexOf('Register a client at GitLab'))
    expect(text).toMatch(/the page where GitLab registers clients .*Add an application that is confidential/)
    expect(text).toMatch(/into “Redirect URI”.*its Application ID and its Secret next/)
    expect(copied(await admin.get(register.url))).toBe(redirectUri)

    const client = await admin.get(at(clientOf(register)))
    expect(textOf(client)).toContain('Client ID (“Application ID”)')
    const page = await fill(client, { 'oauth2.client_id': 'c', 'oauth2.client_secret': SECRET })
    expect(placeOf(page)).toBe('/providers/gitlab/test-account')
    expect(page.body).not.toContain(SECRET)
    const { body } = await world.call('GET', '/v1/admin/auth_providers/gitlab')
    expect(body.oauth2).toMatchObject({
      redirect_uri: redirectUri,
      client_id: 'c',
      client_secret: { exists: true },
    })

    // the same form, the page of the form and the one before, once more
    for (const again of [
      await fill(client, { id: 'gitlab-2', 'oauth2.client_id': 'c' }),
      await admin.follow(client.url),
      await admin.follow(register.url),
    ])
      expect([placeOf(again), textOf(again)]).toEqual([
        '/providers/gitlab',
        expect.stringContaining('added already'),
      ])
    expect((await world.call('GET', '/v1/admin/auth_providers/gitlab-2')).status).toBe(404)
  })

  test('one whose client asks for tokens by itself needs no redirect URI and no test account', async () => {
    const register = await admin.follow(at('/catalogue/zoom-account'))
    expect(textOf(register)).toMatch(/It needs no redirect URI/)
    expect(textOf(register)).not.toMatch(/Your redirect URI|Paste the redirect URI/)
    const form = { 'oauth2.client_id': 'c', 'oauth2.client_secret': SECRET, 'variable.account_id': 'AbC1' }
    const page = await send(`/catalogue/zoom-account/client?reserved=${await reserve()}`, {
      id: 'zoom-account',
      ...form,
    })
    expect(placeOf(page)).toBe('/providers/zoom-account')
    expect(textOf(page)).toMatch(/share a connection of the project.*Tokens come by account_credentials/)
  })

  test('lead to the entry if there is no client yet', async () => {
    const page = await send(`/catalogue/github/client?reserved=${await reserve()}`, { id: 'github' })
    expect(placeOf(page)).toBe('/providers/github')
    expect(textOf(page)).toMatch(/It still needs its client\..* To do /)
    const early = await admin.get(at('/providers/github/test-account'))
    expect(textOf(early)).toContain(
      'The entry has no client id and no client secret yet. Set its client first',
    )
    const refused = await send('/providers/github/test-account', { user: 'ada' })
    expect([refused.status, textOf(refused)]).toEqual([400, expect.stringContaining('has no client_id')])
  })

  test('add a service of OAuth 1.0a, whose client is changed and shown like others', async () => {
    const form = { id: 'discogs', 'oauth2.client_id': 'consumer', 'oauth2.client_secret': SECRET }
    const page = await send(`/catalogue/discogs/client?reserved=${await reserve()}`, form)
    expect(placeOf(page)).toMatch(/^\/providers\/discogs/)
    const { body } = await world.call('GET', '/v1/admin/auth_providers/discogs')
    expect(body).toMatchObject({ type: 'oauth1', status: 'active', oauth1: { client_id: 'consumer' } })
    await send('/providers/discogs/client', { 'oauth2.client_id': 'other', more: '{"realm": "r"}' })
    const { oauth1 } = (await world.call('GET', '/v1/admin/auth_providers/discogs')).body
    expect(oauth1).toMatchObject({ client_id: 'other', realm: 'r', client_secret: { exists: true } })
    const shown = await admin.follow(at('/providers/discogs'))
    expect(textOf(shown)).toContain(oauth1.redirect_uri)
    expect(shown.body).not.toContain(SECRET)
  })

  test('say of a provider without a page for clients what to look for', async () => {
    const text = textOf(await admin.follow(at('/catalogue/trakt')))
    expect(text).toMatch(
      /“OAuth apps”, “API clients” or “Developer console”.*“Redirect URI” or “Callback URL”/,
    )
  })

  test.each([
    ['forged', async () => `prov_${'0'.repeat(32)}.9999999999.${'x'.repeat(43)}`],
    ['of another project', async () => reserveProvider(world.gatepass.broker, 'proj_other')],
    [
      'with another uid',
      async () => (await reserve()).replace(/[0-9a-f]\./, (end) => (end === '0.' ? '1.' : '0.')),
    ],
    ['missing', async () => ''],
  ])('take no reservation that is %s', async (_, make) => {
    const reserved = await make()
    const form = { id: 'forged', 'oauth2.client_id': 'c', 'oauth2.client_secret': 's' }
    const sent = await send(`/catalogue/gitlab/client?reserved=${reserved}`, form)
    expect([sent.status, textOf(sent)]).toEqual([400, expect.stringContaining('names no redirect URI')])
    expect((await admin.get(at(`/catalogue/gitlab/client?reserved=${reserved}`))).status).toBe(400)
    if (reserved !== '')
      expect((await admin.get(at(`/catalogue/gitlab?reserved=${reserved}`))).status).toBe(400)
    expect((await world.call('GET', '/v1/admin/auth_providers/forged')).status).toBe(404)
  })

  const DEFINITION = (oauth2: unknown) => JSON.stringify({ oauth2 })
  const ENDPOINTS = {
    authorize_request: { endpoint: 'https://acme.example/authorize' },
    token_request: { endpoint: 'https://acme.example/token' },
  }
  test.each([
    ['/catalogue/zendesk', { id: 'z' }, 'variable.subdomain', /^Subdomain is required/],
    ['/catalogue/gitlab', { id: 'demo' }, 'id', /There is a provider "demo" already/],
    ['/catalogue/gitlab', { id: 'two words' }, 'id', /must have no spaces/],
    ['/other-provider/issuer', { id: 'x', 'oauth2.issuer': 'nonsense' }, 'oauth2.issuer', /URL/i],
    [
      '/other-provider/issuer',
      { id: 'x', 'oauth2.issuer': 'http://127.0.0.1:9' },
      'oauth2.issuer',
      /127\.0\.0\.1:9/,
    ],
    [
      '/other-provider/definition',
      { id: 'x', definition: '{"oauth2"' },
      'definition',
      /must be an object in JSON/,
    ],
    ['/other-provider/definition', { id: 'x', definition: '{}' }, 'definition', /authorize_request/],
    [
      '/other-provider/definition',
      { id: 'x', definition: DEFINITION({ ...ENDPOINTS, tokn_types: ['x'] }) },
      'definition',
      /tokn_types: .*token_types/,
    ],
    ['/other-provider/definition', { id: 'demo', definition: DEFINITION(ENDPOINTS) }, 'id', /already/],
  ])(
    '%s with %j: the fault is beside %s, and what was typed stays, without the secret',
    async (path, typed, field, said) => {
      const form = { 'oauth2.client_id': 'typed-client', 'oauth2.client_secret': SECRET, ...typed }
      const page = await send(`${path}/client?reserved=${await reserve()}`, form)
      expect([400, 409]).toContain(page.status)
      const control = new RegExp(
        `<(?:input|textarea)[^>]* name="${field.replaceAll('.', '\\.')}"[^>]*>`,
      ).exec(page.body)?.[0]
      expect(control).toContain('aria-invalid="true"')
      const note = /aria-describedby="([^"]+)"/.exec(control ?? '')?.[1]
      const fault = new RegExp(`<p class="fault" id="${note}">([^<]*)<`)
        .exec(page.body)?.[1]
        ?.replaceAll('&quot;', '"')
      expect(fault).toMatch(said)
      expect(page.body).not.toContain(SECRET)
      for (const value of Object.values({ 'oauth2.client_id': 'typed-client', ...typed }))
        expect(textOf(page) + page.body.replaceAll('&quot;', '"')).toContain(value)
    },
  )

  test.each([
    ['JSON', `{"oauth2": {"client_secret": "${SECRET}"}}`],
    ['not JSON', `{"oauth2": {client_secret: '${SECRET}', "client_secret": "${SECRET}\\"${SECRET}"`],
  ])('a secret in a definition that is %s is not shown again', async (_, definition) => {
    const page = await send(`/other-provider/definition/client?reserved=${await reserve()}`, {
      id: 'x',
      definition,
    })
    expect(page.status).toBe(400)
    expect(page.body).not.toContain(SECRET)
  })

  test('a readonly operator sees the catalogue and no step of it', async () => {
    const reader = new UserAgent()
    const key = await world.gatepass.makeKey('readonly')
    const own = await logIn(reader, key)
    for (const path of ['/catalogue', '/catalogue/gitlab']) {
      const page = await reader.get(at(path))
      expect(page.status).toBe(200)
      expect(page.body).not.toMatch(/\/client\?|\/other-provider|class="copy"|class="wizard"/)
    }
    const client = await reader.get(at(`/catalogue/gitlab/client?reserved=${await reserve()}`))
    expect(client.status).toBe(403)
    for (const path of [
      `/catalogue/gitlab/client?reserved=${await reserve()}`,
      '/providers/demo/test-account',
    ]) {
      const refused = await send(path, { csrf: own, id: 'x', user: 'ada' }, reader)
      expect([refused.status, textOf(refused)]).toEqual([
        403,
        expect.stringContaining('your role is readonly'),
      ])
    }
    expect(textOf(await reader.get(at('/providers/demo/test-account')))).toContain(
      'An administrator connects',
    )
    expect((await reader.get(at('/providers/demo'))).body).not.toContain('test-account')
  })

  test('an old login is confirmed on the way, and what was typed is there afterwards, except the secret', async () => {
    const agent = new UserAgent()
    const own = await logIn(agent, world.gatepass.apiKey)
    const register = await agent.follow(at('/catalogue/zendesk'))
    const client = await agent.get(at(clientOf(register)))
    clock.advance(6 * 60)
    const form = { csrf: own, id: 'desk', 'variable.subdomain': 'acme', 'oauth2.client_id': 'typed-client' }
    const confirm = await fill(client, { ...form, 'oauth2.client_secret': SECRET }, agent)
    expect(textOf(confirm)).toContain('Confirm that it is you')
    expect(confirm.url + confirm.body + confirm.hops.map(({ location }) => location)).not.toContain(SECRET)
    const back = await agent.submitForm(confirm, { key: world.gatepass.apiKey })
    for (const value of ['desk', 'acme', 'typed-client']) expect(back.body).toContain(`value="${value}"`)
    const page = await fill(back, { 'oauth2.client_secret': SECRET }, agent)
    expect(placeOf(page)).toBe('/providers/desk/test-account')
    const { body } = await world.call('GET', '/v1/admin/auth_providers/desk')
    expect(body.oauth2.redirect_uri).toBe(copied(register))
    await logInAgain()
  })

  test('a reservation ends after seven days', async () => {
    const reserved = await reserve()
    clock.advance(7 * 86_400)
    await logInAgain()
    const page = await admin.get(at(`/catalogue/gitlab/client?reserved=${reserved}`))
    expect([page.status, textOf(page)]).toEqual([400, expect.stringContaining('in the last 7 days')])
  })
})

describe('a service with keys', () => {
  test('is added on one page, without a redirect URI and a client', async () => {
    const page = await admin.follow(at('/catalogue/freshdesk'))
    expect(textOf(page)).toMatch(/What users type.*Subdomain.*API key/)
    expect(textOf(page)).not.toMatch(/[Rr]edirect URI|Client secret/)
    const added = await fill(page, { id: 'helpdesk' })
    expect(textOf(added)).toContain('The provider helpdesk was added.')
    expect(placeOf(added)).toBe('/providers/helpdesk')
    expect(textOf(added)).not.toMatch(/Client ID|Connect a test account/)
    const { body } = await world.gatepass.call('GET', '/v1/admin/auth_providers/helpdesk')
    expect(body).toMatchObject({ provider_id: 'freshdesk', type: 'credentials', status: 'active' })
  })

  test('is linked from the way by a consent, and back', async () => {
    const github = await admin.follow(at('/catalogue/github'))
    expect(github.body).toContain('href="/dashboard/catalogue/github-api-key">With an API key instead')
    const keys = await admin.follow(at('/catalogue/github-api-key'))
    expect(keys.body).toContain('href="/dashboard/catalogue/github">With a consent at GitHub instead')
    expect((await admin.follow(at('/catalogue/freshdesk'))).body).not.toContain('instead</a>')
  })

  test('asks for the host that an administrator decides, and changes it later', async () => {
    const page = await admin.follow(at('/catalogue/woocommerce'))
    const refused = await fill(page, { id: 'shop', 'variable.host': 'no host!' })
    expect([refused.status, textOf(refused)]).toEqual([400, expect.stringContaining('Shop host')])
    const added = await fill(refused, { id: 'shop', 'variable.host': 'shop.acme.example' })
    expect(placeOf(added)).toBe('/providers/shop')
    const settings = { ...added, body: added.body.slice(added.body.indexOf('<div id="client">')) }
    const changed = await admin.submitForm(settings, { csrf, 'variable.host': 'shop.other.example' })
    expect(textOf(changed)).toContain('The changes were saved.')
    const { body } = await world.gatepass.call('GET', '/v1/admin/auth_providers/shop')
    expect(body.credentials).toMatchObject({
      variables: { host: { value: 'shop.other.example' } },
      api: { hosts: ['shop.other.example'] },
    })
  })
})

describe('a test account', () => {
  /** Connects a test account, and returns the page to which the browser comes back. */
  async function connect(id: string, form: Record<string, string> = {}, how: Partial<typeof behaviour> = {}) {
    Object.assign(world.as.behaviour, behaviour, how)
    const begin = await admin.get(at(`/providers/${id}/test-account`))
    const connectPage = await send(`/providers/${id}/test-account`, { user: 'gatepass-live-test', ...form })
    expect(begin.body).toContain('value="gatepass-live-test"')
    const page = await approve(connectPage.url, admin)
    // a failure is shown to the user first, with a link
    const [, back] = /href="([^"]*\/test-account[^"]*)"/.exec(page.body) ?? []
    const shown = page.url.includes('/connect/')
      ? await admin.get(back?.replaceAll('&amp;', '&') ?? '')
      : page
    expect(new URL(shown.url).pathname).toBe(`/dashboard/providers/${id}/test-account`)
    return shown
  }
  const authOf = ({ url }: Page) => new URL(url).searchParams.get('auth_id') ?? ''

  test('shows that all is as the definition says, is refreshed, and is removed', async () => {
    const id = await addByDefinition()
    const page = await connect(id, { scopes: 'read write' })
    expect(textOf(page)).toMatch(
      /It works, and everything is as the definition says.*Scopes matches .*asked: read write/,
    )
    expect(textOf(page)).toContain('connected as the user gatepass-live-test')
    clock.advance(12)
    const refreshed = await send(`/providers/${id}/test-account/refresh`, { auth_id: authOf(page) })
    expect(textOf(refreshed)).toMatch(/Refresh matches the same refresh token came back/)
    expect(textOf(refreshed)).not.toContain('Try a refresh')
    const ended = await send(`/providers/${id}/test-account/end`, { auth_id: authOf(page) })
    expect(placeOf(ended)).toBe(`/providers/${id}?step=ready`)
    expect(textOf(ended)).toMatch(/The test account was removed.*Ready.*What next/)
    expect((await world.call('GET', '/v1/connections?user_id=gatepass-live-test')).body.items).toEqual([])
    expect(textOf(await admin.get(page.url))).toContain('The test account was removed')
    expect(textOf(await send(`/providers/${id}/test-account/end`, { auth_id: authOf(page) }))).toContain(
      'removed already',
    )
  })

  test('shows what differs, and one button corrects the entry', async () => {
    const id = await addByDefinition()
    const page = await connect(id, {}, { tokenMembers: { expires_in: clock() + 3600 } })
    expect(textOf(page)).toMatch(
      /It works, and one point differs from the definition\. A correction is below/,
    )
    expect(textOf(page)).toMatch(/Lifetime of the token differs .*unix_seconds.*Correct the entry, below/)
    const form = /<form[^>]*\/correct"[\s\S]*?<\/form>/.exec(page.body)?.[0] ?? ''
    const corrected = await admin.submitForm({ url: page.url, body: form })
    expect(textOf(corrected)).toMatch(/The entry was corrected.*everything is as the definition says/)
    const { oauth2 } = (await world.call('GET', `/v1/admin/auth_providers/${id}`)).body
    expect(oauth2.token_request.expiration_format).toBe('absolute_unix_timestamp')
  })

  test('says what to do about scopes that were not granted', async () => {
    const id = await addByDefinition()
    const page = await connect(id, { scopes: 'read,admin' }, { grantedScopes: ['read'] })
    expect(textOf(page)).toMatch(/Scopes differs .*not granted: admin.*Allow these scopes to the client/)
  })

  test.each([
    ['the user refuses', { consent: 'deny' }, /could not be connected.*Consent failed/],
    [
      'the client is refused',
      { clientAuth: 'refuse' },
      /could not be connected.*Code for tokens failed .*Compare client id/,
    ],
  ] as const)('where %s, the reason and what to do', async (_, how, said) => {
    const page = await connect(await addByDefinition(), {}, how as Partial<typeof behaviour>)
    expect(textOf(page)).toMatch(said)
    expect(page.body).not.toContain(world.as.clientSecret)
    expect(page.body).not.toContain('Remove the test account')
  })

  test('that is not finished is waited for; one of another provider or project is not found', async () => {
    Object.assign(world.as.behaviour, behaviour)
    const [one, other] = [await addByDefinition(), await addByDefinition()]
    const { url } = await send(`/providers/${one}/test-account`, { user: 'ada' })
    const id = /auth_\w+/.exec(url)?.[0]
    expect(textOf(await admin.get(at(`/providers/${one}/test-account?auth_id=${id}`)))).toContain(
      'It is not finished',
    )
    for (const path of [
      `/providers/${other}/test-account?auth_id=${id}`,
      `/providers/${one}/test-account?auth_id=auth_x`,
    ])
      expect((await admin.get(at(path))).status).toBe(404)
  })

  test.each([
    [{ user: 'x'.repeat(501) }, 'user'],
    [{ user: 'ada', scopes: `read ${'x'.repeat(2000)}` }, 'scopes'],
  ])('%#: a fault of the form is beside its field', async (form, field) => {
    const id = await addByDefinition()
    const page = await send(`/providers/${id}/test-account`, form)
    expect(page.status).toBe(400)
    expect(page.body).toMatch(new RegExp(`name="${field}"[^>]*aria-invalid="true"`))
  })
})
