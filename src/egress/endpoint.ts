import { reachRules } from './public-address.ts'

/** What the operator allows besides https to public hosts (`GATEPASS_ALLOWED_HOSTS`, the sandbox), plain http too. */
export type AllowsHttp = (url: URL) => boolean

const publicOnly = reachRules([])

/**
 * The fault of an endpoint's address, or `undefined`. Only https, without user name and fragment: nothing that a
 * browser would run, and nothing that sends codes or tokens in the clear (RFC 6749 sections 3.1 and 3.2). A host
 * that is plainly not public is refused here; what a name resolves to is asked whenever it is dialled.
 */
export function endpointFault(text: string, allowsHttp: AllowsHttp): string | undefined {
  if (!URL.canParse(text)) return 'is not an absolute URL'
  // the parser here takes them for something else than the next one may
  if (/[\s\p{Cc}\\]/u.test(text)) return 'must not hold white space, control characters or backslashes'
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

/** `false` for what needs no look-up to be seen not to be public: an address, `localhost`. */
export function mayBeReached(url: URL, allowsHttp: AllowsHttp): boolean {
  return publicOnly.allowsUrl(url) || allowsHttp(url)
}
