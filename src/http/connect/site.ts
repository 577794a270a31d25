import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { hostNameOf } from '../../domain/domain-name.ts'

/** Where the browser is: at the domain of one project, or at the public URL. */
export interface Site {
  readonly url: URL
  /** The project whose domain it is; absent at the public URL. */
  readonly projectId?: string
}

/**
 * The site to which a request was sent. The `Host` header only chooses among the proved domains, whose URLs come from
 * the store; every other host counts as that of the public URL (RFC 9700 section 4.13).
 */
export function siteOf(
  c: Context,
  { domains, settings, usersUrl }: Pick<Broker, 'domains' | 'settings' | 'usersUrl'>,
): Site {
  const projectId = domains.size === 0 ? undefined : domains.projectAt(hostNameOf(c.req.header('host') ?? ''))
  return projectId === undefined ? { url: settings.publicUrl } : { url: usersUrl(projectId), projectId }
}
