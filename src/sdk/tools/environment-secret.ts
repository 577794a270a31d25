/** These belong to Gatepass and Arcade themselves, and a tool must never read them. */
const RESERVED = /^(?:GATEPASS|ARCADE)_/i

/** A secret of a tool from the environment of the process; `undefined` where there is none, or no environment. */
export function environmentSecret(key: string): string | undefined {
  if (RESERVED.test(key) || typeof process === 'undefined') return undefined
  return process.env[key] || undefined
}
