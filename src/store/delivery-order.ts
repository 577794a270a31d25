import { and, asc, eq } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Database } from './database.ts'
import type { Announce } from './event-writes.ts'
import type { Steps } from './statement.ts'

interface OfKey {
  readonly webhookId: string
  readonly key: string
}

/** What keeps the deliveries of one key in their order: only the first that waits is due. */
export function deliveryOrder({ tables: { deliveries }, query, statement, dialect }: Database) {
  const firstOfKey = statement((p: OfKey) =>
    dialect.lock(
      query
        .select({ eventId: deliveries.eventId, dueAt: deliveries.dueAt })
        .from(deliveries)
        .where(
          and(
            eq(deliveries.webhookId, p.webhookId),
            eq(deliveries.key, p.key),
            eq(deliveries.state, 'waiting'),
          ),
        )
        .orderBy(asc(deliveries.keySeq))
        .limit(1),
      'for update',
    ),
  )
  const makeDue = statement((p: { webhookId: string; eventId: string; now: EpochSeconds }) =>
    query
      .update(deliveries)
      .set({ dueAt: dialect.leaseNow(p.now) })
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
