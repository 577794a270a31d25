import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FakeKeyService, startFakeKeyService } from '../../fake-key-service.ts'
import { type Gatepass, startGatepass, testClock } from '../../gatepass.ts'
import { answer, listen } from '../../loopback.ts'
import { connect } from '../../mcp/clients.ts'
import { onBothDatabases } from '../approvals/both-databases.ts'

// Rules by who owns the connection that is used. Ada has a key of her own; Bob uses the one that the project shares; with
// Zoe none is shared, so she would be asked for her own.

const KEY = 'key-0123456789abcdef'
const PATIENCE = { timeout: 300_000, interval: 100 }

describe.each(onBothDatabases)('on %s', (_, optionsOf) => {
  const clock = testClock(Math.floor(Date.now() / 1000))
  let service: FakeKeyService
  let gatepass: Gatepass
  let call: Gatepass['call']
  let entries = 0
  let entry: string
  let tool: string
  let own: string

  beforeAll(async () => {
    service = await startFakeKeyService(KEY)
    gatepass = await startGatepass({ ...(await optionsOf()), mode: 'development', now: clock })
    call = gatepass.call
  })
  afterAll(async () => {
    await gatepass.close()
    await service[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    const { body } = await call('GET', '/v1/admin/policies')
    for (const { id } of body.items) await call('DELETE', `/v1/admin/policies/${id}`)
    entry = `desk-${++entries}`
    tool = `Desk${entries}.Tickets`
    await create('/v1/admin/auth_providers', {
      id: entry,
      type: 'credentials',
      owner: 'either',
      credentials: {
        fields: { api_key: { label: 'API key', secret: true } },
        place: { basic: { username: '{{api_key}}', password: 'X' } },
        test_request: { endpoint: `${service.url}/basic/me` },
        api: { base_url: `${service.url}/basic`, hosts: [service.host] },
      },
    })
    const fields = { api_key: KEY }
    own = (await create('/v1/connections', { user_id: 'ada', provider_id: entry, fields })).id
    await create('/v1/admin/connections', {
      provider_id: entry,
      owner: 'project',
      name: 'Support',
      fields,
      shared_with: { users: ['ada', 'bob'] },
    })
    const request = {
      name: 'Tickets',
      description: 'Lists tickets.',
      method: 'GET',
      url: '/basic/tickets',
      input_schema: { type: 'object', properties: {} },
      authorization: { id: entry },
    }
    const openapi = { request, server_url: service.url, namespace: `Desk${entries}` }
    await create('/v1/workers', { id: `${entry}-api`, openapi })
    service.requests.length = 0
  })

  async function create(path: string, body: object) {
    const made = await call('POST', path, body)
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    return made.body
  }
  const rule = (effect: string, match: object, more: object = {}) =>
    create('/v1/admin/policies', { id: `${effect}-owners`, effect, match, ...more })
  const proxy = (user: string, account?: string) =>
    call('GET', `/proxy/${entry}/tickets`, undefined, {
      headers: { 'x-gatepass-user': user, ...(account !== undefined && { 'x-gatepass-account': account }) },
    })
  const execute = (user_id: string, more: object = {}) =>
    call('POST', '/v1/tools/execute', { tool_name: tool, user_id, input: {}, ...more })
  const DENIED = { status: 403, body: { name: 'denied_by_policy' } }
  const CONTEXT_DENIED = {
    body: { output: { error: { developer_message: expect.stringContaining('CONTEXT_DENIED') } } },
  }

  describe.each([
    ['deny', 'project'],
    ['allow', 'user'],
  ])('%s, owned by the %s', (effect, owner) => {
    test('refuses the connection of the project, also where it is named, and takes the user’s', async () => {
      await rule(effect, { owners: [owner] })
      expect((await proxy('ada')).status).toBe(200)
      expect((await execute('ada')).body.output.value).toMatchObject({ id: 42 })
      service.requests.length = 0
      for (const refused of [await proxy('bob'), await proxy('ada', 'Support')])
        expect(refused).toMatchObject(DENIED)
      expect(await execute('bob')).toMatchObject(CONTEXT_DENIED)
      expect(await execute('ada', { account: 'Support' })).toMatchObject(CONTEXT_DENIED)
      const need = (user_id: string) => ({ auth_requirement: { id: entry }, user_id })
      expect(await call('POST', '/v1/auth/authorize', need('bob'))).toMatchObject(DENIED)
      expect((await call('POST', '/v1/auth/authorize', need('ada'))).status).toBe(200)
      expect(service.requests).toEqual([])
      expect((await proxy('zoe')).body.requires_authorization.url).toContain('/connect/')
    })

    test('applies over MCP and to a scheduled run', async () => {
      await rule(effect, { owners: [owner] })
      for (const era of ['legacy', 'modern'] as const) {
        await using bob = await connect(gatepass, { era, user: 'bob' })
        const name = tool.replace('.', '_')
        // a list leaves out what no account could do
        expect((await bob.client.listTools()).tools.map((listed) => listed.name)).toContain(name)
        expect(await bob.client.callTool({ name, arguments: {} })).toMatchObject({
          isError: true,
          _meta: { 'gatepass/error': { kind: 'CONTEXT_DENIED' } },
        })
        await using ada = await connect(gatepass, { era, user: 'ada' })
        expect(await ada.client.callTool({ name, arguments: {} })).not.toHaveProperty('isError', true)
      }
      const run_at = new Date((clock() + 60) * 1000).toISOString().slice(0, 19)
      const ids = [await execute('bob', { run_at }), await execute('ada', { run_at })].map(
        ({ body }) => body.execution_id,
      )
      clock.advance(60)
      const ended = async (id: string) => (await call('GET', `/v1/scheduled_tools/${id}`)).body
      for (const id of ids)
        await expect
          .poll(async () => (await ended(id)).execution_status, PATIENCE)
          .toMatch(/completed|failed/)
      const [bobs, adas] = await Promise.all(ids.map(ended))
      expect(JSON.stringify(bobs)).toContain('CONTEXT_DENIED')
      expect(adas).toMatchObject({ execution_status: 'completed', outcome: 'value' })
    })
  })

  test.each([
    ['deny', 'user'],
    ['allow', 'project'],
  ])('%s, owned by the %s: no user is asked for a key that would be refused', async (effect, owner) => {
    await rule(effect, { owners: [owner] })
    expect((await proxy('bob')).status).toBe(200)
    expect((await execute('bob')).body.output.value).toMatchObject({ id: 42 })
    for (const user of ['ada', 'zoe']) {
      expect(await proxy(user)).toMatchObject(DENIED)
      expect(await execute(user)).toMatchObject(CONTEXT_DENIED)
    }
    expect((await proxy('ada', 'Support')).status).toBe(200)
    if (effect === 'allow') return
    const need = { auth_requirement: { id: entry }, user_id: 'zoe' }
    expect(await call('POST', '/v1/auth/authorize', need)).toMatchObject(DENIED)
  })

  test('a connection that is gone between the check and the release does not open the project’s', async () => {
    await using hook = await listen(async (_, res) => {
      await call('DELETE', `/v1/connections/${own}`)
      answer(res, 200, 'application/json', '{"code":"OK"}')
    })
    await rule('deny', { owners: ['project'] })
    await rule('hook', { owners: ['user'] }, { hook: { url: `${hook.url}/pre` } })
    expect(await proxy('ada')).toMatchObject(DENIED)
    expect(service.requests).toEqual([])
  })

  test('people are asked about the connection of the project alone', async () => {
    await rule('approve', { owners: ['project'] })
    expect((await execute('ada')).body.output.value).toMatchObject({ id: 42 })
    const asked = await execute('bob')
    expect(JSON.stringify(asked.body)).toContain('/approve/appr_')
    expect(JSON.stringify((await proxy('bob')).body)).toContain('/approve/appr_')
  })

  test('the test of policies says whose connection it would be, or that it depends', async () => {
    await rule('deny', { owners: ['project'] })
    const tested = async (use: object) => (await call('POST', '/v1/admin/policies/test', use)).body
    const byKey = { provider_id: entry }
    expect(await tested({ ...byKey, user_id: 'ada' })).toMatchObject({ decision: 'permitted' })
    expect(await tested({ ...byKey, user_id: 'bob' })).toMatchObject({
      decision: 'depends',
      undecided: [{ id: 'deny-owners', by: 'owners' }],
    })
    for (const use of [byKey, { tool_name: tool, user_id: 'bob' }]) {
      expect(await tested(use)).toMatchObject({ decision: 'depends' })
      expect(await tested({ ...use, owner: 'project' })).toMatchObject({ decision: 'refused' })
      expect(await tested({ ...use, owner: 'user' })).toMatchObject({ decision: 'permitted' })
    }
    await call('PATCH', `/v1/admin/auth_providers/${entry}`, { owner: 'project' })
    expect(await tested({ ...byKey, user_id: 'bob' })).toMatchObject({ decision: 'refused' })
  })

  test('a dry run knows from the audit trail whose connection was used', async () => {
    clock.advance(14 * 24 * 3600) // past the uses of other tests
    for (const user of ['ada', 'bob']) expect((await proxy(user)).status).toBe(200)
    clock.advance(1)
    const policies = [{ id: 'tried', effect: 'deny', match: { owners: ['project'] } }]
    const { body } = await call('POST', '/v1/admin/policies/dry_run', { policies })
    expect(body).toMatchObject({ uses: 2, refused: 1, permitted: 1, samples: [{ user_id: 'bob' }] })
  })

  test.each([[[]], [['admin']], ['user']])('owners %j are refused', async (owners) => {
    const body = { id: 'bad', effect: 'deny', match: { owners } }
    expect((await call('POST', '/v1/admin/policies', body)).status).toBe(400)
  })
})
