const DAY = 86_400
const UNITS = { s: 1, m: 60, h: 3600, d: DAY, w: 7 * DAY } as const
const MOST = 36_500 * DAY

type Unit = keyof typeof UNITS

/**
 * The seconds of a duration such as `400d` or `12h`; `undefined` for any other text, for a unit that is not in `units`,
 * and for over 36500 days. Minutes are not in the default, because beside `400d` people would read `12m` as months.
 */
export function parseDuration(text: string, units: readonly Unit[] = ['h', 'd']): number | undefined {
  const [, digits, letter] = /^(\d{1,9})([a-z])$/.exec(text) ?? []
  const unit = units.find((known) => known === letter)
  if (unit === undefined) return undefined
  const seconds = Number(digits) * UNITS[unit]
  return seconds <= MOST ? seconds : undefined
}

/** Whole days in days, and other durations in whole hours: `2 days`, `36 hours`. */
export function durationText(seconds: number): string {
  const [size, unit] = seconds % DAY === 0 ? ([DAY, 'day'] as const) : ([UNITS.h, 'hour'] as const)
  const count = Math.floor(seconds / size)
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
