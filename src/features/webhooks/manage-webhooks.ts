import type { Broker } from '../../broker.ts'
import type { AuditAction } from '../../domain/audit.ts'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { checkReachable, invalidUrl } from '../../egress/reachable-url.ts'
import { withoutUndefined } from '../../sdk/without-undefined.ts'
import { changeRow } from '../../services/change-row.ts'
import type { EventType, Webhook } from './domain.ts'
import { type Receipt, sendEvent } from './send-event.ts'
import { newSecret } from './sign.ts'
import { webhookContext } from './store.ts'
import type { Replay, ReplayedPart, ReplayPosition } from './store-events.ts'

/** The most webhooks of one project. All of them are read for each event of the project. */
const MOST_WEBHOOKS = 20
export const DEFAULT_OVERLAP_SECONDS = 24 * 3600
/** The most events that one request makes due again. */
const REPLAYED_AT_ONCE = 500
/** How many events one transaction of a replay changes. */
const REPLAYED_PER_COMMIT = 100

/** The settings of a webhook. `types` absent: all. */
export interface WebhookSettings {
  readonly url: string
  readonly description?: string
  readonly types?: readonly EventType[]
  readonly enabled: boolean
}

/** A change: absent members stay, `null` removes one. */
export interface WebhookChanges {
  readonly url?: string
  readonly description?: string | null
  readonly types?: readonly EventType[] | null
  readonly enabled?: boolean
}

/** A webhook with its secret, which is shown once. */
export interface ShownSecret {
  readonly webhook: Webhook
  readonly secret: string
}

/** Adds a webhook. Throws `host_not_allowed`, and `invalid_request` for an invalid URL or too many webhooks. */
export async function addWebhook(
  broker: Broker,
  projectId: string,
  { enabled, ...settings }: WebhookSettings,
): Promise<ShownSecret> {
  checkUrl(broker, settings.url)
  const now = broker.now()
  const id = newId('wh')
  const secret = newSecret()
  const webhook: Webhook = {
    id,
    projectId,
    ...settings,
    ...enabledBy(enabled, now),
    secret: broker.sealer.seal(secret, webhookContext('webhooks', 'secret', { id, projectId })),
    failures: 0,
    createdAt: now,
    updatedAt: now,
  }
  if (!(await broker.store.webhooks.add(webhook, MOST_WEBHOOKS, auditOf(broker, webhook, 'webhook.added'))))
    throw new BrokerError(
      'invalid_request',
      `The project has ${MOST_WEBHOOKS} webhooks, which is the most. Delete one, or let one receiver pass events on.`,
    )
  return { webhook, secret }
}

/**
 * Changes a webhook. Throws like `addWebhook`, and `not_found` when it was deleted. A webhook that is enabled again
 * counts as healthy, and its waiting events are sent at once.
 */
export async function changeWebhook(
  broker: Broker,
  webhook: Webhook,
  changes: WebhookChanges,
): Promise<Webhook> {
  const { projectId, id } = webhook
  const audit = auditOf(broker, webhook, 'webhook.changed')
  const read = () => getWebhook(broker, projectId, id)
  return changeRow(`The webhook "${id}"`, webhook, read, (before) =>
    broker.store.webhooks.change(before, merged(broker, before, changes), audit),
  )
}

function merged(
  broker: Broker,
  webhook: Webhook,
  { url = webhook.url, description, types, enabled = webhook.enabled }: WebhookChanges,
): Webhook {
  if (url !== webhook.url) checkUrl(broker, url)
  const now = broker.now()
  const switched = { disabledReason: undefined, disabledAt: undefined, ...enabledBy(enabled, now) }
  return withoutUndefined({
    ...webhook,
    url,
    description: description === undefined ? webhook.description : (description ?? undefined),
    types: types === undefined ? webhook.types : (types ?? undefined),
    ...(enabled !== webhook.enabled && switched),
    updatedAt: now,
  })
}

/** The project's webhook of that id. Throws `not_found`. */
export async function getWebhook(broker: Broker, projectId: string, id: string): Promise<Webhook> {
  const webhook = await broker.store.webhooks.find(projectId, id)
  if (webhook === undefined) throw unknownWebhook(id)
  return webhook
}

/** Deletes a webhook. Throws `not_found`. */
export async function deleteWebhook(broker: Broker, projectId: string, id: string): Promise<void> {
  const audit = auditOf(broker, { projectId, id }, 'webhook.deleted')
  if (!(await broker.store.webhooks.delete(projectId, id, audit))) throw unknownWebhook(id)
}

/**
 * Makes a new secret. For `overlapSeconds` deliveries are signed with the former one too, so that receivers can switch. Of
 * two rotations at once, the later one keeps the secret of the other as the former one. Throws `not_found`.
 */
export async function rotateWebhookSecret(
  broker: Broker,
  webhook: Webhook,
  overlapSeconds: number,
): Promise<ShownSecret> {
  const { sealer, store } = broker
  const { id, projectId } = webhook
  const now = broker.now()
  const secret = newSecret()
  const context = webhookContext('webhooks', 'secret', { id, projectId })
  const audit = auditOf(broker, webhook, 'webhook.secret_rotated')
  const read = () => getWebhook(broker, projectId, id)
  await changeRow(`The webhook "${id}"`, webhook, read, async ({ secret: from }) => {
    const former = sealer.open(from, context)
    const rotated = {
      id,
      projectId,
      from,
      secret: sealer.seal(secret, context),
      previousSecret: sealer.seal(former, webhookContext('webhooks', 'previous_secret', { id, projectId })),
      previousUntil: now + overlapSeconds,
      updatedAt: now,
    }
    return (await store.webhooks.rotate(rotated, audit)) || undefined
  })
  return { webhook: await read(), secret }
}

/**
 * Sends a test event at once, in the way of a delivery, and returns the receiver's answer. Only the audit entry is stored,
 * and a failure does not count against the webhook.
 */
export async function testWebhook(broker: Broker, webhook: Webhook): Promise<Receipt> {
  await broker.audit.record(webhook.projectId, { action: 'webhook.tested', subject: webhook.id })
  const timestamp = new Date(broker.now() * 1000).toISOString()
  const body = JSON.stringify({ type: 'webhook.test', timestamp, data: { id: webhook.id, sequence: 0 } })
  return sendEvent(broker, webhook, { id: newId('evt'), body })
}

/**
 * Makes up to 500 past events of the project due again. `next`: where the next request continues. Throws
 * `invalid_request` for a disabled webhook, and for a period that ends before it begins.
 */
export async function replayEvents(
  broker: Broker,
  webhook: Webhook,
  what: Replay,
  after?: ReplayPosition,
): Promise<ReplayedPart> {
  if (what.until < what.since)
    throw invalidMember('until', 'invalid', '`until` is before `since`, so there is nothing between them.')
  if (!webhook.enabled)
    throw invalidMember(
      'enabled',
      'conflict',
      `The webhook is disabled, so nothing would be sent: PATCH /v1/webhooks/${webhook.id} {"enabled": true} first.`,
    )
  // one entry for each request: the caller chooses where a replay continues, so a continued one is audited too
  await broker.audit.record(webhook.projectId, { action: 'webhook.replayed', subject: webhook.id })
  let replayed = 0
  let position = after
  for (let examined = 0; examined < REPLAYED_AT_ONCE; examined += REPLAYED_PER_COMMIT) {
    const page = { after: position, limit: REPLAYED_PER_COMMIT }
    const part = await broker.store.events.replay(webhook, what, broker.now(), page)
    replayed += part.replayed
    position = part.next
    if (position === undefined) return { replayed }
  }
  return { replayed, ...(position && { next: position }) }
}

function enabledBy(
  enabled: boolean,
  now: number,
): Pick<Webhook, 'enabled' | 'disabledReason' | 'disabledAt'> {
  return enabled ? { enabled } : { enabled, disabledReason: 'operator', disabledAt: now }
}

function checkUrl(broker: Broker, url: string): void {
  if (!/^https?:/i.test(url)) throw invalidUrl('url')
  checkReachable(broker.outgoing, 'url', url)
}

function auditOf(broker: Broker, { id, projectId }: Pick<Webhook, 'id' | 'projectId'>, action: AuditAction) {
  return broker.audit.of(projectId, { action, subject: id })
}

function unknownWebhook(id: string): BrokerError {
  return new BrokerError('not_found', `There is no webhook "${id.slice(0, 100)}" in this project.`)
}
