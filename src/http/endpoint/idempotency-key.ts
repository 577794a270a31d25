import type { Context, MiddlewareHandler } from 'hono'
import type { Broker } from '../../broker.ts'
import { invalidMember } from '../../domain/errors.ts'
import type { Authenticate } from './authenticate.ts'
import { limitBody, MAX_API_BODY_BYTES } from './body-limit.ts'
import { MAX_IDEMPOTENCY_KEY } from './fields.ts'
import { createAnswerOnce } from './idempotency.ts'
import type { Charge } from './rate-limit.ts'

/** Clients try these again with the same key and mean it. */
const TRIED_AGAIN = (status: number) => status >= 500 || [408, 409, 429].includes(status)

const undone = new WeakSet<Request>()

/** Says that nothing was done: the answer is not kept, so that the same request is carried out once it can be. */
export function nothingWasDone(c: Context): void {
  undone.add(c.req.raw)
}

/**
 * A POST with an `Idempotency-Key` is carried out once (`AnswerOnce`). Arcade's clients retry POSTs with the same key
 * after a timeout. Answers that ask for a retry are not kept.
 */
export function idempotent(broker: Broker, authenticate: Authenticate, charge: Charge): MiddlewareHandler {
  const answerOnce = createAnswerOnce(broker)

  return async (c, next) => {
    const key = c.req.header('idempotency-key')
    if (key === undefined) return next()
    const caller = await authenticate(c, 'readonly')
    if (key.length > MAX_IDEMPOTENCY_KEY)
      throw invalidMember(
        'Idempotency-Key',
        'too_long',
        `An Idempotency-Key has at most ${MAX_IDEMPOTENCY_KEY} characters.`,
      )
    await limitBody(c, MAX_API_BODY_BYTES)
    const named = {
      caller,
      name: [c.req.path, key],
      request: await c.req.text(),
      kind: 'Idempotency-Key',
      signal: c.req.raw.signal,
      onRepeated: () => charge(caller), // the first was charged where it was carried out
    } as const
    return answerOnce(named, async () => {
      await next()
      return { response: c.res, mayBeRepeated: TRIED_AGAIN(c.res.status) || undone.has(c.req.raw) }
    })
  }
}
