/** Which plain-http addresses the operator allows (`GATEPASS_ALLOWED_HOSTS`, the sandbox). */
export type AllowsHttp = (url: URL) => boolean

/**
 * The fault of an endpoint's address, or `undefined`. Only https, without user name and fragment: nothing that a
 * browser would run, and nothing that sends codes or tokens in the clear (RFC 6749 sections 3.1 and 3.2). Whether
 * its host may be reached is asked again when it is dialled.
 */
export function endpointFault(text: string, allowsHttp: AllowsHttp): string | undefined {
  if (!URL.canParse(text)) return 'is not an absolute URL'
  const url = new URL(text)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && allowsHttp(url))) {
    return url.protocol === 'http:'
      ? 'has to be https (http reaches only the hosts in GATEPASS_ALLOWED_HOSTS)'
      : 'has to be https'
  }
  if (url.username !== '' || url.password !== '') return 'must not hold a user name or password'
  if (text.includes('#')) return 'must not hold a fragment'
  return undefined
}
