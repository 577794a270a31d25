import type { Broker } from '../../broker.ts'
import type { Attention } from '../../flows/console/attention.ts'
import { type Webhook, webhookState } from './domain.ts'

/** Why a webhook receives nothing and what to do about it, as `doctor`, the console and the command line say it. */
export interface WebhookCause {
  readonly code: 'webhook_failing' | 'webhook_disabled' | 'webhook_gone' | 'webhook_switched_off'
  readonly message: string
  readonly toDo: string
}

/** `undefined` for a webhook that accepts its deliveries. */
export function webhookCause(
  webhook: Pick<Webhook, 'id' | 'enabled' | 'failures' | 'disabledReason'>,
): WebhookCause | undefined {
  const again = `gatepass webhooks set ${webhook.id} --enable`
  if (webhook.enabled) {
    if (webhookState(webhook) === 'active') return undefined
    return {
      code: 'webhook_failing',
      message: `${webhook.failures} attempts in a row have failed, so one event at a time is tried.`,
      toDo: `Look at the answers (gatepass webhooks deliveries ${webhook.id}) and repair the receiver. With its next 2xx all events that wait are sent.`,
    }
  }
  switch (webhook.disabledReason) {
    case 'failing':
      return {
        code: 'webhook_disabled',
        message: 'It is disabled, since nothing was delivered for three days.',
        toDo: `Repair the receiver, then ${again}, and send what it missed: gatepass webhooks replay ${webhook.id}.`,
      }
    case 'gone':
      return {
        code: 'webhook_gone',
        message: 'It is disabled, since the receiver answered 410 (Gone).',
        toDo: `If the receiver is meant to be there, ${again}; else gatepass webhooks delete ${webhook.id}.`,
      }
    default:
      return {
        code: 'webhook_switched_off',
        message: 'It was disabled by an administrator.',
        toDo: `To send events again: ${again}.`,
      }
  }
}

/** Webhooks whose receiver fails, and those that Gatepass has disabled. Those that an administrator has disabled are left out. */
export async function troubledWebhooks(broker: Broker, projectId: string): Promise<Attention[]> {
  const webhooks = await broker.store.webhooks.list(projectId)
  return webhooks.flatMap((webhook) => {
    const cause = webhookCause(webhook)
    if (cause === undefined || cause.code === 'webhook_switched_off') return []
    return [
      {
        tone: 'bad' as const,
        title: `The webhook to ${new URL(webhook.url).host}: ${cause.message}`,
        toDo: cause.toDo,
        path: `/webhooks/${webhook.id}`,
      },
    ]
  })
}
