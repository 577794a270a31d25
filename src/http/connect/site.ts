import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'

/** Where the browser is: at the site of one project, or at the public URL. */
export interface Site {
  readonly url: URL
  /** The project whose site it is; absent at the public URL. */
  readonly projectId?: string
}

/**
 * The site to which a request was sent. The `Host` header only chooses among the sites of projects, whose URLs come from
 * the store; every other host counts as that of the public URL (RFC 9700 section 4.13).
 */
export function siteOf(
  c: Context,
  { sites, settings, usersUrl }: Pick<Broker, 'sites' | 'settings' | 'usersUrl'>,
): Site {
  const projectId = sites.size === 0 ? undefined : sites.projectAt(hostNameOf(c.req.header('host')))
  return projectId === undefined ? { url: settings.publicUrl } : { url: usersUrl(projectId), projectId }
}

/** The host name in a `Host` header, in lower case and without the port. */
export function hostNameOf(header: string | null | undefined): string {
  if (header == null) return ''
  const port = header.lastIndexOf(':')
  return (port === -1 ? header : header.slice(0, port)).toLowerCase()
}
