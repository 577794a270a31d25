import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Broker } from '../../broker.ts'
import { wordsAndBrand } from '../../http/connect/show-authorization.ts'
import { pageHeaders } from '../../http/pages/page-headers.ts'
import type { KoaAnswer } from './node-request.ts'
import { type Refusal, refusalPage } from './refusal-page.ts'

export type RefusalStatus = 400 | 429 | 503
/** Answers with a page that says why the request of a client was refused. */
export type Refuse = (c: Context, status: RefusalStatus, refusal: Refusal) => Promise<Response>

/** Makes the response to a client from an answer of oidc-provider. */
export function toClient(c: Context, answer: KoaAnswer): Response {
  passHeaders(c, answer)
  c.header('cache-control', 'no-store')
  c.header('x-content-type-options', 'nosniff')
  return c.body(answer.body ?? '', answer.status as ContentfulStatusCode) // oidc-provider sets valid ones
}

/** Makes the response to a browser from an answer of oidc-provider: a redirect, or a page that shows the error. */
export function toBrowser(c: Context, answer: KoaAnswer, refuse: Refuse): Response | Promise<Response> {
  passHeaders(c, answer)
  if (answer.status >= 400) return refuse(c, answer.status >= 500 ? 503 : 400, refusalIn(answer))
  pageHeaders(c)
  return c.body(answer.body ?? '', answer.status as ContentfulStatusCode) // a redirect
}

/** Makes the function for refusals, in the language of the browser and with the branding of the project. */
export function createRefuse(broker: Broker, projectId: string): Refuse {
  return async (c, status, refusal) => {
    pageHeaders(c)
    const look = await wordsAndBrand(c, broker, { projectId })
    c.header('content-type', 'text/html; charset=UTF-8')
    return c.html(refusalPage({ ...refusal, ...look }), status)
  }
}

/** Reads the error that `renderError` of provider.ts has written. */
function refusalIn({ body }: KoaAnswer) {
  const { error, error_description: description } = JSON.parse(body ?? '{}')
  return { error: String(error), description: description === undefined ? undefined : String(description) }
}

const PASSED_HEADERS = ['content-type', 'location', 'set-cookie', 'www-authenticate']

/** Copies the needed headers of oidc-provider's answer. The routes set the headers for CORS and caching. */
function passHeaders(c: Context, { headers }: KoaAnswer): void {
  for (const [name, value] of headers)
    if (PASSED_HEADERS.includes(name)) c.header(name, value, { append: name === 'set-cookie' })
}
