import { z } from '@hono/zod-openapi'
import { toTimestamp } from '../../domain/clock.ts'
import { plainText } from '../../operations/schemas/fields.ts'
import { DELIVERY_STATES, EVENT_TYPES, WEBHOOK_STATES, type Webhook, webhookState } from './domain.ts'
import type { Receipt } from './send-event.ts'
import type { ListedDelivery } from './store-delivery-lists.ts'

export const eventTypeSchema = z.enum(EVENT_TYPES)

const typesText = z
  .array(eventTypeSchema)
  .min(1, 'names no type; leave it out for all types')
  .max(EVENT_TYPES.length)

const newWebhook = z.strictObject({
  url: plainText(2000).meta({ description: 'Receives each event by POST. No query, no redirects' }),
  description: plainText(300).optional(),
  types: typesText.optional().meta({ description: 'Absent: all types, those of later releases too' }),
  enabled: z.boolean().optional().meta({ default: true }),
})
export const newWebhookSchema = newWebhook.openapi('NewWebhook')

export const webhookChangesSchema = newWebhook.partial().extend({
  description: newWebhook.shape.description.nullable(),
  types: typesText.nullish().meta({ description: '`null`: all types' }),
  enabled: z.boolean().optional().meta({
    description: '`true` for a disabled webhook: the events that wait for it are sent at once',
  }),
})

export const webhookSchema = z
  .object({
    id: z.string(),
    url: z.string(),
    description: z.string().optional(),
    types: z.array(eventTypeSchema).optional().meta({ description: 'Absent: all' }),
    enabled: z.boolean(),
    state: z.enum(WEBHOOK_STATES).meta({
      description: '`failing`: five attempts failed in a row, and one event at a time is tried',
    }),
    disabled_reason: z.enum(['operator', 'failing', 'gone']).optional().meta({
      description: '`failing`: nothing was delivered for three days; `gone`: the receiver answered 410',
    }),
    disabled_at: z.string().optional(),
    failures: z.int().meta({ description: 'Attempts that failed since the last one that succeeded' }),
    failing_since: z.string().optional(),
    previous_secret_until: z.string().optional().meta({
      description: 'Until then events are also signed with the secret before the last rotation',
    }),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .openapi('Webhook')

export const webhookWithSecretSchema = webhookSchema
  .extend({ secret: z.string().meta({ description: '`whsec_…`, shown this once' }) })
  .openapi('WebhookWithSecret')

export const deliverySchema = z
  .object({
    event_id: z.string().meta({ description: 'The header `webhook-id`: the same at each attempt' }),
    type: eventTypeSchema,
    subject: z.string().meta({ description: 'What the event is about: events of one subject come in order' }),
    sequence: z.int(),
    state: z.enum(DELIVERY_STATES),
    attempts: z.int(),
    next_attempt_at: z.string().optional().meta({
      description:
        'Absent while an earlier event of the subject waits, and when there will be no further attempt',
    }),
    last_status: z.int().optional().meta({ description: 'The HTTP status of the last answer' }),
    last_error: z.string().optional().meta({ description: 'Why the last attempt had no answer' }),
    created_at: z.string(),
    ended_at: z.string().optional(),
  })
  .openapi('WebhookDelivery')

export const receiptSchema = z
  .object({
    delivered: z.boolean(),
    status: z.int().optional(),
    error: z.string().optional(),
  })
  .openapi('WebhookTest')

export function webhookToWire(webhook: Webhook, now: number): z.infer<typeof webhookSchema> {
  const { id, url, description, types, enabled, disabledReason, disabledAt, failures } = webhook
  const { failingSince, previousUntil = 0, createdAt, updatedAt } = webhook
  return {
    id,
    url,
    description,
    types: types && [...types],
    enabled,
    state: webhookState(webhook),
    disabled_reason: disabledReason,
    disabled_at: toTimestamp(disabledAt),
    failures,
    failing_since: toTimestamp(failingSince),
    ...(previousUntil > now && { previous_secret_until: toTimestamp(previousUntil) }),
    created_at: toTimestamp(createdAt),
    updated_at: toTimestamp(updatedAt),
  }
}

export function deliveryToWire(delivery: ListedDelivery): z.infer<typeof deliverySchema> {
  const { eventId, type, key, keySeq, state, attempt, dueAt, lastStatus, lastError, createdAt, endedAt } =
    delivery
  return {
    event_id: eventId,
    type,
    subject: key,
    sequence: keySeq,
    state,
    attempts: attempt,
    next_attempt_at: toTimestamp(dueAt),
    last_status: lastStatus,
    last_error: lastError,
    created_at: toTimestamp(createdAt),
    ended_at: toTimestamp(endedAt),
  }
}

export function receiptToWire(receipt: Receipt): z.infer<typeof receiptSchema> {
  if ('error' in receipt) return { delivered: false, error: receipt.error }
  const { status } = receipt
  return { delivered: status >= 200 && status <= 299, status }
}
