import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import type { Authorization } from '../../domain/authorization.ts'
import { connectUrl } from '../../flows/acquire-tokens.ts'
import { pageHeaders } from '../pages/page-headers.ts'
import { endingResponse, linkNotFound } from './show-authorization.ts'
import { siteOf } from './site.ts'

/**
 * The answer to a request for an authorization's page that came to another site than its project's; `undefined` at the
 * right one. A page of the public URL moves to the domain. At the domain of another project it does not exist.
 */
export function elsewhere(
  c: Context,
  broker: Broker,
  authorization: Pick<Authorization, 'id' | 'projectId'>,
): Response | Promise<Response> | undefined {
  const site = siteOf(c, broker)
  if (site.projectId !== undefined && site.projectId !== authorization.projectId) return linkNotFound(c)
  if (site.url.origin === broker.usersUrl(authorization.projectId).origin) return undefined
  const page = new URL(connectUrl(broker, authorization))
  // the content security policy of the page that sent the form does not let it redirect to another host
  if (c.req.method === 'POST') return endingResponse(c, { kind: 'foreign_click', lookAgain: page.href }, 403)
  page.search = new URL(c.req.url).search
  pageHeaders(c)
  return c.redirect(page.href, 303)
}
