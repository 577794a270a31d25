import type { ApiKey } from '../../domain/api-key.ts'
import type { RequestContext } from '../../services/request-context.ts'
import type { Received } from './request-header.ts'
import { requestId } from './request-id.ts'

/** The context in which the work of a request with an API key runs. */
export function callerContext(c: Received, caller: ApiKey, purpose: string): RequestContext {
  const { id, userId: onlyUser } = caller
  const onApproval = (approvalId: string) => {
    if (!c.finalized) c.header('x-gatepass-approval', approvalId)
  }
  const actor = { kind: 'api_key', id } as const
  const context = { actor, apiKey: caller, purpose, requestId: requestId(c), onApproval }
  return onlyUser === undefined ? context : { ...context, onlyUser }
}
