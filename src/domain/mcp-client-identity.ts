import { isLoopbackHost } from './confidential-url.ts'

/** Whether the client id is the URL of the client's own metadata document, whose host vouches for it. */
export function isMetadataDocument(clientId: string): boolean {
  return /^https:\/\//i.test(clientId)
}

/** The host that vouches for the client; `undefined` for a client that registered itself, under any name. */
export function verifiedHost(clientId: string): string | undefined {
  return isMetadataDocument(clientId) && URL.canParse(clientId) ? new URL(clientId).host : undefined
}

/** Where a redirect URI leads: a host, a program on the user's machine, or the application of a private-use scheme. */
export type RedirectTarget =
  | { readonly kind: 'host'; readonly host: string }
  | { readonly kind: 'loopback'; readonly host: string }
  | { readonly kind: 'application'; readonly scheme: string }

export function redirectTarget(redirectUri: string): RedirectTarget {
  const { protocol, host, hostname } = new URL(redirectUri)
  if (protocol === 'https:') return { kind: 'host', host }
  if (protocol === 'http:' && isLoopbackHost(hostname)) return { kind: 'loopback', host: hostname }
  return { kind: 'application', scheme: protocol }
}
