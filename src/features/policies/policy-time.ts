import { LRUCache } from 'lru-cache'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { PolicyTime } from './domain.ts'

const MINUTES_OF_DAY = 24 * 60

/** Whether the time is within the rule's hours in its zone. Hours that cross midnight belong to the day on which they begin. */
export function isWithin({ days, from, to, zone = 'UTC' }: PolicyTime, at: EpochSeconds): boolean {
  const { day, minute } = wallClock(zone, at)
  const [start, end] = [minuteOf(from ?? '00:00'), to === undefined ? MINUTES_OF_DAY : minuteOf(to)]
  const isToday = minute >= start && (minute < end || end < start)
  const isSinceYesterday = end < start && minute < end
  const applies = (on: number) => days === undefined || days.includes(on)
  return (isToday && applies(day)) || (isSinceYesterday && applies(day === 1 ? 7 : day - 1))
}

/** Whether the name is an IANA time zone. */
export function isTimeZone(zone: string): boolean {
  try {
    clockOf(zone)
    return true
  } catch {
    return false
  }
}

function minuteOf(time: string): number {
  const [hours, minutes] = time.split(':')
  return Number(hours) * 60 + Number(minutes)
}

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

function wallClock(zone: string, at: EpochSeconds): { readonly day: number; readonly minute: number } {
  const parts = clockOf(zone).formatToParts(at * 1000)
  const part = (type: Intl.DateTimeFormatPartTypes) =>
    parts.find((dateTimePart) => dateTimePart.type === type)?.value ?? ''
  return {
    day: DAYS.indexOf(part('weekday')) + 1,
    minute: Number(part('hour')) * 60 + Number(part('minute')),
  }
}

/** Formatters by zone, since creating one takes far longer than using it. There are a few hundred zones, in several spellings. */
const clocks = new LRUCache<string, Intl.DateTimeFormat>({ max: 1_000 })

function clockOf(zone: string): Intl.DateTimeFormat {
  const known = clocks.get(zone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
  clocks.set(zone, made)
  return made
}
