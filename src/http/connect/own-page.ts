import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'

/**
 * Whether a form was submitted from this broker's own page and not from another site (cross-site request forgery).
 * Browsers send `Sec-Fetch-Site` over https and to loopback hosts only. Elsewhere, in development on a network, `Origin`
 * decides, which the referrer policy of the page allows browsers to send.
 */
export function isFromOwnPage(c: Context, broker: Pick<Broker, 'settings'>): boolean {
  const site = c.req.header('sec-fetch-site')
  if (site !== undefined) return site === 'same-origin'
  const origin = c.req.header('origin')
  return origin === undefined || origin === broker.settings.publicUrl.origin
}
