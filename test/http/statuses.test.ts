import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { syncWorkers } from '../../src/tools/worker.ts'
import { metadata, providerBody, startWorld, WORKER_SECRET, type World } from './world.ts'

// Statuses say what is so: what cannot work is not called active, and a tool it would run on not ready.

let world: World

beforeAll(async () => {
  world = await startWorld()
})

afterAll(async () => {
  await world[Symbol.asyncDispose]()
})

const requirements = async (name: string) =>
  (await world.call('GET', `/v1/tools/${encodeURIComponent(name)}`)).body.requirements

describe('a provider entry', () => {
  test('without the secret that its client authentication needs is missing it, until it is set', async () => {
    const body = providerBody('no-secret', world.as)
    const { client_secret: secret, ...oauth2 } = body.oauth2
    const token_request = { ...body.oauth2.token_request, auth_method: 'client_secret_basic' }
    const path = '/v1/admin/auth_providers/no-secret'
    const made = await world.call('POST', '/v1/admin/auth_providers', {
      ...body,
      oauth2: { ...oauth2, token_request },
    })
    expect(made.body).toMatchObject({ status: 'missing', missing: ['client_secret'] })
    expect((await world.call('GET', path)).body).toMatchObject({ status: 'missing' })
    const patched = await world.call('PATCH', path, { oauth2: { client_secret: secret } })
    expect([patched.body.status, patched.body.missing]).toEqual(['active', undefined])
    expect((await world.call('PATCH', path, { status: 'inactive' })).body.status).toBe('inactive')
  })

  test('whose token request sends its secret in the body is missing it, with S256 as without', async () => {
    const { oauth2, ...body } = providerBody('secret-in-body', world.as)
    const { client_secret: _, ...publicly } = oauth2
    const made = await world.call('POST', '/v1/admin/auth_providers', { ...body, oauth2: publicly })
    expect(made.body).toMatchObject({ status: 'missing', missing: ['client_secret'] })
    const { grant_type, redirect_uri } = oauth2.token_request.params
    const token_request = { params: { grant_type, redirect_uri } }
    const path = '/v1/admin/auth_providers/secret-in-body'
    expect((await world.call('PATCH', path, { oauth2: { token_request } })).body.status).toBe('active')
  })

  test.each([
    ['github', 'missing'],
    ['x', 'active'],
  ])('of the catalogue’s %s without a secret is %s, by what is known of its clients', async (id, status) => {
    const oauth2 = { client_id: 'c' }
    const made = await world.call('POST', '/v1/admin/auth_providers', { id, provider_id: id, oauth2 })
    expect(made.body.status).toBe(status)
  })

  test('of a tool that came without a client is missing both, and the tool is not ready', async () => {
    const oauth = {
      name: 'bare',
      authorizationUrl: world.as.authorizationUrl,
      tokenUrl: world.as.tokenUrl,
      scopes: ['read'],
    }
    await world.call('POST', '/v1/tools/import', metadata('Bare', { oauth: [oauth] }))
    const { body } = await world.call('GET', '/v1/admin/auth_providers/bare')
    expect([body.status, body.missing]).toEqual(['missing', ['client_id', 'client_secret']])
    expect(await requirements('Bare')).toMatchObject({
      met: false,
      authorization: { status: 'inactive', status_reason: expect.stringContaining('client_id') },
    })
  })
})

describe('a worker', () => {
  test('that cannot be reached says so, and so do its tools; it recovers by itself', async () => {
    const http = { uri: world.worker.url, secret: WORKER_SECRET, timeout: 60, retry: 0 }
    expect((await world.call('GET', '/v1/workers/demo')).body).toMatchObject({
      status: 'active',
      requirements: { met: true },
    })
    expect(await requirements('Demo.Echo')).toMatchObject({ met: true, worker: { id: 'demo', met: true } })

    const gone = await world.call('PATCH', '/v1/workers/demo', { http: { uri: 'http://127.0.0.1:9' } })
    expect(gone.body).toMatchObject({
      status: 'unreachable',
      requirements: { met: false, status_reason: expect.any(String) },
      sync_error: expect.any(String),
    })
    expect(await requirements('Demo.Echo')).toMatchObject({
      met: false,
      worker: {
        id: 'demo',
        met: false,
        status: 'unreachable',
        status_reason: expect.stringContaining('"demo"'),
      },
    })
    const many = await world.call('POST', '/v1/tools/requirements', { tool_names: ['Demo.Echo'] })
    expect(many.body).toMatchObject({
      met: false,
      workers: { met: false, items: { demo: { status: 'unreachable', tool_names: [expect.any(String)] } } },
    })
    const { body: unmet } = await world.call('GET', '/v1/tools?met=false&limit=100')
    expect(unmet.items.map(({ name }: { name: string }) => name)).toContain('Echo')

    expect((await world.call('PATCH', '/v1/workers/demo', { http })).body).toMatchObject({
      status: 'active',
      requirements: { met: true },
    })
    expect(await requirements('Demo.Echo')).toMatchObject({ met: true })
  })

  test('that goes away later is noticed when its catalogue is read again', async () => {
    await using own = await startWorld()
    await own.worker.close()
    await syncWorkers(own.gatepass.broker)
    expect((await own.call('GET', '/v1/workers/demo')).body.status).toBe('unreachable')
  })

  test('whose host does not resolve is unreachable from the start', async () => {
    const http = { uri: 'https://no-such-host.invalid', secret: 's', timeout: 2, retry: 0 }
    expect(await world.call('POST', '/v1/workers', { id: 'nowhere', http })).toMatchObject({
      status: 201,
      body: { status: 'unreachable', requirements: { met: false } },
    })
  })

  test('that is switched off runs no tool', async () => {
    await world.call('PATCH', '/v1/workers/demo', { enabled: false })
    expect((await world.call('GET', '/v1/workers/demo')).body).toMatchObject({
      status: 'inactive',
      requirements: { met: false },
    })
    expect(await requirements('Demo.Echo')).toMatchObject({
      met: false,
      worker: { status: 'inactive', status_reason: expect.stringContaining('switched off') },
    })
    await world.call('PATCH', '/v1/workers/demo', { enabled: true })
  })
})
