import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import type { ApiKey } from '../../domain/api-key.ts'
import { invalidMember } from '../../domain/errors.ts'
import { MAX_IDEMPOTENCY_KEY } from '../../operations/schemas/fields.ts'
import { createExecuteOnce } from './idempotency.ts'
import { requestHeader } from './request-header.ts'

/** Whether clients repeat a request with the same key after this status, and expect it to be executed. */
const isRetried = (status: number) => status >= 500 || [408, 409, 429].includes(status)

const withoutEffect = new WeakSet<Request>()

/** Marks a request that had no effect. Its answer is not kept, so that a repeated request is executed. */
export function markWithoutEffect(c: Context): void {
  withoutEffect.add(c.req.raw)
}

interface CheckedRequest {
  readonly c: Context
  readonly caller: ApiKey
  readonly path: string
  readonly body: string
}

/**
 * Executes a checked request. One with an `Idempotency-Key` is executed once (`ExecuteOnce`), because Arcade's clients
 * repeat POSTs with the same key after a timeout. Refusals are kept too, except those after which clients retry.
 */
export type ExecuteByKey = (
  request: CheckedRequest,
  execute: () => Response | Promise<Response>,
) => Response | Promise<Response>

/** `refuse` makes the response of a refusal. */
export function createExecuteByKey(
  broker: Broker,
  refuse: (c: Context, error: unknown) => Response | Promise<Response>,
): ExecuteByKey {
  const executeOnce = createExecuteOnce(broker)

  return ({ c, caller, path, body }, execute) => {
    const key = requestHeader(c, 'idempotency-key')
    if (key === undefined) return execute()
    checkKey(key)
    const request = {
      caller,
      key: [path, key],
      content: body,
      kind: 'Idempotency-Key',
      signal: c.req.raw.signal,
    } as const
    return executeOnce(request, async () => {
      const response = await Promise.resolve()
        .then(execute)
        .catch((error: unknown) => refuse(c, error))
      return { response, mayBeRepeated: isRetried(response.status) || withoutEffect.has(c.req.raw) }
    })
  }
}

function checkKey(key: string): void {
  if (key === '')
    throw invalidMember(
      'Idempotency-Key',
      'too_short',
      'The Idempotency-Key is empty. Send a key, or leave the header out.',
    )
  if (key.length > MAX_IDEMPOTENCY_KEY)
    throw invalidMember(
      'Idempotency-Key',
      'too_long',
      `An Idempotency-Key has at most ${MAX_IDEMPOTENCY_KEY} characters.`,
    )
}
