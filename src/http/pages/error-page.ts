import type { Context } from 'hono'
import type { BrokerError } from '../../domain/errors.ts'
import { STATUS } from '../endpoint/errors.ts'
import { endingPage } from './ending-page.ts'
import { pageHeaders } from './page-headers.ts'

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
  if (status === 404) return c.html(endingPage({ kind: 'not_found', message: NOTHING_HERE }), status)
  return c.html(endingPage({ kind: 'problem', message: status < 500 ? REFUSED : FAILED }), status)
}

const NOTHING_HERE = 'There is no such page here. If an application gave you the link, ask it for a new one.'
const REFUSED = 'This request cannot be taken as it is. Go back to your application and start again.'
const FAILED =
  'Something went wrong here, and whoever runs this service finds it in its log. Try again shortly.'
