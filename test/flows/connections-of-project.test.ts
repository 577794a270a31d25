import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runHere } from '../cli/gatepass.ts'
import { onBothDatabases } from '../features/approvals/both-databases.ts'
import { type Gatepass, startGatepass, testClock } from '../gatepass.ts'
import { answer, type Loopback, listen, type RecordedRequest, record } from '../loopback.ts'

// Tokens that a client gets by itself (RFC 6749 section 4.4), in connections of the project that an administrator shares.

/** A server of machine grants, and the API that takes its tokens. It gives a client that authenticates what it asks for. */
async function startMachineServer() {
  const state = {
    secret: 's3cret',
    granted: undefined as string | undefined,
    error: undefined as string | undefined,
    status: 200,
    withRefreshToken: false,
    /** Further members of the token response. */
    told: {},
    expiresIn: 3600 as number | undefined,
    revoked: new Set<string>(),
    asked: [] as Readonly<Record<string, string>>[],
    called: [] as RecordedRequest[],
    /** Runs while a request for a token waits for its answer. */
    meanwhile: async (): Promise<unknown> => undefined,
  }
  const server: Loopback = await listen(async (req, res) => {
    const request = await record(req)
    if (request.path !== '/token') {
      state.called.push(request)
      const token = request.headers.authorization?.replace('Bearer ', '') ?? ''
      return answer(res, state.revoked.has(token) ? 401 : 200, 'application/json', '{"ok":true}')
    }
    state.asked.push(request.params)
    await state.meanwhile()
    const basic = `Basic ${Buffer.from(`machine:${state.secret}`).toString('base64')}`
    const refusal = state.error ?? (request.headers.authorization === basic ? undefined : 'invalid_client')
    if (refusal !== undefined)
      return answer(
        res,
        refusal === 'invalid_client' ? 401 : 400,
        'application/json',
        JSON.stringify({ error: refusal }),
      )
    const body = {
      access_token: `t-${state.asked.length}`,
      token_type: 'Bearer',
      ...(state.expiresIn !== undefined && { expires_in: state.expiresIn }),
      ...(state.withRefreshToken && { refresh_token: 'never-used' }),
      ...(state.granted !== undefined && { scope: state.granted }),
      ...state.told,
    }
    return answer(res, state.status, 'application/json', JSON.stringify(body))
  })
  return Object.assign(state, { server })
}

describe.each(onBothDatabases)('on %s', (_, optionsOf) => {
  const clock = testClock(Math.floor(Date.now() / 1000))
  let machine: Awaited<ReturnType<typeof startMachineServer>>
  let gatepass: Gatepass
  let call: Gatepass['call']
  let entries = 0
  let entry: string

  beforeAll(async () => {
    machine = await startMachineServer()
    gatepass = await startGatepass({ ...(await optionsOf()), now: clock })
    call = gatepass.call
  })
  afterAll(async () => {
    await gatepass.close()
    await machine.server.close()
  })
  beforeEach(async () => {
    Object.assign(machine, { secret: 's3cret', granted: undefined, error: undefined, status: 200 })
    Object.assign(machine, {
      withRefreshToken: false,
      expiresIn: 3600,
      told: {},
      meanwhile: async () => undefined,
    })
    machine.revoked.clear()
    entry = `machine-${++entries}`
    const added = await call('POST', '/v1/admin/auth_providers', providerBody(entry))
    expect(added.status).toBe(201)
    machine.asked.length = 0
    machine.called.length = 0
  })

  const providerBody = (id: string, oauth2: object = {}) => ({
    id,
    oauth2: {
      grant: { type: 'client_credentials' },
      client_id: 'machine',
      client_secret: 's3cret',
      token_request: { endpoint: `${machine.server.url}/token`, auth_method: 'client_secret_basic' },
      api: { base_url: `${machine.server.url}/api` },
      ...oauth2,
    },
  })
  const share = (more: object = {}) =>
    call('POST', '/v1/admin/connections', {
      provider_id: entry,
      owner: 'project',
      name: 'CRM',
      shared_with: { users: ['*'] },
      ...more,
    })
  const proxy = (userId = 'ada', headers: Record<string, string> = {}, options: { key?: string } = {}) =>
    call('GET', `/proxy/${entry}/things`, undefined, {
      ...options,
      headers: { 'x-gatepass-user': userId, ...headers },
    })
  const sentToken = () => machine.called.at(-1)?.headers.authorization

  test('a token is asked for once, used by all who share it, and asked for again when it has expired', async () => {
    const shared = await share()
    expect(shared).toMatchObject({
      status: 201,
      body: { provider_id: entry, owner: 'project', name: 'CRM', shared_with: { users: ['*'] } },
    })
    expect(machine.asked).toEqual([{ grant_type: 'client_credentials' }])
    const calls = await Promise.all(Array.from({ length: 20 }, (_, i) => proxy(`user-${i}`)))
    expect(calls.map(({ status }) => status)).toEqual(Array(20).fill(200))
    expect(machine.asked).toHaveLength(1)
    expect(sentToken()).toBe('Bearer t-1')
    clock.advance(3600)
    machine.withRefreshToken = true
    await Promise.all(Array.from({ length: 20 }, (_, i) => proxy(`user-${i}`)))
    expect(machine.asked).toHaveLength(2)
    expect(sentToken()).toBe('Bearer t-2')
    clock.advance(3600)
    await proxy()
    expect(machine.asked.map(({ grant_type: type }) => type)).toEqual(Array(3).fill('client_credentials'))
  })

  test('a token that the API refuses is asked for again, also one without a known lifetime', async () => {
    machine.expiresIn = undefined
    await share()
    clock.advance(86_400)
    expect((await proxy()).status).toBe(200)
    expect(machine.asked).toHaveLength(1)
    machine.revoked.add('t-1')
    expect((await proxy()).status).toBe(200)
    expect(sentToken()).toBe('Bearer t-2')
  })

  test('a tool whose only connection is refused counts as not ready, until a test works again', async () => {
    const { body } = await share({ scopes: ['read', 'write'] })
    const request = {
      name: 'Things',
      description: 'Lists things.',
      method: 'GET',
      url: '/api/things',
      input_schema: { type: 'object', properties: {} },
      authorization: { id: entry, scopes: ['read'] },
    }
    const openapi = { request, server_url: machine.server.url, namespace: `Crm${entries}` }
    const made = await call('POST', '/v1/workers', { id: `${entry}-api`, openapi })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    const status = async () =>
      (await call('GET', `/v1/tools/Crm${entries}.Things?user_id=ada`)).body.requirements
    expect(await status()).toMatchObject({ met: true, authorization: { token_status: 'completed' } })
    machine.error = 'invalid_grant'
    await proxy('ada', { 'x-gatepass-scopes': 'read' })
    expect(await status()).toMatchObject({ met: false, authorization: { token_status: 'not_started' } })
    machine.error = undefined
    clock.advance(60)
    expect((await call('POST', `/v1/admin/connections/${body.id}/test`)).status).toBe(200)
    expect(await status()).toMatchObject({ met: true, authorization: { token_status: 'completed' } })
    await call('PATCH', `/v1/admin/connections/${body.id}`, { shared_with: { users: ['bob'] } })
    expect(await status()).toMatchObject({ met: false })
  })

  test('each set of scopes has a token of its own, within those that the connection may have', async () => {
    await share({ scopes: ['write', 'read'] })
    expect(machine.asked).toEqual([{ grant_type: 'client_credentials', scope: 'read write' }])
    const scoped = (scope: string) => proxy('ada', { 'x-gatepass-scopes': scope })
    expect((await scoped('read')).status).toBe(200)
    expect(machine.asked.at(-1)).toMatchObject({ scope: 'read' })
    expect((await scoped('read')).status).toBe(200)
    expect(machine.asked).toHaveLength(2)
    expect(await scoped('admin')).toMatchObject({ status: 403, body: { name: 'denied_by_policy' } })
    machine.granted = 'read'
    clock.advance(3600)
    expect(await scoped('read write')).toMatchObject({ status: 502, body: { name: 'token_request_refused' } })
  })

  test('no caller takes the tokens from the others by asking for many sets of scopes', async () => {
    await share()
    const scoped = async (userId: string, scope: string) =>
      (await proxy(userId, { 'x-gatepass-scopes': scope })).status
    for (let n = 0; n < 60; n++) expect(await scoped('mallory', `set-${n}`)).toBe(200)
    expect(await scoped('bob', 'read')).toBe(200)
    const asked = machine.asked.length
    expect(await scoped('mallory', 'set-59')).toBe(200)
    expect(machine.asked).toHaveLength(asked)
    // 50 are kept: the first ones made room
    expect(await scoped('mallory', 'set-0')).toBe(200)
    expect(machine.asked).toHaveLength(asked + 1)
  })

  test('a wrong secret is the operator’s: 502 without a link, and works again once it is right', async () => {
    await share()
    machine.secret = 'rotated'
    clock.advance(3600)
    const refused = await proxy()
    expect(refused).toMatchObject({ status: 502, body: { name: 'token_request_refused' } })
    expect(JSON.stringify(refused.body)).not.toMatch(/connect|s3cret|rotated/)
    await call('PATCH', `/v1/admin/auth_providers/${entry}`, { oauth2: { client_secret: 'rotated' } })
    clock.advance(60)
    expect((await proxy()).status).toBe(200)
  })

  test('nothing is added that the provider gives no token for', async () => {
    machine.error = 'invalid_client'
    expect(await share()).toMatchObject({ status: 502, body: { name: 'token_request_refused' } })
    machine.error = 'invalid_grant'
    clock.advance(60)
    const refused = await share()
    expect(refused).toMatchObject({
      status: 403,
      body: { name: 'authorization_required', cause: { code: 'machine_grant_refused', who: 'operator' } },
    })
    // the provider's word, and what to do
    expect(refused.body.message).toMatch(/answered invalid_grant\. Compare the client/)
    expect(JSON.stringify(refused.body)).not.toContain('s3cret')
    machine.error = undefined
    expect((await call('GET', '/v1/admin/connections')).body.items.filter(isOf)).toEqual([])
    clock.advance(60)
    expect((await share()).status).toBe(201)
  })
  const isOf = ({ provider_id: id }: { provider_id: string }) => id === entry

  test('where the grant is refused later, callers get no link, and the operator can ask again', async () => {
    const { body } = await share()
    machine.error = 'invalid_grant'
    clock.advance(3600)
    const refused = await proxy()
    expect(refused).toMatchObject({ status: 403, body: { name: 'authorization_required' } })
    expect(refused.body.url).toBeUndefined()
    expect(refused.body.requires_authorization).toBeUndefined()
    machine.error = undefined
    expect((await proxy()).status).toBe(403)
    expect((await call('POST', `/v1/admin/connections/${body.id}/test`)).status).toBe(200)
    expect((await proxy()).status).toBe(200)
  })

  test('only those use it with whom it is shared: users, agents and tools', async () => {
    const { body } = await share({ shared_with: { users: ['ada', 'sales-*'] } })
    expect((await proxy('ada')).status).toBe(200)
    expect((await proxy('sales-7')).status).toBe(200)
    expect(await proxy('bob')).toMatchObject({ status: 403, body: { name: 'denied_by_policy' } })
    const to = (shared_with: object) => call('PATCH', `/v1/admin/connections/${body.id}`, { shared_with })
    const key = (await call('POST', '/v1/admin/keys', { role: 'caller', name: 'support-bot' })).body
    expect((await to({ users: ['*'], agents: ['support-bot'] })).status).toBe(200)
    expect((await proxy('ada')).status).toBe(403)
    expect((await proxy('ada', {}, { key: key.key })).status).toBe(200)
    // the proxy is no tool
    await to({ users: ['*'], agents: null, tools: ['Crm.*'] })
    expect((await proxy('ada')).status).toBe(403)
    await call('DELETE', `/v1/admin/connections/${body.id}`)
    expect(await proxy('ada')).toMatchObject({ status: 403, body: { name: 'authorization_required' } })
  })

  test('a sharing that ends while the provider is asked for a token is not honoured', async () => {
    const { body } = await share()
    const change = (to: object) => call('PATCH', `/v1/admin/connections/${body.id}`, to)
    clock.advance(3600)
    machine.meanwhile = () => change({ shared_with: { users: ['bob'] } })
    expect(await proxy('ada')).toMatchObject({ status: 403, body: { name: 'denied_by_policy' } })
    expect(machine.called).toEqual([])
    let changes = 0
    machine.meanwhile = async () => (changes++ === 0 ? change({ name: 'CRM of sales' }) : undefined)
    expect((await proxy('bob')).status).toBe(200) // it is still shared, so the token is asked for again
    expect(changes).toBe(2)
  })

  test('a change of the sharing leaves what it does not name', async () => {
    const { body } = await share({ shared_with: { users: ['ada'], tools: ['Crm.*'] } })
    const to = async (shared_with: object) =>
      (await call('PATCH', `/v1/admin/connections/${body.id}`, { shared_with })).body.shared_with
    expect(await to({ agents: ['support-bot'] })).toEqual({
      users: ['ada'],
      agents: ['support-bot'],
      tools: ['Crm.*'],
    })
    expect(await to({ agents: null, users: ['bob'] })).toEqual({ users: ['bob'], tools: ['Crm.*'] })
    expect(await to({ tools: null })).toEqual({ users: ['bob'] })
  })

  test('a change that cannot be written keeps the tokens, and one that is written deletes them with it', async () => {
    const { body } = await share()
    await share({ name: 'Other' })
    const change = (to: object) => call('PATCH', `/v1/admin/connections/${body.id}`, to)
    const asked = machine.asked.length
    expect((await change({ name: 'Other' })).status).toBe(409)
    await proxy()
    expect(machine.asked).toHaveLength(asked)
    await change({ name: 'Third' })
    await proxy()
    expect(machine.asked).toHaveLength(asked + 1)
  })

  test('is not reached as a connection of a user', async () => {
    const { body } = await share()
    await proxy()
    const { body: mine } = await call('GET', '/v1/connections?user_id=ada')
    expect(mine.items.filter(isOf)).toEqual([])
    const { body: all } = await call('GET', '/v1/connections')
    expect(all.items.filter(isOf)).toEqual([])
    const used = await call('GET', `/v1/admin/audit?action=token.released&provider_id=${entry}`)
    const { connection_id: token } = used.body.items[0]
    expect(token).toMatch(/^conn_/)
    for (const id of [body.id, token]) {
      expect((await call('GET', `/v1/connections/${id}`)).status).toBe(404)
      expect((await call('POST', `/v1/connections/${id}/token`)).status).toBe(404)
    }
    expect((await proxy('')).status).toBe(400)
  })

  test('the trail names the user who used it, and that it is the project’s', async () => {
    await share()
    await proxy('ada')
    const { body } = await call('GET', `/v1/admin/audit?action=token.released&provider_id=${entry}`)
    expect(body.items[0]).toMatchObject({ user_id: 'ada', provider_id: entry, owner: 'project' })
  })

  test('at a terminal it is added, shared with others, asked again and deleted', async () => {
    const run = (...args: string[]) =>
      runHere({ GATEPASS_URL: gatepass.url, GATEPASS_API_KEY: gatepass.apiKey }, 'connections', ...args)
    const added = await run(
      'add',
      entry,
      '--name',
      'Billing',
      '--users',
      'ada',
      '--tools',
      'Billing.*',
      '--json',
    )
    expect(added.code).toBe(0)
    const { id, shared_with: sharedWith } = JSON.parse(added.stdout)
    expect(sharedWith).toEqual({ users: ['ada'], tools: ['Billing.*'] })
    expect((await run('shared')).stdout).toContain('users ada; tools Billing.*')
    const changed = async (...options: string[]) => (await run('change', id, ...options)).stdout
    expect(await changed('--agents', 'bot')).toContain('shared with users ada; agents bot; tools Billing.*')
    expect(await changed('--any-agent')).toContain('shared with users ada; tools Billing.*')
    expect(await changed('--users', '*', '--any-tool')).toMatch(/shared with users \*\.$/m)
    expect((await proxy('bob')).status).toBe(200)
    const unshared = await run('add', entry, '--name', 'For everyone?')
    expect(unshared).toMatchObject({ code: 2, stderr: expect.stringContaining('--users') })
    expect((await run('test', id)).stdout).toContain(`${entry} gave a token for Billing`)
    machine.error = 'invalid_client'
    clock.advance(60)
    expect((await run('test', id)).code).not.toBe(0)
    expect(await run('delete', id)).toMatchObject({ code: 0 })
    expect((await run('shared', '--json')).stdout).not.toContain(id)
  })

  test('the account of a client is a value of the entry', async () => {
    await call('PATCH', `/v1/admin/auth_providers/${entry}`, {
      oauth2: {
        grant: { type: 'account_credentials' },
        variables: { account_id: { value: 'acc-1', pattern: '[a-z0-9-]+' } },
        token_request: { params: { account_id: '{{account_id}}' } },
      },
    })
    await share()
    expect(machine.asked).toEqual([{ grant_type: 'account_credentials', account_id: 'acc-1' }])
  })

  test('explain and doctor name the cause, and what an operator can do', async () => {
    const check = async (name: string) => {
      const { body } = await call('GET', '/v1/admin/diagnosis')
      return body.checks.find((one: { name: string }) => one.name === name)
    }
    expect(await check(`provider ${entry}`)).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('no connection of the project shares them'),
      fix: expect.stringContaining(`gatepass connections add ${entry}`),
    })
    const { body: shared } = await share()
    expect(await check(`provider ${entry}`)).toMatchObject({ status: 'ok' })
    const explained = (id = shared.id) => call('GET', `/v1/connections/${id}/explain`)
    expect(await explained()).toMatchObject({ status: 200, body: { status: 'active' } })
    clock.advance(3600)
    machine.error = 'invalid_client'
    await proxy()
    const wrong = await explained()
    expect(wrong.body.cause).toMatchObject({ code: 'wrong_client_secret', who: 'operator' })
    expect(JSON.stringify(wrong.body)).not.toContain('redirect_uri')
    clock.advance(3600)
    machine.error = 'invalid_grant'
    await proxy()
    const { cause, id } = (await explained()).body
    expect(cause).toMatchObject({ code: 'machine_grant_refused', who: 'operator' })
    expect(cause.to_do).toContain('token_request.params')
    expect(await explained(id)).toMatchObject({ status: 200, body: { id, cause: { code: cause.code } } })
    expect(await check(`connections at ${entry}`)).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('machine_grant_refused'),
      fix: expect.stringContaining(`gatepass explain ${id}`),
    })
    const run = await runHere(
      { GATEPASS_URL: gatepass.url, GATEPASS_API_KEY: gatepass.apiKey },
      'explain',
      shared.id,
    )
    expect(run.stdout).toContain('of the project')
    const { body: ofAda } = await call('POST', '/v1/admin/keys', {
      name: entry,
      role: 'caller',
      user_id: 'ada',
    })
    const asAda = await call('GET', `/v1/connections/${id}/explain`, undefined, { key: ofAda.key })
    expect(asAda.status).toBe(404)
  })

  test('a value that no URL names may be any text of its pattern', async () => {
    const variable = { value: 'robot@acme.example', pattern: '[^@]+@acme\\.example' }
    const change = (oauth2: object) => call('PATCH', `/v1/admin/auth_providers/${entry}`, { oauth2 })
    await change({
      variables: { robot: variable },
      token_request: { params: { act_as: '{{robot}}' } },
    })
    await share()
    expect(machine.asked).toEqual([{ grant_type: 'client_credentials', act_as: 'robot@acme.example' }])
    const refused = await change({ variables: { robot: { value: 'robot@evil.example' } } })
    expect(refused).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'oauth2.variables.robot.value' }] },
    })
    const inUrl = await change({ api: { base_url: `${machine.server.url}/{{robot}}` } })
    expect(inUrl).toMatchObject({ status: 400, body: { errors: [{ path: 'oauth2.variables.robot' }] } })
  })

  test('a base URL that the token response tells belongs to each connection', async () => {
    machine.told = { instance: 'acme' }
    await call('PATCH', `/v1/admin/auth_providers/${entry}`, {
      oauth2: {
        kept_values: { instance: { from: 'token_response', pattern: '[a-z]+' } },
        api: { base_url: `${machine.server.url}/{{instance}}` },
      },
    })
    await share()
    expect((await proxy()).status).toBe(200)
    expect(machine.called.at(-1)?.path).toBe('/acme/things')
    // another set of scopes has another token, whose first use asks for it
    expect((await proxy('ada', { 'x-gatepass-scopes': 'read' })).status).toBe(200)
    expect(machine.asked).toHaveLength(2)
    expect(machine.called.at(-1)?.path).toBe('/acme/things')
    machine.error = 'invalid_client'
    expect(await proxy('ada', { 'x-gatepass-scopes': 'write' })).toMatchObject({
      status: 502,
      body: { name: 'token_request_refused' },
    })
  })

  test.each([
    [{ owner: 'user' }, 'owner'],
    [{ oauth2: { owner: 'user' } }, 'oauth2.owner'],
    [{ owner: 'user', oauth2: { owner: 'project' } }, 'oauth2.owner'],
    [{ oauth2: { installation: { hints: {} } } }, 'oauth2.installation'],
    [
      { oauth2: { authorize_request: { endpoint: 'https://idp.example/authorize' } } },
      'oauth2.authorize_request',
    ],
    [{ oauth2: { public_clients: true } }, 'oauth2.public_clients'],
  ])('the entry refuses %j', async (change, path) => {
    const { oauth2, ...rest } = { oauth2: {}, ...change }
    const body = { ...providerBody('refused', oauth2), ...rest }
    expect(await call('POST', '/v1/admin/auth_providers', body)).toMatchObject({
      status: 400,
      body: { errors: [{ path, code: 'conflict' }] },
    })
  })

  test('oauth2.owner means the same as owner', async () => {
    const path = `/v1/admin/auth_providers/${entry}`
    const changed = await call('PATCH', path, { oauth2: { owner: 'project' } })
    expect(changed).toMatchObject({ status: 200, body: { owner: 'project' } })
    expect((await call('PATCH', path, { oauth2: { owner: null } })).body.owner).toBe('project')
  })

  test('two of one name, and a provider of users, are refused', async () => {
    await share()
    expect((await share()).status).toBe(409)
    const other = await share({ name: 'CRM 2' })
    expect((await call('PATCH', `/v1/admin/connections/${other.body.id}`, { name: 'CRM' })).status).toBe(409)
    await call('POST', '/v1/admin/auth_providers', {
      id: `users-${entry}`,
      provider_id: 'github',
      oauth2: { client_id: 'c', client_secret: 's' },
    })
    expect(await share({ provider_id: `users-${entry}` })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'owner', code: 'conflict' }] },
    })
  })
})
