import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runHereReading } from '../cli/gatepass.ts'
import { type FakeKeyService, startFakeKeyService } from '../fake-key-service.ts'
import { onBothDatabases } from '../features/approvals/both-databases.ts'
import { type Gatepass, startGatepass, testClock } from '../gatepass.ts'
import { answer, listen } from '../loopback.ts'
import { UserAgent } from '../user-agent.ts'

// Keys that the project owns: checked at the service, stored sealed, and used by those alone with whom they are shared.

const KEY = 'key-0123456789abcdef'
const NEW_KEY = 'key-fedcba9876543210'

describe.each(onBothDatabases)('on %s', (_, optionsOf) => {
  const clock = testClock(Math.floor(Date.now() / 1000))
  let service: FakeKeyService
  let gatepass: Gatepass
  let call: Gatepass['call']
  let entries = 0
  let entry: string

  beforeAll(async () => {
    service = await startFakeKeyService(KEY)
    gatepass = await startGatepass({ ...(await optionsOf()), now: clock })
    call = gatepass.call
  })
  afterAll(async () => {
    await gatepass.close()
    await service[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    Object.assign(service, { key: KEY, status: undefined })
    service.requests.length = 0
    entry = `desk-${++entries}`
    expect((await call('POST', '/v1/admin/auth_providers', providerBody())).status).toBe(201)
  })

  const providerBody = (more: object = {}) => ({
    id: entry,
    type: 'credentials',
    owner: 'project',
    credentials: {
      fields: {
        workspace: { label: 'Workspace', pattern: '[a-z]{1,20}', example: 'acme' },
        api_key: { label: 'API key', secret: true },
      },
      place: { basic: { username: '{{api_key}}', password: 'X' } },
      test_request: { endpoint: `${service.url}/basic/{{workspace}}/me` },
      account: { id: ['$.id'], name: ['$.contact.email'] },
      api: { base_url: `${service.url}/basic/{{workspace}}`, hosts: [service.host] },
      ...more,
    },
  })
  const session = {
    fields: { user: { label: 'User', example: 'ada' }, password: { label: 'Password', secret: true } },
    place: { bearer: '{{access_token}}' },
    token_request: {
      endpoint: '',
      request_content_type: 'application/json',
      params: { user: '{{user}}', password: '{{password}}' },
      response_map: { access_token: '$.token', expires_in: '$.expires_in' },
    },
  }
  const share = (more: object = {}) =>
    call('POST', '/v1/admin/connections', {
      provider_id: entry,
      owner: 'project',
      name: 'Support',
      fields: { workspace: 'acme', api_key: KEY },
      shared_with: { users: ['ada'] },
      ...more,
    })
  const change = (id: string, to: object) => call('PATCH', `/v1/admin/connections/${id}`, to)
  const proxy = (user = 'ada', path = '/tickets') =>
    call('GET', `/proxy/${entry}${path}`, undefined, { headers: { 'x-gatepass-user': user } })
  const shared = async (id: string) => (await call('GET', `/v1/admin/connections/${id}`)).body

  test('a key is checked before it is stored, and used by those alone with whom it is shared', async () => {
    const wrong = await share({ fields: { workspace: 'acme', api_key: 'wrong-key-0123' } })
    expect(wrong).toMatchObject({ status: 400, body: { errors: [{ path: 'fields', code: 'invalid' }] } })
    expect(JSON.stringify(wrong.body)).not.toContain('wrong-key')
    expect((await call('GET', '/v1/admin/connections')).body.items.filter(isOf)).toEqual([])
    const added = await share()
    expect(added).toMatchObject({ status: 201, body: { provider_id: entry, status: 'active' } })
    expect(added.body).not.toHaveProperty('fields')

    expect(await proxy('ada')).toMatchObject({ status: 200, body: { id: 42 } })
    expect(service.requests.at(-1)?.path).toBe('/basic/acme/tickets')
    const sent = service.requests.length
    expect(await proxy('bob')).toMatchObject({ status: 403, body: { name: 'denied_by_policy' } })
    expect(service.requests).toHaveLength(sent)
  })
  const isOf = ({ provider_id: id }: { provider_id: string }) => id === entry

  test('a change of the sharing counts at once, and keeps the key', async () => {
    const { body } = await share()
    await proxy('ada')
    expect((await change(body.id, { shared_with: { users: ['bob'] }, name: 'Help desk' })).status).toBe(200)
    expect((await proxy('ada')).status).toBe(403)
    expect((await proxy('bob')).status).toBe(200)
    expect((await call('DELETE', `/v1/admin/connections/${body.id}`)).status).toBe(204)
    expect(await proxy('bob')).toMatchObject({ status: 403, body: { name: 'authorization_required' } })
  })

  test('a sharing that ends right before the release is not honoured', async () => {
    const { body } = await share()
    let asked = 0
    await using hook = await listen(async (_, res) => {
      asked++
      await change(body.id, { shared_with: { users: ['bob'] } })
      answer(res, 200, 'application/json', '{"code":"OK"}')
    })
    const policy = { effect: 'hook', match: { providers: [entry], uses: ['token'] } }
    const made = await call('POST', '/v1/admin/policies', {
      id: `asked-${entry}`,
      ...policy,
      hook: { url: `${hook.url}/pre` },
    })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    const need = { auth_requirement: { id: entry }, user_id: 'ada' }
    const refused = await call('POST', '/v1/auth/authorize', need)
    expect(refused).toMatchObject({ status: 403, body: { name: 'denied_by_policy' } })
    expect(asked).toBe(1)
  })

  test('a key that the service refuses later needs an administrator, and callers get no link', async () => {
    const { body } = await share()
    service.key = NEW_KEY
    for (const seconds of [100, 61]) {
      clock.advance(seconds)
      await proxy()
    }
    const refused = await proxy()
    expect(refused).toMatchObject({
      status: 403,
      body: { name: 'authorization_required', cause: { who: 'operator' } },
    })
    expect(JSON.stringify(refused.body)).not.toMatch(/\/connect\/|key-/)
    expect(await shared(body.id)).toMatchObject({
      status: 'needs_attention',
      status_reason: 'credential_refused',
    })
    await change(body.id, { name: 'Renamed' })
    expect(await shared(body.id)).toMatchObject({ status: 'needs_attention' })
    expect((await call('POST', `/v1/admin/connections/${body.id}/test`)).status).toBe(403)

    const fields = (api_key: string) => ({ fields: { workspace: 'acme', api_key } })
    expect((await change(body.id, fields('wrong-key-0123'))).status).toBe(400)
    expect(await change(body.id, fields(NEW_KEY))).toMatchObject({ status: 200, body: { status: 'active' } })
    expect((await proxy()).status).toBe(200)
    expect((await call('POST', `/v1/admin/connections/${body.id}/test`)).status).toBe(200)
  })

  test('a test of the key that fails is noted', async () => {
    const { body } = await share()
    service.key = NEW_KEY
    expect(await call('POST', `/v1/admin/connections/${body.id}/test`)).toMatchObject({
      status: 403,
      body: { name: 'authorization_required' },
    })
    expect(await shared(body.id)).toMatchObject({ status_reason: 'credential_refused' })
    service.key = KEY
    expect((await call('POST', `/v1/admin/connections/${body.id}/test`)).status).toBe(200)
    expect((await proxy()).status).toBe(200)
  })

  /** A connection whose key is checked at a server of its own, which first does what `meanwhile` says. */
  const shareChecked = async (own: { meanwhile?: () => Promise<unknown> }) => {
    const checks = await listen(async (_, res) => {
      const { meanwhile } = own
      delete own.meanwhile
      await meanwhile?.()
      answer(res, 200, 'application/json', '{"id":42}')
    })
    entry = `${entry}-checked`
    const test_request = { endpoint: `${checks.url}/me` }
    const made = await call('POST', '/v1/admin/auth_providers', providerBody({ test_request }))
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    const { body } = await share()
    return { id: body.id as string, [Symbol.asyncDispose]: () => checks[Symbol.asyncDispose]() }
  }

  test('a test that ends after the key was replaced or deleted brings no former key back', async () => {
    const own: Parameters<typeof shareChecked>[0] = {}
    await using checked = await shareChecked(own)
    const { id } = checked
    const fields = { workspace: 'acme', api_key: NEW_KEY }
    own.meanwhile = () => {
      service.key = NEW_KEY
      return change(id, { fields })
    }
    await call('POST', `/v1/admin/connections/${id}/test`)
    expect((await proxy()).status).toBe(200)

    const { store } = gatepass.broker
    const [project] = await store.projects.list()
    const projectId = project?.id ?? ''
    const found = await store.sharedConnections.find(projectId, id)
    own.meanwhile = () => call('DELETE', `/v1/admin/connections/${id}`)
    await call('POST', `/v1/admin/connections/${id}/test`)
    const owner = { projectId, providerUid: found?.providerUid ?? '', userId: '' }
    expect(await store.connections.ofOwner(owner)).toEqual([])
  })

  test('a user whose calls the API refuses takes the key from nobody else', async () => {
    await using _checked = await shareChecked({})
    service.key = NEW_KEY // the API refuses what is asked; the service's own check takes the key
    for (const seconds of [100, 61, 61]) {
      clock.advance(seconds)
      expect((await proxy()).status).toBe(401)
    }
    service.key = KEY
    expect((await proxy()).status).toBe(200)
  })

  test('a user whose calls the API refuses takes a key without a test request from nobody else', async () => {
    entry = `${entry}-unchecked`
    const made = await call(
      'POST',
      '/v1/admin/auth_providers',
      providerBody({ test_request: undefined, unchecked: true }),
    )
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    const { body } = await share()
    service.key = NEW_KEY
    for (const seconds of [100, 61, 61]) {
      clock.advance(seconds)
      expect((await proxy()).status).toBe(401)
    }
    expect(await shared(body.id)).toMatchObject({ status: 'active' })
    expect(gatepass.logLines.join('\n')).toContain('no test request that would tell whether the key is wrong')
    service.key = KEY
    expect((await proxy()).status).toBe(200)
  })

  test('a key is sent to no other place than it was typed for', async () => {
    const { body } = await share()
    const { credentials } = providerBody({ place: { basic: { username: '{{api_key}}', password: 'Y' } } })
    await call('PATCH', `/v1/admin/auth_providers/${entry}`, { credentials })
    service.requests.length = 0
    for (const user of ['ada', 'ada'])
      expect(await proxy(user)).toMatchObject({ status: 403, body: { name: 'authorization_required' } })
    expect((await call('POST', `/v1/admin/connections/${body.id}/test`)).status).toBe(403)
    expect(service.requests).toEqual([])
    expect(await shared(body.id)).toMatchObject({ status_reason: 'provider_changed' })
  })

  test('it is no connection of a user, and its key leaves by no path', async () => {
    const { body } = await share()
    await proxy()
    const all = (await call('GET', '/v1/connections')).body
    expect(all.items.filter(isOf)).toEqual([])
    const { body: trail } = await call('GET', `/v1/admin/audit?provider_id=${entry}&limit=100`)
    const released = trail.items.find(({ action }: { action: string }) => action === 'token.released')
    expect(released).toMatchObject({ user_id: 'ada', owner: 'project' })
    for (const id of [body.id, released.connection_id])
      expect((await call('POST', `/v1/connections/${id}/token`)).status).toBe(404)
    const exported = await call('GET', '/v1/admin/users/ada/export')
    const erased = await call('DELETE', '/v1/admin/users/ada')
    expect((await proxy()).status).toBe(200)
    service.status = 500
    await proxy()
    const shown = [
      ...[all, trail, exported.body, erased.body, await shared(body.id)].map((one) => JSON.stringify(one)),
      JSON.stringify((await call('GET', '/v1/admin/connections')).body),
      ...gatepass.logLines,
      ...(await filesOf(gatepass)),
    ].join('\n')
    expect(shown).toContain(entry)
    for (const secret of [
      KEY,
      Buffer.from(KEY).toString('base64'),
      Buffer.from(`${KEY}:X`).toString('base64'),
    ])
      expect(shown).not.toContain(secret)
  })

  test('a tool that is a request of HTTP has the key, where it is shared with the tool', async () => {
    const { body } = await share({ shared_with: { users: ['*'], tools: [`Desk${entries}.*`] } })
    const request = {
      name: 'Tickets',
      description: 'Lists tickets.',
      method: 'GET',
      url: '/basic/acme/tickets',
      input_schema: { type: 'object', properties: {} },
      authorization: { id: entry },
    }
    const openapi = { request, server_url: service.url, namespace: `Desk${entries}` }
    const worker = await call('POST', '/v1/workers', { id: `${entry}-api`, openapi })
    expect(worker.status, JSON.stringify(worker.body)).toBe(201)
    const run = (user_id: string) =>
      call('POST', '/v1/tools/execute', { tool_name: `Desk${entries}.Tickets`, user_id, input: {} })
    const answered = await run('zoe')
    expect(answered.body.output.value, JSON.stringify(answered.body)).toMatchObject({ id: 42 })
    expect(JSON.stringify(answered.body)).not.toContain(KEY)
    expect((await proxy('zoe')).status).toBe(403)
    await change(body.id, { shared_with: { tools: ['Other.*'] } })
    expect(JSON.stringify((await run('zoe')).body)).toContain('are not shared with this use')
  })

  test('a tool whose only key is refused counts as not ready, until the key is replaced', async () => {
    const { body } = await share()
    const request = {
      name: 'Tickets',
      description: 'Lists tickets.',
      method: 'GET',
      url: '/basic/acme/tickets',
      input_schema: { type: 'object', properties: {} },
      authorization: { id: entry },
    }
    const openapi = { request, server_url: service.url, namespace: `Desk${entries}` }
    expect((await call('POST', '/v1/workers', { id: `${entry}-api`, openapi })).status).toBe(201)
    const status = async (user: string) => {
      const found = await call('GET', `/v1/tools/Desk${entries}.Tickets?user_id=${user}`)
      expect(found.status, JSON.stringify(found.body)).toBe(200)
      return found.body.requirements
    }
    expect(await status('ada')).toMatchObject({ met: true, authorization: { token_status: 'completed' } })
    expect(await status('bob')).toMatchObject({ met: false, authorization: { token_status: 'not_started' } })
    service.key = NEW_KEY
    for (const seconds of [100, 61]) {
      clock.advance(seconds)
      await proxy()
    }
    const broken = await status('ada')
    expect(broken).toMatchObject({
      met: false,
      authorization: {
        token_status: 'not_started',
        status_reason: expect.stringContaining('An administrator has to look after it'),
      },
    })
    await change(body.id, { fields: { workspace: 'acme', api_key: NEW_KEY } })
    expect(await status('ada')).toMatchObject({ met: true, authorization: { token_status: 'completed' } })
    const { credentials } = providerBody({ place: { basic: { username: '{{api_key}}', password: 'Y' } } })
    await call('PATCH', `/v1/admin/auth_providers/${entry}`, { credentials })
    expect(await status('ada')).toMatchObject({ met: false })
  })

  test('the console lists it as the project’s alone, and needs attention there', async () => {
    await share()
    await proxy()
    const operator = new UserAgent()
    const at = (path: string) => `${gatepass.url}/dashboard${path}`
    await operator.submitForm(await operator.follow(at('')), { key: gatepass.apiKey })
    const page = async (path: string) => (await operator.get(at(path))).body
    for (const path of [`/connections?provider=${entry}`, '/connections'])
      expect(await page(path)).not.toContain('Support')
    expect(await page('/shared')).toContain('Support')
    service.key = NEW_KEY
    for (const seconds of [100, 61]) {
      clock.advance(seconds)
      await proxy()
    }
    expect(await page('/connections?status=needs_authorization')).not.toContain('Support')
    const overview = await page('')
    expect(overview).toContain(`1 connection of the project at ${entry}`)
    expect(overview).toContain('href="/dashboard/shared"')
  })

  test('a login is sent again when its token ends, and stays when the sharing changes', async () => {
    const token_request = { ...session.token_request, endpoint: `${service.url}/login` }
    const { credentials } = providerBody({
      ...session,
      token_request,
      test_request: { endpoint: `${service.url}/session/me` },
      api: { base_url: `${service.url}/session` },
    })
    const replaced = await call('PATCH', `/v1/admin/auth_providers/${entry}`, { credentials })
    expect(replaced.status, JSON.stringify(replaced.body)).toBe(200)
    const { status, body } = await share({ fields: { user: 'ada', password: KEY } })
    expect(status, JSON.stringify(body)).toBe(201)
    const logins = () => service.requests.filter(({ path }) => path === '/login').length
    await proxy()
    expect(logins()).toBe(1)
    clock.advance(600)
    const answers = await Promise.all(Array.from({ length: 10 }, () => proxy()))
    expect(answers.map((one) => one.status)).toEqual(Array(10).fill(200))
    expect(logins()).toBe(2)
    await change(body.id, { shared_with: { users: ['*'] } })
    clock.advance(600)
    expect((await proxy('bob')).status).toBe(200)
    expect(logins()).toBe(3)
  })

  test('where users may have keys too, theirs comes first, and those with whom none is shared get a link', async () => {
    await share()
    expect((await call('PATCH', `/v1/admin/auth_providers/${entry}`, { owner: 'either' })).status).toBe(200)
    expect((await proxy('bob')).body.requires_authorization?.url).toContain('/connect/')
    const fields = { workspace: 'own', api_key: KEY }
    const own = await call('POST', '/v1/connections', { user_id: 'ada', provider_id: entry, fields })
    expect(own.status).toBe(201)
    await proxy()
    expect(service.requests.at(-1)?.path).toBe('/basic/own/tickets')
    await call('GET', `/proxy/${entry}/x`, undefined, {
      headers: { 'x-gatepass-user': 'ada', 'x-gatepass-account': 'Support' },
    })
    expect(service.requests.at(-1)?.path).toBe('/basic/acme/x')
  })

  test('at a terminal the fields are read from standard input', async () => {
    const env = { GATEPASS_URL: gatepass.url, GATEPASS_API_KEY: gatepass.apiKey }
    const run = (input: object, ...args: string[]) =>
      runHereReading(JSON.stringify(input), env, ['connections', ...args])
    const options = ['--name', 'Support', '--users', 'ada', '--fields', '--json']
    const added = await run({ workspace: 'acme', api_key: KEY }, 'add', entry, ...options)
    expect(added.code, added.stderr).toBe(0)
    expect(added.stdout).not.toContain(KEY)
    const { id } = JSON.parse(added.stdout)
    service.key = NEW_KEY
    const changed = await run({ workspace: 'acme', api_key: NEW_KEY }, 'change', id, '--fields')
    expect(changed).toMatchObject({ code: 0, stdout: expect.stringContaining('users ada') })
    expect((await proxy()).status).toBe(200)
  })

  test.each([
    [{ fields: undefined }, 'fields.workspace', 'missing'],
    [{ fields: { workspace: 'acme', api_key: KEY, more: 'x' } }, 'fields.more', 'unknown_member'],
    [{ scopes: ['read'] }, 'scopes', 'conflict'],
    [{ shared_with: undefined }, 'shared_with', 'missing'],
  ])('%j is refused', async (more, path, code) => {
    const refused = await share(more)
    expect(refused.status).toBe(400)
    expect(refused.body.errors).toContainEqual(expect.objectContaining({ path, code }))
  })
})

/** The files of the database; none on PostgreSQL. */
async function filesOf({ databasePath }: Gatepass): Promise<string[]> {
  const files = [databasePath, `${databasePath}-wal`].map((path) =>
    readFile(path).catch(() => Buffer.alloc(0)),
  )
  return (await Promise.all(files)).map((file) => file.toString('latin1'))
}
