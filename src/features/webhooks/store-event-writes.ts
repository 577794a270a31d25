import { desc, eq, type SQLWrapper, sql } from 'drizzle-orm'
import { newId } from '../../domain/ids.ts'
import type { Announce } from '../../store/changes.ts'
import type { Database } from '../../store/database.ts'
import { greaterOf, hasId } from '../../store/row-conditions.ts'
import { type ById, type OfProject, placeholdersOf, type Steps } from '../../store/statement.ts'
import type { EventType } from './domain.ts'
import { isWaitingOfKey, type OfKey } from './store-delivery-order.ts'

/** The fact whose value (epoch seconds) is below the numbers of all new events, if the database has ever lost commits. */
export const EVENTS_FACT = 'events_after'

/** The webhooks of a project at the time of an event, at least one. */
export type Receivers = readonly [Receiver, ...Receiver[]]

interface Receiver {
  readonly id: string
  readonly enabled: boolean
  readonly types?: readonly EventType[]
  /** Milliseconds, by the clock of the database. */
  readonly at: number
}

/** An event to write. It holds ids, states and codes, and never a token, a link, or a tool's input or output. */
export interface NewEvent {
  readonly projectId: string
  readonly type: EventType
  /** The id of the row that the event is about. Events of one key are delivered in their order. */
  readonly key: string
  /** The number of the event among those of the key, from 1. */
  readonly sequence: number
  readonly data: {
    readonly id: string
    readonly user_id?: string | undefined
    readonly [member: string]: unknown
  }
}

/** The nouns with several events per row. All others settle once, and their only event has the number 1. */
export type CountedNoun = 'connection' | 'worker'

export interface EventWrites {
  /** `undefined`: the project has no webhook, so no event is to be written. */
  findReceivers(announce: Announce, projectId: string): Steps<Receivers | undefined>
  /** The number of the next event of a connection or worker, whose row stays locked until the transaction ends. */
  nextSequence(noun: CountedNoun, id: string): Steps<number>
  /** The number above which those of new events begin. */
  numbersAfter(): Steps<number>
  /** Writes the event, and a delivery for each enabled webhook that takes its type. */
  add(announce: Announce, receivers: Receivers, event: NewEvent): Steps<void>
}

export function eventWrites(database: Database): EventWrites {
  const { tables, query, statement, dialect } = database
  const { webhooks, events, deliveries, connections, workers, facts } = tables

  /** Numbers that were given out by commits that the database has lost are not given out again. */
  const after = sql`coalesce((select cast(value as bigint) from facts where name = ${sql.raw(`'${EVENTS_FACT}'`)}), 0)`
  const nextOf = (last: SQLWrapper, above: SQLWrapper = after) =>
    sql`${greaterOf(sql`coalesce(${last}, 0)`, above)} + 1`
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
    // Citus takes no subselect here, so the value was read before
    connection: statement((p: ById & { after: number }) =>
      query
        .update(connections)
        .set({
          eventSeq: database.isDistributed
            ? nextOf(connections.eventSeq, sql`cast(${p.after} as bigint)`)
            : nextOf(connections.eventSeq),
        })
        .where(hasId(connections, p))
        .returning({ sequence: connections.eventSeq }),
    ),
    worker: statement((p: ById & { after: number }) =>
      query
        .update(workers)
        .set({ eventSeq: nextOf(workers.eventSeq) })
        .where(eq(workers.uid, p.id))
        .returning({ sequence: workers.eventSeq }),
    ),
  }
  const begins = statement((_: object) =>
    query.select({ value: facts.value }).from(facts).where(eq(facts.name, EVENTS_FACT)),
  )
  const insertEvent = statement((_: typeof events.$inferInsert) =>
    query.insert(events).values(placeholdersOf(events)).returning({ id: events.id }),
  )
  const insertDelivery = statement((_: typeof deliveries.$inferInsert) =>
    query.insert(deliveries).values(placeholdersOf(deliveries)).returning({ id: deliveries.eventId }),
  )
  // locked, so that a delivery of the key that ends at the same time ends before this event is written, or after
  const lastWaiting = statement((p: OfKey) =>
    dialect.lock(
      query
        .select({ id: deliveries.eventId })
        .from(deliveries)
        .where(isWaitingOfKey(tables, p))
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

  /** By the `announce` of their transaction: a consent writes two events, and reads the webhooks once. */
  const known = new WeakMap<
    Announce,
    { readonly projectId: string; readonly receivers: Receivers | undefined }
  >()

  function* findReceivers(announce: Announce, projectId: string): Steps<Receivers | undefined> {
    const read = known.get(announce)
    if (read?.projectId === projectId) return read.receivers
    const [first, ...others] = yield* ofProject({ projectId })
    const receivers = first && ([first, ...others] as const)
    known.set(announce, { projectId, receivers })
    return receivers
  }

  function* numbersAfter(): Steps<number> {
    return Number((yield* begins({}))[0]?.value ?? 0)
  }

  return {
    findReceivers,
    *nextSequence(noun, id) {
      const after = database.isDistributed ? yield* numbersAfter() : 0
      return (yield* count[noun]({ id, after }))[0]?.sequence ?? 1
    },
    numbersAfter,
    add,
  }
}
