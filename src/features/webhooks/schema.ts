import { sql } from 'drizzle-orm'
import type { Sealed } from '../../domain/sealed.ts'
import type { CoreTables } from '../../store/schema.ts'
import type { SchemaKit } from '../../store/schema-kit.ts'
import type { DeliveryState, DisabledReason, EventType } from './domain.ts'

/** The receivers of events, the events, and their deliveries. */
export function describeWebhookTables(kit: SchemaKit, { projects }: Pick<CoreTables, 'projects'>) {
  const { table, text, integer, whole, flag, json, index, primaryKey } = kit
  const ofProject = () =>
    text('project_id')
      .notNull()
      .references(() => projects.id)
  const sealed = (name: string) => text(name).$type<Sealed>()

  const webhooks = table(
    'webhooks',
    {
      id: text('id').primaryKey(),
      projectId: ofProject(),
      url: text('url').notNull(),
      description: text('description'),
      types: json<readonly EventType[]>('types'),
      enabled: flag('enabled').notNull(),
      disabledReason: text('disabled_reason').$type<DisabledReason>(),
      disabledAt: whole('disabled_at'),
      secret: sealed('secret').notNull(),
      previousSecret: sealed('previous_secret'),
      previousUntil: whole('previous_until'),
      failures: integer('failures').notNull(),
      failingSince: whole('failing_since'),
      probeAt: whole('probe_at'),
      createdAt: whole('created_at').notNull(),
      updatedAt: whole('updated_at').notNull(),
      mac: text('mac'),
    },
    (t) => [index('webhooks_of_project').on(t.projectId, t.id)],
  )

  /** The events of projects that have a webhook, written in the transaction of the change that they report. */
  const events = table(
    'events',
    {
      id: text('id').primaryKey(),
      projectId: ofProject(),
      type: text('type').$type<EventType>().notNull(),
      /** The id of the connection, authorization, run or worker. */
      key: text('key').notNull(),
      /** The number of the event among those of its key, in the order of their commits. */
      keySeq: whole('key_seq').notNull(),
      /** The JSON that is sent. */
      body: text('body').notNull(),
      at: whole('at').notNull(),
      /** The user that the body names, until the user's data are erased. */
      userId: text('user_id'),
      /** `traceparent` of the request that wrote the event, if its trace is recorded. Delivery traces link to it. */
      traceparent: text('traceparent'),
    },
    (t) => [
      index('events_of_project').on(t.projectId, t.at, t.id),
      index('events_age').on(t.at),
      index('events_of_user').on(t.projectId, t.userId, t.id),
    ],
  )

  const deliveries = table(
    'deliveries',
    {
      webhookId: text('webhook_id').notNull(),
      eventId: text('event_id').notNull(),
      key: text('key').notNull(),
      keySeq: whole('key_seq').notNull(),
      state: text('state').$type<DeliveryState>().notNull(),
      /** Attempts that were begun. */
      attempt: integer('attempt').notNull(),
      /**
       * When the next attempt is due, by the clock of leases; during an attempt, when its lease ends. NULL: an earlier
       * delivery of its key has not ended.
       */
      dueAt: whole('due_at'),
      leaseOwner: text('lease_owner'),
      lastStatus: integer('last_status'),
      lastError: text('last_error'),
      createdAt: whole('created_at').notNull(),
      endedAt: whole('ended_at'),
    },
    (t) => [
      primaryKey({ columns: [t.webhookId, t.eventId] }),
      index('deliveries_due').on(t.webhookId, t.dueAt).where(sql`state = 'waiting'`),
      index('deliveries_of_key').on(t.webhookId, t.key, t.keySeq).where(sql`state = 'waiting'`),
      // without `delivered`: these are nearly all deliveries, and are found by the primary key
      index('deliveries_state').on(t.webhookId, t.state, t.eventId).where(sql`state <> 'delivered'`),
      index('deliveries_age').on(t.createdAt),
    ],
  )

  return { webhooks, events, deliveries }
}
