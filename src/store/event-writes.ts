import { and, desc, eq, sql } from 'drizzle-orm'
import { newId } from '../domain/ids.ts'
import type { EventType } from '../domain/webhook.ts'
import type { StoreChange } from './changes.ts'
import { hasId } from './connection-row.ts'
import type { Database } from './database.ts'
import { type ById, type OfProject, placeholdersOf, type Steps } from './statement.ts'

// The outbox of webhooks: events and their deliveries are written in the transaction of the change that they tell of. A
// project without a webhook costs such a change one look-up by an index, and gets no rows.

/** The webhooks of a project when an event is written, and the milliseconds of the database's clock then. */
export type Receivers = readonly [Receiver, ...Receiver[]]

interface Receiver {
  readonly id: string
  readonly enabled: boolean
  readonly types?: readonly EventType[]
  readonly at: number
}

/** What happened. Its body holds ids, states and codes, and never a token, a link, or what a tool was given or answered. */
export interface NewEvent {
  readonly projectId: string
  readonly type: EventType
  /** What it is about: events of one key are delivered in their order. */
  readonly key: string
  /** Counts the events of the key. */
  readonly sequence: number
  readonly data: {
    readonly id: string
    readonly user_id?: string | undefined
    readonly [member: string]: unknown
  }
}

/** Those that have events more than once; others settle once, and their only event is the first. */
export type CountedNoun = 'connection' | 'worker'

export type Announce = (change: StoreChange) => void

export interface EventWrites {
  /** `undefined`: the project has no webhook, so nothing is to be written. */
  receivers(projectId: string): Steps<Receivers | undefined>
  /** The number of the next event of a connection or worker, whose row stays locked until the transaction ends. */
  nextSequence(noun: CountedNoun, id: string): Steps<number>
  add(announce: Announce, receivers: Receivers, event: NewEvent): Steps<void>
}

export function eventWrites(database: Database): EventWrites {
  const { tables, query, statement, dialect } = database
  const { webhooks, events, deliveries, connections, workers } = tables

  const ofProject = statement((p: OfProject) =>
    query
      .select({
        id: webhooks.id,
        enabled: webhooks.enabled,
        types: webhooks.types,
        at: dialect.nowMs.mapWith(Number),
      })
      .from(webhooks)
      .where(eq(webhooks.projectId, p.projectId)),
  )
  const count = {
    connection: statement((p: ById) =>
      query
        .update(connections)
        .set({ eventSeq: sql`coalesce(${connections.eventSeq}, 0) + 1` })
        .where(hasId(connections, p))
        .returning({ sequence: connections.eventSeq }),
    ),
    worker: statement((p: ById) =>
      query
        .update(workers)
        .set({ eventSeq: sql`coalesce(${workers.eventSeq}, 0) + 1` })
        .where(eq(workers.uid, p.id))
        .returning({ sequence: workers.eventSeq }),
    ),
  }
  const insertEvent = statement((_: typeof events.$inferInsert) =>
    query.insert(events).values(placeholdersOf(events)).returning({ id: events.id }),
  )
  const insertDelivery = statement((_: typeof deliveries.$inferInsert) =>
    query.insert(deliveries).values(placeholdersOf(deliveries)).returning({ id: deliveries.eventId }),
  )
  // locked: of this event and the end of the delivery before it, the one that is second knows of the other
  const lastWaiting = statement((p: { webhookId: string; key: string }) =>
    dialect.lock(
      query
        .select({ id: deliveries.eventId })
        .from(deliveries)
        .where(
          and(
            eq(deliveries.webhookId, p.webhookId),
            eq(deliveries.key, p.key),
            eq(deliveries.state, 'waiting'),
          ),
        )
        .orderBy(desc(deliveries.keySeq))
        .limit(1),
      'for update',
    ),
  )

  function* add(announce: Announce, receivers: Receivers, event: NewEvent): Steps<void> {
    const { projectId, type, key, sequence } = event
    const [{ at: ms }] = receivers
    const { id: subject, ...data } = event.data
    const at = Math.floor(ms / 1000)
    const id = newId('evt')
    const timestamp = new Date(ms).toISOString()
    const body = JSON.stringify({ type, timestamp, data: { id: subject, sequence, ...data } })
    const traceparent = database.traceparent?.()
    const { user_id: userId } = event.data
    yield* insertEvent({ id, projectId, type, key, keySeq: sequence, body, at, userId, traceparent })
    for (const { id: webhookId, enabled, types } of receivers) {
      if (!enabled || types?.includes(type) === false) continue
      const isFirst = sequence === 1 || (yield* lastWaiting({ webhookId, key })).length === 0
      yield* insertDelivery({
        webhookId,
        eventId: id,
        key,
        keySeq: sequence,
        state: 'waiting',
        attempt: 0,
        dueAt: isFirst ? at : null,
        createdAt: at,
      })
    }
    announce({ noun: 'delivery' })
  }

  function* receivers(projectId: string): Steps<Receivers | undefined> {
    const [first, ...others] = yield* ofProject({ projectId })
    return first && [first, ...others]
  }

  return {
    receivers,
    *nextSequence(noun, id) {
      return (yield* count[noun]({ id }))[0]?.sequence ?? 1
    },
    add,
  }
}
