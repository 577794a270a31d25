import type { Check, DiagnosisTarget } from '../../diagnosis/check.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { webhookCause } from './cause.ts'
import { type Webhook, webhookState } from './domain.ts'

/** Checks that the project's webhooks accept their deliveries. */
export async function checkWebhooks({ broker, project }: DiagnosisTarget): Promise<Check[]> {
  return (await broker.store.webhooks.list(project.id)).map(toCheck)
}

function toCheck(webhook: Webhook): Check {
  const name = `webhook ${webhook.id}`
  const host = URL.parse(webhook.url)?.host ?? webhook.url
  const cause = webhookCause(webhook)
  if (cause === undefined) return { name, status: 'ok', message: `takes its events, at ${host}` }
  const { message, toDo: fix } = cause
  const since =
    webhook.failingSince === undefined
      ? ''
      : ` The first failure was at ${toTimestamp(webhook.failingSince)}.`
  if (webhookState(webhook) === 'failing')
    return { name, status: 'failed', message: `${host}: ${message}${since}`, fix }
  if (webhook.disabledReason === 'operator') return { name, status: 'ok', message: `${host}: ${message}` }
  return { name, status: 'warning', message: `${host}: ${message}`, fix }
}
