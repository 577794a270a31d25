import { LRUCache } from 'lru-cache'
import type { Clock, EpochSeconds } from '../domain/clock.ts'
import type { Log } from '../domain/log.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { maxEntries } from './cache-size.ts'
import { type Pause, secondsLeft } from './pause.ts'

/**
 * A circuit breaker for each provider entry, driven by the results of this process's recent refreshes. It protects a provider
 * in trouble from a flood of refreshes, and the users from losing their consents by a fault of the provider.
 *
 *   closed --5 outages in a row--> open --pause--> half_open (one probe) --no outage--> closed
 *                                   ^-----------------' outage: the pause doubles
 *   closed --429 with Retry-After--> limited --pause--> closed
 *   closed --a wave of refusals--> degraded (a probe every 30 s) --one is refreshed, or an hour--> closed
 */
export interface ProviderBreaker {
  /**
   * Asks whether the connection may be refreshed. Returns 0, or the seconds to wait first. After 0 the caller must report
   * the result by `ended` or `refused`.
   */
  enter(entry: Entry, connectionId: string): number
  ended(entry: Entry, connectionId: string, result: RequestResult): void
  /** Reports that the provider refused the grant. `doubted`: it refuses so many grants that it is probably at fault. */
  refused(entry: Entry, connectionId: string): 'believed' | 'doubted'
  /** The breakers that are not closed. */
  states(): readonly BreakerReport[]
}

type Entry = Pick<ProviderEntry, 'uid' | 'id'>

export type BreakerState = 'open' | 'half_open' | 'limited' | 'degraded'

export interface BreakerReport {
  readonly uid: string
  readonly providerId: string
  readonly state: BreakerState
}

/**
 * `not_sent`: there was no request, or it failed for a reason that says nothing about the provider. `refused_retry`: the
 * refresh token may have been replaced before, so its refusal is no sign of a fault.
 */
export type RequestResult =
  | 'refreshed'
  | 'answered'
  | 'refused_retry'
  | 'outage'
  | 'not_sent'
  | { readonly limitedForSeconds: number }

/** This many outages in a row open the breaker. */
const OUTAGES = 5
const FIRST_PAUSE_SECONDS = 10
const LONGEST_PAUSE_SECONDS = 60
/** More refusals than this within `WAVE_SECONDS`, and at least as many as refreshes, count as a fault of the provider. */
const REFUSALS = 5
const WAVE_SECONDS = 60
const PROBE_SECONDS = 30
/** After a wave of this length the refusals are believed: the users have to approve again. */
const LONGEST_WAVE_SECONDS = 3600
/** A probe without a result for this long is given up: this process may have been suspended. */
const LONGEST_PROBE_SECONDS = 25
const WAIT_FOR_PROBE_SECONDS = 2
const MAX_ENTRIES = 10_000
const MAX_CONNECTIONS = 10_000

interface Health {
  readonly providerId: string
  outages: number
  open?: Pause & { readonly pauseSeconds: number }
  limited: Pause
  /** The one refresh that is let through while the breaker is half open or degraded. */
  probe?: Pause & { readonly connectionId: string }
  degraded?: { since: EpochSeconds; beforeProbe: Pause; readonly doubted: Set<string> }
  /** A wave lasted for so long that refusals are believed until a refresh succeeds. */
  believesRefusals: boolean
  /** When each connection was refused. */
  readonly refusals: Map<string, EpochSeconds>
  /** How many refreshes succeeded in each second. */
  readonly successes: Map<EpochSeconds, number>
}

export function createProviderBreaker({ now, log }: { now: Clock; log: Log }): ProviderBreaker {
  const entries = new LRUCache<string, Health>(maxEntries(MAX_ENTRIES))
  const pauseOf = (seconds: number): Pause => ({ from: now(), until: now() + seconds })

  function healthOf({ uid, id }: Entry): Health {
    const known = entries.get(uid)
    if (known !== undefined) return known
    const fresh: Health = {
      providerId: id,
      outages: 0,
      limited: pauseOf(0),
      believesRefusals: false,
      refusals: new Map(),
      successes: new Map(),
    }
    entries.set(uid, fresh)
    return fresh
  }

  function logState({ providerId }: Health, state: BreakerState | 'closed', message: string): void {
    log[state === 'closed' ? 'info' : 'warn']({ provider: providerId, breaker: state }, message)
  }

  function forgetOldResults({ refusals, successes }: Health): void {
    // a time in the future means that the clock was set back
    const isOld = (at: EpochSeconds) => at <= now() - WAVE_SECONDS || at > now()
    for (const [id, at] of refusals) if (isOld(at)) refusals.delete(id)
    for (const at of successes.keys()) if (isOld(at)) successes.delete(at)
  }

  function endLongWave(health: Health): void {
    const { degraded } = health
    if (degraded === undefined) return
    degraded.since = Math.min(degraded.since, now()) // the clock may have been set back
    if (now() - degraded.since < LONGEST_WAVE_SECONDS) return
    delete health.degraded
    health.believesRefusals = true
    logState(
      health,
      'closed',
      'a provider has refused grants for an hour: its refusals are accepted now, and users must approve again',
    )
  }

  /** Any answer, also a refusal, shows that the provider is reachable. */
  function endOutage(health: Health): void {
    health.outages = 0
    if (health.open === undefined) return
    delete health.open
    logState(health, 'closed', 'a provider answers again')
  }

  function countOutage(health: Health, isProbe: boolean): void {
    if (health.open !== undefined && !isProbe) return // its request was sent before the breaker opened
    health.outages++
    const { pauseSeconds } = health.open ?? { pauseSeconds: 0 }
    if (health.open === undefined && health.outages < OUTAGES) return
    if (health.open === undefined) logState(health, 'open', 'a provider is down: its refreshes are held back')
    const pause = Math.min(Math.max(FIRST_PAUSE_SECONDS, pauseSeconds * 2), LONGEST_PAUSE_SECONDS)
    health.open = { ...pauseOf(pause), pauseSeconds: pause }
  }

  function countRefresh(health: Health): void {
    forgetOldResults(health)
    health.successes.set(now(), (health.successes.get(now()) ?? 0) + 1)
    health.believesRefusals = false
    if (health.degraded === undefined) return
    delete health.degraded
    health.refusals.clear()
    logState(health, 'closed', 'a provider honors its grants again')
  }

  /** The probe of a degraded breaker has shown nothing, so the next connection can be the probe at once. */
  function probeNext({ degraded }: Health): void {
    if (degraded !== undefined) degraded.beforeProbe = pauseOf(0)
  }

  return {
    enter(entry, connectionId) {
      const health = entries.get(entry.uid)
      if (health === undefined) return 0
      endLongWave(health)
      const { limited, open, degraded, probe } = health
      const wait = secondsLeft(limited, now()) || (open === undefined ? 0 : secondsLeft(open, now()))
      if (wait > 0) return wait
      // once the breaker has closed, refreshes do not wait for a probe that is still under way
      const isProbing = probe !== undefined && secondsLeft(probe, now()) > 0
      if (isProbing && (open !== undefined || degraded !== undefined)) return WAIT_FOR_PROBE_SECONDS
      if (degraded !== undefined) {
        // the grant of a connection that was refused before may really be revoked: other connections are probed first
        const { from, until } = degraded.beforeProbe
        const more = degraded.doubted.has(connectionId) ? PROBE_SECONDS : 0
        const beforeProbe = secondsLeft({ from, until: until + more }, now())
        if (beforeProbe > 0) return beforeProbe
        degraded.beforeProbe = pauseOf(PROBE_SECONDS)
      }
      if (open !== undefined || degraded !== undefined)
        health.probe = { ...pauseOf(LONGEST_PROBE_SECONDS), connectionId }
      return 0
    },

    ended(entry, connectionId, result) {
      const health = healthOf(entry)
      const isProbe = health.probe?.connectionId === connectionId
      if (isProbe) delete health.probe
      switch (result) {
        case 'not_sent':
          if (isProbe) probeNext(health)
          return
        case 'outage':
          return countOutage(health, isProbe)
        case 'answered':
          return endOutage(health)
        case 'refused_retry':
          endOutage(health)
          if (isProbe) probeNext(health)
          return
        case 'refreshed':
          endOutage(health)
          return countRefresh(health)
        default:
          endOutage(health)
          if (secondsLeft(health.limited, now()) === 0)
            logState(health, 'limited', 'a provider wants fewer requests: its refreshes are held back')
          health.limited = pauseOf(Math.max(secondsLeft(health.limited, now()), result.limitedForSeconds))
      }
    },

    refused(entry, connectionId) {
      this.ended(entry, connectionId, 'answered')
      const health = healthOf(entry)
      endLongWave(health)
      forgetOldResults(health)
      const { refusals, successes } = health
      if (refusals.size < MAX_CONNECTIONS) refusals.set(connectionId, now())
      if (health.degraded === undefined) {
        const refreshes = [...successes.values()].reduce((sum, count) => sum + count, 0)
        const isWave = refusals.size > REFUSALS && refusals.size >= refreshes
        if (health.believesRefusals || !isWave) return 'believed'
        health.degraded = { since: now(), beforeProbe: pauseOf(PROBE_SECONDS), doubted: new Set() }
        logState(
          health,
          'degraded',
          'a provider refuses many grants at once: probably its own fault, so no user is asked to approve again yet',
        )
      }
      const { doubted } = health.degraded
      if (doubted.size < MAX_CONNECTIONS) doubted.add(connectionId)
      return 'doubted'
    },

    states() {
      return [...entries.entries()].flatMap(([uid, health]) => {
        endLongWave(health)
        const state = stateOf(health, now())
        return state === undefined ? [] : [{ uid, providerId: health.providerId, state }]
      })
    },
  }
}

function stateOf({ open, limited, degraded }: Health, now: EpochSeconds): BreakerState | undefined {
  if (open !== undefined) return secondsLeft(open, now) > 0 ? 'open' : 'half_open'
  if (degraded !== undefined) return 'degraded'
  return secondsLeft(limited, now) > 0 ? 'limited' : undefined
}
