// Hosts in arguments, in the one spelling that rules compare: lower case, IDNA in ASCII (UTS 46), without a final dot.

/** Parsers disagree on these in a host, so a host with one of them cannot be read. */
const AMBIGUOUS = /[\p{Cc}\p{Cf}\p{Cs}\p{Z}\\/?#@%<>^|"'`{},;()&=+]/u
const CANONICAL = /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])$/
/** A name has at most 253 octets (RFC 1035 section 2.3.4); other characters may need more of them in ASCII. */
const MAX_LENGTH = 255

/** The host in its canonical spelling; `undefined` if it is none, or if parsers would disagree on it. */
export function canonicalHost(text: string): string | undefined {
  if (text.length > MAX_LENGTH || AMBIGUOUS.test(text)) return undefined
  const isAddress = text.startsWith('[')
  if (!isAddress && text.includes(':')) return undefined
  const host = URL.parse(`http://${text}/`)?.hostname.replace(/\.$/, '')
  return host !== undefined && CANONICAL.test(host) ? host : undefined
}

/** The schemes whose hosts all parsers read as names of the DNS. */
const URL_START = /^(?:https?|wss?|ftp):\/\/([^/?#]+)/i

/**
 * The host of the URL; `undefined` if it has none, or if other parsers could find another host in it than the URL
 * Standard does: by a backslash, white space, a second `@`, or percent-encoding in the host.
 */
export function hostOfUrl(text: string): string | undefined {
  if (/[\p{Cc}\p{Z}\\]/u.test(text)) return undefined
  const [, authority = ''] = URL_START.exec(text) ?? []
  const [host = '', user, ...more] = authority.split('@').reverse()
  if (more.length > 0 || (user !== undefined && host === '')) return undefined
  const parsed = URL.parse(text)?.hostname.replace(/\.$/, '')
  return parsed !== undefined && parsed === canonicalHost(host.replace(/:\d*$/, '')) ? parsed : undefined
}

/** Tests whether a canonical host is one of the domains. */
export type DomainTest = (host: string) => boolean

/** `undefined` if one of the domains cannot be read. */
export function domainTest(domains: readonly string[]): DomainTest | undefined {
  const exact = new Set<string>()
  const above: string[] = []
  for (const domain of domains) {
    const isBelow = domain.startsWith('*.')
    const host = canonicalHost(isBelow ? domain.slice(2) : domain)
    if (host === undefined) return undefined
    if (isBelow) above.push(`.${host}`)
    else exact.add(host)
  }
  return (host) => exact.has(host) || above.some((end) => host.endsWith(end))
}
