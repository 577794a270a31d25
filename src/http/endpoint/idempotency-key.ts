import type { Context, MiddlewareHandler } from 'hono'
import type { Broker } from '../../broker.ts'
import { invalidMember } from '../../domain/errors.ts'
import type { Authenticate } from './authenticate.ts'
import { limitBody, MAX_API_BODY_BYTES } from './body-limit.ts'
import { MAX_IDEMPOTENCY_KEY } from './fields.ts'
import { createExecuteOnce } from './idempotency.ts'
import type { Charge } from './rate-limit.ts'
import { requestHeader } from './request-header.ts'

/** Statuses after which clients repeat a request with the same key, and expect it to be executed. */
const isRetried = (status: number) => status >= 500 || [408, 409, 429].includes(status)

const withoutEffect = new WeakSet<Request>()

/** Marks a request that had no effect. Its answer is not kept, so that a repetition of it is executed. */
export function markWithoutEffect(c: Context): void {
  withoutEffect.add(c.req.raw)
}

/**
 * A middleware that executes a POST with an `Idempotency-Key` once (`ExecuteOnce`), because Arcade's clients repeat POSTs
 * with the same key after a timeout. Answers after which clients retry are not kept.
 */
export function idempotent(broker: Broker, authenticate: Authenticate, charge: Charge): MiddlewareHandler {
  const executeOnce = createExecuteOnce(broker)

  return async (c, next) => {
    const key = requestHeader(c, 'idempotency-key')
    if (key === undefined) return next()
    const caller = await authenticate(c, 'readonly')
    if (key.length > MAX_IDEMPOTENCY_KEY)
      throw invalidMember(
        'Idempotency-Key',
        'too_long',
        `An Idempotency-Key has at most ${MAX_IDEMPOTENCY_KEY} characters.`,
      )
    await limitBody(c, MAX_API_BODY_BYTES)
    const request = {
      caller,
      key: [c.req.path, key],
      content: await c.req.text(),
      kind: 'Idempotency-Key',
      signal: c.req.raw.signal,
      onRepeated: () => charge(caller), // the endpoint charges the first request
    } as const
    return executeOnce(request, async () => {
      await next()
      return { response: c.res, mayBeRepeated: isRetried(c.res.status) || withoutEffect.has(c.req.raw) }
    })
  }
}
