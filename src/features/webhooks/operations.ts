import { z } from '@hono/zod-openapi'
import { fromTimestamp } from '../../domain/clock.ts'
import { invalidMember } from '../../domain/errors.ts'
import { defineOperation } from '../../operations/operation.ts'
import {
  cursorPageSchema,
  cursorQuery,
  requestedPage,
  toCursorPage,
} from '../../operations/schemas/cursor-page.ts'
import { idText } from '../../operations/schemas/fields.ts'
import { pageQuery, pageSchema, slicePage } from '../../operations/schemas/page.ts'
import { DELIVERY_STATES, EVENTS_KEPT_SECONDS } from './domain.ts'
import {
  addWebhook,
  changeWebhook,
  DEFAULT_OVERLAP_SECONDS,
  getWebhook as get,
  deleteWebhook as remove,
  replayEvents,
  rotateWebhookSecret as rotate,
  testWebhook as test,
} from './manage-webhooks.ts'
import type { ReplayPosition } from './store-events.ts'
import {
  deliverySchema,
  deliveryToWire,
  eventTypeSchema,
  newWebhookSchema,
  receiptSchema,
  receiptToWire,
  webhookChangesSchema,
  webhookSchema,
  webhookToWire,
  webhookWithSecretSchema,
} from './wire.ts'

/** The longest time for which two secrets sign. */
const MAX_OVERLAP_SECONDS = 14 * 24 * 3600

const idParams = z.object({ id: idText })
const tag = 'Webhooks'

export const listWebhooks = defineOperation({
  id: 'listWebhooks',
  sdk: 'admin.webhooks.list()',
  method: 'get',
  path: '/v1/webhooks',
  role: 'readonly',
  tag,
  summary: 'All webhooks',
  query: z.object(pageQuery),
  answer: 'A page, the oldest first',
  output: pageSchema(webhookSchema),
  run: async (broker, { query, caller }) =>
    slicePage(
      (await broker.store.webhooks.list(caller.projectId)).map((webhook) =>
        webhookToWire(webhook, broker.now()),
      ),
      query,
    ),
})

export const getWebhook = defineOperation({
  id: 'getWebhook',
  sdk: 'admin.webhooks.get(id)',
  method: 'get',
  path: '/v1/webhooks/{id}',
  role: 'readonly',
  tag,
  summary: 'One webhook',
  params: idParams,
  answer: 'The webhook',
  output: webhookSchema,
  run: async (broker, { params: { id }, caller }) =>
    webhookToWire(await get(broker, caller.projectId, id), broker.now()),
})

export const createWebhook = defineOperation({
  id: 'createWebhook',
  sdk: 'admin.webhooks.create(webhook)',
  repetition: 'unsafe',
  method: 'post',
  path: '/v1/webhooks',
  role: 'admin',
  tag,
  summary: 'Register a receiver of events',
  description:
    'Events from now on are sent to it, signed according to the Standard Webhooks specification. The secret is shown this once.',
  body: newWebhookSchema,
  status: 201,
  answer: 'With its secret',
  output: webhookWithSecretSchema,
  async run(broker, { body, caller }) {
    const { url, description, types, enabled = true } = body
    const { webhook, secret } = await addWebhook(broker, caller.projectId, {
      url,
      enabled,
      ...(description !== undefined && { description }),
      ...(types !== undefined && { types }),
    })
    return { ...webhookToWire(webhook, broker.now()), secret }
  },
})

export const updateWebhook = defineOperation({
  id: 'updateWebhook',
  sdk: 'admin.webhooks.update(id, changes)',
  method: 'patch',
  path: '/v1/webhooks/{id}',
  role: 'admin',
  tag,
  summary: 'Change a webhook',
  params: idParams,
  body: webhookChangesSchema,
  answer: 'Changed',
  output: webhookSchema,
  async run(broker, { params: { id }, body, caller }) {
    const webhook = await get(broker, caller.projectId, id)
    const { url, description, types, enabled } = body
    const changed = await changeWebhook(broker, webhook, {
      ...(url !== undefined && { url }),
      ...(description !== undefined && { description }),
      ...(types !== undefined && { types }),
      ...(enabled !== undefined && { enabled }),
    })
    return webhookToWire(changed, broker.now())
  },
})

export const deleteWebhook = defineOperation({
  id: 'deleteWebhook',
  sdk: 'admin.webhooks.delete(id)',
  method: 'delete',
  path: '/v1/webhooks/{id}',
  role: 'admin',
  tag,
  summary: 'Delete a webhook; events that wait for it are not sent',
  params: idParams,
  answer: 'Deleted',
  async run(broker, { params: { id }, caller }) {
    await remove(broker, caller.projectId, id)
  },
})

export const rotateWebhookSecret = defineOperation({
  id: 'rotateWebhookSecret',
  sdk: 'admin.webhooks.rotate(id)',
  repetition: 'unsafe',
  method: 'post',
  path: '/v1/webhooks/{id}/rotate',
  role: 'admin',
  tag,
  summary: 'Replace the secret of a webhook',
  description: 'Both secrets sign until `overlap_seconds` have passed, a day by default.',
  params: idParams,
  body: z.strictObject({ overlap_seconds: z.int().min(0).max(MAX_OVERLAP_SECONDS).optional() }),
  answer: 'With its new secret',
  output: webhookWithSecretSchema,
  async run(broker, { params: { id }, body, caller }) {
    const { overlap_seconds: overlap = DEFAULT_OVERLAP_SECONDS } = body
    const known = await get(broker, caller.projectId, id)
    const { webhook, secret } = await rotate(broker, known, overlap)
    return { ...webhookToWire(webhook, broker.now()), secret }
  },
})

export const testWebhook = defineOperation({
  id: 'testWebhook',
  sdk: 'admin.webhooks.test(id)',
  repetition: 'unsafe',
  method: 'post',
  path: '/v1/webhooks/{id}/test',
  role: 'admin',
  tag,
  summary: 'Send a test event now',
  description:
    'The event has the type `webhook.test`. It is sent like every delivery, but is not repeated and appears in no list.',
  params: idParams,
  answer: 'What the receiver answered',
  output: receiptSchema,
  async run(broker, { params: { id }, caller }) {
    const webhook = await get(broker, caller.projectId, id)
    return receiptToWire(await test(broker, webhook))
  },
})

export const listWebhookDeliveries = defineOperation({
  id: 'listWebhookDeliveries',
  sdk: 'admin.webhooks.deliveries(id)',
  method: 'get',
  path: '/v1/webhooks/{id}/deliveries',
  role: 'readonly',
  tag,
  summary: 'What was sent to a webhook, newest first',
  description: 'Kept for 14 days.',
  params: idParams,
  query: z.object({ state: z.enum(DELIVERY_STATES).optional(), ...cursorQuery }),
  answer: 'A page',
  output: cursorPageSchema(deliverySchema),
  async run(broker, { params: { id }, query: { state, ...wanted }, caller }) {
    const webhook = await get(broker, caller.projectId, id)
    const list = ['webhook deliveries', webhook.id, state]
    const request = requestedPage(wanted, list)
    const page = await broker.store.deliveries.list(webhook.id, { state }, request)
    return toCursorPage(page.items.map(deliveryToWire), page, request, list)
  },
})

export const replayWebhook = defineOperation({
  id: 'replayWebhook',
  sdk: 'admin.webhooks.replay(id, what?)',
  method: 'post',
  path: '/v1/webhooks/{id}/replay',
  role: 'admin',
  tag,
  summary: 'Send past events once more',
  description:
    'Events keep their ids, and events of one subject their order. One request takes up to 500 events; as its answer has `next_cursor`, send the same request again with it as `cursor`.',
  params: idParams,
  body: z.strictObject({
    since: z.iso.datetime({ offset: true }).optional().meta({ description: 'At the earliest 14 days ago' }),
    until: z.iso.datetime({ offset: true }).optional().meta({ description: 'Absent: now' }),
    types: z.array(eventTypeSchema).min(1).optional(),
    only_failed: z.boolean().optional().meta({
      description: 'Only events whose last attempt has failed',
      default: false,
    }),
    cursor: idText.optional(),
  }),
  answer: 'How many events will be sent again',
  output: z
    .object({
      replayed: z.int(),
      next_cursor: z.string().optional().meta({ description: 'Set if there may be more events' }),
    })
    .openapi('WebhookReplay'),
  async run(broker, { params: { id }, body, caller }) {
    const webhook = await get(broker, caller.projectId, id)
    const now = broker.now()
    const selection = {
      since: body.since === undefined ? now - EVENTS_KEPT_SECONDS : fromTimestamp(body.since),
      until: body.until === undefined ? now : fromTimestamp(body.until),
      types: body.types,
      onlyFailed: body.only_failed ?? false,
    }
    const after = body.cursor === undefined ? undefined : parseCursor(body.cursor)
    const { replayed, next } = await replayEvents(broker, webhook, selection, after)
    return { replayed, ...(next && { next_cursor: formatCursor(next) }) }
  },
})

function formatCursor({ at, id }: ReplayPosition): string {
  return `${at}.${id}`
}

function parseCursor(cursor: string): ReplayPosition {
  const [, at, id] = /^(\d{1,12})\.(evt_[0-9a-f]{32})$/.exec(cursor) ?? []
  if (at === undefined || id === undefined)
    throw invalidMember('cursor', 'invalid', 'This cursor was not returned by a replay.')
  return { at: Number(at), id }
}
