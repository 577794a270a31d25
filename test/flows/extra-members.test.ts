import { describe, expect, test } from 'vitest'
import { startFakeWorker, type WorkerTool } from '../fake-worker.ts'
import { WORKER_SECRET } from '../http/world.ts'
import { type SceneOptions, startScene } from './fixtures.ts'

/** A scene with a tool that notes the authorization it is given. */
async function startTold(options: SceneOptions = {}) {
  const scene = await startScene(options)
  const given: { extra?: Record<string, unknown>; user_info?: unknown; token?: string }[] = []
  const tool: WorkerTool = {
    name: 'Note',
    description: 'Notes.',
    authorization: { id: 'demo', scopes: ['read'] },
    run: async (_, { authorization }) => {
      given.push(authorization as (typeof given)[number]) // as the wire has it
      return { value: 'noted' }
    },
  }
  const worker = await startFakeWorker({ secret: WORKER_SECRET, tools: [tool] })
  const http = { uri: worker.url, secret: WORKER_SECRET, timeout: 5, retry: 0 }
  const added = await scene.call('POST', '/v1/workers', { id: 'demo', http })
  expect(added.status).toBe(201)
  return Object.assign(scene, {
    given,
    /** What the tool is told beyond the token, when it is run now. */
    async extra(): Promise<Record<string, unknown> | undefined> {
      const body = { tool_name: 'Demo.Note', user_id: 'u1' }
      const { body: answer } = await scene.call('POST', '/v1/tools/execute', body)
      expect(answer.success, scene.gatepass.logLines.slice(-3).join('\n')).toBe(true)
      return given.at(-1)?.extra
    },
    [Symbol.asyncDispose]: async () => {
      await scene.gatepass.close()
      await worker.close()
      await scene.as.close()
    },
  })
}

describe('what a provider tells by the way', () => {
  test('in the token response and in the authorization response reaches the tool', async () => {
    await using told = await startTold({
      as: {
        tokenMembers: { instance_url: 'https://eu1.example', team: { id: 'T1', plan: 3 } },
        callbackExtras: { realmId: '9341', 'shop.name': 'Ada & Söhne', empty: '' },
      },
    })
    await told.connect()
    expect(await told.extra()).toEqual({
      instance_url: 'https://eu1.example',
      team: { id: 'T1', plan: 3 },
      realmId: '9341',
      'shop.name': 'Ada & Söhne',
      empty: '',
    })
    // beside who the user is, which has a request of its own
    expect(told.given[0]?.user_info).toEqual(told.as.account)
  })

  test('counts by the token response, which did not come through a browser', async () => {
    await using told = await startTold({
      as: { tokenMembers: { org: 'true' }, callbackExtras: { org: 'made up' } },
    })
    await told.connect()
    expect(await told.extra()).toEqual({ org: 'true' })
  })

  test('is nothing of the protocol and no secret, whatever its name', async () => {
    await using told = await startTold({
      as: {
        tokenMembers: {
          authed_user: { id: 'U1', access_token: 'SECRET-1' },
          bot_token: 'SECRET-2',
          client_secret: 'SECRET-3',
          jwt: `eyJ${'SECRET'.repeat(4)}`,
          session: 'SECRET-4',
          ok: true,
        },
        callbackExtras: {
          session_state: 'SECRET-5',
          access_token: 'SECRET-6',
          id_token: 'SECRET-7',
          x_token: 'SECRET-8',
          scope: 'read',
          error_uri: 'https://e.example',
          prompt: 'none',
          __proto__x: 'kept',
          'a b': 'no name',
        },
      },
    })
    await told.connect()
    const extra = await told.extra()
    expect(extra).toEqual({ authed_user: { id: 'U1' }, ok: true, prompt: 'none', __proto__x: 'kept' })
    expect(JSON.stringify(extra)).not.toContain('SECRET')
  })

  test('that repeats the code, the state or the token is dropped', async () => {
    await using told = await startTold()
    const { browser, callback } = await told.approve()
    for (const [name, of] of [
      ['copied', 'code'],
      ['echo', 'state'],
    ] as const)
      callback.searchParams.set(name, `x${callback.searchParams.get(of)}y`)
    callback.searchParams.append('twice', 'a')
    callback.searchParams.append('twice', 'b')
    callback.searchParams.set('once', 'c')
    await browser.get(callback.href)
    expect(await told.extra()).toEqual({ once: 'c' })
  })

  test('is bounded', async () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`m${i}`, 'x'.repeat(200)]))
    await using told = await startTold({ as: { tokenMembers: { ...many, long: 'x'.repeat(5000) } } })
    await told.connect()
    const extra = await told.extra()
    expect(Object.keys(extra ?? {}).length).toBeGreaterThan(10)
    expect(JSON.stringify(extra).length).toBeLessThanOrEqual(8 * 1024)
    expect(extra).not.toHaveProperty('long')
  })

  test('stays over a refresh that does not tell it again, and changes by one that does', async () => {
    await using told = await startTold({
      as: { tokenMembers: { a: 1, b: 'first' }, callbackExtras: { realmId: '9341' }, refresh: 'rotate' },
    })
    await told.connect()
    told.as.behaviour.tokenMembers = {}
    told.clock.advance(4000)
    expect(await told.extra()).toEqual({ a: 1, b: 'first', realmId: '9341' })
    told.as.behaviour.tokenMembers = { b: 'second', c: true }
    told.clock.advance(4000)
    expect(await told.extra()).toEqual({ a: 1, b: 'second', c: true, realmId: '9341' })
    expect(told.as.tokenRequests('refresh_token')).toHaveLength(2)
  })

  test('of a consent before is forgotten by the next', async () => {
    await using told = await startTold({ as: { tokenMembers: { old: 1 } } })
    await told.connect()
    told.as.behaviour.tokenMembers = { fresh: 1 }
    await told.connect({ scopes: ['read', 'write'] })
    expect(await told.extra()).toEqual({ fresh: 1 })
  })

  test("is each account's own, and nowhere to be read in the database", async () => {
    await using told = await startTold({ as: { tokenMembers: { org: 'organisation-of-ada' } } })
    await told.connect()
    expect(await told.extra()).toEqual({ org: 'organisation-of-ada' })
    const { store } = told.gatepass.broker
    const { items } = (await told.call('GET', '/v1/connections?user_id=u1')).body
    expect(JSON.stringify(await store.connections.find(items[0].id))).not.toContain('organisation-of-ada')
    expect(JSON.stringify(items)).not.toContain('organisation-of-ada')
  })

  test('is absent where there is nothing', async () => {
    await using told = await startTold()
    await told.connect()
    expect(await told.extra()).toBeUndefined()
  })
})
