import { isConfidential } from '../domain/confidential-url.ts'
import type { AddFault } from './read.ts'

/** Reads the origin that users and providers see. */
export function readPublicUrl(
  text: string | undefined,
  port: number,
  development: boolean,
  addFault: AddFault,
): URL {
  const fallback = new URL(`http://localhost:${port}`)
  if (text === undefined) {
    if (!development)
      addFault(
        'PUBLIC_URL',
        'is missing: the origin that users and providers see, such as https://gatepass.example.com.',
      )
    return fallback
  }
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (
    url === undefined ||
    !['http:', 'https:'].includes(url.protocol) ||
    url.username !== '' ||
    url.password !== ''
  ) {
    addFault('PUBLIC_URL', 'must be an http or https URL such as https://gatepass.example.com.')
    return fallback
  }
  if (!isConfidential(url, development))
    addFault(
      'PUBLIC_URL',
      `must be https: over plain http://, anyone on the network path can read the codes and cookies of users, and browsers refuse the cookies and headers that tell their clicks from another site's. Put TLS before Gatepass and name its https origin; only a loopback host (localhost, 127.0.0.1) may be http.`,
    )
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    addFault('PUBLIC_URL', `must be an origin alone, without a path: ${url.origin}.`)
  return new URL(url.origin)
}
