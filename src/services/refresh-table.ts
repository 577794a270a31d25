import { LRUCache } from 'lru-cache'
import type { Cause } from '../domain/causes.ts'
import type { Clock, EpochSeconds } from '../domain/clock.ts'
import type { Connection } from '../domain/connection.ts'
import type { BrokerError } from '../domain/errors.ts'
import type { Log } from '../domain/log.ts'
import type { ProviderRefusal } from '../providers/provider-refusal.ts'
import type { SentRequest } from '../providers/sent-requests.ts'
import type { Store } from '../store/store.ts'
import { maxEntries } from './cache-size.ts'
import { createChangeSignal } from './change-signal.ts'
import { type Pause, secondsLeft } from './pause.ts'
import { createProviderBreaker, type ProviderBreaker } from './provider-breaker.ts'

/** The outcome of a refresh. */
export type RefreshOutcome =
  /** The connection's stored access token may be used. */
  | { readonly outcome: 'usable'; readonly connection: Connection }
  | { readonly outcome: 'authorization_required' }
  /** `retryAfter` is in seconds. */
  | {
      readonly outcome: 'provider_unavailable'
      readonly message: string
      readonly retryAfter: number
      readonly cause?: Cause
    }

/** Why a refresh brought no new tokens. */
export type RefreshFailure =
  | GrantRefused
  /** The provider was not reached, answered nothing usable or refused for a reason that is not the grant. */
  | {
      readonly kind: 'provider_failed'
      readonly refusal: ProviderRefusal
      /** The seconds of the provider's Retry-After, with a random part added. */
      readonly retryAfterSeconds?: number
      readonly sent?: readonly SentRequest[]
    }
  /** The request was not sent, for a reason of the broker's own such as a client that is not configured. */
  | { readonly kind: 'broker_failed'; readonly error: BrokerError }
  /** A fault of the program. */
  | { readonly kind: 'unexpected'; readonly error: Error }
  /** The circuit breaker holds back requests to the provider. */
  | { readonly kind: 'provider_paused' }
  /** Another process holds the lease on refreshing the connection. */
  | { readonly kind: 'refreshed_elsewhere' }

/** The provider answered `invalid_grant` (RFC 6749 section 5.2), the only failure that speaks of the user's consent. */
export interface GrantRefused {
  readonly kind: 'grant_refused'
  readonly refusal: ProviderRefusal
  readonly sent?: readonly SentRequest[]
}

/** The time until which a failed refresh is not tried again. */
export interface CoolDown {
  readonly until: EpochSeconds
  readonly failure: RefreshFailure
}

/** The refreshes of this process: those under way, the cool-downs of those that failed, and the circuit breaker. */
export interface Refreshes {
  /** The refreshes under way, by the connection's id. */
  readonly running: Map<string, RunningRefresh>
  readonly breaker: ProviderBreaker
  /** The cool-down of the connection's tokens. It ends early when the tokens are replaced. */
  findCoolDown(connection: TokensOf): CoolDown | undefined
  startCoolDown(connection: TokensOf, coolDown: CoolDown): void
  /** Resolves when any process has written the connection, at the latest after `ms`. */
  waitForChange(connectionId: string, ms: number): Promise<void>
  /** The seconds with a random part of up to a fifth added, so that connections are not all refreshed at once. */
  spread(seconds: number): number
  /** Whether the process shuts down. Background jobs then begin no refresh. */
  readonly isStopped: boolean
  /** Whether a refresh may go on: always, until the grace period after `stop` is over. */
  readonly mayFinish: boolean
  stop(): void
  /** Resolves when no refresh is under way. */
  whenIdle(): Promise<void>
}

type TokensOf = Pick<Connection, 'id' | 'generation'>

export interface RunningRefresh {
  /** `traceparent` of the refresh's span, for the spans of requests that wait for the refresh. */
  readonly traceparent?: string | undefined
  /** Whether it refreshes a token that a resource server rejected. */
  readonly isForced: boolean
  /** Whether it waits while another process refreshes the connection. */
  readonly waits: boolean
  /** Settles when the tokens are stored and all further steps are done. */
  readonly ended: Promise<RefreshOutcome>
  /** Settles when the callers are answered: earlier than `ended` only if the tokens cannot be stored soon. */
  readonly answer: Promise<RefreshOutcome>
}

const MAX_COOL_DOWNS = 10_000
const POLL_MS = 20
const SPREAD = 0.2
/** The grace period of a shutdown, shorter than that of the server. */
const GRACE_MS = 20_000

export function createRefreshes(
  store: Store,
  { now, log, random = Math.random }: { now: Clock; log: Log; random?: () => number },
): Refreshes {
  const coolDowns = new LRUCache<string, CoolDown & Pause & { readonly generation: number }>(
    maxEntries(MAX_COOL_DOWNS),
  )
  const running = new Map<string, RunningRefresh>()
  const changes = createChangeSignal(store, {
    topicOf: (change) => (change.noun === 'connection' ? change.id : undefined),
    pollMs: POLL_MS,
  })
  let stoppedAt: number | undefined

  return {
    running,
    breaker: createProviderBreaker({ now, log }),
    findCoolDown({ id, generation }) {
      const known = coolDowns.get(id)
      return known?.generation === generation && secondsLeft(known, now()) > 0 ? known : undefined
    },
    startCoolDown({ id, generation }, coolDown) {
      coolDowns.set(id, { ...coolDown, from: now(), generation })
    },
    waitForChange: changes.next,
    spread: (seconds) => seconds + Math.floor(seconds * SPREAD * random()),
    get isStopped() {
      return stoppedAt !== undefined
    },
    get mayFinish() {
      return stoppedAt === undefined || performance.now() - stoppedAt < GRACE_MS
    },
    stop() {
      stoppedAt ??= performance.now()
    },
    async whenIdle() {
      while (running.size > 0) await Promise.allSettled([...running.values()].map(({ ended }) => ended))
    },
  }
}
