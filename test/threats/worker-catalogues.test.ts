import { afterEach, describe, expect, test } from 'vitest'
import { syncWorkers } from '../../src/tools/worker.ts'
import { type FakeWorker, startFakeWorker, type WorkerTool } from '../fake-worker.ts'
import type { GatepassOptions } from '../gatepass.ts'
import { approve, startWorld, WORKER_SECRET, type World } from '../http/world.ts'
import { defined } from '../store/fixtures.ts'
import { UserAgent } from '../user-agent.ts'

// A worker whose catalogue names more providers, scopes or secrets than when it was registered.

const open: (() => PromiseLike<unknown>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

/** The token and the secrets that a call got. */
type Given = { token?: string; secrets: readonly string[] }

function tool(name: string, given: Given[], more: Partial<WorkerTool> = {}): WorkerTool {
  return {
    name,
    description: 'Records what it gets.',
    ...more,
    run: async (_, { authorization, secrets = [] }) => {
      given.push({
        ...(authorization?.token !== undefined && { token: authorization.token }),
        secrets: secrets.map(({ value }) => value),
      })
      return { value: 'done' }
    },
  }
}

interface Scene {
  readonly world: World
  readonly worker: FakeWorker
  readonly tools: WorkerTool[]
  readonly given: Given[]
  readonly token: string
  /** Changes the catalogue of the worker, and synchronizes it. */
  list(...tools: readonly WorkerTool[]): Promise<void>
  run(name: string): ReturnType<World['call']>
  show(): Promise<Record<string, unknown>>
}

async function startScene(first: Partial<WorkerTool> = {}, gatepass: GatepassOptions = {}): Promise<Scene> {
  const world = await startWorld({ gatepass })
  open.push(() => world[Symbol.asyncDispose]())
  const given: Given[] = []
  const tools = [tool('Plain', given, first)]
  const worker = await startFakeWorker({
    secret: WORKER_SECRET,
    tools,
    toolkit: { name: 'Later', version: '1.0.0' },
  })
  open.push(() => worker.close())
  const token = await world.connect('ada', ['read', 'write'])
  await world.call('POST', '/v1/admin/secrets/LATER_KEY', { value: 'value-of-the-secret' })
  const http = { uri: worker.url, secret: WORKER_SECRET, timeout: 60, retry: 0 }
  const added = await world.call('POST', '/v1/workers', { id: 'later', http })
  expect(added.status, JSON.stringify(added.body)).toBe(201)
  return {
    world,
    worker,
    tools,
    given,
    token,
    async list(...now) {
      tools.splice(0, tools.length, ...now)
      await syncWorkers(world.gatepass.broker)
    },
    run: (name) => world.execute(`Later.${name}`, { user_id: 'ada', input: {} }),
    show: async () => (await world.call('GET', '/v1/workers/later')).body.acceptance,
  }
}

const READ = { authorization: { id: 'demo', scopes: ['read'] } }

/** The first page of the console. */
async function overview({ gatepass }: World): Promise<string> {
  const admin = new UserAgent()
  const page = await admin.submitForm(await admin.follow(`${gatepass.url}/dashboard`), {
    key: gatepass.apiKey,
  })
  expect(page.body).toContain('Needs attention')
  return page.body
}

async function trail(world: World, action: string) {
  const { items } = (await world.call('GET', `/v1/admin/audit?action=${action}&limit=100`)).body
  return items.filter(({ subject }: { subject: string }) => subject === 'later')
}

describe('a new need of a known worker', () => {
  test.each<[string, Partial<WorkerTool>, Record<string, unknown>]>([
    ['a provider', READ, { providers: [{ id: 'demo', scopes: ['read'] }], secrets: [] }],
    [
      'a provider without scopes',
      { authorization: { provider_id: 'demo', scopes: [] } },
      { providers: [{ id: 'demo', scopes: [] }], secrets: [] },
    ],
    ['a secret', { secrets: ['LATER_KEY'] }, { providers: [], secrets: ['later_key'] }],
  ])(
    'for %s waits for an administrator, and until then the tool asks for nothing and gets nothing',
    async (_, more, waiting) => {
      const scene = await startScene()
      const { world, given } = scene
      await scene.list(tool('Plain', given, more), tool('Other', given))
      const released = (await world.call('GET', '/v1/admin/audit?action=token.released&limit=100')).body.items

      const refused = await scene.run('Plain')
      expect([refused.status, refused.body.name]).toEqual([409, 'not_accepted'])
      expect(refused.body.message).toContain('/v1/workers/later/accept')
      const begun = await world.call('POST', '/v1/tools/authorize', {
        tool_name: 'Later.Plain',
        user_id: 'bob',
      })
      expect([begun.status, begun.body.name]).toEqual([409, 'not_accepted'])
      expect(given).toEqual([])
      expect((await world.call('GET', '/v1/admin/audit?action=token.released&limit=100')).body.items).toEqual(
        released,
      )
      const { body: listed } = await world.call('GET', '/v1/tools/Later.Plain?user_id=ada')
      expect(listed.requirements.met).toBe(false)
      for (const tool_names of [['Later.Plain'], ['Later.Plain', 'Later.Other']]) {
        const many = await world.call('POST', '/v1/tools/requirements', { tool_names, user_id: 'ada' })
        expect([many.status, many.body.met]).toEqual([200, false])
      }
      // the other tools of the worker can still be run
      expect((await scene.run('Other')).body.success).toBe(true)

      expect(await scene.show()).toMatchObject({ waiting: { ...waiting, tools: ['Later:Plain:1.0.0'] } })
      expect(await trail(world, 'worker.waiting')).toHaveLength(1)
      expect(await overview(world)).toContain('The worker later asks for more than was accepted.')
      const accepted = await world.call('POST', '/v1/workers/later/accept')
      expect([accepted.status, accepted.body.acceptance]).toEqual([200, { accepted: waiting }])
      expect(await trail(world, 'worker.accepted')).toHaveLength(1)
      expect((await scene.run('Plain')).body.success).toBe(true)
      expect(await scene.show()).toEqual({ accepted: waiting })
      expect(await overview(world)).not.toContain('asks for more')
    },
  )

  test('for further scopes at a provider that it had waits too', async () => {
    const scene = await startScene(READ)
    expect((await scene.run('Plain')).body.success).toBe(true)
    await scene.list(tool('Plain', scene.given, { authorization: { id: 'demo', scopes: ['read', 'write'] } }))
    expect((await scene.run('Plain')).body.name).toBe('not_accepted')
    expect(await scene.show()).toMatchObject({
      accepted: { providers: [{ id: 'demo', scopes: ['read'] }] },
      waiting: { providers: [{ id: 'demo', scopes: ['write'] }] },
    })
    // a tool that returns to what was accepted waits for no administrator
    await scene.list(tool('Plain', scene.given, READ))
    expect((await scene.run('Plain')).body.success).toBe(true)
    expect(scene.given.map(({ token }) => token)).toEqual([scene.token, scene.token])
  })

  test('is requested from no user together with the needs of other tools', async () => {
    const scene = await startScene(READ)
    const { world, given } = scene
    const write = { authorization: { id: 'demo', scopes: ['write'] } }
    await scene.list(tool('Plain', given, READ), tool('More', given, write))
    const ask = async (user_id: string, ...tool_names: string[]) => {
      const { status, body } = await world.call('POST', '/v1/tools/requirements', {
        tool_names,
        user_id,
        authorize: true,
      })
      expect([status, body.met]).toEqual([200, false])
      return body
    }
    expect(await ask('bob', 'Later.More')).not.toHaveProperty('url')
    for (const [user, ...names] of [
      ['bob', 'Later.Plain', 'Later.More'],
      ['cleo', 'Later.More', 'Later.Plain'],
    ] as const) {
      const { url, authorization } = await ask(user, ...names)
      expect(authorization.items.demo).toMatchObject({ token_status: 'pending', url })
      await approve(url)
      const { items } = (await world.call('GET', `/v1/connections?user_id=${user}`)).body
      expect(items.map(({ scopes }: { scopes: string[] }) => scopes)).toEqual([['read']])
      expect(await ask(user, ...names)).not.toHaveProperty('url')
    }
  })

  test('is accepted only by an administrator, and only as the administrator has seen it', async () => {
    const scene = await startScene()
    const { world, given } = scene
    await scene.list(tool('Plain', given, READ))
    const { digest } = (await scene.show()).waiting as { digest: string }
    await scene.list(tool('Plain', given, { ...READ, secrets: ['LATER_KEY'] }))
    const accept = (key: string | undefined, body: object = {}) =>
      world.call('POST', '/v1/workers/later/accept', body, key === undefined ? {} : { key })
    expect((await accept(undefined, { digest })).status).toBe(409)
    expect((await accept(await world.gatepass.makeKey('caller'))).status).toBe(403)
    expect((await accept(await world.gatepass.makeKey('admin', 'another'))).status).toBe(404)
    expect((await scene.run('Plain')).body.name).toBe('not_accepted')
    const now = (await scene.show()).waiting as { digest: string }
    expect((await accept(undefined, { digest: now.digest })).status).toBe(200)
    expect((await scene.run('Plain')).body.success).toBe(true)
  })

  test('is accepted automatically in development, and shown as such', async () => {
    const scene = await startScene({}, { mode: 'development' })
    await scene.list(tool('Plain', scene.given, READ))
    expect((await scene.run('Plain')).body.success).toBe(true)
    expect(await scene.show()).toEqual({
      accepted: { providers: [{ id: 'demo', scopes: ['read'] }], secrets: [] },
      automatic: true,
    })
  })

  test('waits if the catalogue could not be read when the worker was registered', async () => {
    const world = await startWorld()
    open.push(() => world[Symbol.asyncDispose]())
    const worker = await startFakeWorker({
      secret: WORKER_SECRET,
      catalogue: '500',
      tools: [tool('Plain', [], READ)],
      toolkit: { name: 'Later', version: '1.0.0' },
    })
    open.push(() => worker.close())
    const http = { uri: worker.url, secret: WORKER_SECRET, timeout: 60, retry: 0 }
    const added = await world.call('POST', '/v1/workers', { id: 'later', http })
    expect(added.body).toMatchObject({
      sync_error: expect.any(String),
      acceptance: { accepted: { providers: [] } },
    })
    worker.behaviour.catalogue = 'ok'
    await syncWorkers(world.gatepass.broker)
    expect((await world.call('GET', '/v1/workers/later')).body.acceptance).toMatchObject({
      waiting: { providers: [{ id: 'demo', scopes: ['read'] }] },
    })
  })
})

test('what a worker names when it is registered is accepted with it, listed and in the audit trail', async () => {
  const world = await startWorld()
  open.push(() => world[Symbol.asyncDispose]())
  const { body } = await world.call('GET', '/v1/workers/demo')
  expect(body.acceptance.accepted.providers).toEqual([{ id: 'demo', scopes: ['read'] }])
  expect(body.acceptance).not.toHaveProperty('waiting')
  const { items } = (await world.call('GET', '/v1/admin/audit?action=worker.accepted')).body
  expect(items).toContainEqual(
    expect.objectContaining({ subject: 'demo', provider_id: 'demo', scopes: ['read'] }),
  )
})

test('a worker of a release without acceptance keeps what it had, and what it names afterwards waits', async () => {
  const scene = await startScene(READ)
  const { world, given } = scene
  // the state after an upgrade
  const { workers } = world.gatepass.broker.store
  const later = defined((await workers.all()).find(({ id }) => id === 'later'))
  await workers.accept(later, { uid: later.uid })
  await scene.list(tool('Plain', given, READ), tool('More', given, { secrets: ['LATER_KEY'] }))
  expect((await scene.run('Plain')).body.success).toBe(true)
  expect((await scene.run('More')).body.name).toBe('not_accepted')
  expect(await scene.show()).toMatchObject({
    accepted: { providers: [{ id: 'demo', scopes: ['read'] }] },
    waiting: { secrets: ['later_key'] },
  })
})

test('a later worker takes over no tool of an earlier one by a higher version', async () => {
  const world = await startWorld()
  open.push(() => world[Symbol.asyncDispose]())
  const given: Given[] = []
  const worker = await startFakeWorker({
    secret: WORKER_SECRET,
    tools: [tool('Echo', given)],
    toolkit: { name: 'Demo', version: '99.0.0' },
  })
  open.push(() => worker.close())
  const http = { uri: worker.url, secret: WORKER_SECRET, timeout: 60, retry: 0 }
  expect((await world.call('POST', '/v1/workers', { id: 'later', http })).status).toBe(201)
  const run = (tool_name: string) =>
    world.call('POST', '/v1/tools/execute', { tool_name, input: { text: 'for the first worker' } })

  for (const name of ['Demo.Echo', 'Demo_Echo', 'Demo:Echo', 'Echo', 'Demo.Echo@>=1'])
    expect((await run(name)).body.output.value, name).toMatchObject({
      inputs: { text: 'for the first worker' },
    })
  expect((await world.call('GET', '/v1/tools/Demo.Echo')).body.toolkit.version).toBe('1.0.0')
  const { items } = (await world.call('GET', '/v1/tools?limit=100')).body
  const listed = items.filter((one: { name: string }) => one.name === 'Echo')
  expect(listed.map((one: { toolkit: { version: string } }) => one.toolkit.version)).toEqual(['1.0.0'])
  const oxp = await world.call('POST', '/oxp/tools/call', {
    request: { tool_id: 'Demo.Echo', input: { text: 'for the first worker' } },
  })
  expect(oxp.body.result.value).toMatchObject({ inputs: { text: 'for the first worker' } })
  expect(given).toEqual([])

  for (const name of ['Demo.Echo@99.0.0', 'Demo.Echo@^99']) expect((await run(name)).status, name).toBe(404)
  expect((await run('Demo:Echo:99.0.0')).body.success).toBe(true)
  expect(given).toHaveLength(1)
})
