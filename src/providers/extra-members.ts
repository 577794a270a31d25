import { fitsPattern } from './callback-members.ts'
import { type Members, membersOf } from './response-body.ts'
import { membersForTools } from './token-response.ts'

// Additional members of a provider's responses that tools need, such as Salesforce's `instance_url` or QuickBooks' `realmId`.

type Told = Readonly<Record<string, unknown>>

/** As JSON. The members are sealed and decrypted together with the access token. */
const MOST_BYTES = 8 * 1024

/**
 * The parameters of an authorization response that the provider entry names, if they occur once and match their pattern.
 * They come through the user's browser, which can send anything. A parameter that is named like a secret, or contains
 * one of the given secrets, is dropped.
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

/** Merges the members; later ones win, and members beyond the size limit are dropped. `undefined` when there are none. */
export function mergedExtra(...told: readonly (Told | undefined)[]): Told | undefined {
  const kept: Members = Object.create(null)
  let size = 2
  // the later ones first, so that they win and keep their place within the limit
  for (const [name, value] of told.toReversed().flatMap((one) => Object.entries(one ?? {}))) {
    const written = Buffer.byteLength(JSON.stringify({ [name]: value })) - 1
    if (Object.hasOwn(kept, name) || size + written > MOST_BYTES) continue
    kept[name] = value
    size += written
  }
  return Object.keys(kept).length > 0 ? kept : undefined
}
