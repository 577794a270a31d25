// A token bucket for the messages of one call: `BURST` messages at once, and `PER_SECOND` more each second.
const BURST = 100
const PER_SECOND = 20

/** Returns a function that says whether one more message may be sent now. Messages over the limit are dropped. */
export function rateLimit(): () => boolean {
  let left = BURST
  let filledAt = performance.now()
  return () => {
    const now = performance.now()
    left = Math.min(BURST, left + ((now - filledAt) / 1000) * PER_SECOND)
    filledAt = now
    if (left < 1) return false
    left--
    return true
  }
}
