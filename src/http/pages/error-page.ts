import type { Context } from 'hono'
import type { BrokerError } from '../../domain/errors.ts'
import { STATUS } from '../endpoint/errors.ts'
import { endingPage } from './ending-page.ts'
import { pageHeaders } from './page-headers.ts'
import { wordsFor } from './texts/language-of.ts'

/** Paths for programs. Their errors are JSON, also for a request that accepts HTML. */
const PROGRAMS =
  /^\/(v1|oauth2|oxp|mcp|token|register|revoke|jwks|\.well-known|proxy|metrics|health|ready|openapi\.json|assets)(\/|$)/

/** Whether the request comes from a browser that opens a page: such a request accepts HTML. */
export function wantsPage(c: Context): boolean {
  return c.req.header('accept')?.includes('text/html') === true && !PROGRAMS.test(c.req.path)
}

/** The response to a browser that shows the refusal as a page. */
export function errorPage(c: Context, { code }: BrokerError): Response | Promise<Response> {
  pageHeaders(c)
  const status = STATUS[code]
  const kind = status === 404 ? 'not_found' : status < 500 ? 'refused_request' : 'problem'
  return c.html(endingPage({ kind }, wordsFor(c)), status)
}
