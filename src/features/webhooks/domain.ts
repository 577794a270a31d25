import type { EpochSeconds } from '../../domain/clock.ts'
import type { Sealed } from '../../domain/sealed.ts'

/** The events that webhooks send. The names are stable: receivers switch on them. */
export const EVENT_TYPES = [
  'authorization.completed',
  'authorization.failed',
  'authorization.expired',
  'connection.created',
  'connection.refreshed_scopes',
  'connection.needs_authorization',
  'connection.revoked',
  'connection.deleted',
  'tool.run.failed',
  'worker.requirements_changed',
  'approval.requested',
  'approval.decided',
  'approval.expired',
  'worker.tools_changed',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** A receiver of a project's events. */
export interface Webhook {
  /** `wh_…` */
  readonly id: string
  readonly projectId: string
  readonly url: string
  readonly description?: string
  /** The types that are sent; absent: all. */
  readonly types?: readonly EventType[]
  readonly enabled: boolean
  /** Why it is not enabled. */
  readonly disabledReason?: DisabledReason
  readonly disabledAt?: EpochSeconds
  /** `whsec_…`: the key that signs deliveries. */
  readonly secret: Sealed
  /** The secret before the last rotation. Deliveries are signed with it too, until `previousUntil`. */
  readonly previousSecret?: Sealed
  readonly previousUntil?: EpochSeconds
  /** Failed attempts since the last one that succeeded. */
  readonly failures: number
  /** When the first of these attempts failed. */
  readonly failingSince?: EpochSeconds
  /** After `FAILURES_UNTIL_PROBES` failures: when one delivery is tried next. */
  readonly probeAt?: EpochSeconds
  readonly createdAt: EpochSeconds
  readonly updatedAt: EpochSeconds
  /** Keyed MAC over where events go (`store.ts`); the store writes it. */
  readonly mac?: string
}

/** `operator`: an administrator disabled it; `failing`: no delivery for days; `gone`: the receiver answered 410. */
export type DisabledReason = 'operator' | 'failing' | 'gone'

/** `waiting` until a receiver has answered 2xx (`delivered`) or the last attempt has failed (`failed`). */
export const DELIVERY_STATES = ['waiting', 'delivered', 'failed'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** One event on its way to one webhook. */
export interface Delivery {
  readonly webhookId: string
  readonly eventId: string
  /** Deliveries of one key reach a webhook in the order of `keySeq`. */
  readonly key: string
  readonly keySeq: number
  readonly state: DeliveryState
  /** How many attempts were begun. */
  readonly attempt: number
  /** When the next attempt is due; absent: the delivery before it in its key is waiting, or it has ended. */
  readonly dueAt?: EpochSeconds
  /** The status of the last answer. */
  readonly lastStatus?: number
  /** Why the last attempt got no answer. */
  readonly lastError?: string
  readonly createdAt: EpochSeconds
  readonly endedAt?: EpochSeconds
}

/** How long events and their deliveries are kept. */
export const EVENTS_KEPT_SECONDS = 14 * 86_400

/** After this many failures in a row, one delivery at a time is attempted, and the others wait. */
export const FAILURES_UNTIL_PROBES = 5

/** `failing`: one delivery at a time is attempted, as a probe. */
export const WEBHOOK_STATES = ['active', 'failing', 'disabled'] as const
export type WebhookState = (typeof WEBHOOK_STATES)[number]

export function webhookState({ enabled, failures }: Pick<Webhook, 'enabled' | 'failures'>): WebhookState {
  if (!enabled) return 'disabled'
  return failures >= FAILURES_UNTIL_PROBES ? 'failing' : 'active'
}
