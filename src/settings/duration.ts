const DAY = 86_400
const UNITS = { s: 1, m: 60, h: 3600, d: DAY, w: 7 * DAY } as const
const MOST = 36_500 * DAY

type Unit = keyof typeof UNITS

/**
 * The seconds of a duration such as `400d` or `12h`; `undefined` for any other text, for a unit that `units` does not have,
 * and for over 36500 days. Minutes are not among the usual units: where years are meant, `12m` would be read as months.
 */
export function parseDuration(text: string, units: readonly Unit[] = ['h', 'd']): number | undefined {
  const [, digits, letter] = /^(\d{1,9})([a-z])$/.exec(text) ?? []
  const unit = units.find((one) => one === letter)
  if (unit === undefined) return undefined
  const seconds = Number(digits) * UNITS[unit]
  return seconds <= MOST ? seconds : undefined
}
