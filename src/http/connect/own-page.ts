import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { siteOf } from './site.ts'

/**
 * Whether a form was submitted from this broker's own page and not from another site (cross-site request forgery).
 * Browsers send `Sec-Fetch-Site` over https and to loopback hosts only. Over http on a network, as in development,
 * `Origin` is compared instead; the page's referrer policy lets browsers send `Origin`.
 *
 * @param options.withoutHeaders what happens to a request with neither header, which no current browser sends.
 */
export function isFromOwnPage(
  c: Context,
  broker: Pick<Broker, 'settings' | 'sites' | 'usersUrl'>,
  { withoutHeaders = 'allowed' }: { readonly withoutHeaders?: 'allowed' | 'refused' } = {},
): boolean {
  const site = c.req.header('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin'
  const origin = c.req.header('origin')
  if (origin === undefined) return withoutHeaders === 'allowed'
  return origin === siteOf(c, broker).url.origin
}
