import { reachRules } from './public-address.ts'

/** Whether requests to the URL are allowed. `GATEPASS_ALLOWED_HOSTS` may allow http, and hosts that are not public. */
export type AllowsHttp = (url: URL) => boolean

const publicOnly = reachRules([])

/**
 * Why the text cannot be an endpoint's URL, or `undefined` when it can. Only https without user name and fragment is
 * accepted, so that no browser runs it as a script and no code or token is sent in the clear (RFC 6749 sections 3.1 and
 * 3.2). Addresses that are not public are refused here; names are resolved and checked on each connection.
 */
export function endpointFault(text: string, allowsHttp: AllowsHttp): string | undefined {
  if (!URL.canParse(text)) return 'is not an absolute URL'
  // URL parsers disagree about these characters, so another parser could find another host
  if (/[\s\p{Cc}\\]/u.test(text)) return 'must not hold white space, control characters, or backslashes'
  const url = new URL(text)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && allowsHttp(url))) {
    return url.protocol === 'http:'
      ? 'has to be https (http reaches only the hosts in GATEPASS_ALLOWED_HOSTS)'
      : 'has to be https'
  }
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password'
  if (text.includes('#')) return 'must not hold a fragment'
  if (!mayBeReached(url, allowsHttp))
    return `names a host that may not be reached from here (${url.host}); an operator can allow it in GATEPASS_ALLOWED_HOSTS`
  return undefined
}

/** Whether the host may be reached, as far as the URL alone tells: a name may still resolve to a private address. */
export function mayBeReached(url: URL, allowsHttp: AllowsHttp): boolean {
  return publicOnly.allowsUrl(url) || allowsHttp(url)
}
