import { and, asc, eq, type SQL } from 'drizzle-orm'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { Announce } from '../../store/changes.ts'
import type { Database } from '../../store/database.ts'
import type { Tables } from '../../store/schema.ts'
import type { Steps } from '../../store/statement.ts'

/** The deliveries of one key to one webhook. They are made one after the other. */
export interface OfKey {
  readonly webhookId: string
  readonly key: string
}

/** The deliveries of a key that have not ended. */
export function isWaitingOfKey({ deliveries }: Pick<Tables, 'deliveries'>, p: OfKey): SQL | undefined {
  return and(
    eq(deliveries.webhookId, p.webhookId),
    eq(deliveries.key, p.key),
    eq(deliveries.state, 'waiting'),
  )
}

/** Keeps the deliveries of one key in their order: only the first that has not ended is due. */
export function deliveryOrder({ tables, query, statement, dialect }: Database) {
  const { deliveries } = tables
  const firstOfKey = statement((p: OfKey) =>
    dialect.lock(
      query
        .select({ eventId: deliveries.eventId, dueAt: deliveries.dueAt })
        .from(deliveries)
        .where(isWaitingOfKey(tables, p))
        .orderBy(asc(deliveries.keySeq))
        .limit(1),
      'for update',
    ),
  )
  const makeDue = statement((p: { webhookId: string; eventId: string; now: EpochSeconds }) =>
    query
      .update(deliveries)
      .set({ dueAt: dialect.sharedNow(p.now) })
      .where(and(eq(deliveries.webhookId, p.webhookId), eq(deliveries.eventId, p.eventId)))
      .returning({ id: deliveries.eventId }),
  )

  return {
    /** Makes the next delivery of the key due, once the one before it has ended or was deleted. */
    *proceed(announce: Announce, { webhookId, key }: OfKey, now: EpochSeconds): Steps<void> {
      const [next] = yield* firstOfKey({ webhookId, key })
      if (next === undefined || next.dueAt !== undefined) return
      yield* makeDue({ webhookId, eventId: next.eventId, now })
      announce({ noun: 'delivery' })
    },
  }
}
