import { afterEach, expect, test, vi } from 'vitest'
import { createOutgoing } from '../../src/egress/outgoing.ts'
import { gate } from '../gate.ts'
import { startScene } from './fixtures.ts'

/** The guarded client sends this many requests to a host at a time. */
const AT_ONCE = 64
const FLOWS = 200

afterEach(() => {
  vi.restoreAllMocks()
})

test('200 consents at a provider that does not answer: those in the queue fail too, as soon as it is over', async () => {
  // the test says when time is over, instead of waiting for it
  const patient = createOutgoing({ allowedHosts: ['127.0.0.1', 'localhost'] })
  const outgoing = {
    ...patient,
    send: (request: Parameters<typeof patient.send>[0]) =>
      patient.send({ ...request, deadlineMs: 3_600_000 }),
  }
  await using scene = await startScene({ as: { exchange: 'drop' }, gatepass: { outgoing } })
  const { as, gatepass } = scene
  const approved = await Promise.all(
    Array.from({ length: FLOWS }, (_, i) => scene.approve({ user_id: `user ${i}` })),
  )
  const { opened, open } = gate()
  as.behaviour.onExchange = () => opened
  // no time passes until all are there, by either clock: a difference would be a sleep of the machine
  const [moment, date] = [performance.now(), Date.now()]
  const clocks = [vi.spyOn(performance, 'now'), vi.spyOn(Date, 'now')] as const
  const stopAt = (ms: number) => {
    clocks[0].mockReturnValue(moment + ms)
    clocks[1].mockReturnValue(date + ms)
  }
  stopAt(0)
  const pages = approved.map(({ browser, callback }) => browser.follow(callback))
  const asked = () => as.tokenRequests('authorization_code').length
  await expect.poll(asked).toBe(AT_ONCE)
  const statuses = () => Promise.all(approved.map(({ id }) => gatepass.broker.store.authorizations.find(id)))
  const claimed = async () => (await statuses()).filter((one) => one?.status === 'exchanging').length
  await expect.poll(claimed).toBe(FLOWS)

  stopAt(10_001)
  open()
  await Promise.all(pages)
  expect(asked()).toBe(AT_ONCE)
  for (const one of await statuses())
    expect(one).toMatchObject({ status: 'failed', reason: 'provider_unavailable' })
  await gatepass.broker.liveness.close()
  await gatepass.broker.liveness.endDeadClaims()
  expect(gatepass.logLines.join('\n')).not.toContain('while it redeemed codes')
})
