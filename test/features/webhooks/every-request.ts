import { newOwnedId } from '../../../src/domain/ids.ts'
import { DELIVERY_STATES, type EventType } from '../../../src/features/webhooks/domain.ts'
import type { Store } from '../../../src/store/store.ts'
import type { UseOfFeature } from '../../store/every-request.ts'
import { connection, defined, pending, providerEntry } from '../../store/fixtures.ts'
import { webhook } from './fixtures.ts'

/**
 * Uses every operation on events and deliveries, so that each of their statements has run at least once. The timers of
 * a server run them too, but at times that a test does not choose.
 */
async function everyDelivery(store: Store, projectId: string): Promise<void> {
  const now = Math.floor(Date.now() / 1000)
  const entry = providerEntry({ projectId, id: `events-${now}-${performance.now()}` })
  await store.providers.add(entry)
  const types: readonly EventType[] = ['connection.created', 'connection.deleted']
  // the dispatcher of the server sends nothing to a disabled webhook; no server listens at the URL of the other one
  const quiet = webhook({ projectId, enabled: false, types })
  const loud = webhook({ projectId, url: 'https://127.0.0.1:9/', types })
  for (const one of [quiet, loud]) await store.webhooks.add(one, 100)
  for (const userId of ['ada', 'bob']) {
    const id = newOwnedId('conn', projectId, userId)
    const made = connection({ projectId, providerUid: entry.uid, userId }, { id })
    await store.connections.addImported(made, { replaces: false, makeDefault: false })
    const gone = defined(await store.connections.delete(made.id))
    await store.connections.revoked(gone, 'user', 'revoked')
  }
  await store.authorizations.begin(
    pending({ projectId, providerUid: entry.uid, userId: 'ada' }, { expiresAt: 1 }),
    `events-${performance.now()}`,
    0,
  )
  await store.events.expireAuthorizations(now, 10)

  const lease = { owner: 'test', seconds: 30 }
  const claim = (probe?: number) =>
    store.deliveries.claim(probe === undefined ? quiet : { ...quiet, probeAt: 1 }, lease, now + 5, {
      limit: 1,
      probe,
    })
  const failing = (seconds: number) => ({ health: 'fails', probeIn: () => seconds }) as const
  await store.events.forgetUser(projectId, 'bob', now)
  await store.events.replay(quiet, { since: 0, until: now + 10, onlyFailed: false }, now, { limit: 100 })
  const [first] = await claim()
  await store.deliveries.settle(
    defined(first),
    { state: 'waiting', status: 500, retryIn: 0 },
    failing(0),
    now,
  )
  const [second] = await claim(1)
  await store.deliveries.settle(
    defined(second),
    { state: 'delivered', status: 200 },
    { health: 'answers' },
    now,
  )
  const [third] = await claim()
  await store.deliveries.settle(defined(third), { state: 'failed', error: 'timeout' }, failing(0), now)
  await store.webhooks.disable({ ...loud, reason: 'gone' }, now)
  const enabled = { ...quiet, enabled: true }
  await store.webhooks.change(quiet, enabled)
  await store.webhooks.change(enabled, quiet)
  for (const one of [quiet, loud]) await store.webhooks.delete(projectId, one.id)
  await store.deliveries.waiting()
  await store.events.sweep(0, 0)
}

/** Reads the lists of deliveries by every filter, by offset and by cursor. */
async function everyDeliveryList({ deliveries }: Store): Promise<void> {
  for (const place of [{}, { before: 'x' }, { after: 'x' }])
    for (const state of [undefined, 'waiting', 'failed'] as const)
      await deliveries.browse('wh', { state }, place, 1)
  for (const page of [
    { offset: 1, limit: 1 },
    { offset: 0, limit: 1, after: 'x' },
  ])
    for (const state of [undefined, ...DELIVERY_STATES]) await deliveries.list('wh', { state }, page)
}

export const useWebhooks: UseOfFeature = async ({ call, world, projectId }) => {
  const path = '/v1/webhooks/{id}'
  const hook = await call('POST', '/v1/webhooks', { url: `${world.gatepass.url}/health` })
  await call('GET', '/v1/webhooks')
  await call('GET', path, undefined, hook)
  await call('POST', `${path}/test`, undefined, hook)
  await call('POST', `${path}/rotate`, {}, hook)
  await call('GET', `${path}/deliveries`, undefined, hook)
  await call('POST', `${path}/replay`, { since: '2026-01-01T00:00:00Z' }, hook)
  for (const enabled of [false, true]) await call('PATCH', path, { enabled }, hook)
  await call('DELETE', path, undefined, hook)
  const { store } = world.gatepass.broker
  await everyDelivery(store, projectId)
  await everyDeliveryList(store)
}
