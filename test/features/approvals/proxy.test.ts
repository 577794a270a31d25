import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/domain/clock.ts'
import { testClock } from '../../gatepass.ts'
import { type ProxyWorld, type SendOptions, startProxyWorld } from '../../http/proxy-world.ts'
import { onBothDatabases, settleAll } from './both-databases.ts'

// Requests through the proxy that a person must approve, on both databases.

describe.each(onBothDatabases)('on %s', (_, optionsOf) => {
  const clock = testClock(systemClock())
  let world: ProxyWorld
  let approver: string
  /** Each test has an agent of its own, so that it finds no questions and denials of another. */
  let agent: string
  beforeAll(async () => {
    world = await startProxyWorld({ gatepass: { ...(await optionsOf()), now: clock, mode: 'development' } })
    approver = await world.gatepass.makeKey('approver')
    await world.connect()
  })
  afterAll(() => world[Symbol.asyncDispose]())
  beforeEach(async () => {
    agent = await world.gatepass.makeKey('caller')
    const body = {
      id: 'ask',
      effect: 'approve',
      match: { uses: ['proxy'], methods: ['POST'], paths: ['/base/mail*', '*/messages/send'] },
    }
    expect(await world.call('POST', '/v1/admin/policies', body)).toMatchObject({ status: 201 })
  })
  afterEach(async () => {
    await settleAll(world, approver)
    await world.call('DELETE', '/v1/admin/policies/ask')
  })

  const JSON_TYPE = { 'content-type': 'application/json' }
  const post = (
    body: SendOptions['body'] = '{"to":"eve@example.com"}',
    more: SendOptions = {},
    path = '/mail',
  ) =>
    world.send('POST', `/proxy/demo${path}`, {
      key: agent,
      headers: JSON_TYPE,
      ...(body !== undefined && { body }),
      ...more,
    })
  const get = async (id: string) =>
    (await world.call('GET', `/v1/approvals/${id}`, undefined, { key: approver })).body
  async function decide(id: string, decision: 'approve' | 'deny' = 'approve') {
    const { digest } = await get(id)
    const body = { decision, digest, approver: 'u1' }
    const decided = await world.call('POST', `/v1/approvals/${id}/decision`, body, { key: approver })
    expect(decided.status).toBe(200)
  }
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  const sent = () => world.api.seen.length

  test('a request waits until its user approves, and is then sent once', async () => {
    const before = sent()
    const asked = await post()
    expect(asked).toMatchObject({
      status: 403,
      headers: { 'x-gatepass-error': 'authorization_required' },
      json: {
        name: 'authorization_required',
        requires_authorization: { id: expect.stringMatching(/^appr_/), scopes: [], status: 'pending' },
      },
    })
    const { id, url } = asked.json.requires_authorization
    expect(asked.headers['x-gatepass-approval']).toBe(id)
    expect(url).toContain(`/approve/${id}`)
    expect(await get(id)).toMatchObject({
      use: 'proxy',
      provider_id: 'demo',
      call: {
        hosts: [world.api.host],
        arguments: { method: 'POST', path: '/base/mail', 'body.to': 'eve@example.com' },
      },
    })
    expect((await post()).json.requires_authorization.id).toBe(id)
    expect(await world.call('GET', `/v1/auth/status?id=${id}`)).toMatchObject({ body: { status: 'pending' } })
    await decide(id)
    expect(sent()).toBe(before)

    const answered = await post()
    expect([answered.status, answered.headers['x-gatepass-approval']]).toEqual([200, id])
    expect(answered.json).toEqual({ method: 'POST', url: '/base/mail', body: '{"to":"eve@example.com"}' })
    expect(await get(id)).toMatchObject({ status: 'used' })
    expect((await post()).json.requires_authorization.id).not.toBe(id)
    expect(sent()).toBe(before + 1)
  })

  test('of 50 repeats of an approved request one is sent', async () => {
    const before = sent()
    await decide((await post()).json.requires_authorization.id)
    const all = await Promise.all(Array.from({ length: 50 }, () => post()))
    expect(all.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(all.filter(({ status }) => status === 403)).toHaveLength(49)
    expect(sent()).toBe(before + 1)
  })

  test.each<[string, () => ReturnType<typeof post>]>([
    ['a byte of the body that JSON ignores', () => post('{"to": "eve@example.com"}')],
    ['a repeated member', () => post('{"to":"x","to":"eve@example.com"}')],
    ['the query', () => post(undefined, {}, '/mail?draft=1')],
    ['the path', () => post(undefined, {}, '/mail/')],
    ['a header', () => post(undefined, { headers: { ...JSON_TYPE, 'x-mode': 'loud' } })],
    ['the media type', () => post(undefined, { headers: { 'content-type': 'text/plain' } })],
  ])('%s is another question', async (_, other) => {
    const before = sent()
    const { id } = (await post()).json.requires_authorization
    await decide(id)
    expect((await other()).json.requires_authorization.id).not.toBe(id)
    expect(sent()).toBe(before)
  })

  test.each([
    '/m%61il',
    '/m%2561il',
    '//mail',
    '/%5cmail',
    '/m%61il/%ff',
    '/m%61il;%ff',
    '/;a=1/mail',
    '/%ff/messages/s%65nd',
    '/users/%ff/messages/%73end',
    '/messages//send',
    '/messages/send;a=1',
    '/messages/send;%2fa',
    '/messages/s%65nd?to=eve',
  ])('no spelling of the path passes a rule: %s', async (path) => {
    const before = sent()
    expect((await post(undefined, {}, path)).json.name).toBe('authorization_required')
    expect(sent()).toBe(before)
  })

  test('neither does an empty segment at the end of the base URL', async () => {
    const headers = { ...JSON_TYPE, 'x-gatepass-base-url': `${world.api.url}//base` }
    expect((await post(undefined, { headers })).json.name).toBe('authorization_required')
  })

  test('another agent is asked about anew', async () => {
    const { id } = (await post()).json.requires_authorization
    await decide(id)
    const key = await world.gatepass.makeKey('caller')
    expect((await post(undefined, { key })).json.requires_authorization.id).not.toBe(id)
  })

  test('headers of the program that sends it may differ', async () => {
    const { id } = (await post()).json.requires_authorization
    await decide(id)
    const headers = { ...JSON_TYPE, 'user-agent': 'other', 'x-request-id': 'two', 'idempotency-key': 'k' }
    expect(await post(undefined, { headers })).toMatchObject({ status: 200 })
  })

  test.each<[string, string, string | Buffer, object]>([
    ['a repeated member as text', 'application/json', '{"to":"a","to":"b"}', { body: '{"to":"a","to":"b"}' }],
    [
      'a number of many digits as text',
      'application/json',
      '{"n":12345678901234567890}',
      { body: '{"n":12345678901234567890}' },
    ],
    ['20,000 levels as text', 'application/json', nested(20_000), { body: nested(20_000) }],
    ['65 levels as text', 'application/json', nested(65), { body: nested(65) }],
    ['64 levels as a list', 'application/json', nested(64), { body: JSON.parse(nested(64)) }],
    ['escapes as characters', 'application/problem+json', '{"to":"\\u00e9"}', { 'body.to': 'é' }],
    ['a list', 'application/json', '[1,"a"]', { body: [1, 'a'] }],
    ['a form as text', 'application/x-www-form-urlencoded', 'a=b&a=c', { body: 'a=b&a=c' }],
    [
      'other bytes by their digest',
      'application/pdf',
      Buffer.from([0, 255]),
      {
        body: {
          content_type: 'application/pdf',
          size: 2,
          sha256: createHash('sha256')
            .update(Buffer.from([0, 255]))
            .digest('hex'),
        },
      },
    ],
  ])('people see %s', async (_, type, body, shown) => {
    const headers = { 'content-type': type, 'x-api-key': 'secret-of-the-caller' }
    const { id } = (await post(body, { headers })).json.requires_authorization
    const { arguments: all } = (await get(id)).call
    expect(all).toMatchObject(shown)
    expect(JSON.stringify(all)).not.toContain('secret-of-the-caller')
  })

  test('a body over 256 KiB is refused where a person must approve, and streamed elsewhere', async () => {
    const before = sent()
    const large = Buffer.alloc(256 * 1024 + 1, 'a')
    expect(await post(large)).toMatchObject({ status: 413, json: { name: 'request_too_large' } })
    async function* pieces() {
      for (let i = 0; i < 5; i++) yield large.subarray(0, 64 * 1024)
    }
    expect(await post(pieces())).toMatchObject({ status: 413 })
    expect(sent()).toBe(before)
    expect(await post(large, {}, '/files')).toMatchObject({ status: 200 })
  })

  test('a denied request is refused', async () => {
    const { id } = (await post()).json.requires_authorization
    await decide(id, 'deny')
    const refused = await post()
    expect(refused).toMatchObject({ status: 403, json: { name: 'denied_by_policy' } })
    expect(refused.json.message).toContain('u1 denied this call.')
  })

  test('a changed rule asks anew, and a rule that denies beats an approval', async () => {
    const before = sent()
    const { id } = (await post()).json.requires_authorization
    await decide(id)
    await world.call('PATCH', '/v1/admin/policies/ask', { approve: { by: 'user', expires_seconds: 900 } })
    expect((await post()).json.requires_authorization.id).not.toBe(id)
    await world.call('POST', '/v1/admin/policies', { id: 'stop', effect: 'deny', match: { uses: ['proxy'] } })
    expect(await post()).toMatchObject({ status: 403, json: { name: 'denied_by_policy' } })
    await world.call('DELETE', '/v1/admin/policies/stop')
    expect(sent()).toBe(before)
  })

  test('a request that the API refuses with 401 is not sent a second time by one approval', async () => {
    const before = sent()
    const { id } = (await post()).json.requires_authorization
    await decide(id)
    clock.advance(60) // a token that has just been received is not replaced
    const { answer } = world.api
    world.api.answer = (_, response) => response.writeHead(401).end()
    const refused = await post()
    world.api.answer = answer
    expect([refused.status, refused.headers['x-gatepass-token']]).toEqual([401, 'replaced'])
    expect(sent()).toBe(before + 1)
  })

  test('a remembered approval covers the same method and path alone', async () => {
    await world.call('PATCH', '/v1/admin/policies/ask', {
      match: { uses: ['proxy'] },
      approve: { remember: ['once', 'hour'] },
    })
    const { id } = (await post('{"to":"eve@example.com","text":"first"}')).json.requires_authorization
    const { digest } = await get(id)
    const body = { decision: 'approve', digest, approver: 'u1', remember: 'hour', fixed: ['body.to'] }
    expect(await world.call('POST', `/v1/approvals/${id}/decision`, body, { key: approver })).toMatchObject({
      status: 200,
    })
    for (const _ of [1, 2, 3])
      expect(await post('{"to":"eve@example.com","text":"more"}')).toMatchObject({ status: 200 })
    const covered = '{"to":"eve@example.com","text":"more"}'
    expect(await post(covered, {}, '/mail/2')).toMatchObject({ status: 403 })
    const put = { key: agent, headers: JSON_TYPE, body: covered }
    expect(await world.send('PUT', '/proxy/demo/mail', put)).toMatchObject({ status: 403 })
    expect(await post('{"to":"eve@example.com","text":"more","bcc":"x"}')).toMatchObject({ status: 403 })
    expect(await post(covered, {}, '/mail?copy=1')).toMatchObject({ status: 403 })
    const headers = { ...JSON_TYPE, 'x-copy': '1' }
    expect(await post(covered, { headers })).toMatchObject({ status: 403 })
  })
})
