import { type AllowsHttp, endpointFault } from '../egress/endpoint.ts'
import { withBareHost } from '../egress/public-address.ts'
import { isApiHost } from './api-host.ts'
import type { Provider } from './provider.ts'

/** The target of a request to a provider's API. */
export interface ApiTarget {
  /** Its host is one of those that the entry names. */
  readonly url: URL
  /** The base URL's path, followed by the given path and query, unchanged. */
  readonly path: string
}

export type ApiTargetFault =
  | { readonly kind: 'host'; readonly fault: string }
  | { readonly kind: 'request'; readonly fault: string }

/**
 * Appends the requested path and query (`/users?q=1`, byte for byte) to the given base URL, or else to the entry's. The
 * result cannot lead to another host or out of the base URL's path, even if the server decodes it repeatedly. The fault
 * completes a sentence that begins with "The request ".
 */
export function apiTarget(
  provider: Pick<Provider, 'api'>,
  asked: string,
  given: { readonly baseUrl?: string | undefined; readonly allowsHttp: AllowsHttp },
): { readonly target: ApiTarget } | ApiTargetFault {
  const base = given.baseUrl ?? provider.api?.baseUrl
  if (base === undefined)
    return { kind: 'host', fault: 'names no base URL, and neither does the provider: none is known' }
  const baseFault = given.baseUrl === undefined ? undefined : baseUrlFault(base, given.allowsHttp)
  if (baseFault !== undefined) return { kind: 'request', fault: `has a base URL that ${baseFault}` }
  const url = withBareHost(new URL(base))
  if (!isApiHost(provider, url))
    return { kind: 'host', fault: `would go to ${url.host}, which is not a host of this provider's API` }
  const fault = pathFault(asked)
  if (fault !== undefined) return { kind: 'request', fault }
  const basePath = url.pathname.replace(/\/$/, '')
  const path = `${basePath}${asked}`
  return { target: { url, path: path.startsWith('/') ? path : `/${path}` } }
}

function baseUrlFault(text: string, allowsHttp: AllowsHttp): string | undefined {
  const fault = endpointFault(text, allowsHttp)
  if (fault !== undefined) return fault
  if (text.includes('?')) return 'holds a query'
  const { pathname } = new URL(text)
  if (holdsControls(pathname)) return 'holds control characters'
  return leavesItsFolder(pathname) ? 'holds steps to other folders (..)' : undefined
}

function pathFault(asked: string): string | undefined {
  if (asked !== '' && !/^[/?]/.test(asked)) return 'has a path that does not begin with a slash'
  if (!/^[\x21-\x7e]*$/.test(asked)) return 'holds characters that must be percent-encoded in a URL'
  if (asked.includes('#')) return 'holds a fragment'
  const [path = ''] = asked.split('?', 1)
  if (path.includes('\\')) return 'holds a backslash in its path'
  if (holdsControls(path)) return 'holds control characters in its path'
  return leavesItsFolder(path) ? 'holds steps to other folders (..) in its path' : undefined
}

/** How often the server and the proxies before it may decode a path before they resolve it. */
const DECODINGS = 3

/** Whether a segment is `.` or `..`, also when encoded, or with a path parameter (`..;x`), which some servers drop. */
function leavesItsFolder(path: string): boolean {
  return decodings(path).some(
    (decoded) =>
      decoded.includes('.') && decoded.split(/[/\\]/).some((part) => /^\.{1,2}(?:;.*)?$/s.test(part)),
  )
}

/** Whether the path has control characters, also encoded: a decoded line break could inject a header or a log line. */
function holdsControls(path: string): boolean {
  return decodings(path).some((decoded) => {
    for (let i = 0; i < decoded.length; i++) {
      const byte = decoded.charCodeAt(i)
      if (byte < 0x20 || byte === 0x7f) return true
      // U+0080 to U+009F in UTF-8
      if (byte === 0xc2 && decoded.charCodeAt(i + 1) >= 0x80 && decoded.charCodeAt(i + 1) < 0xa0) return true
    }
    return false
  })
}

/** The text, and the results of decoding it repeatedly, byte by byte, as long as there is something to decode. */
function decodings(text: string): string[] {
  const all = [text]
  for (let times = 0; times < DECODINGS; times++) {
    const last = all.at(-1) ?? ''
    if (!last.includes('%')) break
    all.push(decodedOnce(last))
  }
  return all
}

/** Each character of the result is a byte. */
function decodedOnce(text: string): string {
  return text.replaceAll(/%([\dA-Fa-f]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** The path of a request, without its query, as servers may read it. */
export interface ReadPath {
  /** Decoded as often as servers may, with empty segments merged. */
  readonly path: string
  /** Also decoded less often, without path parameters (`;x`) and with empty segments; at most 56. */
  readonly readings: readonly string[]
}

/** Reads the path byte by byte, so that a byte that is not UTF-8 (U+FFFD in the result) hides nothing beside it. */
export function readPath(path: string): ReadPath {
  let last = withoutParameters([path.split('?', 1)[0] ?? ''])
  const all = new Set<string>()
  for (let times = 0; times < DECODINGS; times++) {
    last = withoutParameters([...last].map(decodedOnce))
    for (const bytes of last) all.add(bytes).add(withoutEmptySegments(bytes))
  }
  const [whole = ''] = last
  return { path: textOf(withoutEmptySegments(whole)), readings: [...all].map(textOf) }
}

/** The paths, and how a server reads them that drops path parameters. */
function withoutParameters(paths: readonly string[]): Set<string> {
  return new Set(paths.flatMap((path) => [path, path.replaceAll(/;[^/]*/g, '')]))
}

function withoutEmptySegments(path: string): string {
  return path.replaceAll(/[/\\]+/g, '/')
}

function textOf(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString()
}
