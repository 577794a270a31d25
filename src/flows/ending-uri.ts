import { type Authorization, isSettled } from '../domain/authorization.ts'
import { sha256 } from '../domain/ids.ts'

/**
 * Where the caller wants the browser at the end: its `next_uri` with `auth_id`, `status` and, when it failed, `reason`.
 * `undefined` while it has not ended, or where the caller gave none. Only the browser that clicked is led there: an
 * address of the result that was handed on to somebody else must not carry one person's result into another's session.
 */
export function endingUri(authorization: Authorization, browserId: string | undefined): string | undefined {
  if (!isSettled(authorization) || authorization.nextUri === undefined) return undefined
  const { id, status, browserHash } = authorization
  if (browserHash !== undefined && (browserId === undefined || sha256(browserId) !== browserHash))
    return undefined
  // whoever looks at it now is the wrong user
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
