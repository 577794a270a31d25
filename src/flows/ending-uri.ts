import { type Authorization, isSettled } from '../domain/authorization.ts'
import { sha256 } from '../domain/ids.ts'

/**
 * The caller's `next_uri` with `auth_id`, `status` and, after a failure, `reason`. `undefined` if the authorization has not
 * ended or has no `next_uri`. Only the browser that clicked is sent there, so that a forwarded link does not bring one
 * user's result into another user's session.
 */
export function endingUri(authorization: Authorization, browserId: string | undefined): string | undefined {
  if (!isSettled(authorization) || authorization.nextUri === undefined) return undefined
  const { id, status, browserHash } = authorization
  if (browserHash !== undefined && (browserId === undefined || sha256(browserId) !== browserHash))
    return undefined
  // this browser belongs to the wrong user
  if (status === 'failed' && authorization.reason === 'user_mismatch') return undefined
  const url = new URL(authorization.nextUri)
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
