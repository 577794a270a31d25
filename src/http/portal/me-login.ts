import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { pageHeaders } from '../pages/page-headers.ts'
import { outsidePage } from '../pages/portal/enter-pages.ts'
import { wordsFor } from '../pages/texts/language-of.ts'
import type { MeSession } from './me-session.ts'

/** The login at the issuer for `/me`. Without an issuer there is only the caller's one-time link. */
export function addMeLogin(_app: OpenAPIHono, _broker: Broker, _me: MeSession) {
  return {
    /** What a browser without a session gets. */
    async start(c: Context): Promise<Response> {
      pageHeaders(c)
      return c.html(outsidePage(wordsFor(c)), 403)
    },
  }
}
