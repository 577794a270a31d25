import { and, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../../domain/clock.ts'
import { type Browsed, createBrowse, type ListPosition } from '../../store/browse.ts'
import type { Database } from '../../store/database.ts'
import { createPages, type Page, type PageRequest } from '../../store/page.ts'
import { variantsOf } from '../../store/statement.ts'
import type { Delivery, DeliveryState, EventType, Webhook } from './domain.ts'

/** A delivery in a list, with the type of its event. */
export type ListedDelivery = Delivery & { readonly type: EventType }

/** A webhook, and since when its oldest delivery waits. */
export type WaitingWebhook = Pick<Webhook, 'id' | 'projectId' | 'enabled' | 'failures'> & {
  readonly oldest?: EpochSeconds
}

/** The part of `Deliveries` that lists them. */
export interface DeliveryLists {
  /** Newest first. */
  list(
    webhookId: string,
    filter: { readonly state?: DeliveryState | undefined },
    page: PageRequest,
  ): Promise<Page<ListedDelivery>>
  /** A page of `list` before or after a key, without a count. Only for states that have an index. */
  browse(
    webhookId: string,
    filter: { readonly state?: Exclude<DeliveryState, 'delivered'> | undefined },
    position: ListPosition,
    limit: number,
  ): Promise<Browsed<ListedDelivery>>
  /** All webhooks of the installation, with the time of their oldest waiting delivery. */
  waiting(): Promise<readonly WaitingWebhook[]>
}

export function createDeliveryLists(database: Database): DeliveryLists {
  const { tables, query, statement, read } = database
  const { webhooks, deliveries, events } = tables
  const isWaiting = eq(deliveries.state, 'waiting')

  interface OfState {
    readonly webhookId: string
    readonly state: DeliveryState
  }
  const matching = (p: OfState, state: DeliveryState | 'any') =>
    and(
      eq(deliveries.webhookId, p.webhookId),
      state === 'any' ? undefined : eq(deliveries.state, p.state),
      // implied by the state, but SQLite uses the partial index only if the text has its condition
      state === 'waiting' || state === 'failed' ? sql`${deliveries.state} <> 'delivered'` : undefined,
    )
  const selectListed = (where: SQL | undefined, order: SQL) =>
    query
      .select({ ...getTableColumns(deliveries), type: events.type })
      .from(deliveries)
      .innerJoin(events, eq(events.id, deliveries.eventId))
      .where(where)
      .orderBy(order)
  const listOf = (state: DeliveryState | 'any') => ({
    key: deliveries.eventId,
    matching: (p: OfState) => matching(p, state),
    select: selectListed,
    keyOf: ({ eventId }: ListedDelivery) => eventId,
  })
  const listed = variantsOf((state: DeliveryState | 'any') =>
    createPages(database, { ...listOf(state), table: deliveries, order: 'descending' }),
  )
  const browsed = variantsOf((state: DeliveryState | 'any') => createBrowse(database, listOf(state)))
  const oldest = statement((_: object) => {
    const first = query
      .select({ createdAt: deliveries.createdAt })
      .from(deliveries)
      .where(and(eq(deliveries.webhookId, webhooks.id), isWaiting, sql`${deliveries.state} <> 'delivered'`))
      .orderBy(deliveries.eventId)
      .limit(1)
    return query
      .select({
        id: webhooks.id,
        projectId: webhooks.projectId,
        enabled: webhooks.enabled,
        failures: webhooks.failures,
        oldest: sql`(${first})`.mapWith(Number),
      })
      .from(webhooks)
  })

  return {
    async list(webhookId, { state }, page) {
      return listed(state ?? 'any')({ webhookId, state: state ?? 'waiting' }, page)
    },
    async browse(webhookId, { state }, position, limit) {
      return browsed(state ?? 'any')({ webhookId, state: state ?? 'waiting' }, position, limit)
    },
    async waiting() {
      return (await read(oldest({}))).map(({ oldest: since, ...row }) => ({
        ...row,
        ...(since !== undefined && since > 0 && { oldest: since }),
      }))
    },
  }
}
