import { createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { verifyWebhook } from '../../src/sdk/webhooks.ts'

const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`
const other = `whsec_${Buffer.from('another secret of thirty-two bytes').toString('base64')}`
const seconds = 1_800_000_000
const now = seconds * 1000
const body = JSON.stringify({
  type: 'connection.needs_authorization',
  timestamp: '2026-11-22T00:00:00.123Z',
  data: {
    id: 'conn_1',
    sequence: 7,
    user_id: 'ada',
    provider_id: 'github',
    status: 'needs_authorization',
    reason: 'invalid_grant',
  },
})

function sign(secret: string, text = body, timestamp = String(seconds), id = 'evt_1'): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${text}`).digest('base64')}`
}

function request(headers: Record<string, string | undefined> = {}, text = body): Request {
  const all = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(seconds),
    'webhook-signature': sign(secret),
    ...headers,
  }
  const said = Object.entries(all).filter((one): one is [string, string] => one[1] !== undefined)
  return new Request('https://app.example/webhooks', { method: 'POST', body: text, headers: said })
}

test('gives the event, with its names in the style of this library', async () => {
  expect(await verifyWebhook(request(), secret, { now })).toEqual({
    id: 'evt_1',
    type: 'connection.needs_authorization',
    timestamp: new Date('2026-11-22T00:00:00.123Z'),
    data: {
      id: 'conn_1',
      sequence: 7,
      userId: 'ada',
      providerId: 'github',
      status: 'needs_authorization',
      reason: 'invalid_grant',
    },
  })
})

test('gives an event whose user was erased meanwhile', async () => {
  const text = body.replace('"user_id":"ada",', '')
  const sent = request({ 'webhook-signature': sign(secret, text) }, text)
  const { data } = await verifyWebhook(sent, secret, { now })
  expect(data).toMatchObject({ id: 'conn_1', providerId: 'github' })
  expect(data).not.toHaveProperty('userId')
})

test('takes any of several secrets, and any of several signatures', async () => {
  const signed = (text: string) => request({ 'webhook-signature': text })
  const event = expect.objectContaining({ id: 'evt_1' })
  expect(await verifyWebhook(request(), [other, secret], { now })).toEqual(event)
  expect(await verifyWebhook(signed(`${sign(other)} ${sign(secret)}`), secret, { now })).toEqual(event)
  expect(await verifyWebhook(signed(`v1a,AAAA v1,%% ${sign(secret)}`), secret, { now })).toEqual(event)
})

test('takes the headers of Node and the raw body', async () => {
  const headers = Object.fromEntries(request().headers)
  const event = expect.objectContaining({ id: 'evt_1' })
  for (const raw of [body, Buffer.from(body), new TextEncoder().encode(body)])
    expect(await verifyWebhook({ headers, body: raw }, secret, { now })).toEqual(event)
  const { 'webhook-id': _, ...others } = headers
  await expect(verifyWebhook({ headers: others, body }, secret, { now })).rejects.toMatchObject({
    reason: 'missing_header',
  })
})

test('names the mistake of a receiver that has read or parsed the body before', async () => {
  const read = request()
  await read.json()
  const parsed = { headers: read.headers, body: JSON.parse(body) }
  for (const one of [read, parsed, { ...parsed, body: undefined as unknown as string }])
    await expect(verifyWebhook(one, secret, { now })).rejects.toThrow(/express\.raw/)
})

test('knows the example of the specification', async () => {
  const given = request(
    {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    '{"test": 2432232314}',
  )
  const verifying = verifyWebhook(given, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', { now: 1_614_265_330_000 })
  await expect(verifying).rejects.toMatchObject({ reason: 'invalid_body' }) // signed as it should be, but no event
})

describe('refuses', () => {
  test.each<[string, () => Request, string, number?]>([
    ['another body', () => request({}, body.replace('ada', 'eve')), 'wrong_signature'],
    ['another id', () => request({ 'webhook-id': 'evt_2' }), 'wrong_signature'],
    ['another secret', () => request({ 'webhook-signature': sign(other) }), 'wrong_signature'],
    [
      'another version of signature',
      () => request({ 'webhook-signature': sign(secret).replace('v1', 'v2') }),
      'wrong_signature',
    ],
    ['a body with a byte order mark before it', () => request({}, `\uFEFF${body}`), 'wrong_signature'],
    ['five minutes and a second later', () => request(), 'outside_tolerance', now + 301_000],
    ['five minutes and a second before', () => request(), 'outside_tolerance', now - 301_000],
    ['a timestamp that is none', () => request({ 'webhook-timestamp': '1e9' }), 'invalid_timestamp'],
    ['a missing id', () => request({ 'webhook-id': undefined }), 'missing_header'],
    ['a missing signature', () => request({ 'webhook-signature': undefined }), 'missing_header'],
  ])('%s', async (_, given, reason, at = now) => {
    await expect(verifyWebhook(given(), secret, { now: at })).rejects.toMatchObject({
      name: 'WebhookRefused',
      reason,
    })
  })

  test('but not five minutes', async () => {
    for (const at of [now + 300_000, now - 300_000])
      expect(await verifyWebhook(request(), secret, { now: at })).toMatchObject({ id: 'evt_1' })
  })

  test('a secret that is none, so that an empty setting accepts nothing', async () => {
    for (const wrong of ['', 'whsec_', 'whsec_%%'])
      await expect(verifyWebhook(request(), wrong, { now })).rejects.toMatchObject({
        reason: 'invalid_secret',
      })
    await expect(verifyWebhook(request(), [], { now })).rejects.toMatchObject({ reason: 'wrong_signature' })
  })
})
