import { inspect } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Gatepass } from '../../src/sdk/client/gatepass.ts'
import { startScene } from '../flows/fixtures.ts'
import { approve } from '../http/world.ts'
import { type SdkWorld, startSdkWorld } from './sdk-world.ts'

let world: SdkWorld

beforeAll(async () => {
  world = await startSdkWorld()
})
afterAll(() => world[Symbol.asyncDispose]())

test('the main job: a tool runs after its user has approved', async () => {
  const { url: baseUrl, apiKey } = world.gatepass
  // the whole job, from here
  const gatepass = new Gatepass({ baseUrl, apiKey })
  const value = await gatepass
    .as('main')
    .tools.run<{ user: string }>('Run_Acts', {}, { consent: ({ url }) => approve(url) })
  // to here
  expect(value).toMatchObject({ user: 'main', account: world.as.account.sub })
})

describe('connect', () => {
  test('gives a link, waits until the user has approved, and never has the token', async () => {
    const pending = await world.client.connect('c1', 'demo', { scopes: ['read'] })
    expect(pending).toMatchObject({
      status: 'pending',
      scopes: ['read'],
      url: expect.stringMatching(/\/connect\/auth_/),
    })
    expect(pending.status === 'pending' && pending.expiresAt).toBeInstanceOf(Date)
    const [completed] = await Promise.all([pending.wait(), approve(pending.url ?? '')])
    expect(completed).toMatchObject({ id: pending.id, status: 'completed', scopes: ['read'] })

    const again = await world.client.connect('c1', 'demo', { scopes: ['read'] })
    expect(again.status).toBe('completed')
    expect(await again.wait()).toBe(again)
    const { value } = await world.client.token('c1', 'demo')
    expect(inspect(again, { depth: 9, showHidden: true }) + JSON.stringify(again)).not.toContain(value)
    expect(structuredClone(again)).toEqual({
      id: again.id,
      kind: 'consent',
      scopes: ['read'],
      status: 'completed',
    })
  })

  test('is taken up in another process by its id', async () => {
    const { id, url } = await world.client.connect('c2', 'demo')
    const elsewhere = await world.clientWith({}).authorization(id)
    expect(elsewhere).toMatchObject({ id, status: 'pending', url })
    await approve(url ?? '')
    expect((await elsewhere.wait()).status).toBe('completed')
  })
})

describe('token', () => {
  test('throws the link until the user has approved', async () => {
    const user = world.client.as('t1')
    const error = await user.token('demo', { scopes: ['read'] }).catch((error: unknown) => error)
    if (!Gatepass.isError(error, 'authorization_required')) throw error
    expect(error.message).toContain(error.authorization.url)
    await approve(error.authorization.url)
    const token = await user.token('demo', { scopes: ['read'] })
    expect(token).toMatchObject({ type: 'bearer', scopes: ['read'] })
    expect(token.expiresAt?.getTime()).toBeGreaterThan(Date.now())
    expect(token.value).toBe(
      (
        await world.call('POST', '/v1/auth/authorize', {
          auth_requirement: { provider_id: 'demo' },
          user_id: 't1',
        })
      ).body.context.token,
    )
  })

  test('is hidden from logs and JSON', async () => {
    await world.connect('t2')
    const token = await world.client.token('t2', 'demo')
    for (const shown of [inspect(token), inspect({ deep: [token] }), JSON.stringify(token), `${token}`])
      expect(shown).not.toContain(token.value)
    expect({ ...token }).not.toHaveProperty('value')
    expect(inspect(world.client, { showHidden: true, depth: 9 })).not.toContain(world.gatepass.apiKey)
  })
})

test('connect gives the values that an entry asks users for, so that the page does not ask', async () => {
  await using scene = await startScene()
  const { call, url: baseUrl, apiKey } = scene.gatepass
  const at = (path: string) => ({ endpoint: `https://{{subdomain}}.desk.example${path}` })
  const added = await call('POST', '/v1/admin/auth_providers', {
    id: 'desk',
    oauth2: {
      client_id: 'client',
      client_secret: 'secret',
      variables: { subdomain: { pattern: '[a-z]{1,20}', example: 'acme', ask: 'user' } },
      authorize_request: at('/authorize'),
      token_request: at('/token'),
    },
  })
  expect(added.status, JSON.stringify(added.body)).toBe(201)
  const client = new Gatepass({ baseUrl, apiKey })
  const field = 'name="value.subdomain"'
  const asking = await client.connect('v1', 'desk')
  expect(await (await fetch(asking.url ?? '')).text()).toContain(field)
  const given = await client.connect('v2', 'desk', { variables: { subdomain: 'acme' } })
  expect(await (await fetch(given.url ?? '')).text()).not.toContain(field)
  const wrong = client.connect('v3', 'desk', { variables: { subdomain: 'acme.evil' } })
  await expect(wrong).rejects.toMatchObject({ code: 'invalid_request', status: 400 })
})

test('confirmUser vouches for the user who comes to the verifier page, and for no other', async () => {
  const environment = { GATEPASS_USER_VERIFIER: 'https://app.example/verify' }
  await using scene = await startScene({ gatepass: { environment } })
  const client = new Gatepass({ baseUrl: scene.gatepass.url, apiKey: scene.gatepass.apiKey })
  const comeBack = async (user: string) => {
    const { id, browser, callback } = await scene.approve({ user_id: user })
    const page = await browser.get(callback)
    const location = new URL(page.response.headers.get('location') ?? '')
    return { id, browser, flowId: location.searchParams.get('flow_id') ?? '' }
  }
  const { id, browser, flowId } = await comeBack('v1')
  const { authorizationId, nextUri } = await client.as('v1').confirmUser({ flowId })
  expect(authorizationId).toBe(id)
  await browser.get(nextUri)
  expect((await client.authorization(id)).status).toBe('completed')

  const other = await comeBack('v2')
  const refused = client.confirmUser({ flowId: other.flowId, user: 'eve' })
  await expect(refused).rejects.toMatchObject({ name: 'UserMismatch', code: 'user_mismatch', status: 400 })
  expect(await client.authorization(other.id)).toMatchObject({ status: 'failed', reason: 'user_mismatch' })
})
