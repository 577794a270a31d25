import { describe, expect, test } from 'vitest'
import type { EventType, Webhook } from '../../../src/features/webhooks/domain.ts'
import type { ClaimedDelivery, WebhookHealth } from '../../../src/features/webhooks/store-deliveries.ts'
import type { Store } from '../../../src/store/store.ts'
import {
  claimed,
  connection,
  defined,
  execution,
  inProject,
  type OpenedStore,
  pending,
  refreshed,
  sealed,
} from '../../store/fixtures.ts'
import { walk } from '../../store/walk.ts'
import { webhook } from './fixtures.ts'

const FIRST_PAGE = { offset: 0, limit: 100 }
const ANSWERS: WebhookHealth = { health: 'answers' }
const FAILS: WebhookHealth = { health: 'fails', probeIn: () => undefined }
/** A second after the machine's time: the databases write events with the time of their own clock. */
const now = () => Math.floor(Date.now() / 1000) + 1

/** Tests the promises of `Webhooks`, `Events` and `Deliveries`. */
export function webhookPromises(open: () => Promise<OpenedStore>): void {
  async function inWebhookProject(store: Store, of: Partial<Webhook> = {}) {
    const project = await inProject(store)
    const hook = webhook({ projectId: project.projectId, ...of })
    await store.webhooks.add(hook, 10)
    return { ...project, hook }
  }

  const claim = (
    store: Store,
    hook: Pick<Webhook, 'id' | 'probeAt'>,
    { at = now(), limit = 100, owner = 'node', seconds = 30, probe = undefined as number | undefined } = {},
  ) => store.deliveries.claim(hook, { owner, seconds }, at, { limit, probe })

  const deliver = (store: Store, one: ClaimedDelivery) =>
    store.deliveries.settle(one, { state: 'delivered', status: 204 }, ANSWERS, now())

  /** Delivers every event, one claim after another; returns the bodies in their order. */
  async function deliverAll(store: Store, hook: Webhook) {
    const bodies: { type: EventType; data: Record<string, unknown> }[] = []
    for (;;) {
      const [one] = await claim(store, hook, { limit: 1 })
      if (one === undefined) return bodies
      bodies.push(JSON.parse(one.body))
      await deliver(store, one)
    }
  }

  describe('webhooks', () => {
    test('are found, listed and changed in their own project, and limited in number', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId, hook } = await inWebhookProject(store, { types: ['connection.created'] })
      expect(await other.webhooks.find(projectId, hook.id)).toEqual(hook)
      expect(await other.webhooks.find('proj_other', hook.id)).toBeUndefined()
      expect(await store.webhooks.add(webhook({ projectId }), 1)).toBe(false)
      expect(await other.webhooks.list(projectId)).toEqual([hook])
      const { types: _, ...rest } = hook
      const changed = { ...rest, url: 'https://b.example/', updatedAt: 9 }
      expect(await store.webhooks.change(hook, changed)).toEqual(changed)
      expect(await other.webhooks.change(hook, { ...hook, url: 'https://c.example/' })).toBeUndefined()
      expect(await other.webhooks.find(projectId, hook.id)).toEqual(changed)
      expect(await store.webhooks.delete(projectId, hook.id)).toBe(true)
      expect(await other.webhooks.find(projectId, hook.id)).toBeUndefined()
      expect(await store.webhooks.change(changed, hook)).toBeUndefined()
    })

    test('are not changed by a request that has read them before a delivery disabled them', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId, hook } = await inWebhookProject(store)
      const { id } = hook
      await other.webhooks.disable({ ...hook, reason: 'failing' }, 8)
      expect(await store.webhooks.change(hook, { ...hook, description: 'new' })).toBeUndefined()
      const disabled = defined(await other.webhooks.find(projectId, id))
      expect(disabled).toMatchObject({ enabled: false, disabledReason: 'failing', disabledAt: 8 })
      expect(disabled).not.toHaveProperty('description')
      expect(await store.webhooks.change(disabled, { ...hook, updatedAt: 10 })).toMatchObject({
        enabled: true,
        updatedAt: 10,
      })
      expect(await other.webhooks.find(projectId, id)).not.toHaveProperty('disabledReason')
    })

    test('get a new secret only in place of the one that was read', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId, hook } = await inWebhookProject(store)
      const { id, secret: from } = hook
      const rotation = (to: string, before = from) => {
        const secrets = { secret: sealed(to), previousSecret: sealed(`former of ${to}`), previousUntil: 9 }
        return { id, projectId, from: before, ...secrets, updatedAt: 8 }
      }
      expect(await store.webhooks.rotate(rotation('1'))).toBe(true)
      expect(await other.webhooks.rotate(rotation('2'))).toBe(false)
      expect(await other.webhooks.find(projectId, id)).toMatchObject({ secret: sealed('1'), updatedAt: 8 })
      expect(await other.webhooks.rotate(rotation('2', sealed('1')))).toBe(true)
      expect(await store.webhooks.find(projectId, id)).toMatchObject({ secret: sealed('2') })
    })
  })

  describe('events', () => {
    test('of a user whose data is deleted are deleted; those that wait are delivered without the user', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId, owner, hook } = await inWebhookProject(store)
      const add = (one: ReturnType<typeof connection>) =>
        store.connections.addImported(one, { replaces: false, makeDefault: false })
      const first = connection(owner)
      const second = connection(owner, { account: { id: 'u-2', name: 'Ada at work' } })
      const foreign = connection({ ...owner, userId: 'bob' })
      await add(first)
      await deliverAll(store, hook)
      for (const one of [second, foreign]) await add(one)
      await store.connections.delete(first.id, undefined, { by: 'user', revocation: 'unsupported' })
      await store.events.forgetUser(projectId, owner.userId, now())
      await store.events.forgetUser(projectId, 'unknown', now())
      const delivered = (await deliverAll(other, hook)).map(({ type, data }) => [type, data.id, data.user_id])
      expect(delivered.toSorted()).toEqual(
        [
          ['connection.created', second.id, undefined],
          ['connection.created', foreign.id, 'bob'],
          ['connection.deleted', first.id, undefined],
        ].toSorted(),
      )
      // the delivered event is deleted, and those without the user can be sent again
      const replayed = await store.events.replay(hook, { since: 0, until: now(), onlyFailed: false }, now(), {
        limit: 100,
      })
      expect(replayed.replayed).toBe(3)
      expect((await store.deliveries.list(hook.id, {}, FIRST_PAGE)).items).toHaveLength(3)
    })

    test('are written in the transaction of their change, and not in a project without a webhook', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId, owner, hook } = await inWebhookProject(store)
      const quiet = await inProject(store, 'quiet')
      await store.connections.addImported(connection(quiet.owner), { replaces: false, makeDefault: false })
      expect(await other.deliveries.dueWebhooks(now())).toEqual([])

      const exchanging = await claimed(store, owner)
      const made = connection(owner)
      await store.authorizations.finishStep(exchanging, made, { makeDefault: true }, 5)
      await store.connections.settleRefresh(made.id, 1, refreshed({ scopes: ['read', 'write'] }), undefined, [
        'read',
      ])
      await store.connections.settleRefresh(made.id, 2, refreshed({ scopes: ['write', 'read'] }), undefined, [
        'read',
        'write',
      ])
      await store.connections.needsAuthorization(made.id, 3, 'consent_withdrawn')
      const gone = defined(
        await store.connections.delete(made.id, undefined, { by: 'user', revocation: 'pending' }),
      )
      await store.connections.revoked(gone, 'user', 'revoked')
      const failing = await claimed(store, owner, { state: 's2' })
      await store.authorizations.fail(failing.id, 'access_denied', 'No.', 5)
      const run = execution({
        projectId,
        status: 'failed',
        outcome: 'error',
        errorKind: 'TOOL_RUNTIME_FATAL',
      })
      await store.executions.add([{ ...run, retryable: true }, execution({ projectId })])

      expect(await other.deliveries.dueWebhooks(now())).toEqual([hook])
      const sent = await deliverAll(other, hook)
      const ofConnection = sent.filter(({ data }) => data.id === made.id)
      const common = { id: made.id, user_id: 'ada', provider_id: 'demo' }
      expect(ofConnection.map(({ type, data }) => ({ type, data }))).toEqual([
        { type: 'connection.created', data: { ...common, sequence: 1, scopes: ['read'] } },
        {
          type: 'connection.refreshed_scopes',
          data: { ...common, sequence: 2, scopes: ['read', 'write'], added: ['write'], removed: [] },
        },
        {
          type: 'connection.needs_authorization',
          data: { ...common, sequence: 3, status: 'needs_authorization', reason: 'consent_withdrawn' },
        },
        {
          type: 'connection.revoked',
          data: { ...common, sequence: 4, by: 'provider', revocation: 'revoked' },
        },
        { type: 'connection.deleted', data: { ...common, sequence: 5, by: 'user', revocation: 'pending' } },
        { type: 'connection.revoked', data: { ...common, sequence: 6, by: 'user', revocation: 'revoked' } },
      ])
      expect(sent.filter(({ data }) => data.id !== made.id).map(({ type, data }) => [type, data])).toEqual(
        expect.arrayContaining([
          [
            'authorization.completed',
            {
              id: exchanging.id,
              sequence: 1,
              user_id: 'ada',
              status: 'completed',
              connection_ids: [made.id],
            },
          ],
          [
            'authorization.failed',
            {
              id: failing.id,
              sequence: 1,
              user_id: 'ada',
              status: 'failed',
              connection_ids: [],
              reason: 'access_denied',
            },
          ],
          [
            'tool.run.failed',
            {
              id: run.id,
              sequence: 1,
              user_id: run.userId,
              tool_id: run.toolId,
              error_kind: 'TOOL_RUNTIME_FATAL',
              retryable: true,
            },
          ],
        ]),
      )
      expect(sent).toHaveLength(9)
    })

    test('are not written by a change that changes nothing', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner, hook } = await inWebhookProject(store)
      const made = connection(owner)
      await store.connections.addImported(made, { replaces: false, makeDefault: false })
      await store.connections.addImported(connection(owner), { replaces: false, makeDefault: false })
      await store.connections.needsAuthorization(made.id, 7, 'token_expired')
      await store.connections.delete('conn_unknown')
      expect((await deliverAll(store, hook)).map(({ type }) => type)).toEqual(['connection.created'])
    })

    test('go to the webhooks that take their type and are enabled', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId, owner, hook } = await inWebhookProject(store, { types: ['connection.deleted'] })
      const off = webhook({ projectId, enabled: false })
      await store.webhooks.add(off, 10)
      const made = connection(owner)
      await store.connections.addImported(made, { replaces: false, makeDefault: false })
      await store.connections.delete(made.id)
      expect((await deliverAll(store, hook)).map(({ type }) => type)).toEqual(['connection.deleted'])
      expect((await store.deliveries.list(off.id, {}, FIRST_PAGE)).items).toEqual([])
    })

    test('are written for each connection that is deleted with its provider', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId, owner, hook } = await inWebhookProject(store, { types: ['connection.deleted'] })
      for (const userId of ['ada', 'bob'])
        await store.connections.addImported(connection({ ...owner, userId }), {
          replaces: false,
          makeDefault: false,
        })
      await store.providers.delete(projectId, 'demo')
      expect((await deliverAll(store, hook)).map(({ data }) => data.user_id).toSorted()).toEqual([
        'ada',
        'bob',
      ])
    })

    test('are written once for an authorization that has expired, by the first process that finds it', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { owner, hook } = await inWebhookProject(store)
      const quiet = await inProject(store, 'quiet')
      await store.authorizations.begin(pending(quiet.owner), 'quiet', 0)
      const { id } = await store.authorizations.begin(pending(owner), 'share', 0)
      const held = await claimed(store, owner, { state: 's2', deadline: 700 })
      expect(await store.events.expireAuthorizations(599, 10)).toEqual([])
      const both = await Promise.all([store, other].map((one) => one.events.expireAuthorizations(600, 10)))
      expect(both.flat()).toEqual([id])
      expect(await store.events.expireAuthorizations(700, 10)).toEqual([held.id])
      expect((await deliverAll(store, hook)).map(({ type, data }) => [type, data.id, data.reason])).toEqual([
        ['authorization.expired', id, 'expired'],
        ['authorization.expired', held.id, 'expired'],
      ])
      expect(await store.authorizations.find(id)).toMatchObject({ status: 'failed', completedAt: 600 })
    })

    test('are swept with their deliveries', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner, hook } = await inWebhookProject(store)
      await store.connections.addImported(connection(owner), { replaces: false, makeDefault: false })
      expect(await store.events.sweep(now() - 100, now())).toBe(0)
      expect(await store.events.sweep(now() + 100, now())).toBe(1)
      expect((await store.deliveries.list(hook.id, {}, FIRST_PAGE)).items).toEqual([])
      expect(await claim(store, hook)).toEqual([])
    })
  })

  describe('deliveries', () => {
    /** A connection with these many events, the first of them `connection.created`. */
    async function withEvents(store: Store, of: Parameters<typeof connection>[0], count: number) {
      const made = connection(of)
      await store.connections.addImported(made, { replaces: false, makeDefault: false })
      for (let i = 1; i < count; i++)
        await store.connections.settleRefresh(
          made.id,
          i,
          refreshed({ scopes: [`scope ${i}`] }),
          undefined,
          [],
        )
      return made
    }

    test('are claimed once, in the order of their key, and the next one when the first has ended', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { owner, hook } = await inWebhookProject(store)
      await withEvents(store, owner, 3)
      await withEvents(store, { ...owner, userId: 'bob' }, 2)
      const first = (await Promise.all([store, other].map((one) => claim(one, hook)))).flat()
      expect(first.map(({ type }) => type)).toEqual(['connection.created', 'connection.created'])
      expect(await claim(other, hook)).toEqual([])
      const [one] = first
      await deliver(store, defined(one))
      const [next, ...none] = await claim(other, hook)
      expect(none).toEqual([])
      expect(next).toMatchObject({ key: one?.key, type: 'connection.refreshed_scopes', attempt: 1 })
    })

    test('are claimed when the delivery that they waited for was swept', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner, hook } = await inWebhookProject(store)
      const made = await withEvents(store, owner, 1)
      const [first] = (await store.deliveries.list(hook.id, {}, FIRST_PAGE)).items
      await opened.sql('update events set at = at - 10; update deliveries set created_at = created_at - 10')
      for (const generation of [1, 2])
        await store.connections.settleRefresh(
          made.id,
          generation,
          refreshed({ scopes: [`scope ${generation}`] }),
          undefined,
          [],
        )
      expect(await store.events.sweep(defined(first).createdAt, now())).toBe(1)
      const bodies = await deliverAll(store, hook)
      expect(bodies.map(({ data }) => data.sequence)).toEqual([2, 3])
    })

    test('wait for their retry, and hold back only their own key', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner, hook } = await inWebhookProject(store)
      const slow = await withEvents(store, owner, 2)
      await withEvents(store, { ...owner, userId: 'bob' }, 1)
      const both = await claim(store, hook)
      for (const one of both)
        if (one.key === slow.id)
          await store.deliveries.settle(one, { state: 'waiting', status: 500, retryIn: 60 }, FAILS, now())
        else await deliver(store, one)
      expect(await claim(store, hook)).toEqual([])
      const { items } = await store.deliveries.list(hook.id, { state: 'waiting' }, FIRST_PAGE)
      expect(items.map(({ keySeq, attempt, lastStatus }) => [keySeq, attempt, lastStatus])).toEqual([
        [2, 0, undefined],
        [1, 1, 500],
      ])
      // the first delivery is given up, so the next one of its key is due
      const disabled = { ...hook, enabled: false }
      await store.webhooks.change(hook, disabled)
      await store.webhooks.change(disabled, { ...hook, updatedAt: now() })
      const [again] = await claim(store, hook)
      expect(again).toMatchObject({ key: slow.id, attempt: 2, type: 'connection.created' })
      await store.deliveries.settle(defined(again), { state: 'failed', status: 500 }, FAILS, now())
      expect((await claim(store, hook)).map(({ type }) => type)).toEqual(['connection.refreshed_scopes'])
    })

    test('whose lease has run out go to another process, and the first one can no longer settle them', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { owner, hook } = await inWebhookProject(store)
      await withEvents(store, owner, 2)
      const [late] = await claim(store, hook, { owner: 'a', seconds: 0 })
      const [taken] = await claim(other, hook, { owner: 'b' })
      expect(taken).toMatchObject({ eventId: late?.eventId, attempt: 2 })
      expect(await deliver(store, defined(late))).toEqual({ isSettled: false })
      expect(await claim(store, hook)).toEqual([])
      expect(await deliver(other, defined(taken))).toEqual({ isSettled: true })
    })

    test('that one process has claimed twice are settled by its last attempt alone', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner, hook } = await inWebhookProject(store)
      await withEvents(store, owner, 1)
      const [late] = await claim(store, hook, { owner: 'a', seconds: 0 })
      const [again] = await claim(store, hook, { owner: 'a' })
      expect(again).toMatchObject({ eventId: late?.eventId, attempt: 2 })
      expect(await deliver(store, defined(late))).toEqual({ isSettled: false })
      expect(await deliver(store, defined(again))).toEqual({ isSettled: true })
    })

    test('of events that are written while others end are all delivered, in their order', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { owner, hook } = await inWebhookProject(store)
      const made = await withEvents(store, owner, 1)
      const count = 20
      const writing = (async () => {
        for (let i = 1; i < count; i++)
          await store.connections.settleRefresh(made.id, i, refreshed({ scopes: [`s ${i}`] }), undefined, [])
      })()
      const sequences: unknown[] = []
      const until = performance.now() + 120_000
      while (sequences.length < count && performance.now() < until)
        for (const one of await claim(other, hook)) {
          sequences.push(JSON.parse(one.body).data.sequence)
          await deliver(other, one)
        }
      await writing
      expect(sequences).toEqual(Array.from({ length: count }, (_, i) => i + 1))
    })

    test('count the failures of their webhook, which is probed, disabled and healthy again', async () => {
      await using opened = await open()
      const { store, other } = opened
      const { projectId, owner, hook } = await inWebhookProject(store)
      await withEvents(store, owner, 1)
      await withEvents(store, { ...owner, userId: 'bob' }, 1)
      const [one, two] = await claim(store, hook)
      const end = { state: 'waiting', error: 'timeout', retryIn: 0 } as const
      const probing: WebhookHealth = { health: 'fails', probeIn: () => 60 }
      // due in a minute, unless an answered probe of the webhook makes it due at once
      expect(
        await store.deliveries.settle(defined(one), { ...end, retryIn: 60 }, probing, now()),
      ).toMatchObject({
        isSettled: true,
        failingFor: expect.any(Number),
      })
      const probed = defined(await other.webhooks.find(projectId, hook.id))
      expect(probed).toMatchObject({ failures: 1, enabled: true })
      expect(defined(probed.probeAt) - now()).toBeGreaterThan(50)
      expect(await other.deliveries.dueWebhooks(now())).toEqual([])
      expect(await claim(store, probed, { probe: 60 })).toEqual([])
      await deliver(store, defined(two))
      expect(await other.webhooks.find(projectId, hook.id)).toEqual(hook)
      const [again] = await claim(store, hook)
      await store.deliveries.settle(defined(again), end, FAILS, now())
      const reason = { ...hook, reason: 'failing' } as const
      const disabled = [store, other].map((one) => one.webhooks.disable(reason, 5))
      expect((await Promise.all(disabled)).toSorted()).toEqual([false, true])
      expect(await other.webhooks.find(projectId, hook.id)).toMatchObject({
        enabled: false,
        disabledReason: 'failing',
        failures: 1,
      })
      expect(await other.deliveries.waiting()).toMatchObject([
        { id: hook.id, enabled: false, oldest: expect.any(Number) },
      ])
    })

    test('of events that are replayed while their user is erased hold back no later event', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId, owner, hook } = await inWebhookProject(store)
      const made = await withEvents(store, owner, 2)
      await deliverAll(store, hook)
      const all = { since: 0, until: now() + 10, onlyFailed: false }
      await Promise.all([
        store.events.replay(hook, all, now(), { limit: 10 }),
        store.events.forgetUser(projectId, owner.userId, now()),
      ])
      await store.connections.settleRefresh(made.id, 2, refreshed({ scopes: ['later'] }), undefined, [])
      expect((await deliverAll(store, hook)).at(-1)?.data).toMatchObject({ sequence: 3, scopes: ['later'] })
    })

    test('are replayed before later ones of their key that wait already', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner, hook } = await inWebhookProject(store)
      await withEvents(store, owner, 3)
      await deliverAll(store, hook)
      const all = { since: 0, until: now() + 10, onlyFailed: false }
      const { next } = await store.events.replay(hook, all, now(), { limit: 2 })
      await deliverAll(store, hook)
      expect(await store.events.replay(hook, all, now(), { limit: 1, after: next })).toMatchObject({
        replayed: 1,
      })
      expect(await store.events.replay(hook, all, now(), { limit: 1 })).toMatchObject({ replayed: 1 })
      const { items } = await store.deliveries.list(hook.id, { state: 'waiting' }, FIRST_PAGE)
      // the newest is listed first: it was due, and waits for the earlier one now
      expect(items.map(({ dueAt }) => dueAt !== undefined)).toEqual([false, true])
    })

    test('are replayed with the same id, in their order', async () => {
      await using opened = await open()
      const { store } = opened
      const { owner, hook } = await inWebhookProject(store)
      await withEvents(store, owner, 3)
      const delivered = await deliverAll(store, hook)
      const before = (await store.deliveries.list(hook.id, {}, FIRST_PAGE)).items.map(
        ({ eventId }) => eventId,
      )
      const all = { since: 0, until: now() + 10, onlyFailed: false }
      expect(await store.events.replay(hook, { ...all, onlyFailed: true }, now(), { limit: 10 })).toEqual({
        replayed: 0,
      })
      const part = await store.events.replay(hook, all, now(), { limit: 2 })
      expect(part).toMatchObject({ replayed: 2, next: expect.anything() })
      const { items: waiting } = await store.deliveries.list(hook.id, { state: 'waiting' }, FIRST_PAGE)
      // the newest is listed first, and waits for the one before it
      expect(waiting.map(({ dueAt }) => dueAt !== undefined)).toEqual([false, true])
      const rest = await store.events.replay(hook, all, now(), { limit: 2, after: part.next })
      expect(rest).toEqual({ replayed: 1 })
      expect(await deliverAll(store, hook)).toEqual(delivered)
      const { items } = await store.deliveries.list(hook.id, {}, FIRST_PAGE)
      expect(items.map(({ eventId }) => eventId)).toEqual(before)
      const types: readonly EventType[] = ['connection.created']
      expect(await store.events.replay(hook, { ...all, types }, now(), { limit: 10 })).toEqual({
        replayed: 1,
      })
    })

    test('are listed of one webhook by state, page by page in both directions', async () => {
      await using opened = await open()
      const { store } = opened
      const { projectId } = await inProject(store)
      const hook = webhook({ projectId })
      await store.webhooks.add(hook, 10)
      await store.webhooks.add(webhook({ projectId }), 10)
      const runs = [1, 2, 3, 4, 5].map(() => execution({ projectId, status: 'failed', outcome: 'error' }))
      await store.executions.add(runs)
      const now = Math.floor(Date.now() / 1000) + 1
      const claim = { owner: 'node', seconds: 30 }
      const claimed = await store.deliveries.claim(hook, claim, now, { limit: 2 })
      for (const one of claimed) {
        const end = { state: one === claimed[0] ? 'failed' : 'delivered' } as const
        await store.deliveries.settle(one, end, { health: 'answers' }, now)
      }
      const walked = (state?: 'waiting' | 'failed') =>
        walk(
          (place, limit) => store.deliveries.browse(hook.id, { state }, place, limit),
          ({ key }) => key,
        )
      const keys = runs.map(({ id }) => id).toReversed()
      const settled = claimed.map(({ key }) => key)
      expect(await walked()).toEqual(keys)
      expect(await walked('failed')).toEqual([defined(settled[0])])
      expect(await walked('waiting')).toEqual(keys.filter((key) => !settled.includes(key)))
    })
  })
}
