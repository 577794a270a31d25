import type { Broker } from '../broker.ts'
import { type Authorization, isSettled } from '../domain/authorization.ts'
import { sha256 } from '../domain/ids.ts'

/** The authorization's `next_uri`; `undefined` where its row was changed to another origin than callers may name. */
export function nextUriOf(broker: Broker, { nextUri, projectId }: Authorization): string | undefined {
  if (nextUri === undefined || !URL.canParse(nextUri)) return undefined
  return isNextOrigin(broker, projectId, new URL(nextUri).origin) ? nextUri : undefined
}

/** Whether callers of the project may name addresses of this origin as `next_uri`. */
export function isNextOrigin(broker: Broker, projectId: string, origin: string): boolean {
  return broker.settings.nextOrigins.has(origin) || origin === broker.usersUrl(projectId).origin
}

function isOfConsole({ settings }: Broker, { origin, pathname }: URL): boolean {
  return origin === settings.publicUrl.origin && pathname.startsWith('/dashboard/')
}

/**
 * The caller's `next_uri` with `auth_id`, `status` and, after a failure, `reason`. `undefined` if the authorization has not
 * ended or has no `next_uri`. Only the browser that clicked is sent there, so that a forwarded link does not bring one
 * user's result into another user's session.
 */
export function endingUri(
  broker: Broker,
  authorization: Authorization,
  browserId: string | undefined,
): string | undefined {
  const nextUri = nextUriOf(broker, authorization)
  if (!isSettled(authorization) || nextUri === undefined) return undefined
  const { id, status, browserHash } = authorization
  if (browserHash !== undefined && (browserId === undefined || sha256(browserId) !== browserHash))
    return undefined
  const url = new URL(nextUri)
  // this browser belongs to the wrong user; the console, which has a login of its own, shows an operator the test's result
  if (status === 'failed' && authorization.reason === 'user_mismatch' && !isOfConsole(broker, url))
    return undefined
  const ending = {
    auth_id: id,
    status,
    ...(status === 'failed' && { reason: authorization.reason }),
  }
  if ([...Object.keys(ending), 'reason'].some((name) => url.searchParams.has(name))) {
    url.searchParams.delete('reason')
    for (const [name, value] of Object.entries(ending)) url.searchParams.set(name, value)
  } else {
    // appended, so that the caller's own query stays as it was written
    const added = new URLSearchParams(ending).toString()
    url.search = url.search === '' ? added : `${url.search}&${added}`
  }
  return url.href
}
