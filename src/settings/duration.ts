const UNITS = { h: 3600, d: 86_400 } as const
const MOST = 36_500 * UNITS.d

/** The seconds of a duration such as `400d` or `12h`; `undefined` for any other text, and for over 36500 days. */
export function parseDuration(text: string): number | undefined {
  const [, digits, unit] = /^(\d{1,6})(h|d)$/.exec(text) ?? []
  if (digits === undefined) return undefined
  const seconds = Number(digits) * UNITS[unit as keyof typeof UNITS] // the pattern has no other units
  return seconds <= MOST ? seconds : undefined
}
