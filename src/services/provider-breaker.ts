import type { Clock, EpochSeconds } from '../domain/clock.ts'
import type { Log } from '../domain/log.ts'
import type { ProviderEntry } from '../providers/provider.ts'

/**
 * Keeps a provider that is in trouble from being asked for refreshes again and again, and from costing its users their
 * consents: of each entry it knows what its last refreshes came to, in this process.
 *
 *   closed --5 outages in a row--> open --pause--> half_open (one tries) --no outage--> closed
 *                                   ^-----------------' outage: the pause doubles
 *   closed --429 with Retry-After--> limited --pause--> closed
 *   closed --a wave of refusals--> degraded (one tries every 30 s) --one is refreshed, or an hour--> closed
 */
export interface ProviderBreaker {
  /** Seconds to wait before this connection may be refreshed; 0: now, and then `ended` has to be told. */
  enter(entry: Entry, connectionId: string): number
  ended(entry: Entry, connectionId: string, how: Ending): void
  /** As `ended`, for a refusal of the grant: whether it is to be believed. */
  refused(entry: Entry, connectionId: string): 'believed' | 'held'
  /** Those that are not closed. */
  states(): readonly BreakerReport[]
}

type Entry = Pick<ProviderEntry, 'uid' | 'id'>

export type BreakerState = 'open' | 'half_open' | 'limited' | 'degraded'

export interface BreakerReport {
  readonly uid: string
  readonly providerId: string
  readonly state: BreakerState
}

/** `nothing`: no request was made after all. */
export type Ending = 'refreshed' | 'answered' | 'outage' | 'nothing' | { readonly limitedForSeconds: number }

const OUTAGES = 5
const FIRST_PAUSE_SECONDS = 10
const LONGEST_PAUSE_SECONDS = 60
/** More refusals than this in a minute, and at least half of what the minute brought, are the server's own fault. */
const REFUSALS = 5
const WAVE_SECONDS = 60
const PROBE_SECONDS = 30
/** A wave that goes on longer than this is meant: the users have to approve again. */
const LONGEST_WAVE_SECONDS = 3600
/** A probe that has not ended by then has died. */
const LONGEST_PROBE_SECONDS = 25
const WAIT_FOR_PROBE_SECONDS = 2
const MAX_ENTRIES = 10_000
const MAX_REMEMBERED = 10_000

interface Health {
  readonly providerId: string
  outages: number
  open?: { readonly pauseSeconds: number; readonly until: EpochSeconds }
  limitedUntil: EpochSeconds
  /** The one that tries on behalf of all. */
  probe?: { readonly connectionId: string; readonly until: EpochSeconds }
  degraded?: { readonly since: EpochSeconds; nextProbeAt: EpochSeconds; readonly held: Set<string> }
  /** A wave lasted for so long that refusals are believed until a refresh goes well. */
  believes: boolean
  /** Connections that were refused, and when; refreshes that went well, by second. */
  readonly refusals: Map<string, EpochSeconds>
  readonly successes: Map<EpochSeconds, number>
}

export function createProviderBreaker({ now, log }: { now: Clock; log: Log }): ProviderBreaker {
  const entries = new Map<string, Health>()

  function healthOf({ uid, id }: Entry): Health {
    const known = entries.get(uid)
    if (known !== undefined) return known
    if (entries.size >= MAX_ENTRIES) entries.delete(entries.keys().next().value ?? uid)
    const fresh: Health = {
      providerId: id,
      outages: 0,
      limitedUntil: 0,
      believes: false,
      refusals: new Map(),
      successes: new Map(),
    }
    entries.set(uid, fresh)
    return fresh
  }

  function tell({ providerId }: Health, state: BreakerState | 'closed', message: string): void {
    log[state === 'closed' ? 'info' : 'warn']({ provider: providerId, breaker: state }, message)
  }

  function forgetOldOutcomes({ refusals, successes }: Health): void {
    const before = now() - WAVE_SECONDS
    for (const [id, at] of refusals) if (at <= before) refusals.delete(id)
    for (const at of successes.keys()) if (at <= before) successes.delete(at)
  }

  function endLongWave(health: Health): void {
    if (health.degraded === undefined || now() - health.degraded.since < LONGEST_WAVE_SECONDS) return
    delete health.degraded
    health.believes = true
    tell(health, 'closed', 'a provider has refused its grants for an hour: it is believed')
  }

  /** The server is there: whatever it answered, it answered. */
  function endOutage(health: Health): void {
    health.outages = 0
    if (health.open === undefined) return
    delete health.open
    tell(health, 'closed', 'a provider answers again')
  }

  function outage(health: Health, isProbe: boolean): void {
    if (health.open !== undefined && !isProbe) return // sent before it opened
    health.outages++
    const { pauseSeconds } = health.open ?? { pauseSeconds: 0 }
    if (health.open === undefined && health.outages < OUTAGES) return
    if (health.open === undefined) tell(health, 'open', 'a provider is down: its refreshes are held back')
    const pause = Math.min(Math.max(FIRST_PAUSE_SECONDS, pauseSeconds * 2), LONGEST_PAUSE_SECONDS)
    health.open = { pauseSeconds: pause, until: now() + pause }
  }

  function refreshed(health: Health): void {
    forgetOldOutcomes(health)
    health.successes.set(now(), (health.successes.get(now()) ?? 0) + 1)
    health.believes = false
    if (health.degraded === undefined) return
    delete health.degraded
    health.refusals.clear()
    tell(health, 'closed', 'a provider honours its grants again')
  }

  return {
    enter(entry, connectionId) {
      const health = entries.get(entry.uid)
      if (health === undefined) return 0
      endLongWave(health)
      const { limitedUntil, open, degraded } = health
      if (now() < limitedUntil) return limitedUntil - now()
      if (open !== undefined && now() < open.until) return open.until - now()
      if (health.probe !== undefined && now() < health.probe.until) return WAIT_FOR_PROBE_SECONDS
      if (degraded !== undefined) {
        // one that was refused already may be dead indeed: others go first
        const from = degraded.nextProbeAt + (degraded.held.has(connectionId) ? PROBE_SECONDS : 0)
        if (now() < from) return from - now()
        degraded.nextProbeAt = now() + PROBE_SECONDS
      }
      if (open !== undefined || degraded !== undefined)
        health.probe = { connectionId, until: now() + LONGEST_PROBE_SECONDS }
      return 0
    },

    ended(entry, connectionId, how) {
      const health = healthOf(entry)
      const isProbe = health.probe?.connectionId === connectionId
      if (isProbe) delete health.probe
      switch (how) {
        case 'nothing':
          // the turn is somebody else's
          if (isProbe && health.degraded !== undefined) health.degraded.nextProbeAt = now()
          return
        case 'outage':
          return outage(health, isProbe)
        case 'answered':
          return endOutage(health)
        case 'refreshed':
          endOutage(health)
          return refreshed(health)
        default:
          endOutage(health)
          if (health.limitedUntil <= now())
            tell(health, 'limited', 'a provider wants fewer requests: its refreshes are held back')
          health.limitedUntil = Math.max(health.limitedUntil, now() + how.limitedForSeconds)
      }
    },

    refused(entry, connectionId) {
      this.ended(entry, connectionId, 'answered')
      const health = healthOf(entry)
      endLongWave(health)
      forgetOldOutcomes(health)
      const { refusals, successes } = health
      if (refusals.size < MAX_REMEMBERED) refusals.set(connectionId, now())
      if (health.degraded === undefined) {
        const refreshes = [...successes.values()].reduce((sum, count) => sum + count, 0)
        if (health.believes || refusals.size <= REFUSALS || refusals.size < refreshes) return 'believed'
        health.degraded = { since: now(), nextProbeAt: now() + PROBE_SECONDS, held: new Set() }
        tell(health, 'degraded', 'a provider refuses many grants at once: that is not believed for now')
      }
      const { held } = health.degraded
      if (held.size < MAX_REMEMBERED) held.add(connectionId)
      return 'held'
    },

    states() {
      return [...entries].flatMap(([uid, health]) => {
        endLongWave(health)
        const state = stateOf(health, now())
        return state === undefined ? [] : [{ uid, providerId: health.providerId, state }]
      })
    },
  }
}

function stateOf({ open, limitedUntil, degraded }: Health, now: EpochSeconds): BreakerState | undefined {
  if (open !== undefined) return now < open.until ? 'open' : 'half_open'
  if (degraded !== undefined) return 'degraded'
  return now < limitedUntil ? 'limited' : undefined
}
