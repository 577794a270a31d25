import { randomUUID } from 'node:crypto'
import type { Broker } from '../../broker.ts'
import { parseRetryAfter } from '../../egress/retry-after.ts'
import type { Counter } from '../../services/metrics.ts'
import { inContext } from '../../services/request-context.ts'
import { inTrace, outsideTraces } from '../../services/tracing.ts'
import { waitAtMost } from '../../services/wait-at-most.ts'
import { retry } from '../../store/retry.ts'
import { type AttemptResult, createSlots } from './delivery-slots.ts'
import { type DisabledReason, WEBHOOK_STATES, type Webhook, webhookState } from './domain.ts'
import { DISABLED_AFTER_SECONDS, LONGEST_RETRY_SECONDS, probePause, retryPause } from './domain-retries.ts'
import { type Receipt, sendEvent } from './send-event.ts'
import type { AttemptEnd, ClaimedDelivery } from './store-deliveries.ts'

/** Delivers events to webhooks. Any number of processes do so at once: each delivery is claimed by one of them. */
export interface Dispatcher {
  /** Begins attempts for due deliveries. To be called about every second; a written event triggers it too. */
  runDue(): Promise<void>
  /**
   * Begins no more attempts and waits at most `ms` for those that are under way. Another process repeats those that
   * have not ended by then. Returns their number.
   */
  close(ms: number): Promise<number>
}

export interface DispatcherOptions {
  /** How long a claim holds: longer than an attempt. */
  readonly leaseSeconds?: number
}

const LEASE_SECONDS = 30
const AS_SYSTEM = { actor: { kind: 'system' }, purpose: 'webhooks' } as const
const SETTLE_PAUSE_MS = 500

export function createDispatcher(
  broker: Broker,
  { leaseSeconds = LEASE_SECONDS }: DispatcherOptions = {},
): Dispatcher {
  const { store, log } = broker
  const owner = randomUUID()
  const slots = createSlots()
  const running = new Set<Promise<void>>()
  const attempts = addMetrics(broker)
  let claiming: Promise<void> | undefined
  let isDue = false
  let isClosed = false
  let isAbandoned = false

  store.onChange(({ noun }) => {
    if (noun === 'delivery') wake()
  })

  function wake(): void {
    isDue = true
    if (claiming !== undefined || isClosed) return
    // a commit calls this within the context of a request, to which the deliveries do not belong
    claiming = outsideTraces(() => inContext(AS_SYSTEM, claimDue)).finally(() => {
      claiming = undefined
      if (isDue) wake()
    })
    claiming.catch((error: unknown) => log.warn({ error }, 'due webhooks could not be read'))
  }

  async function claimDue(): Promise<void> {
    while (isDue && !isClosed) {
      isDue = false
      if (slots.free === 0) return
      const due = await store.deliveries.dueWebhooks(broker.now())
      // in random order, so that no webhook always comes last
      for (const webhook of shuffled(due)) if (!isClosed) await claim(webhook)
    }
  }

  async function claim(webhook: Webhook): Promise<void> {
    const isProbe = webhook.probeAt !== undefined
    const limit = slots.freeFor(webhook.id, { isProbe })
    if (limit === 0) return
    const lease = { owner, seconds: leaseSeconds }
    const probe = isProbe ? probePause(webhook.failures) : undefined
    for (const delivery of await store.deliveries.claim(webhook, lease, broker.now(), { limit, probe }))
      begin(webhook, delivery, { isProbe })
  }

  function begin(webhook: Webhook, claimed: ClaimedDelivery, how: { readonly isProbe: boolean }): void {
    const release = slots.take(webhook.id, how)
    const run = attempt(webhook, claimed)
      .then(release, (error: unknown) => {
        // once the claim expires, another attempt is made
        log.error({ webhook: webhook.id, error }, 'a delivery to a webhook could not be settled')
        release('failed')
      })
      .finally(() => {
        running.delete(run)
        wake()
      })
    running.add(run)
  }

  async function attempt(webhook: Webhook, claimed: ClaimedDelivery): Promise<AttemptResult> {
    const { eventId: id, body, traceparent } = claimed
    const send = () => sendEvent(broker, webhook, { id, body })
    const { tracing } = broker
    const receipt = await (tracing === undefined
      ? send()
      : inTrace(tracing, { name: 'webhook delivery', links: [traceparent] }, send))
    if (isAbandoned) return 'failed' // another process may repeat the attempt now, so its result is not written
    const end = endOf(broker, claimed, receipt)
    const isAnswered = end.state === 'delivered'
    const health = isAnswered
      ? ({ health: 'answers' } as const)
      : ({ health: 'fails', probeIn: probePause } as const)
    const settled = await retry(() => store.deliveries.settle(claimed, end, health, broker.now()), {
      mayRetry: () => !isAbandoned,
      pauseMs: () => SETTLE_PAUSE_MS,
    })
    attempts.increment(settled.isSettled ? outcomeOf(end) : 'lease_lost')
    if (end.status === 410) await disable(broker, webhook, 'gone')
    else if ((settled.failingFor ?? 0) >= DISABLED_AFTER_SECONDS) await disable(broker, webhook, 'failing')
    return isAnswered ? 'answered' : isOverloaded(end) ? 'overloaded' : 'failed'
  }

  return {
    async runDue() {
      wake()
      await claiming?.catch(() => {}) // `wake` has logged it
    },
    async close(ms) {
      isClosed = true
      const allDone = Promise.resolve(claiming)
        .catch(() => {})
        .then(async () => {
          while (running.size > 0) await Promise.all(running)
        })
      await waitAtMost(ms, allDone)
      isAbandoned = true
      return running.size
    },
  }
}

/** The state of the delivery after an attempt. */
function endOf(broker: Broker, { attempt }: ClaimedDelivery, receipt: Receipt): AttemptEnd {
  if ('error' in receipt) return failed(attempt, { error: receipt.error })
  const { status, retryAfter } = receipt
  if (status >= 200 && status <= 299) return { state: 'delivered', status }
  if (status === 410) return { state: 'failed', status }
  return failed(attempt, { status }, parseRetryAfter(retryAfter, broker.now(), LONGEST_RETRY_SECONDS))
}

function failed(
  attempt: number,
  why: Pick<AttemptEnd, 'status' | 'error'>,
  retryAfter?: number | undefined,
): AttemptEnd {
  const retryIn = retryPause(attempt, Math.random(), retryAfter)
  return retryIn === undefined ? { state: 'failed', ...why } : { state: 'waiting', ...why, retryIn }
}

function outcomeOf({ state }: AttemptEnd): string {
  return state === 'waiting' ? 'retried' : state === 'failed' ? 'given_up' : 'delivered'
}

/** Whether the receiver, or a proxy in front of it, answered that it gets too many requests. */
function isOverloaded({ status }: AttemptEnd): boolean {
  return status === 429 || status === 502 || status === 504
}

async function disable(
  { store, audit, log, now }: Broker,
  { id, projectId }: Webhook,
  reason: DisabledReason,
): Promise<void> {
  const entry = audit.of(projectId, { action: 'webhook.disabled', subject: id, reason })
  if (await store.webhooks.disable({ id, projectId, reason }, now(), entry))
    log.warn({ webhook: id, reason }, 'a webhook was disabled')
}

function shuffled<T>(items: readonly T[]): readonly T[] {
  const order = items.map((item) => ({ item, at: Math.random() }))
  return order.sort((a, b) => a.at - b.at).map(({ item }) => item)
}

function addMetrics({ metrics, store, now }: Broker): Counter {
  metrics.gauge(
    'gatepass_webhook_oldest_waiting_seconds',
    'How long the oldest event waits for its delivery to an enabled webhook',
    async () => {
      const waiting = (await store.deliveries.waiting()).filter(({ enabled }) => enabled)
      const ages = waiting.map(({ oldest }) => (oldest === undefined ? 0 : now() - oldest))
      return Math.max(0, ...ages)
    },
    'max',
  )
  metrics.gauge(
    'gatepass_webhooks',
    'Webhooks by their state',
    async () => {
      const all = await store.deliveries.waiting()
      const count = (state: string) => all.filter((webhook) => webhookState(webhook) === state).length
      return { label: 'state', values: new Map(WEBHOOK_STATES.map((state) => [state, count(state)])) }
    },
    'max',
  )
  return metrics.counter('gatepass_webhook_attempts_total', 'Attempts to deliver an event to a webhook', [
    'outcome',
  ])
}
