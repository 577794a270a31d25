import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import type { Authorization } from '../../domain/authorization.ts'
import { connectUrl } from '../../flows/acquire-tokens.ts'
import { pageHeaders } from '../pages/page-headers.ts'
import { endingResponse, linkNotFound } from './show-authorization.ts'
import { siteOf } from './site.ts'

/**
 * Answers a request for the page of an authorization if the request came to the wrong site. From the public URL the
 * browser is redirected to the domain of the authorization's project. At the domain of another project the page does
 * not exist. Returns `undefined` at the right site.
 */
export function answerAtWrongSite(
  c: Context,
  broker: Broker,
  authorization: Pick<Authorization, 'id' | 'projectId'>,
): Response | Promise<Response> | undefined {
  const site = siteOf(c, broker)
  if (site.projectId !== undefined && site.projectId !== authorization.projectId) return linkNotFound(c)
  if (site.url.origin === broker.usersUrl(authorization.projectId).origin) return undefined
  const page = new URL(connectUrl(broker, authorization))
  // the content security policy of the page that sent the form forbids a redirect to another host
  if (c.req.method === 'POST') return endingResponse(c, { kind: 'foreign_click', lookAgain: page.href }, 403)
  page.search = new URL(c.req.url).search
  pageHeaders(c)
  return c.redirect(page.href, 303)
}
