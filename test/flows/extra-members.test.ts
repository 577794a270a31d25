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
  const http = { uri: worker.url, secret: WORKER_SECRET, timeout: 60, retry: 0 }
  const added = await scene.call('POST', '/v1/workers', { id: 'demo', http })
  expect(added.status).toBe(201)
  return Object.assign(scene, {
    given,
    /** The additional members that a run of the tool gets beside the token. */
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
  test('in the token response reaches the tool, of the authorization response what the entry names', async () => {
    await using told = await startTold({
      oauth2: { callback_members: { realmId: '[0-9]+', 'shop.name': '[^<>]+', empty: '', absent: '.*' } },
      as: {
        tokenMembers: { instance_url: 'https://eu1.example', team: { id: 'T1', plan: 3 } },
        callbackExtras: { realmId: '9341', 'shop.name': 'Ada & Söhne', empty: '', other: 'not named' },
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
      oauth2: { callback_members: { org: '.+' } },
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
      oauth2: {
        callback_members: Object.fromEntries(
          ['access_token', 'id_token', 'x_token', 'prompt', '__proto__x'].map((name) => [name, '.*']),
        ),
      },
    })
    await told.connect()
    const extra = await told.extra()
    expect(extra).toEqual({ authed_user: { id: 'U1' }, ok: true, prompt: 'none', __proto__x: 'kept' })
    expect(JSON.stringify(extra)).not.toContain('SECRET')
  })

  test.each([
    ["a host that is none of the provider's", 'instance_url', 'http://169.254.169.254/'],
    ['a host that only begins like one', 'instance_url', 'https://eu1.example.test.evil.test'],
    ['a second line', 'realmId', '9341\nX-Other: 1'],
    ['more than the pattern allows', 'realmId', '9341 or 1=1'],
    ['a long text', 'text', 'x'.repeat(501)],
    ["a name of an object's own", 'toString', 'x'],
  ])('in the authorization response is dropped when it is %s', async (_, name, value) => {
    await using told = await startTold({
      oauth2: {
        callback_members: {
          realmId: '[0-9]+',
          text: '[x\\n]*',
          instance_url: 'https://[a-z0-9]+\\.example\\.test',
        },
      },
    })
    const { browser, callback } = await told.approve()
    callback.searchParams.set(name, value)
    await browser.get(callback.href)
    expect(await told.extra()).toBeUndefined()
  })

  test('in the authorization response takes time in proportion to its length, whatever the pattern', async () => {
    await using told = await startTold({ oauth2: { callback_members: { slow: '(a+)+(a+)+b' } } })
    const { browser, callback } = await told.approve()
    callback.searchParams.set('slow', 'a'.repeat(490))
    const started = performance.now()
    await browser.get(callback.href)
    expect(performance.now() - started).toBeLessThan(60_000)
    expect(await told.extra()).toBeUndefined()
  })

  test('that repeats the code, the state or the token is dropped', async () => {
    await using told = await startTold({
      oauth2: { callback_members: { copied: '.*', echo: '.*', twice: '.*', once: '.*' } },
    })
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
      oauth2: { callback_members: { realmId: '[0-9]+' } },
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

describe('user info that repeats', () => {
  const FORMS: readonly (readonly [string, (secret: string) => string])[] = [
    ['as it is', (secret) => secret],
    ['within other text', (secret) => `user-${secret}`],
    ['in base64', (secret) => Buffer.from(secret).toString('base64')],
  ]
  const REPEATED = ['the access token', 'the client secret', 'the refresh token'] as const

  test.each(REPEATED.flatMap((what) => FORMS.map(([how, form]) => [what, how, form] as const)))(
    '%s %s: it is neither the account, nor kept, nor shown',
    async (what, _, form) => {
      await using told = await startTold({
        oauth2: { kept_values: { place: { from: 'user_info', at: '$.place', pattern: '[^<>]+' } } },
      })
      const secretOf = (accessToken: string) => {
        if (what === 'the access token') return accessToken
        if (what === 'the client secret') return told.as.clientSecret
        return told.as.secrets().find((secret) => secret.startsWith('rt')) ?? ''
      }
      const repeated: string[] = []
      told.as.behaviour.userInfoMembers = (accessToken) => {
        const text = form(secretOf(accessToken))
        repeated.push(text)
        return { sub: text, name: text, email: text, place: text, of: { team: [text] }, plan: 'pro' }
      }
      const { id } = (await told.connect()).body
      expect(repeated).toHaveLength(1)
      await told.extra()
      expect(told.given[0]?.user_info).toMatchObject({ plan: 'pro' })
      const { items } = (await told.call('GET', '/v1/connections?user_id=u1')).body
      expect(items).toMatchObject([{ account: { id: '', name: 'ada' } }])
      const shown = JSON.stringify([
        items,
        told.given[0]?.user_info,
        (await told.call('GET', `/v1/admin/authorizations/${id}/explain`)).body,
        (await told.call('GET', '/v1/admin/audit?limit=100')).body,
        told.gatepass.logLines,
        (await told.gatepass.broker.store.connections.find(items[0].id))?.account,
      ])
      for (const text of repeated) expect(shown).not.toContain(text)
    },
  )

  test('the client secret in the token response: it is not the account', async () => {
    await using told = await startTold({
      oauth2: { user_info_request: null, account: { id: ['$.team.id'], name: ['$.team.name'] } },
    })
    told.as.behaviour.tokenMembers = { team: { id: told.as.clientSecret, name: 'Ada' } }
    await told.connect()
    expect(await told.extra()).toEqual({ team: { name: 'Ada' } })
    const { items } = (await told.call('GET', '/v1/connections?user_id=u1')).body
    expect(items).toMatchObject([{ account: { id: '', name: 'Ada' } }])
  })
})
