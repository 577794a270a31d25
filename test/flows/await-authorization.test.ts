import { describe, expect, test } from 'vitest'
import { UserAgent } from '../user-agent.ts'
import { approve, click, startScene } from './fixtures.ts'

const SDK = { headers: { 'x-stainless-lang': 'js' } }

describe('status', () => {
  test('a wait that runs out answers 200 and pending', async () => {
    await using scene = await startScene()
    const { id } = (await scene.authorize()).body
    for (const options of [{}, SDK])
      expect(await scene.call('GET', `/v1/auth/status?id=${id}&wait=1`, undefined, options)).toMatchObject({
        status: 200,
        body: { id, status: 'pending', context: {} },
      })
  })

  test.each([
    ['60', 400],
    ['-1', 400],
    ['x', 400],
    ['0', 200],
  ])('wait=%s gets %i', async (wait, status) => {
    await using scene = await startScene()
    const { id } = (await scene.authorize()).body
    expect((await scene.call('GET', `/v1/auth/status?id=${id}&wait=${wait}`)).status).toBe(status)
  })

  test('all waiting requests are answered with the completion and the token', async () => {
    await using scene = await startScene()
    const { id, url } = (await scene.authorize()).body
    const waiting = Array.from({ length: 20 }, () => scene.call('GET', `/v1/auth/status?id=${id}&wait=59`))
    await click(url)
    for (const { status, body } of await Promise.all(waiting)) {
      expect(status).toBe(200)
      expect(body).toMatchObject({ id, status: 'completed', scopes: ['read'] })
      expect(scene.as.isLive(body.context.token)).toBe(true)
    }
  })

  test('a waiting request is answered with the failure', async () => {
    await using scene = await startScene({ as: { consent: 'deny' } })
    const { id, url } = (await scene.authorize()).body
    const waiting = scene.call('GET', `/v1/auth/status?id=${id}&wait=59`)
    await click(url)
    expect(await waiting).toMatchObject({ status: 200, body: { status: 'failed', reason: 'access_denied' } })
  })

  test('an SDK that waits on a failed one gets 400 with the reason; everyone else 200', async () => {
    await using scene = await startScene({ as: { consent: 'deny' } })
    const { id, url } = (await scene.authorize()).body
    const waiting = scene.call('GET', `/v1/auth/status?id=${id}&wait=45`, undefined, SDK)
    await click(url)
    const told = { status: 400, body: { name: 'authorization_failed', message: /access_denied/ } }
    for (const answer of [
      await waiting,
      await scene.call('GET', `/v1/auth/status?id=${id}&wait=45`, undefined, SDK),
    ]) {
      expect(answer.status).toBe(told.status)
      expect(answer.body.name).toBe(told.body.name)
      expect(answer.body.message).toMatch(told.body.message)
    }
    for (const [path, options] of [
      [`/v1/auth/status?id=${id}`, SDK],
      [`/v1/auth/status?id=${id}&wait=45`, {}],
    ] as const)
      expect(await scene.call('GET', path, undefined, options)).toMatchObject({
        status: 200,
        body: { id, status: 'failed', reason: 'access_denied', message: expect.any(String) },
      })
  })

  test('an SDK that waits on a connection that needs a new consent is refused, not kept in its loop', async () => {
    await using scene = await startScene({ as: { omitRefreshToken: true } })
    await scene.connect()
    const { id } = (await scene.authorize()).body
    scene.clock.advance(3601)
    const path = `/v1/auth/status?id=${id}&wait=45`
    expect(await scene.call('GET', path)).toMatchObject({ status: 200, body: { status: 'failed' } })
    expect(await scene.call('GET', path, undefined, SDK)).toMatchObject({
      status: 400,
      body: { name: 'authorization_failed' },
    })
  })

  test('runs out: failed with `expired`, also for a waiting request', async () => {
    await using scene = await startScene({ gatepass: { environment: { GATEPASS_AUTHORIZATION_TTL: '1' } } })
    const { id, url } = (await scene.authorize()).body
    const waiting = scene.call('GET', `/v1/auth/status?id=${id}&wait=59`)
    scene.clock.advance(1)
    for (const answer of [await waiting, await scene.status(id)])
      expect(answer.body).toMatchObject({ id, status: 'failed', reason: 'expired', context: {} })
    expect((await new UserAgent().get(url)).status).toBe(410)
  })

  test('a code that is being redeemed when the time ends is waited for: the answer is its result', async () => {
    await using scene = await startScene({ as: { exchangeDelayMs: 1500 } })
    const { id, callback, browser } = await scene.approve()
    scene.clock.advance(595)
    const back = browser.follow(callback)
    await expect.poll(() => scene.as.tokenRequests().length).toBe(1)
    scene.clock.advance(10)
    const late = await scene.call('GET', `/v1/auth/status?id=${id}&wait=20`)
    expect(late.body).toMatchObject({ id, status: 'completed' })
    await back
  })

  test('the id stays good after completion, and its status refreshes the token', async () => {
    await using scene = await startScene()
    const { id, context } = (await scene.connect()).body
    expect(id).toMatch(/^auth_/)
    scene.clock.advance(3600)
    const later = await scene.status(id)
    expect(later.body).toMatchObject({ id, status: 'completed', scopes: ['read'] })
    expect(later.body.context.token).not.toBe(context.token)
    expect(scene.as.isLive(later.body.context.token)).toBe(true)
  })
})

describe('events', () => {
  test.each([
    ['approve', { status: 'completed' }],
    ['deny', { status: 'failed', reason: 'access_denied' }],
  ] as const)('%s: one event now, one when it settles, then the end', async (consent, end) => {
    await using scene = await startScene({ as: { consent } })
    const { id, url } = (await scene.authorize()).body
    const stream = await openEvents(scene.gatepass.url, id, scene.gatepass.apiKey)
    expect(stream.type).toMatch(/^text\/event-stream/)
    expect(stream.cache).toBe('no-store') // the last event has a token
    const first = await stream.next()
    expect(first).toMatchObject({ id, status: 'pending', url })
    await click(url)
    expect(await stream.next()).toMatchObject({ id, ...end })
    expect(await stream.next()).toBeUndefined()
  })

  test('of one that cannot be read any more: an error event, then the end', async () => {
    await using scene = await startScene()
    const { id } = (await scene.authorize()).body
    const { waiters, store } = scene.gatepass.broker
    const stream = await openEvents(scene.gatepass.url, id, scene.gatepass.apiKey)
    await stream.next()
    await expect.poll(() => waiters.count).toBe(1)
    Object.assign(store.authorizations, { find: async () => undefined })
    waiters.close() // each wait ends, then the authorization is read again
    expect(await stream.next()).toMatchObject({ name: 'not_found' })
    expect(await stream.next()).toBeUndefined()
  })

  test('of a settled one: a single event', async () => {
    await using scene = await startScene()
    const { id } = (await scene.connect()).body
    const stream = await openEvents(scene.gatepass.url, id, scene.gatepass.apiKey)
    expect(await stream.next()).toMatchObject({ id, status: 'completed' })
    expect(await stream.next()).toBeUndefined()
  })

  test('of what was answered at once, by the id of that answer: a single event, the same as its status', async () => {
    await using scene = await startScene()
    await scene.connect()
    const covered = (await scene.authorize()).body
    await scene.call('POST', '/v1/tools/import', {
      name: 'free',
      description: 'Needs nobody.',
      version: '1.0.0',
      parameters: { type: 'object', properties: {} },
    })
    const free = (await scene.call('POST', '/v1/tools/authorize', { tool_name: 'free', user_id: 'u1' })).body
    for (const { id } of [covered, free]) {
      expect(await scene.status(id)).toMatchObject({ status: 200, body: { id, status: 'completed' } })
      const stream = await openEvents(scene.gatepass.url, id, scene.gatepass.apiKey)
      expect(await stream.next()).toMatchObject({ id, status: 'completed' })
      expect(await stream.next()).toBeUndefined()
    }
    expect(await scene.status('tool_0')).toMatchObject({ status: 404 })
  })

  test('need a key', async () => {
    await using scene = await startScene()
    const { id } = (await scene.authorize()).body
    expect((await scene.call('GET', `/v1/auth/${id}/events`, undefined, { key: null })).status).toBe(401)
  })
})

test('a server that stops answers waiting requests at once, with the current status', async () => {
  await using scene = await startScene()
  const { id } = (await scene.authorize()).body
  const stream = await openEvents(scene.gatepass.url, id, scene.gatepass.apiKey)
  await stream.next()
  const waiting = scene.call('GET', `/v1/auth/status?id=${id}&wait=59`)
  await expect.poll(() => scene.gatepass.broker.waiters.count).toBe(2)
  await scene.gatepass.close() // which would cut them off at the end of its time
  expect(await waiting).toMatchObject({ status: 200, body: { status: 'pending' } })
  expect(await stream.next()).toBeUndefined()
})

test('an exchange that died leaves an authorization that can be clicked again', async () => {
  await using scene = await startScene({ as: { exchange: 'hang' } })
  const { id, url, callback, browser } = await scene.approve()
  const stuck = browser.follow(callback).catch(() => undefined)
  await expect.poll(() => scene.as.tokenRequests().length).toBe(1)
  scene.clock.advance(30)
  scene.as.behaviour.exchange = 'normal'
  expect((await scene.status(id)).body.status).toBe('pending')
  const again = await approve(url)
  await again.browser.follow(again.callback)
  expect((await scene.status(id)).body.status).toBe('completed')
  await scene.as.close()
  await stuck
})

/** The data of each `status` event in turn; `undefined` at the end. */
async function openEvents(url: string, id: string, key: string) {
  const response = await fetch(`${url}/v1/auth/${id}/events`, { headers: { authorization: `Bearer ${key}` } })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  if (reader === undefined) throw new Error('no stream')
  let text = ''
  return {
    type: response.headers.get('content-type'),
    cache: response.headers.get('cache-control'),
    async next(): Promise<unknown> {
      for (;;) {
        const end = text.indexOf('\n\n')
        if (end >= 0) {
          const block = text.slice(0, end)
          text = text.slice(end + 2)
          const data = /^data: (.*)$/m.exec(block)?.[1]
          if (data !== undefined) return JSON.parse(data)
          continue
        }
        const { done, value } = await reader.read()
        if (done) return undefined
        text += value
      }
    },
  }
}
