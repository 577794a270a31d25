import type { ServedApp } from './served-app.ts'

/** Variables of Gatepass and Arcade themselves, which a tool must never read. */
const RESERVED = /^(?:GATEPASS|ARCADE)_/i

/** Reads a tool's secret from the environment of the process; `undefined` if it is not set or must not be read. */
export function environmentSecret(key: string): string | undefined {
  if (RESERVED.test(key) || typeof process === 'undefined') return undefined
  return process.env[key] || undefined
}

/** Throws `TypeError` that names the secrets which the app's tools declare and the environment lacks. */
export function requireEnvironmentSecrets({ tools }: ServedApp): void {
  const declared = new Set(tools.list().flatMap(({ options }) => options.requiresSecrets ?? []))
  const missing = [...declared].filter((key) => environmentSecret(key) === undefined)
  if (missing.length === 0) return
  throw new TypeError(
    `The tools need secrets that the environment of this process does not have: ${missing.join(', ')}. Set them (names that begin with GATEPASS_ or ARCADE_ are never read), or let Gatepass send them (brokerSecret).`,
  )
}
