import { fitsPattern } from './callback-members.ts'
import { type Members, membersOf } from './response-body.ts'
import { membersForTools } from './token-response.ts'

// What a provider tells by the way, such as Salesforce's `instance_url` or QuickBooks' `realmId`: kept for tools.

type Told = Readonly<Record<string, unknown>>

/** As JSON. It is sealed with the access token and opened with it. */
const MOST_BYTES = 8 * 1024

/**
 * The parameters of an authorization response that the provider entry names, each that is there once and matches its
 * pattern. They came through the user's browser, who can write anything there. Never one that is named like a secret,
 * or holds one of these.
 */
export function extraOfResponse(
  query: URLSearchParams,
  named: Readonly<Record<string, string>>,
  secrets: readonly (string | undefined)[],
): Members {
  const single = Object.entries(named).flatMap(([name, pattern]) => {
    const [value, ...others] = query.getAll(name)
    return value !== undefined && others.length === 0 && fitsPattern(pattern, value) ? [name] : []
  })
  const own = ['code', 'state'].flatMap((name) => query.getAll(name))
  const known = [...own, ...secrets].flatMap((secret) => (secret ? [secret] : []))
  const members = membersOf(Object.fromEntries(single.map((name) => [name, query.get(name)]))) ?? {}
  return membersForTools(members, known, 0)
}

/** All of them, of two alike the later one, as far as there is room; `undefined` when there are none. */
export function mergedExtra(...told: readonly (Told | undefined)[]): Told | undefined {
  const kept: Members = Object.create(null)
  let size = 2
  // the later ones count first, also for the room there is
  for (const [name, value] of told.toReversed().flatMap((one) => Object.entries(one ?? {}))) {
    const written = Buffer.byteLength(JSON.stringify({ [name]: value })) - 1
    if (Object.hasOwn(kept, name) || size + written > MOST_BYTES) continue
    kept[name] = value
    size += written
  }
  return Object.keys(kept).length > 0 ? kept : undefined
}
