import type { Database } from '../../store/database.ts'
import { IN_PROJECT, type ProtectedTables, sealingBy } from '../../store/protection.ts'
import { valuesOf } from '../../store/signed-rows.ts'
import type { StorePart } from '../../store/store-part.ts'
import type { Webhook } from './domain.ts'
import { describeWebhookTables } from './schema.ts'
import { createDeliveries } from './store-deliveries.ts'
import { createEvents } from './store-events.ts'
import { outbox } from './store-outbox.ts'
import { createWebhooks } from './store-webhooks.ts'

declare module '../../store/part-types.ts' {
  interface PartTables extends ReturnType<typeof describeWebhookTables> {}
  interface PartNouns extends Readonly<ReturnType<typeof createNouns>> {}
  interface PartChanges {
    /** An event waits for its delivery. */
    readonly delivery: { readonly noun: 'delivery' }
  }
}

const PROTECTED = {
  webhooks: {
    ...IN_PROJECT,
    sealed: ['secret', 'previous_secret'],
    signed: {
      mac: {
        kind: 'webhooks',
        // without `enabled`: a delivery that fails may disable the webhook without knowing its other members
        members: valuesOf<Webhook>('id', 'projectId', 'url', 'types'),
      },
    },
  },
} as const satisfies ProtectedTables

/** What the envelopes of a webhook's secrets are bound to. */
export const webhookContext = sealingBy(PROTECTED)

export const webhookStore: StorePart = {
  tables: describeWebhookTables,
  nouns: createNouns,
  protects: PROTECTED,
  signed({ webhooks, deliveries }, signing) {
    const { sign, check, checkAll } = signing(PROTECTED.webhooks.signed)
    return {
      webhooks: {
        ...webhooks,
        add: (row, ...rest) => webhooks.add(sign(row), ...rest),
        change: async (from, to, ...rest) => check(await webhooks.change(from, sign(to), ...rest)),
        find: async (...args) => check(await webhooks.find(...args)),
        list: async (...args) => checkAll(await webhooks.list(...args)),
      },
      deliveries: {
        ...deliveries,
        dueWebhooks: async (now) => checkAll(await deliveries.dueWebhooks(now)),
      },
    }
  },
  readSigned: ({ webhooks }, projectId) => webhooks.list(projectId),
  hook: outbox,
  erase: ({ events }, { projectId, userId }, now) => events.forgetUser(projectId, userId, now),
  loss: ({ events }, now) => events.numberAbove(now),
}

function createNouns(database: Database) {
  return {
    webhooks: createWebhooks(database),
    events: createEvents(database),
    deliveries: createDeliveries(database),
  }
}
