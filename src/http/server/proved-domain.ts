import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'

/**
 * Tells a TLS proxy with on-demand certificates (Caddy's `ask`) whether it may request a certificate for a host name: 200
 * if a project has proved the domain, else 404. It needs no key, since certificates are public, and answers from memory.
 */
export function addProvedDomain(app: OpenAPIHono, { domains }: Pick<Broker, 'domains'>): void {
  app.get('/domains/proved', async (c) => {
    await domains.settled()
    const isProved = domains.projectAt((c.req.query('domain') ?? '').toLowerCase()) !== undefined
    return isProved ? c.text('proved') : c.text('No project has proved this domain.', 404)
  })
}
