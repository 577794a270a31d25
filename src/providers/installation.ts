import { createHmac, timingSafeEqual } from 'node:crypto'
import { fitsPattern } from './callback-members.ts'
import { askedValues, type ConnectionValues } from './connection-values.ts'
import type { InstallationSettings, Provider } from './provider.ts'
import { literalHostEnd } from './variables.ts'

// A browser that comes from the provider's own page, such as its store of apps, without a `state` of ours. Nothing that
// it brings is believed: a code is never redeemed, and hints only fill in what the user would have typed.

/** The parameters of the query that the entry keeps, each once and of the entry's pattern. */
export function hintsIn({ hints }: InstallationSettings, query: URLSearchParams): Record<string, string> {
  return Object.fromEntries(
    Object.entries(hints).flatMap(([name, pattern]) => {
      const [value, ...others] = query.getAll(name)
      return value !== undefined && others.length === 0 && fitsPattern(pattern, value) ? [[name, value]] : []
    }),
  )
}

/**
 * Whether the provider signed the query: hex HMAC-SHA256 by the client secret, of the other parameters as `name=value`,
 * sorted and joined by `&` (Shopify). Entries that declare no signature take any query.
 */
export function isSigned(
  { hmacParameter }: InstallationSettings,
  query: URLSearchParams,
  clientSecret: string | undefined,
): boolean {
  if (hmacParameter === undefined) return true
  const [given = '', ...others] = query.getAll(hmacParameter)
  if (clientSecret === undefined || others.length > 0 || !/^[0-9a-f]{64}$/i.test(given)) return false
  const signed = [...query]
    .filter(([name]) => name !== hmacParameter)
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join('&')
  const expected = createHmac('sha256', clientSecret).update(signed).digest()
  return timingSafeEqual(expected, Buffer.from(given, 'hex'))
}

/**
 * The values that hints give for the variables which users are asked for, by the same names. A hint may be the whole host
 * where the variable is its beginning: `acme.myshopify.com` for `{{shop}}.myshopify.com`.
 */
export function valuesOfHints(provider: Provider, hints: Readonly<Record<string, string>>): ConnectionValues {
  const values = Object.entries(hints).map(([name, hint]) => {
    const end = literalHostEnd(provider.authorizationRequest?.endpointTemplate, name)
    return [name, end !== undefined && hint.endsWith(end) ? hint.slice(0, -end.length) : hint] as const
  })
  return askedValues(provider, Object.fromEntries(values))
}
