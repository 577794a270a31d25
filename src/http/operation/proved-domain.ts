import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'

/**
 * Tells a TLS proxy that gets certificates on demand, such as Caddy by its `ask`, for which host names it may: those that
 * a project has proved. It needs no key, since certificates are public, and is answered from memory.
 */
export function addProvedDomain(app: OpenAPIHono, { domains }: Pick<Broker, 'domains'>): void {
  app.get('/domains/proved', async (c) => {
    await domains.settled()
    const isProved = domains.projectAt((c.req.query('domain') ?? '').toLowerCase()) !== undefined
    return isProved ? c.text('proved') : c.text('No project has proved this domain.', 404)
  })
}
