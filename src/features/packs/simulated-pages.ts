import { Hono } from 'hono'
import { PAGE_HEADERS, refusalPage, simulatedConsentPage } from '../../dev-provider/pages.ts'
import { RequestFault } from '../../dev-provider/simulator/check-request.ts'
import type { SimulatedPacks } from './simulated-packs.ts'

/** Where the consent page of a simulated authorization server is, below `/sandbox`. */
export const SIMULATED_PAGES = '/simulated'

/** The consent pages: GET shows one, and its form POSTs to the same URL. Any visitor may approve. */
export function simulatedPages(packs: SimulatedPacks, publicUrl: URL): Hono {
  return new Hono().on(['GET', 'POST'], `${SIMULATED_PAGES}/:provider`, async (c) => {
    for (const [name, value] of Object.entries(PAGE_HEADERS)) c.header(name, value)
    const provider = c.req.param('provider')
    const consents = packs.consentsOf(provider)
    if (consents === undefined)
      return c.html(refusalPage(`No authorization server of "${provider}" is simulated here.`), 404)
    const { pathname, search } = new URL(c.req.url)
    const url = new URL(pathname + search, publicUrl)
    if (c.req.method !== 'POST') return c.html(simulatedConsentPage(provider, consents.scopesAskedBy(url)))
    const decision = new URLSearchParams(await c.req.text()).get('decision')
    if (decision !== 'allow' && decision !== 'deny')
      return c.html(refusalPage('The form has no decision (allow or deny).'), 400)
    try {
      return c.redirect(consents.authorize(url, decision === 'allow' ? 'approve' : 'deny').href, 303)
    } catch (error) {
      if (!(error instanceof RequestFault)) throw error
      return c.html(refusalPage(`The authorization request ${error.message}.`), 400)
    }
  })
}
