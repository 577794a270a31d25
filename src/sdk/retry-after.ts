/**
 * Reads the value of a `Retry-After` header: seconds or a date (RFC 9110 section 10.2.3). Returns milliseconds, or
 * `undefined` for an empty or malformed value.
 */
export function parseRetryAfter(text: string): number | undefined {
  if (text.trim() === '') return undefined
  const seconds = Number(text)
  if (Number.isFinite(seconds)) return seconds >= 0 ? Math.ceil(seconds * 1000) : undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now())
}
