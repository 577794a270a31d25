import { Webhook } from 'standardwebhooks'
import { afterEach, expect, test, vi } from 'vitest'
import { startGatepass } from '../../gatepass.ts'
import { afterNextRead, expectOk } from '../../http/meanwhile.ts'
import { type Receiver, startReceiver } from './receiver.ts'

// Two changes of one row at the same time: each request was answered, so neither change may be lost.

afterEach(() => vi.restoreAllMocks())

test('deliveries are signed with the secrets that two rotations at the same time have shown', async () => {
  await using receiver = await startReceiver()
  await using gatepass = await startGatepass()
  const { call } = gatepass
  const { id } = (await call('POST', '/v1/webhooks', { url: receiver.url })).body
  const shown: string[] = []
  const rotate = async () => {
    const { status, body } = await call('POST', `/v1/webhooks/${id}/rotate`, {})
    expect(status).toBe(200)
    shown.push(body.secret)
  }
  afterNextRead(gatepass.broker.store.webhooks, 'find', rotate)
  await rotate()
  receiver.secret = shown[1] ?? ''
  await call('POST', `/v1/webhooks/${id}/test`)
  const [{ headers, body }] = receiver.taken as [Receiver['taken'][number]]
  const sentAt = new Date(Number(headers['webhook-timestamp']) * 1000)
  const sign = (secret: string) => new Webhook(secret).sign(String(headers['webhook-id']), sentAt, body)
  expect(String(headers['webhook-signature']).split(' ').toSorted()).toEqual(shown.map(sign).toSorted())
})

test('two changes of one webhook both last', async () => {
  await using gatepass = await startGatepass()
  const { call } = gatepass
  const { id } = (await call('POST', '/v1/webhooks', { url: 'https://a.example/' })).body
  const path = `/v1/webhooks/${id}`
  afterNextRead(gatepass.broker.store.webhooks, 'find', () =>
    expectOk(call('PATCH', path, { types: ['connection.created'] })),
  )
  await expectOk(call('PATCH', path, { description: 'The chat' }))
  expect((await call('GET', path)).body).toMatchObject({
    types: ['connection.created'],
    description: 'The chat',
  })
})

test('a webhook that is disabled while another request enables it is disabled', async () => {
  await using gatepass = await startGatepass()
  const { call } = gatepass
  const url = 'https://a.example/'
  const { id } = (await call('POST', '/v1/webhooks', { url, enabled: false })).body
  const path = `/v1/webhooks/${id}`
  afterNextRead(gatepass.broker.store.webhooks, 'find', () =>
    expectOk(call('PATCH', path, { enabled: true })),
  )
  await expectOk(call('PATCH', path, { enabled: false }))
  expect((await call('GET', path)).body).toMatchObject({ enabled: false })
})
