import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/domain/clock.ts'
import { Gatepass } from '../../../src/sdk/client/gatepass.ts'
import { type Scene, startScene } from '../../flows/fixtures.ts'
import { onBothDatabases, settleAll } from './both-databases.ts'

// Tokens that the API hands out, of which a person must approve each, on both databases.

describe.each(onBothDatabases)('on %s', (_, optionsOf) => {
  let world: Scene
  let approver: string
  let agent: string
  let connection: string
  let authorization: string
  beforeAll(async () => {
    world = await startScene({ gatepass: { ...(await optionsOf()), now: systemClock, mode: 'development' } })
    approver = await world.gatepass.makeKey('approver')
    authorization = (await world.connect()).body.id
    connection = (await world.call('GET', '/v1/connections?user_id=u1')).body.items[0].id
  })
  afterAll(() => world[Symbol.asyncDispose]())
  beforeEach(async () => {
    agent = await world.gatepass.makeKey('caller')
    const body = { id: 'ask', effect: 'approve', match: { uses: ['token'] } }
    expect(await world.call('POST', '/v1/admin/policies', body)).toMatchObject({ status: 201 })
  })
  afterEach(async () => {
    await settleAll(world, approver)
    await world.call('DELETE', '/v1/admin/policies/ask')
  })

  const call = (method: string, path: string, body?: unknown) =>
    world.call(method, path, body, { key: agent })
  const fetchToken = () => call('POST', `/v1/connections/${connection}/token`)
  const get = async (id: string) =>
    (await world.call('GET', `/v1/approvals/${id}`, undefined, { key: approver })).body
  async function decide(id: string, decision: 'approve' | 'deny' = 'approve') {
    const { digest } = await get(id)
    const body = { decision, digest, approver: 'u1' }
    const decided = await world.call('POST', `/v1/approvals/${id}/decision`, body, { key: approver })
    expect(decided.status).toBe(200)
  }
  const authorize = (scopes: readonly string[] = ['read']) =>
    call('POST', '/v1/auth/authorize', {
      auth_requirement: { id: 'demo', oauth2: { scopes } },
      user_id: 'u1',
    })

  test.each<[string, () => ReturnType<typeof fetchToken>, (body: never) => unknown]>([
    ['the token of a connection', fetchToken, ({ access_token }: { access_token: string }) => access_token],
    ['an authorization that is covered', authorize, tokenIn],
    ['a completed authorization', () => call('GET', `/v1/auth/status?id=${authorization}`), tokenIn],
    ['the status of a connection', () => call('GET', `/v1/auth/status?id=${connection}`), tokenIn],
  ])('%s is released once after the approval', async (_, ask, token) => {
    const asked = await ask()
    expect(asked).toMatchObject({
      status: 403,
      body: {
        name: 'authorization_required',
        requires_authorization: { id: expect.stringMatching(/^appr_/), scopes: [], status: 'pending' },
      },
    })
    expect(JSON.stringify(asked.body)).not.toContain('access_token')
    const { id } = asked.body.requires_authorization
    expect(asked.headers.get('x-gatepass-approval')).toBe(id)
    expect((await ask()).body.requires_authorization.id).toBe(id)
    expect(await get(id)).toMatchObject({
      use: 'token',
      provider_id: 'demo',
      call: { arguments: { 'scopes.demo': 'read' }, accounts: [{ connection_id: connection }] },
    })
    await decide(id)
    const given = await ask()
    expect([given.status, given.headers.get('x-gatepass-approval')]).toEqual([200, id])
    expect(token(given.body as never)).toEqual(expect.any(String))
    expect((await ask()).body.requires_authorization.id).not.toBe(id)
  })

  test('of 50 repeats of an approved request one gets the token', async () => {
    await decide((await fetchToken()).body.requires_authorization.id)
    const all = await Promise.all(Array.from({ length: 50 }, fetchToken))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(all.filter(({ status }) => status === 403)).toHaveLength(49)
  })

  test('the events of a completed authorization are refused with the question', async () => {
    expect(await call('GET', `/v1/auth/${authorization}/events`)).toMatchObject({
      status: 403,
      body: { requires_authorization: { id: expect.stringMatching(/^appr_/) } },
    })
  })

  test('the SDK waits for the approval of a token', async () => {
    const client = new Gatepass({ baseUrl: world.gatepass.url, apiKey: agent })
    const refused = await client.token('u1', 'demo').catch((error: unknown) => error)
    if (!Gatepass.isError(refused, 'authorization_required')) throw refused
    const { authorization } = refused
    expect(authorization).toMatchObject({ kind: 'approval', status: 'pending', url: expect.any(String) })
    const waiting = authorization.wait()
    await decide(authorization.id)
    await waiting
    expect((await client.token('u1', 'demo')).value).toEqual(expect.any(String))
  })

  test('a denied release is refused at every endpoint', async () => {
    const { id } = (await fetchToken()).body.requires_authorization
    await decide(id, 'deny')
    expect(await fetchToken()).toMatchObject({ status: 403, body: { name: 'denied_by_policy' } })
    expect((await authorize()).body.name).toBe('denied_by_policy')
  })

  test('a missing consent is asked for before the approval', async () => {
    expect((await authorize(['write'])).body).toMatchObject({ status: 'pending', url: expect.any(String) })
  })

  test('the trail has one release for each approval', async () => {
    const releases = async () => {
      const { body } = await world.call('GET', '/v1/admin/audit?action=token.released&limit=100')
      return body.items.length as number
    }
    const before = await releases()
    await decide((await fetchToken()).body.requires_authorization.id)
    await Promise.all([fetchToken(), fetchToken(), fetchToken()])
    expect(await releases()).toBe(before + 1)
  })
})

function tokenIn({ context }: { context: { token: string } }): string {
  return context.token
}
