import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { OutgoingError } from '../../../src/egress/outgoing.ts'
import type { AnyJson } from '../../any-json.ts'
import { type Scene, startScene } from '../../flows/fixtures.ts'
import { gate } from '../../gate.ts'
import { type Receiver, startReceiver } from './receiver.ts'

// One server for all: each test has webhooks and users of its own.

let scene: Scene
let receiver: Receiver
let users = 0
let ahead = 0
/** In place of the true time, in seconds. */
let stoppedAt: number | undefined

beforeAll(async () => {
  ahead = 0
  const now = () => (stoppedAt ?? Math.floor(Date.now() / 1000)) + ahead
  scene = await startScene({ gatepass: { now } })
})
afterAll(async () => scene[Symbol.asyncDispose]())
beforeEach(async () => {
  receiver = await startReceiver()
  receiver.ahead = () => ahead
  return async () => {
    stoppedAt = undefined
    const { items } = (await scene.call('GET', '/v1/webhooks')).body
    for (const { id } of items) await scene.call('DELETE', `/v1/webhooks/${id}`)
    await receiver.close()
  }
})

const newUser = () => `user-${++users}`

async function register(settings: Record<string, unknown> = {}): Promise<AnyJson> {
  const answer = await scene.call('POST', '/v1/webhooks', { url: `${receiver.url}/hook`, ...settings })
  expect(answer.status).toBe(201)
  receiver.secret = answer.body.secret
  return answer.body
}

const soon = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 300_000, interval: 20 })

async function connectionOf(user_id: string): Promise<string> {
  return (await scene.call('GET', `/v1/connections?user_id=${user_id}`)).body.items[0].id
}

/** What `gatepass doctor` says of it. */
async function diagnosis(id: string): Promise<AnyJson> {
  const { checks } = (await scene.call('GET', '/v1/admin/diagnosis')).body
  return checks.find(({ name }: AnyJson) => name === `webhook ${id}`)
}

describe('events', () => {
  test('tell of a consent, its connection and their end, signed, in order and with nothing secret', async () => {
    await register()
    const user_id = newUser()
    const done = await scene.connect({ user_id })
    const id = await connectionOf(user_id)
    await soon(() => expect(receiver.taken).toHaveLength(2))
    await scene.call('DELETE', `/v1/connections/${id}`)
    await soon(() => expect(receiver.taken).toHaveLength(4))

    const of = (key: string) =>
      receiver.taken.filter(({ data }) => data.id === key).map(({ type, data }) => ({ type, data }))
    expect(of(done.body.id)).toEqual([
      {
        type: 'authorization.completed',
        data: { id: done.body.id, sequence: 1, user_id, status: 'completed', connection_ids: [id] },
      },
    ])
    const common = { id, user_id, provider_id: 'demo' }
    expect(of(id)).toEqual([
      { type: 'connection.created', data: { ...common, sequence: 1, scopes: ['read'] } },
      {
        type: 'connection.deleted',
        data: { ...common, sequence: 2, by: 'operator', revocation: 'pending' },
      },
      {
        type: 'connection.revoked',
        data: { ...common, sequence: 3, by: 'operator', revocation: 'revoked' },
      },
    ])
    expect(receiver.forged).toEqual([])
    expect(new Set(receiver.asked.map((one) => one.id)).size).toBe(4)
    for (const { headers, body } of receiver.asked) {
      expect(headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': /^evt_/ })
      expect(headers.traceparent).toBeUndefined()
      expect(body).not.toMatch(/access|refresh_token|http|secret/)
    }
  })

  test('tell of a refusal and of an authorization that has expired', async () => {
    await register({ types: ['authorization.failed', 'authorization.expired'] })
    scene.as.behaviour.consent = 'deny'
    const refused = await scene.connect({ user_id: newUser() })
    scene.as.behaviour.consent = 'approve'
    await soon(() => expect(receiver.taken).toHaveLength(1))
    const late = await scene.authorize({ user_id: newUser() })
    ahead += 700
    await soon(() =>
      expect(receiver.taken.map(({ type, data }) => [type, data.id, data.reason])).toEqual([
        ['authorization.failed', refused.body.id, 'access_denied'],
        ['authorization.expired', late.body.id, 'expired'],
      ]),
    )
    expect((await scene.status(late.body.id)).body).toMatchObject({ status: 'failed', reason: 'expired' })
  })

  test('are of the types and the project of the webhook', async () => {
    await register({ types: ['connection.deleted'] })
    const other = await scene.gatepass.makeKey('admin', 'other')
    const elsewhere = await startReceiver()
    await scene.call('POST', '/v1/webhooks', { url: `${elsewhere.url}/` }, { key: other })
    const user_id = newUser()
    await scene.connect({ user_id })
    await scene.call('DELETE', `/v1/connections/${await connectionOf(user_id)}`)
    await soon(() => expect(receiver.taken.map(({ type }) => type)).toEqual(['connection.deleted']))
    expect(elsewhere.asked).toEqual([])
    expect(elsewhere.forged).toEqual([])
    await elsewhere.close()
  })
})

describe('delivery', () => {
  test('is repeated with the same id until the receiver answers 2xx, and holds back its own subject alone', async () => {
    const { id: webhook } = await register({ types: ['connection.created', 'connection.deleted'] })
    const [slow, quick] = [newUser(), newUser()]
    let refusals = 0
    receiver.headers = { 'retry-after': '60' } // so that the checks come before the retry, on a slow machine too
    receiver.answer = ({ data }) => (data.user_id === slow && refusals++ === 0 ? 503 : 204)
    await scene.connect({ user_id: slow })
    await soon(() => expect(refusals).toBe(1))
    await scene.call('DELETE', `/v1/connections/${await connectionOf(slow)}`)
    await scene.connect({ user_id: quick })
    await soon(() => expect(receiver.taken.map(({ data }) => data.user_id)).toEqual([quick]))
    const waiting = await scene.call('GET', `/v1/webhooks/${webhook}/deliveries?state=waiting`)
    expect(waiting.body.items).toMatchObject([
      { type: 'connection.deleted', sequence: 2, attempts: 0 },
      { type: 'connection.created', sequence: 1, attempts: 1, last_status: 503 },
    ])
    ahead += 61
    await soon(() =>
      expect(receiver.taken.map(({ type, data }) => [type, data.user_id])).toEqual([
        ['connection.created', quick],
        ['connection.created', slow],
        ['connection.deleted', slow],
      ]),
    )
    const [first, , again] = receiver.asked
    expect(again?.id).toBe(first?.id)
    const all = await scene.call('GET', `/v1/webhooks/${webhook}/deliveries`)
    expect(all.body.items.map(({ state, attempts }: AnyJson) => [state, attempts])).toEqual(
      expect.arrayContaining([
        ['delivered', 1],
        ['delivered', 2],
      ]),
    )
    expect(JSON.stringify(all.body)).not.toContain('not kept')
  })

  test('waits as long as the receiver asks by Retry-After', async () => {
    const { id } = await register({ types: ['connection.created'] })
    receiver.headers = { 'retry-after': '3600' }
    receiver.answer = () => 429
    await scene.connect({ user_id: newUser() })
    await soon(async () => {
      const [one] = (await scene.call('GET', `/v1/webhooks/${id}/deliveries`)).body.items
      expect(one).toMatchObject({ attempts: 1, last_status: 429 })
      expect(Date.parse(one.next_attempt_at) - Date.now()).toBeGreaterThan(3_500_000)
    })
  })

  test('follows no redirect, and what answers 410 is disabled', async () => {
    const { id } = await register({ types: ['connection.created'] })
    receiver.headers = { location: `${receiver.url}/elsewhere` }
    receiver.answer = () => 302
    await scene.connect({ user_id: newUser() })
    await soon(async () => {
      const { items } = (await scene.call('GET', `/v1/webhooks/${id}/deliveries`)).body
      expect(items).toMatchObject([{ attempts: 1, last_error: 'redirected' }])
    })
    expect(receiver.asked).toHaveLength(1)
    receiver.answer = () => 410
    await scene.connect({ user_id: newUser() })
    await soon(async () =>
      expect((await scene.call('GET', `/v1/webhooks/${id}`)).body).toMatchObject({
        enabled: false,
        state: 'disabled',
        disabled_reason: 'gone',
      }),
    )
    const audit = (await scene.call('GET', '/v1/admin/audit?action=webhook.disabled')).body.items
    expect(audit).toMatchObject([{ subject: id, reason: 'gone', actor: { kind: 'system' } }])
  })

  test('to a webhook that fails is left to probes, goes on when it answers, and ends after three days', async () => {
    const { id } = await register({ types: ['connection.created'] })
    stoppedAt = Math.floor(Date.now() / 1000) // no probe comes before the test moves the clock
    receiver.headers = { 'retry-after': '60' } // so that no retry comes between the five connections
    receiver.answer = () => 500
    const state = async () => (await scene.call('GET', `/v1/webhooks/${id}`)).body
    for (let i = 0; i < 5; i++) await scene.connect({ user_id: newUser() })
    await soon(async () => expect(await state()).toMatchObject({ state: 'failing', failures: 5 }))
    expect(await diagnosis(id)).toMatchObject({
      status: 'failed',
      fix: expect.stringContaining('deliveries'),
    })
    for (let i = 0; i < 3; i++) await scene.connect({ user_id: newUser() })
    expect(receiver.asked).toHaveLength(5)
    const { items } = (await scene.call('GET', `/v1/webhooks/${id}/deliveries`)).body
    expect(items.map(({ attempts }: AnyJson) => attempts)).toEqual([0, 0, 0, 1, 1, 1, 1, 1])
    ahead += 20
    await soon(async () => expect(await state()).toMatchObject({ failures: 6 }))
    expect(receiver.asked).toHaveLength(6)
    const metrics = await scene.call('GET', '/metrics')
    expect(metrics.body).toMatch(/gatepass_webhooks\{state="failing"\} 1/)
    expect(metrics.body).toMatch(/gatepass_webhook_attempts_total\{outcome="retried"\} [6-9]/)
    expect(metrics.body).toMatch(/gatepass_webhook_oldest_waiting_seconds \d\d/)

    receiver.answer = () => 204
    ahead += 301
    // retries that were far away come at once
    await soon(() => expect(receiver.taken).toHaveLength(8))
    expect(await state()).toMatchObject({ state: 'active', failures: 0 })

    receiver.answer = () => 500
    await scene.connect({ user_id: newUser() })
    await soon(async () => expect(await state()).toMatchObject({ failures: 1 }))
    ahead += 3 * 24 * 3600
    await soon(async () => expect(await state()).toMatchObject({ disabled_reason: 'failing' }))
    expect(await diagnosis(id)).toMatchObject({ status: 'warning', fix: expect.stringContaining('--enable') })
  })
})

describe('a webhook', () => {
  test('shows its secret once, and signs with both while it is replaced', async () => {
    const { id, secret } = await register({ types: ['connection.created'] })
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect((await scene.call('GET', `/v1/webhooks/${id}`)).body.secret).toBeUndefined()
    const rotated = await scene.call('POST', `/v1/webhooks/${id}/rotate`, { overlap_seconds: 60 })
    expect(rotated.body.previous_secret_until).toBeDefined()
    await scene.connect({ user_id: newUser() })
    await soon(() => expect(receiver.taken).toHaveLength(1))
    const [{ headers, body }] = receiver.taken as [Receiver['taken'][number]]
    expect(String(headers['webhook-signature']).split(' ')).toHaveLength(2)
    const signatures = String(headers['webhook-signature'])
    const sentAt = new Date(Number(headers['webhook-timestamp']) * 1000)
    for (const one of [secret, rotated.body.secret])
      expect(signatures).toContain(new Webhook(one).sign(String(headers['webhook-id']), sentAt, body))

    ahead += 61
    receiver.secret = rotated.body.secret
    await scene.call('POST', `/v1/webhooks/${id}/test`)
    expect(String(receiver.taken.at(-1)?.headers['webhook-signature']).split(' ')).toHaveLength(1)
    expect((await scene.call('GET', `/v1/webhooks/${id}`)).body.previous_secret_until).toBeUndefined()
  })

  test('is tested by the same request as each delivery', async () => {
    const { id } = await register()
    expect((await scene.call('POST', `/v1/webhooks/${id}/test`)).body).toEqual({
      delivered: true,
      status: 204,
    })
    expect(receiver.taken).toMatchObject([{ type: 'webhook.test', data: { id, sequence: 0 } }])
    const trail = (await scene.call('GET', `/v1/admin/audit?subject=${id}`)).body
    expect(trail.items[0]).toMatchObject({ action: 'webhook.tested', actor: { kind: 'api_key' } })
    receiver.answer = () => 500
    expect((await scene.call('POST', `/v1/webhooks/${id}/test`)).body).toEqual({
      delivered: false,
      status: 500,
    })
    await receiver.close()
    expect((await scene.call('POST', `/v1/webhooks/${id}/test`)).body).toEqual({
      delivered: false,
      error: 'unreachable',
    })
    expect((await scene.call('GET', `/v1/webhooks/${id}`)).body.failures).toBe(0)
  })

  test('gets past events once more, with their ids', async () => {
    const { id } = await register({ types: ['connection.created'] })
    for (let i = 0; i < 3; i++) await scene.connect({ user_id: newUser() })
    await soon(() => expect(receiver.taken).toHaveLength(3))
    const before = receiver.taken.map((one) => one.id)
    const since = new Date(Date.now() - 600_000).toISOString()
    const replay = (body: object) => scene.call('POST', `/v1/webhooks/${id}/replay`, { since, ...body })
    expect((await replay({ only_failed: true })).body).toEqual({ replayed: 0 })
    expect((await replay({})).body.replayed).toBeGreaterThanOrEqual(3)
    await soon(() => expect(receiver.taken.length).toBeGreaterThanOrEqual(6))
    expect(receiver.taken.map((one) => one.id)).toEqual(expect.arrayContaining([...before, ...before]))
    // a cursor that was made up goes on from anywhere, and is on record too
    const recorded = async () => {
      const { body } = await scene.call('GET', `/v1/admin/audit?action=webhook.replayed&subject=${id}`)
      return body.items.length
    }
    const entries = await recorded()
    expect((await replay({ cursor: `0.evt_${'0'.repeat(32)}` })).status).toBe(200)
    expect(await recorded()).toBe(entries + 1)
    await scene.call('PATCH', `/v1/webhooks/${id}`, { enabled: false })
    expect(await replay({})).toMatchObject({ status: 400 })
  })

  test.each([
    ['a URL that is not one', { url: 'receiver' }, 'url'],
    ['another scheme', { url: 'ftp://127.0.0.1/' }, 'url'],
    ['a query', { url: 'https://127.0.0.1/?key=1' }, 'url'],
    ['a private host', { url: 'https://10.0.0.1/' }, 'GATEPASS_ALLOWED_HOSTS'],
    ['a type that does not exist', { types: ['connection.made'] }, 'types'],
    ['no type', { types: [] }, 'types'],
    ['an unknown member', { event: 'x' }, 'event'],
  ])('is refused: %s', async (_, settings, named) => {
    const answer = await scene.call('POST', '/v1/webhooks', { url: 'https://127.0.0.1/', ...settings })
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.status).toBeLessThan(500)
    expect(answer.body.message).toContain(named)
  })

  test('belongs to administrators of its project: others read it or do not see it', async () => {
    const { id } = await register()
    const [readonly, caller, other] = await Promise.all([
      scene.gatepass.makeKey('readonly'),
      scene.gatepass.makeKey('caller'),
      scene.gatepass.makeKey('admin', 'other'),
    ])
    const status = async (method: string, path: string, key: string, body?: object) =>
      (await scene.call(method, `/v1/webhooks${path}`, body, { key })).status
    expect(await status('GET', `/${id}`, readonly)).toBe(200)
    expect(await status('GET', `/${id}`, other)).toBe(404)
    for (const [method, path, body] of [
      ['POST', '', { url: 'https://127.0.0.1/' }],
      ['PATCH', `/${id}`, { enabled: false }],
      ['POST', `/${id}/rotate`, {}],
      ['POST', `/${id}/test`, undefined],
      ['POST', `/${id}/replay`, {}],
      ['DELETE', `/${id}`, undefined],
    ] as const)
      for (const key of [readonly, caller])
        expect([method, path, await status(method, path, key, body)]).toEqual([method, path, 403])
    expect(await status('GET', `/${id}/deliveries`, other)).toBe(404)
    expect(await status('DELETE', `/${id}`, other)).toBe(404)
  })
})

test('an endpoint that hangs does not slow down what is told of, nor other endpoints', async () => {
  await register({ types: ['connection.created'] })
  const stuck = await scene.call('POST', '/v1/webhooks', { url: 'https://127.0.0.1/hangs' })
  const { outgoing } = scene.gatepass.broker
  const { stream } = outgoing
  const answers = gate()
  let attempts = 0
  // in place of an endpoint and of the limit of 15 seconds: the attempt lasts until the test ends it
  const requests = vi.spyOn(outgoing, 'stream').mockImplementation(async (request) => {
    if (String(request.url) !== stuck.body.url) return stream(request)
    attempts++
    await answers.opened
    throw new OutgoingError('timeout', '127.0.0.1', { requestSent: true })
  })
  const user_id = newUser()
  await scene.connect({ user_id })
  await soon(() => expect(receiver.taken.map(({ data }) => data.user_id)).toEqual([user_id]))
  await soon(() => expect(attempts).toBeGreaterThan(0))
  answers.open()
  await soon(async () => {
    const { items } = (await scene.call('GET', `/v1/webhooks/${stuck.body.id}/deliveries`)).body
    expect(items[0]).toMatchObject({ last_error: 'timeout' })
  })
  requests.mockRestore()
})
