import { LRUCache } from 'lru-cache'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { PolicyQuota } from './domain.ts'

/** A calendar hour or day, as long as its wall clock shows it: 23 to 25 hours where summer time begins or ends. */
export interface QuotaWindow {
  readonly start: EpochSeconds
  /** Exclusive. */
  readonly end: EpochSeconds
}

const MINUTE = 60
/** In minutes: no calendar hour or day is longer, also where a zone changes its offset. */
const LONGEST = { hour: 3 * 60, day: 26 * 60 } as const

/** The last window of each zone: finding one formats about twenty dates. */
const last = new LRUCache<string, QuotaWindow>({ max: 1_000 })

/** The window that the time belongs to: the same for each time in it. */
export function windowAt({ window, zone = 'UTC' }: PolicyQuota, at: EpochSeconds): QuotaWindow {
  const key = `${window} ${zone}`
  const known = last.get(key)
  if (known !== undefined && known.start <= at && at < known.end) return known
  const minute = Math.floor(at / MINUTE)
  const shown = (of: number) => {
    const { date, hour } = wallHour(zone, of * MINUTE)
    return window === 'day' ? date : `${date} ${hour}`
  }
  const name = shown(minute)
  const isWithin = (of: number) => shown(of) === name
  const made = {
    start: border(minute, -LONGEST[window], isWithin) * MINUTE,
    end: (border(minute, LONGEST[window], isWithin) + 1) * MINUTE,
  }
  last.set(key, made)
  return made
}

/** The last minute from `minute` on, in the direction of `by`, that is within; at `minute + by` none is. */
function border(minute: number, by: number, isWithin: (minute: number) => boolean): number {
  let [inside, outside] = [minute, minute + by]
  while (Math.abs(outside - inside) > 1) {
    const middle = Math.trunc((inside + outside) / 2)
    if (isWithin(middle)) inside = middle
    else outside = middle
  }
  return inside
}

/** The date and the hour that a wall clock of the zone shows. */
function wallHour(zone: string, at: EpochSeconds): { readonly date: string; readonly hour: string } {
  const parts = datesOf(zone).formatToParts(at * 1000)
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((one) => one.type === type)?.value ?? ''
  return { date: `${part('year')}-${part('month')}-${part('day')}`, hour: part('hour') }
}

/** Formatters by zone, since creating one takes far longer than using it. */
const dates = new LRUCache<string, Intl.DateTimeFormat>({ max: 1_000 })

function datesOf(zone: string): Intl.DateTimeFormat {
  const known = dates.get(zone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    hourCycle: 'h23',
  })
  dates.set(zone, made)
  return made
}
