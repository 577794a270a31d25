import type { ServedApp } from './served-app.ts'

/** These belong to Gatepass and Arcade themselves, and a tool must never read them. */
const RESERVED = /^(?:GATEPASS|ARCADE)_/i

/** A secret of a tool from the environment of the process; `undefined` where there is none, or no environment. */
export function environmentSecret(key: string): string | undefined {
  if (RESERVED.test(key) || typeof process === 'undefined') return undefined
  return process.env[key] || undefined
}

/** Throws `TypeError`, naming them, where the environment lacks secrets that the app's tools declare. */
export function requireEnvironmentSecrets({ tools }: ServedApp): void {
  const declared = new Set(tools.list().flatMap(({ options }) => options.requiresSecrets ?? []))
  const missing = [...declared].filter((key) => environmentSecret(key) === undefined)
  if (missing.length === 0) return
  throw new TypeError(
    `The tools need secrets that the environment of this process does not have: ${missing.join(', ')}. Set them (names that begin with GATEPASS_ or ARCADE_ are never read), or let Gatepass send them (brokerSecret).`,
  )
}
