/** The path of a provider entry's redirect URI. Each entry has its own, since a shared one allows mix-up (RFC 9700 section 4.4). */
export function callbackPath(providerUid: string): string {
  return `/callback/${providerUid}`
}

/** The public URL's scheme and port with another host. */
export function atDomain(publicUrl: URL, hostName: string): URL {
  const url = new URL(publicUrl)
  url.hostname = hostName
  return url
}
