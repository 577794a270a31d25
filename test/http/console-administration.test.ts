import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSecret } from '../../src/flows/manage-secrets.ts'
import { reserveProvider } from '../../src/flows/reserve-provider.ts'
import { startGatepass, testClock } from '../gatepass.ts'
import { type Page, UserAgent } from '../user-agent.ts'
import { consoleParts, type FaultRow, type FormRow, type PageRow } from './console-part.ts'
import { approve, startWorld, type World } from './world.ts'

let world: World
let admin: UserAgent
let reader: UserAgent
let csrf: string
let ids: {
  readonly run: string
  readonly key: string
  readonly project: string
}

beforeAll(async () => {
  world = await startWorld()
  const { call, gatepass } = world
  await world.connect('ada', ['read'])
  await world.execute('Demo.EchoWithToken', { user_id: 'ada', input: { text: 'hello' }, keep_content: true })
  const run = (await call('GET', '/v1/executions')).body.items[0].id
  const key = (await call('POST', '/v1/admin/keys', { role: 'caller', name: 'backend' })).body.id
  await call('POST', '/v1/admin/secrets/API_KEY', { value: 'secret-value-of-the-tests' })
  for (const { prepare } of consoleParts) await prepare(world)
  const { id: project } = await gatepass.broker.store.projects.ensure('default', 0)
  ids = { run, key, project }
  ;[admin, reader] = [new UserAgent(), new UserAgent()]
  const page = await logIn(admin, gatepass.apiKey)
  csrf = /name="csrf" value="([\w-]+)"/.exec(page.body)?.[1] ?? ''
  await logIn(reader, await gatepass.makeKey('readonly'))
})
afterAll(() => world[Symbol.asyncDispose]())

const url = (path = '') => `${world.gatepass.url}/dashboard${path}`
const reserve = () => reserveProvider(world.gatepass.broker, ids.project)
const TOOL = `/tools/${encodeURIComponent('Demo:EchoWithToken:1.0.0')}`

async function logIn(by: UserAgent, key: string): Promise<Page> {
  return by.submitForm(await by.follow(url()), { key })
}

/** The text of a page, for tests of what people read. */
const textOf = ({ body }: Page) =>
  body
    .replaceAll('<wbr>', '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')

async function newest(): Promise<Record<string, unknown>> {
  return (await world.call('GET', '/v1/admin/audit?limit=1')).body.items[0]
}

const send = (path: string, form: Readonly<Record<string, string>> = {}, by = admin) =>
  by.post(url(path), { csrf, ...form })

const PAGES: readonly PageRow[] = [
  [() => '/providers', 200],
  [() => '/shared', 200],
  [() => '/providers/demo', 200],
  [() => '/catalogue', 200],
  [() => '/catalogue?search=git&category=development', 200],
  [() => `/catalogue/zendesk?reserved=${reserve()}`, 200],
  [() => `/catalogue/zendesk/client?reserved=${reserve()}`, 403],
  [() => `/other-provider/issuer?reserved=${reserve()}`, 200],
  [() => '/providers/demo/test-account', 200],
  [() => '/tools', 200],
  [() => '/tools?q=echo&met=true&provider=demo', 200],
  [() => `${TOOL}?user=ada`, 200],
  [() => `${TOOL}/try`, 200],
  [() => `${TOOL}/try?as=json`, 200],
  [() => '/runs', 200],
  [() => '/runs?user=ada&status=completed&tool=Demo.EchoWithToken', 200],
  [() => `/runs/${ids.run}`, 200],
  [() => '/workers', 200],
  [() => '/workers/demo', 200],
  [() => '/worker/new', 200],
  [() => '/worker/new?type=mcp', 200],
  [() => '/worker/new?type=openapi', 200],
  [() => '/worker/new?type=oxp', 200],
  [() => '/keys', 403],
  [() => `/keys/${ids.key}`, 403],
  [() => '/secrets', 200],
  [() => '/projects', 200],
  [() => '/audit', 200],
  [() => '/audit?action=token.released&user=ada&since=2020-01-01&until=2099-01-01', 200],
  [() => '/audit/1', 200],
  [() => '/audit/export?action=token.released', 200],
  [() => '/settings', 200],
  [() => '/doctor', 200],
  ...consoleParts.flatMap(({ pages }) => pages),
]

const FORMS: readonly FormRow[] = [
  [
    () => `/catalogue/zendesk/client?reserved=${reserve()}`,
    { id: 'zendesk', 'variable.subdomain': 'acme', 'oauth2.client_id': 'c' },
    'provider.added',
  ],
  [
    () => '/providers/zendesk/client',
    { 'oauth2.client_id': 'another', 'oauth2.client_secret': 'a-secret-of-the-tests' },
    'provider.changed',
  ],
  [() => '/providers/demo/test', {}, 'provider.tested'],
  [() => '/providers/zendesk/status', { status: 'inactive' }, 'provider.changed'],
  [() => '/providers/zendesk/delete', {}, 'provider.deleted'],
  [() => '/keys', { role: 'caller', name: 'by page', expires_in: '' }, 'key.created'],
  [() => `/keys/${ids.key}/rotate`, { grace: '3600' }, 'key.rotated'],
  [() => `/keys/${ids.key}/revoke`, {}, 'key.revoked'],
  [() => '/secrets', { key: 'BY_PAGE', value: 'a-value-of-the-tests' }, 'secret.set'],
  [() => '/secrets/delete', { id: 'BY_PAGE', key: 'BY_PAGE' }, 'secret.deleted'],
  [() => '/projects', { name: 'by-page' }, 'project.created'],
  [
    () => '/worker/new',
    {
      type: 'http',
      id: 'by-page',
      'http.uri': 'http://127.0.0.1:9',
      'http.secret': 'a-secret-of-the-tests',
      do: 'set',
    },
    'worker.added',
  ],
  [() => '/workers/by-page/settings', { 'http.timeout': '7' }, 'worker.changed'],
  [() => '/workers/by-page/delete', {}, 'worker.deleted'],
  [() => '/workers/demo/enabled', { enabled: 'false' }, 'worker.changed'],
  [() => '/workers/demo/enabled', { enabled: 'true' }, 'worker.changed'],
  ...consoleParts.flatMap(({ forms = [] }) => forms),
]

describe('pages and roles', () => {
  test.each(PAGES.map((row) => [row[0].toString().replace('() => ', ''), ...row] as const))(
    '%s: all of it for administrators, no form for readonly, nothing without a session',
    async (_, path, readonly) => {
      const page = await admin.get(url(path()))
      expect([page.status, page.response.headers.get('cache-control')]).toEqual([200, 'no-store'])
      expect(page.body).not.toMatch(
        /secret-value-of-the-tests|gp_[\w-]{43}|worker-secret-of-the-tests|whsec_/,
      )
      const seen = await reader.get(url(path()))
      expect(seen.status).toBe(readonly)
      const actions = [...seen.body.matchAll(/method="post" action="\/dashboard([^"]*)"/g)].map(
        ([, to]) => to,
      )
      // a readonly operator may log out, verify the trail and use forms of features that change nothing
      const readonlyForms = consoleParts.flatMap((part) => part.readonlyForms ?? [])
      expect(
        actions.filter(
          (to) => !['/logout', '/project', '/audit/verify', ...readonlyForms].includes(to ?? ''),
        ),
      ).toEqual([])
      const without = await new UserAgent().get(url(path()))
      expect([without.status, without.response.headers.get('location')]).toEqual([
        303,
        expect.stringContaining('/dashboard/login'),
      ])
    },
  )

  test.each(FORMS.map((row) => [row[0].toString().replace('() => ', ''), row[2], ...row] as const))(
    '%s: %s is refused for readonly operators, other sites and strangers',
    async (_, __, path, form) => {
      const before = await newest()
      const own = await reader.get(url())
      const token = /name="csrf" value="([\w-]+)"/.exec(own.body)?.[1] ?? ''
      expect((await reader.post(url(path()), { ...form, csrf: token })).status).toBe(403)
      expect((await admin.post(url(path()), form)).status).toBe(403)
      expect(
        (await admin.post(url(path()), { ...form, csrf }, { from: 'https://evil.example/' })).status,
      ).not.toBe(200)
      expect((await new UserAgent().post(url(path()), { ...form, csrf })).status).toBe(303)
      expect([before.action, 'access.refused', 'console.logged_in']).toContain((await newest()).action)
    },
  )
})

test('inputs and outputs of runs, and links to consents, are for administrators', async () => {
  expect(textOf(await admin.get(url(`/runs/${ids.run}`)))).toContain('hello')
  const seen = await reader.get(url(`/runs/${ids.run}`))
  expect(seen.body).not.toMatch(/hello|token_digest/)
  expect(textOf(seen)).toContain('Only administrators can see them')
})

test('a run that has not begun has no output', async () => {
  const later = { tool_name: 'Demo.Echo', input: { text: 'x' }, run_at: '2099-01-01T00:00:00Z' }
  const id = (await world.call('POST', '/v1/tools/execute', later)).body.execution_id
  expect(textOf(await admin.get(url(`/runs/${id}`)))).toContain(
    'Output There is none yet: the run has not started.',
  )
})

test('keys in the audit trail are links for administrators alone', async () => {
  expect((await admin.get(url('/audit'))).body).toContain('href="/dashboard/keys/key_')
  for (const path of ['/audit', '/audit/1'])
    expect((await reader.get(url(path))).body).not.toContain('href="/dashboard/keys/')
})

describe('what an administrator changes', () => {
  test.each(FORMS.map((row) => [row[0].toString().replace('() => ', ''), row[2], ...row] as const))(
    '%s: %s, in the trail with who did it',
    async (_, __, path, form, action) => {
      const page = await send(path(), form)
      expect([page.status, page.status === 400 ? textOf(page).slice(0, 2000) : '']).toEqual([
        expect.toBeOneOf([200, 303]),
        '',
      ])
      const { items } = (await world.call('GET', '/v1/admin/audit?limit=3')).body
      const entry = items.find((one: { action: string }) => one.action === action)
      expect(entry).toMatchObject({
        action,
        actor: { kind: 'api_key' },
        purpose: expect.stringContaining('POST /dashboard'),
      })
    },
  )

  test('a new key is in the one answer to its form, works, and is on no other page', async () => {
    const page = await send('/keys', { role: 'readonly', name: 'once', expires_in: String(30 * 24 * 3600) })
    const [key = ''] = /gp_[\w-]{43}/.exec(page.body) ?? []
    expect(page.response.headers.get('cache-control')).toBe('no-store')
    expect((await world.call('GET', '/v1/tools', undefined, { key })).status).toBe(200)
    const id = /<code>(key_[\w-]+)<\/code>/.exec(page.body)?.[1]
    for (const path of ['/keys', `/keys/${id}`]) expect((await admin.get(url(path))).body).not.toContain(key)
  })

  test.each([
    ['/keys', { role: 'admin', user_id: 'ada' }, 'cannot administer'],
    ['/keys', { role: 'owner' }, 'role must be one of'],
    ['/secrets', { key: 'not a key', value: 'x' }, 'letters, digits'],
    ['/projects', { name: 'two words' }, 'letters, digits'],
    [
      '/worker/new',
      { id: 'a b', 'http.uri': 'http://127.0.0.1:9', 'http.secret': 's', do: 'set' },
      'letters, digits',
    ],
    [
      '/worker/new',
      { type: 'http', id: 'x', 'http.uri': 'http://10.0.0.1', 'http.secret': 's' },
      'GATEPASS_ALLOWED_HOSTS',
    ],
    [
      '/worker/new',
      { type: 'mcp', id: 'x', 'mcp.uri': 'http://127.0.0.1:9', 'mcp.headers': '[' },
      'is not JSON',
    ],
    [
      '/worker/new',
      { type: 'mcp', id: 'x', 'mcp.uri': 'http://127.0.0.1:9', token: 't', header: 'Host' },
      'header',
    ],
    ['/worker/new', { type: 'openapi', id: 'x' }, 'exactly one of'],
    [
      '/worker/new',
      { type: 'oxp', id: 'x', 'oxp.uri': 'http://127.0.0.1:9', 'oxp.retry': '11' },
      'oxp.retry',
    ],
    ['/workers/demo/settings', { 'http.timeout': '0' }, 'timeout'],
    ['/providers/demo/client', { more: '"text"' }, 'an object in JSON'],
    ['/providers/demo/client', { 'oauth2.client_id': 'x'.repeat(1001) }, 'client_id'],
    ...consoleParts.flatMap(({ faults = [] }) => faults),
  ] satisfies readonly FaultRow[])(
    '%s with %j is shown again with what is wrong',
    async (path, form, said) => {
      const before = await newest()
      const page = await send(path, form)
      expect([page.status, textOf(page)]).toEqual([400, expect.stringContaining(said)])
      expect(await newest()).toEqual(before)
      for (const [field, value] of Object.entries(form))
        if (['id', 'name', 'users'].includes(field)) expect(page.body).toContain(`value="${value}"`)
    },
  )

  test('beside a refused colour, Enter in a field of the form saves no other shade', async () => {
    const { body } = await send('/branding', { accent: '#ffcc00', do: 'preview' })
    expect(body).toMatch(/<button[^>]* value="preview".*<button[^>]* name="nearest"/s)
  })

  test('a secret keeps its lines, without the line break of a copied single one, and a long one is not cut', async () => {
    const { broker } = world.gatepass
    const { id: projectId } = await broker.store.projects.ensure('default', 0)
    const set = async (value: string) => {
      const { status } = await send('/secrets', { key: 'LINES', value })
      return [status, await openSecret(broker, projectId, 'LINES')]
    }
    const pem = ['-----BEGIN PRIVATE KEY-----', 'of-the-tests', '-----END PRIVATE KEY-----', '']
    expect(await set('a-key-of-the-tests\r\n')).toEqual([303, 'a-key-of-the-tests'])
    expect(await set(pem.join('\r\n'))).toEqual([303, pem.join('\n')])
    expect(await set('x'.repeat(5001))).toEqual([400, pem.join('\n')])
    const { body } = await admin.get(url('/secrets'))
    expect(body).toMatch(/<textarea(?![^>]*maxlength)[^>]* name="value"/)
    await send('/secrets/delete', { id: 'LINES', key: 'LINES' })
  })

  test.each([
    ['0.5', 'whole number'],
    ['soon', 'a number'],
    ['-1', 'at least 0'],
    ['9000000000', 'at most'],
  ])('a key is not rotated when the old one shall stay valid for %j seconds', async (grace, said) => {
    const before = await newest()
    const page = await send(`/keys/${ids.key}/rotate`, { grace })
    expect([page.status, textOf(page)]).toEqual([400, expect.stringMatching(`grace must be [^.]*${said}`)])
    expect(await newest()).toEqual(before)
  })

  test('what gives power or deletes needs a login of the last five minutes; what takes power does not', async () => {
    const clock = testClock()
    await using gatepass = await startGatepass({ now: clock })
    const { id: project } = await gatepass.broker.store.projects.ensure('default', 0)
    const agent = new UserAgent()
    const at = (path: string) => `${gatepass.url}/dashboard${path}`
    const page = await agent.submitForm(await agent.follow(at('')), { key: gatepass.apiKey })
    const token = /name="csrf" value="([\w-]+)"/.exec(page.body)?.[1] ?? ''
    const set = () => agent.post(at('/secrets'), { csrf: token, key: 'ONE', value: 'a-value-of-the-tests' })
    expect((await set()).status).toBe(303)
    clock.advance(6 * 60)
    const refused = await set()
    expect([refused.status, textOf(refused)]).toEqual([403, expect.stringContaining('five minutes')])
    for (const [path, action = path] of [
      ['/secrets'],
      ['/keys'],
      [`/catalogue/zendesk/client?reserved=${reserveProvider(gatepass.broker, project)}`, '/catalogue/'],
    ] as const) {
      const shown = await agent.get(at(path))
      expect(shown.body).not.toContain(`method="post" action="/dashboard${action}"`)
      expect(textOf(shown)).toContain('Confirm your login first')
    }
    const policy = await agent.get(at('/policy/new'))
    expect(policy.body).toContain('value="try"')
    expect(policy.body).not.toContain('value="set"')
    expect(policy.body).toContain('/dashboard/confirm?next=%2Fpolicy%2Fnew')

    const request = (path: string) => ({ endpoint: `http://127.0.0.1:9/${path}` })
    const added = await gatepass.call('POST', '/v1/admin/auth_providers', {
      id: 'demo',
      oauth2: { client_id: 'c', authorize_request: request('authorize'), token_request: request('token') },
    })
    expect(added.status).toBe(201)
    // the answer to this form is a page, which has the path of the form
    const tested = await agent.post(at('/providers/demo/test'), { csrf: token })
    expect(tested.body).toContain('/dashboard/confirm?next=%2Fproviders%2Fdemo"')
    const searched = await agent.get(at('/secrets?after=A'))
    expect(searched.body).toContain('/dashboard/confirm?next=%2Fsecrets%3Fafter%3DA"')

    const sent = async (path: string, form: Record<string, string>) =>
      (await agent.post(at(path), { csrf: token, ...form })).status
    for (const [path, form] of [
      ['/providers/none/test-account/correct', { patch: '{}' }],
      ['/providers/none/test-account/end', { auth_id: 'x' }],
      ['/providers/none/client', { 'oauth2.client_id': 'x' }],
      ['/providers/none/status', { status: 'active' }],
      ['/workers/none/accept', { digest: 'x' }],
      ['/workers/none/enabled', { enabled: 'true' }],
      ['/tools/none/try', { user: 'ada' }],
      ...consoleParts.flatMap(({ confirmed = [] }) => confirmed),
    ] as const)
      expect([path, await sent(path, form)]).toEqual([path, 403])
    for (const [path, form, status] of [
      ['/providers/none/status', { status: 'inactive' }, 404],
      ['/workers/none/enabled', { enabled: 'false' }, 404],
      ...consoleParts.flatMap(({ unconfirmed = [] }) => unconfirmed),
    ] as const)
      expect([path, await sent(path, form)]).toEqual([path, status])
  })
})

describe('what is deleted a second time, such as by a page that is still open', () => {
  const make = async (path: string, body: object, method = 'POST') =>
    (await world.call(method, path, body)).body.id
  const endpoint = { endpoint: 'http://127.0.0.1:9/' }
  const oauth2 = { client_id: 'c', authorize_request: endpoint, token_request: endpoint }
  const http = { uri: 'http://127.0.0.1:9', secret: 'a-secret-of-the-tests' }

  /** Makes a thing, and returns its id; the form that ends it; where that leads a second time, and what it says there. */
  const ENDINGS: readonly (readonly [
    path: string,
    make: () => Promise<string>,
    list: string,
    said: string,
  ])[] = [
    [
      '/connections/:id/revoke',
      async () => {
        await world.connect('twice')
        return (await world.call('GET', '/v1/connections?user_id=twice')).body.items[0].id
      },
      '/connections',
      'The connection had already been deleted here.',
    ],
    [
      '/keys/:id/revoke',
      () => make('/v1/admin/keys', { role: 'caller' }),
      '/keys',
      ':id had already been revoked.',
    ],
    [
      '/secrets/delete',
      () => make('/v1/admin/secrets/TWICE', { value: 'a-value-of-the-tests' }),
      '/secrets',
      'The secret TWICE had already been deleted.',
    ],
    [
      '/providers/:id/delete',
      () => make('/v1/admin/auth_providers', { id: 'twice', oauth2 }),
      '/providers',
      'The provider twice had already been deleted.',
    ],
    [
      '/workers/:id/delete',
      () => make('/v1/workers', { id: 'twice', http }),
      '/workers',
      'The worker twice had already been deleted.',
    ],
  ]

  const ofFeatures = consoleParts.flatMap(({ endings = [] }) =>
    endings.map(({ path, make, list, said }) => [path, () => make(world), list, said] as const),
  )

  test.each([...ENDINGS, ...ofFeatures])('%s', async (path, makeOne, list, said) => {
    const id = await makeOne()
    const end = (of: string, by = admin, token = csrf) =>
      by.post(url(path.replace(':id', of)), { csrf: token, id: of, key: 'TWICE' })
    const shown = url(list.replace(':id', id))
    expect((await end(id)).status).toBe(303)
    await admin.get(shown)
    const ended = await newest()

    const again = await end(id)
    expect([again.status, new URL(again.response.headers.get('location') ?? '', url()).href]).toEqual([
      303,
      shown,
    ])
    expect(textOf(await admin.get(shown))).toContain(said.replace(':id', id))
    expect(await newest()).toEqual(ended)

    const strange = new UserAgent()
    const page = await logIn(strange, await world.gatepass.makeKey('admin', 'other'))
    const token = /name="csrf" value="([\w-]+)"/.exec(page.body)?.[1] ?? ''
    const of = (answer: Page, one: string) => [answer.status, textOf(answer).replaceAll(one, '')]
    expect(of(await end(id, strange, token), id)).toEqual(
      of(await end('no-such-one', strange, token), 'no-such-one'),
    )
    const never = await end('never')
    expect([never.status, textOf(never)]).toEqual([404, expect.stringContaining('Not found')])
  })
})

describe('a tool that is tried', () => {
  const run = (user: string, form: Record<string, string>) =>
    admin.submitForm(
      { url: url(`${TOOL}/try`), body: `<form method="post" action="/dashboard${TOOL}/try"></form>` },
      { csrf, user, ...form },
    )

  test('runs for the user who is named, on record with input and output', async () => {
    const page = await run('ada', { '/text': 'from the page', '/count': '3' })
    expect(new URL(page.url).pathname).toMatch(/^\/dashboard\/runs\/exec_/)
    expect(textOf(page)).toContain('from the page')
    const id = page.url.split('/').at(-1)
    const { body } = await world.call('GET', `/v1/executions/${id}`)
    expect(body).toMatchObject({
      user_id: 'ada',
      entry_point: 'console',
      input: { text: 'from the page', count: 3 },
    })
    const { items } = (await world.call('GET', '/v1/admin/audit?limit=5')).body
    expect(items.map((one: { action: string }) => one.action)).toContain('tool.tried')
    expect(items).toContainEqual(
      expect.objectContaining({ action: 'token.released', user_id: 'ada', tool: 'Demo:EchoWithToken:1.0.0' }),
    )
    const again = await admin.get(url(`${TOOL}/try?run=${id}`))
    expect(again.body).toContain('from the page')
  })

  test('asks for a missing consent by a link, and runs after it', async () => {
    const page = await run('bob', { '/text': 'x' })
    expect(textOf(page)).toContain('bob must approve first')
    const link = /<code class="copy">([^<]+)<\/code>/.exec(page.body)?.[1] ?? ''
    await approve(link)
    expect(textOf(await run('bob', { '/text': 'after consent' }))).toContain('after consent')
  })

  test('is refused with what is wrong in which field, and does not run', async () => {
    const invocations = world.worker.invocations.length
    const page = await run('ada', { '/count': 'three' })
    expect(page.status).toBe(400)
    expect(page.body).toMatch(/name="\/count"[^>]* aria-invalid="true"/)
    const whole = await run('ada', { as: 'json', '/': '{"count": "three"}' })
    expect([whole.status, textOf(whole)]).toEqual([400, expect.stringContaining('count')])
    expect(world.worker.invocations.length).toBe(invocations)
  })

  test('is refused by policies as by any other way', async () => {
    await world.call('POST', '/v1/admin/policies', {
      id: 'no-ada',
      effect: 'deny',
      match: { users: ['ada'] },
    })
    expect(textOf(await run('ada', { '/text': 'x' }))).toContain('refused by a policy')
    await world.call('DELETE', '/v1/admin/policies/no-ada')
  })
})

describe('a policy', () => {
  const form = { id: 'tried', effect: 'deny', enabled: 'true', 'match.users': 'ada' }

  test('is tried on last week before it is made', async () => {
    const before = await newest()
    const page = await send('/policy/new', { ...form, do: 'try' })
    expect(page.status).toBe(200)
    expect(textOf(page)).toMatch(/Would have been refused [1-9]/)
    expect(page.body).toContain('value="tried"')
    expect(await newest()).toEqual(before)
    expect((await world.call('GET', '/v1/admin/policies/tried')).status).toBe(404)
  })

  test('is kept as the form says', async () => {
    const rule = {
      ...form,
      'match.uses': 'token',
      'match.time.days': '5',
      'match.time.from': '20:00',
      'match.time.to': '06:00',
      'match.time.zone': 'Europe/Berlin',
      'match.rate.limit': '3',
      'match.rate.seconds': '60',
      'match.rate.per': 'tool',
      'match.workers': 'demo',
      'match.methods': 'POST',
      do: 'set',
      description: 'At night',
    }
    await send('/policy/new', rule)
    const { body } = await world.call('GET', '/v1/admin/policies/tried')
    expect(body).toMatchObject({
      description: 'At night',
      match: {
        users: ['ada'],
        uses: ['token'],
        time: { days: [5], from: '20:00', to: '06:00', zone: 'Europe/Berlin' },
        rate: { limit: 3, seconds: 60, per: 'tool' },
        workers: ['demo'],
        methods: ['POST'],
      },
    })
    const list = textOf(await admin.get(url('/policies')))
    expect(list).toContain(
      'Users ada · Workers demo · Methods POST · Uses tokens for the caller · Time Fri 20:00–06:00 Europe/Berlin · More than 3 in 60 s for each tool',
    )
    await world.call('DELETE', '/v1/admin/policies/tried')
  })

  test('that is made and switched off is not said to be in force', async () => {
    await send('/policy/new', {
      id: 'tried',
      effect: 'deny',
      enabled: 'false',
      'match.users': 'ada',
      do: 'set',
    })
    expect(textOf(await admin.get(url('/policies/tried')))).toContain('It is not in force.')
    await world.call('DELETE', '/v1/admin/policies/tried')
  })

  test('is not put back by a page that was opened before a newer change', async () => {
    const versionIn = ({ body }: Page) => /name="version" value="([\w-]+)"/.exec(body)?.[1] ?? ''
    const stored = async () => (await world.call('GET', '/v1/admin/policies/tried')).body
    await send('/policy/new', { ...form, do: 'set' })
    const version = versionIn(await admin.get(url('/policies/tried')))
    await world.call('PATCH', '/v1/admin/policies/tried', { match: { users: ['eve'] } })

    const tried = await send('/policies/tried', { ...form, version, do: 'try' })
    expect([tried.status, versionIn(tried)]).toEqual([200, version])
    const refused = await send('/policies/tried', { ...form, version, do: 'set' })
    expect([refused.status, textOf(refused)]).toEqual([
      409,
      expect.stringContaining('was changed after you opened this page'),
    ])
    expect((await stored()).match).toEqual({ users: ['eve'] })

    await send('/policies/tried', { ...form, version: versionIn(refused), do: 'set' })
    expect((await stored()).match).toEqual({ users: ['ada'] })
    await world.call('DELETE', '/v1/admin/policies/tried')
  })
})

test('the trail is exported as the filter says, and its end is verified', async () => {
  const exported = await admin.get(url('/audit/export?action=token.released'))
  expect(exported.response.headers.get('content-type')).toBe('application/x-ndjson')
  const lines = exported.body
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.length).toBeGreaterThan(0)
  expect(new Set(lines.map(({ action }) => action))).toEqual(new Set(['token.released']))
  expect(textOf(await send('/audit/verify'))).toMatch(/intact The entries 1 to \d+ follow each other/)
})

test('settings are shown without their secrets, and the doctor says what it finds', async () => {
  expect(textOf(await admin.get(url('/settings')))).toMatch(
    /GATEPASS_MASTER_KEY set|does not show its settings/,
  )
  expect((await send('/doctor')).status).toBe(200)
})

test('the settings of the installation are not shown to operators of another project', async () => {
  const { key } = (await world.call('POST', '/v1/admin/keys', { role: 'admin', project: 'tenant' })).body
  const tenant = new UserAgent()
  await logIn(tenant, key)
  const page = await tenant.get(url('/settings'))
  expect([page.status, page.body]).toEqual([403, expect.not.stringContaining('GATEPASS_PORT')])
  const [, token = ''] = /name="csrf" value="([\w-]+)"/.exec((await tenant.get(url('/doctor'))).body) ?? []
  const own = await tenant.post(url('/doctor'), { csrf: token })
  expect(textOf(own)).toContain('in use in the project &quot;tenant&quot;')
  const asked = JSON.stringify((await world.call('GET', '/v1/admin/diagnosis', undefined, { key })).body)
  for (const said of [own.body, asked]) expect(said).not.toMatch(/GATEPASS_|may also reach|public URL/)
  expect(textOf(await send('/doctor'))).toContain('GATEPASS_USER_VERIFIER is open')
})

test('the secret of a hook is on no page, although a faulty form comes back with what was typed', async () => {
  const secret = 'hook-secret-of-the-tests'
  const form = { id: 'asked', effect: 'hook', enabled: 'true', url: 'no-url', secret, do: 'set' }
  const page = await send('/policy/new', form)
  expect([page.status, page.body]).toEqual([400, expect.not.stringContaining(secret)])
})
