import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gatepass, startGatepass, testClock } from '../gatepass.ts'

// API keys and projects over HTTP: what an administrator may do without access to the database.

const clock = testClock()
let gatepass: Gatepass
const now = () => clock()
const at = (seconds: number) => new Date((now() + seconds) * 1000).toISOString()

beforeAll(async () => {
  gatepass = await startGatepass({ now: clock })
})

afterAll(async () => {
  await gatepass.close()
})

const create = (body: unknown, key?: string) =>
  gatepass.call('POST', '/v1/admin/keys', body, key === undefined ? {} : { key })
const statusWith = async (key: string) => (await gatepass.call('GET', '/v1/tools', undefined, { key })).status
const trail = async (key = gatepass.apiKey) =>
  (await gatepass.call('GET', '/v1/admin/audit?limit=100', undefined, { key })).body.items as {
    action: string
    subject?: string
  }[]

describe('API keys over HTTP', () => {
  test('are made with a role, shown once, listed without the key, and revoked at once', async () => {
    const made = await create({ role: 'caller', name: 'the support agent', rate_limit: 20 })
    expect(made.status).toBe(201)
    const { id, key } = made.body
    expect(made.body).toEqual({
      id: expect.stringMatching(/^key_/),
      key: expect.stringMatching(/^gp_[\w-]{43}$/),
      project: 'default',
      role: 'caller',
      name: 'the support agent',
      rate_limit: 20,
    })
    expect(await statusWith(key)).toBe(200)
    const listed = await gatepass.call('GET', '/v1/admin/keys?limit=100')
    expect(JSON.stringify(listed.body)).not.toContain(key)
    expect(listed.body.items).toContainEqual(
      expect.objectContaining({ id, role: 'caller', status: 'active', project: 'default', rate_limit: 20 }),
    )
    expect((await gatepass.call('DELETE', `/v1/admin/keys/${id}`)).status).toBe(204)
    expect(await statusWith(key)).toBe(401)
    expect((await gatepass.call('GET', `/v1/admin/keys/${id}`)).body).toMatchObject({ status: 'revoked' })
    expect(await gatepass.call('DELETE', `/v1/admin/keys/${id}`)).toMatchObject({
      status: 404,
      body: { name: 'not_found' },
    })
    const actions = (await trail()).filter(({ subject }) => subject === id).map(({ action }) => action)
    expect(actions.toSorted()).toEqual(['key.created', 'key.revoked'])
  })

  test.each([
    ['expires_in', () => ({ expires_in: 60 })],
    ['expires_at', () => ({ expires_at: at(60) })],
  ])('end by %s', async (_, end) => {
    const { body } = await create({ role: 'readonly', ...end() })
    expect(body.expires_at).toBe(at(60))
    expect(await statusWith(body.key)).toBe(200)
    clock.advance(61)
    expect(await statusWith(body.key)).toBe(401)
    expect((await gatepass.call('GET', `/v1/admin/keys/${body.id}`)).body.status).toBe('expired')
  })

  test('look like Arcade’s when that is asked for', async () => {
    const { body } = await create({ role: 'caller', prefix: 'arc' })
    expect(body.key).toMatch(/^arc_/)
    expect(await statusWith(body.key)).toBe(200)
  })

  test('are rotated: both are good until the grace is over', async () => {
    const old = (await create({ role: 'caller', name: 'worn' })).body
    const rotate = () => gatepass.call('POST', `/v1/admin/keys/${old.id}/rotate`, { grace: 60 })
    const made = await rotate()
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({
      role: 'caller',
      name: 'worn',
      replaces: { id: old.id, expires_at: at(60) },
    })
    expect([await statusWith(old.key), await statusWith(made.body.key)]).toEqual([200, 200])
    expect(await rotate()).toMatchObject({ status: 409, body: { name: 'already_exists' } })
    clock.advance(61)
    expect([await statusWith(old.key), await statusWith(made.body.key)]).toEqual([401, 200])
    expect((await rotate()).status).toBe(404)
  })

  test('are rotated once by two requests: the later one names the new key', async () => {
    const old = (await create({ role: 'caller' })).body
    const rotate = () => gatepass.call('POST', `/v1/admin/keys/${old.id}/rotate`, {})
    const both = await Promise.all([rotate(), rotate()])
    const [made, refused] = both.sort((a, b) => a.status - b.status)
    expect([made?.status, refused?.status]).toEqual([201, 409])
    expect(refused?.body.message).toContain(`: ${made?.body.id} takes its place`)
  })

  test.each([
    ['no role', {}],
    ['a role that does not exist', { role: 'root' }],
    ['an end that is over', { role: 'caller', expires_at: '2001-01-01T00:00:00Z' }],
    ['two ends', { role: 'caller', expires_in: 5, expires_at: '2999-01-01T00:00:00Z' }],
    ['an end that is no time', { role: 'caller', expires_at: 'tomorrow' }],
    ['a rate that is none', { role: 'caller', rate_limit: -1 }],
    ['a name with control characters', { role: 'caller', name: 'a\nb' }],
    ['a project that cannot be typed', { role: 'caller', project: 'a b' }],
    ['a prefix of its own', { role: 'caller', prefix: 'sk' }],
  ])('%s is refused', async (_, body) => {
    expect(await create(body)).toMatchObject({ status: 400, body: { name: 'invalid_request' } })
  })
})

describe('projects over HTTP', () => {
  test('an administrator of the default project makes one and its first key, and has no power in it afterwards', async () => {
    const made = await gatepass.call('POST', '/v1/admin/projects', { name: 'acme' })
    expect(made).toMatchObject({ status: 201, body: { id: expect.stringMatching(/^proj_/), name: 'acme' } })
    expect(await gatepass.call('POST', '/v1/admin/projects', { name: 'acme' })).toMatchObject({
      status: 409,
      body: { name: 'already_exists' },
    })
    const first = await create({ role: 'admin', project: 'acme' })
    expect(first).toMatchObject({ status: 201, body: { project: 'acme', role: 'admin' } })
    expect(await create({ role: 'admin', project: 'acme' })).toMatchObject({
      status: 403,
      body: { name: 'insufficient_role' },
    })
    const { key } = first.body
    expect((await create({ role: 'caller', project: 'acme' }, key)).status).toBe(201)
    expect((await create({ role: 'caller' }, key)).body.project).toBe('acme')
    expect((await trail()).map(({ action }) => action)).toContain('project.created')
    expect((await trail(key)).map(({ action }) => action)).toContain('key.created')
  })

  test('the first key of a new project makes the project with it', async () => {
    expect(await create({ role: 'admin', project: 'fresh' })).toMatchObject({
      status: 201,
      body: { project: 'fresh' },
    })
    const { body } = await gatepass.call('GET', '/v1/admin/projects?limit=100')
    expect(body.items.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(['default', 'fresh']),
    )
  })

  test('a refused first key makes no project', async () => {
    expect(await create({ role: 'admin', user_id: 'ada', project: 'never-made' })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'user_id', code: 'conflict' }] },
    })
    const { body } = await gatepass.call('GET', '/v1/admin/projects?limit=100')
    expect(body.items.map(({ name }: { name: string }) => name)).not.toContain('never-made')
    expect(await create({ role: 'admin', project: 'a b' })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'project', code: 'invalid' }] },
    })
  })

  test('an administrator of another project sees and touches its own alone', async () => {
    const key = await gatepass.makeKey('admin', 'tenant')
    const own = (await gatepass.call('GET', '/v1/admin/projects', undefined, { key })).body
    expect(own.items.map(({ name }: { name: string }) => name)).toEqual(['tenant'])
    expect(await gatepass.call('POST', '/v1/admin/projects', { name: 'grab' }, { key })).toMatchObject({
      status: 403,
    })
    const empty = await gatepass.call('POST', '/v1/admin/projects', { name: 'without-keys' })
    expect(empty.status).toBe(201)
    for (const project of ['default', 'never-there', 'without-keys'])
      expect(await create({ role: 'admin', project }, key)).toMatchObject({
        status: 403,
        body: { name: 'insufficient_role' },
      })
    const theirs = (await gatepass.call('GET', '/v1/admin/keys')).body.items[0].id
    for (const [method, path] of [
      ['GET', `/v1/admin/keys/${theirs}`],
      ['DELETE', `/v1/admin/keys/${theirs}`],
      ['POST', `/v1/admin/keys/${theirs}/rotate`],
    ] as const)
      expect((await gatepass.call(method, path, undefined, { key })).status).toBe(404)
  })
})
