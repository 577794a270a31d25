import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGatepass } from '../gatepass.ts'
import { metadata, STAINLESS, startWorld, WORKER_SECRET, type World } from './world.ts'

// Paths that Arcade's frameworks and tools call beside those of its SDKs.

let world: World

beforeAll(async () => {
  world = await startWorld()
})

afterAll(async () => {
  await world[Symbol.asyncDispose]()
})

describe('/v1/orgs/{org}/projects/{project}', () => {
  const prefix = '/v1/orgs/any-org/projects/default'

  test('is the same API below', async () => {
    const plain = await world.call('GET', '/v1/tools?limit=1')
    const below = await world.call('GET', `${prefix}/tools?limit=1`)
    expect([below.status, below.body]).toEqual([200, plain.body])
    const executed = await world.call(
      'POST',
      `${prefix}/tools/execute`,
      { tool_name: 'Demo.Echo', input: { text: 'hi' } },
      { headers: STAINLESS },
    )
    expect(executed.body.output.value.inputs).toEqual({ text: 'hi' })
    const begun = await world.call('POST', `${prefix}/auth/authorize`, {
      user_id: 'org-user',
      auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } },
    })
    expect(begun.body.status).toBe('pending')
    const status = await world.call('GET', `${prefix}/auth/status?id=${begun.body.id}`)
    expect(status.body.id).toBe(begun.body.id)
  })

  test('takes the project by its id too', async () => {
    const { body } = await world.call('GET', '/v1/admin/projects')
    const { id } = body.items.find(({ name }: { name: string }) => name === 'default')
    expect((await world.call('GET', `/v1/orgs/o/projects/${id}/tools`)).status).toBe(200)
  })

  test('is of the key’s own project alone, and needs a key', async () => {
    const key = await world.gatepass.makeKey('admin', 'tenant')
    expect((await world.call('GET', `${prefix}/tools`, undefined, { key })).status).toBe(404)
    expect((await world.call('GET', '/v1/orgs/o/projects/tenant/tools')).status).toBe(404)
    expect((await world.call('GET', '/v1/orgs/o/projects/never-there/tools')).status).toBe(404)
    const own = await world.call('GET', '/v1/orgs/o/projects/tenant/tools', undefined, { key })
    expect([own.status, own.body.total_count]).toEqual([200, 0])
    expect((await world.call('GET', `${prefix}/tools`, undefined, { key: null })).status).toBe(401)
  })

  test('gives no role that the key has not', async () => {
    const key = await world.gatepass.makeKey('readonly')
    expect((await world.call('POST', `${prefix}/tools/import`, metadata('x'), { key })).status).toBe(403)
  })

  test('refuses alike, and does not lead to itself', async () => {
    expect(await world.call('GET', `${prefix}/tools?limt=1`)).toMatchObject({ status: 400 })
    expect(await world.call('GET', `${prefix}/nothing`)).toMatchObject({ status: 404 })
    expect(await world.call('DELETE', `${prefix}/tools`)).toMatchObject({ status: 405 })
    expect(await world.call('GET', `${prefix}/orgs/o/projects/default/tools`)).toMatchObject({ status: 404 })
  })

  test('an Idempotency-Key is the same there', async () => {
    const headers = { 'idempotency-key': 'both ways' }
    const body = { id: 'both-ways', http: { uri: world.worker.url, secret: WORKER_SECRET } }
    const first = await world.call('POST', `${prefix}/workers`, body, { headers })
    const again = await world.call('POST', '/v1/workers', body, { headers })
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.body).toEqual(first.body)
  })
})

describe('secrets by their key', () => {
  test.each(['/v1/orgs/o/projects/default/secrets', '/v1/secrets', '/v1/admin/secrets'])(
    'at %s',
    async (path) => {
      const put = await world.call('PUT', `${path}/MY_KEY`, { value: 'hunter2', description: 'of mine' })
      expect(put).toMatchObject({ status: 200, body: { key: 'MY_KEY', description: 'of mine' } })
      const got = await world.call('GET', `${path}/my_key`)
      expect(got.body).toEqual(put.body)
      expect((await world.call('GET', path)).body.items).toContainEqual(put.body)
      expect(JSON.stringify([put.body, got.body])).not.toContain('hunter2')
      expect((await world.call('DELETE', `${path}/MY_KEY`)).status).toBe(204)
      expect(await world.call('GET', `${path}/MY_KEY`)).toMatchObject({
        status: 404,
        body: { name: 'not_found' },
      })
      expect((await world.call('DELETE', `${path}/MY_KEY`)).status).toBe(404)
    },
  )

  test('are deleted by their id as Arcade’s SDKs do', async () => {
    const { id } = (await world.call('POST', '/v1/admin/secrets/BY_ID', { value: 'x' })).body
    expect((await world.call('DELETE', `/v1/admin/secrets/${id}`)).status).toBe(204)
  })

  test('a list that is asked for by page is one', async () => {
    for (const key of ['PAGE_A', 'PAGE_B']) await world.call('PUT', `/v1/secrets/${key}`, { value: 'x' })
    const { body } = await world.call('GET', '/v1/secrets?limit=1&offset=1')
    expect([body.page_count, body.limit, body.offset]).toEqual([1, 1, 1])
  })
})

describe('/v1/workers/test', () => {
  const test_ = (http: object) => world.call('POST', '/v1/workers/test', { id: 'trial', http })

  test('says whether a worker answers, and keeps nothing', async () => {
    const good = await test_({ uri: world.worker.url, secret: WORKER_SECRET })
    expect(good).toMatchObject({
      status: 200,
      body: { id: 'trial', healthy: true, tool_count: expect.any(Number) },
    })
    const bad = await test_({ uri: world.worker.url, secret: 'another secret' })
    expect(bad).toMatchObject({ status: 200, body: { healthy: false, message: expect.any(String) } })
    const gone = await test_({ uri: 'http://127.0.0.1:9', secret: 's', timeout: 2, retry: 0 })
    expect(gone).toMatchObject({ status: 200, body: { healthy: false, message: expect.any(String) } })
    expect((await world.call('GET', '/v1/workers/trial')).status).toBe(404)
  })

  test('reaches no host that a worker may not be at', async () => {
    expect(await test_({ uri: 'http://169.254.169.254/', secret: 's' })).toMatchObject({ status: 400 })
  })
})

describe('who vouches for users', () => {
  const path = '/v1/admin/settings/session_verification'
  const VERIFIER = 'https://app.example.test/verify'

  test('is told, agreed with, and not changed by a project', async () => {
    await using gatepass = await startGatepass({ environment: { GATEPASS_USER_VERIFIER: VERIFIER } })
    const set = {
      verifier_url: VERIFIER,
      unsafe_skip_verification: false,
      unsafe_skip_verification_choice_allowed: false,
    }
    expect((await gatepass.call('GET', path)).body).toEqual(set)
    expect(await gatepass.call('PUT', path, set)).toMatchObject({ status: 200, body: set })
    for (const other of [
      { verifier_url: 'https://evil.example/' },
      { unsafe_skip_verification: true },
      { unsafe_skip_verification_choice_allowed: true },
      { verifier_url: '' },
    ])
      expect(await gatepass.call('PUT', path, other)).toMatchObject({
        status: 409,
        body: { name: 'set_by_operator' },
      })
    expect((await gatepass.call('GET', path)).body).toEqual(set)
  })

  test('a verifier page may be tried out, by its own user and project alone', async () => {
    const begin = () =>
      world.call('POST', '/v1/auth/validate_custom_verifier', { user_id: 'ada', verifier_url: VERIFIER })
    const { status, body } = await begin()
    expect(status).toBe(200)
    expect(body.next_uri).toBe(`${VERIFIER}?flow_id=${encodeURIComponent(body.flow_id)}`)
    const confirm = (flow_id: string, user_id: string, key = world.gatepass.apiKey) =>
      world.call('POST', '/v1/auth/confirm_user', { flow_id, user_id }, { key })
    expect(await confirm(body.flow_id, 'ada')).toMatchObject({
      status: 200,
      body: { auth_id: expect.any(String), next_uri: expect.stringContaining(world.gatepass.url) },
    })
    expect(await confirm(body.flow_id, 'mallory')).toMatchObject({
      status: 400,
      body: { name: 'user_mismatch' },
    })
    const other = await world.gatepass.makeKey('caller', 'elsewhere')
    expect((await confirm(body.flow_id, 'ada', other)).status).toBe(400)
    const later = body.flow_id.replace(/^trial\.\d+/, 'trial.99999999999')
    expect((await confirm(later, 'ada')).status).toBe(400)
    expect((await begin()).body.flow_id).not.toBe(body.flow_id)
  })

  test.each([
    ['http://app.example.test/verify', 400],
    ['https://ada:secret@app.example.test/verify', 400],
    [`${VERIFIER}?a=b`, 400],
    ['http://127.0.0.1:9/verify', 200],
  ])('a verifier page at %s, as for the setting: %i', async (verifier_url, status) => {
    const body = { user_id: 'ada', verifier_url }
    expect((await world.call('POST', '/v1/auth/validate_custom_verifier', body)).status).toBe(status)
  })
})
