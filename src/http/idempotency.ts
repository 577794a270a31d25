import type { MiddlewareHandler } from 'hono'
import { BrokerError } from '../domain/errors.ts'
import { sha256 } from '../domain/ids.ts'
import type { Authenticate } from './authenticate.ts'
import { limitBody, MAX_API_BODY_BYTES } from './body-limit.ts'
import { MAX_IDEMPOTENCY_KEY } from './limits.ts'
import type { Charge } from './rate-limit.ts'

const KEPT_MS = 10 * 60 * 1000
const MAX_KEPT = 1_000
const MAX_KEPT_BYTES = 256 * 1024
/** Clients try these again with the same key and mean it. */
const TRIED_AGAIN = (status: number) => status >= 500 || [408, 409, 429].includes(status)

interface Kept {
  readonly request: string
  readonly answer: Promise<{ readonly status: number; readonly headers: Headers; readonly body: string }>
}

/**
 * A POST with an `Idempotency-Key` is carried out once: the same request again, also while the first is under way,
 * gets the first one's answer. Arcade's clients retry POSTs with the same key after a timeout. Kept in this process,
 * for ten minutes; answers that ask for a retry are not kept.
 */
export function idempotent(authenticate: Authenticate, charge: Charge): MiddlewareHandler {
  const kept = new Map<string, Kept>()

  return async (c, next) => {
    const key = c.req.header('idempotency-key')
    if (key === undefined) return next()
    const caller = await authenticate(c, 'readonly')
    if (key.length > MAX_IDEMPOTENCY_KEY)
      throw new BrokerError(
        'invalid_request',
        `An Idempotency-Key has at most ${MAX_IDEMPOTENCY_KEY} characters.`,
      )
    // the caller's own: an answer is not for a key of a lesser role
    const place = sha256(JSON.stringify([caller.id, c.req.path, key]))
    await limitBody(c, MAX_API_BODY_BYTES)
    const request = sha256(await c.req.text())
    const known = kept.get(place)
    if (known !== undefined) {
      if (known.request !== request)
        throw new BrokerError(
          'invalid_request',
          'This Idempotency-Key was used for another request. Use a new one.',
        )
      charge(caller) // the first was charged where it was carried out
      const { status, headers, body } = await known.answer
      return new Response(body, { status, headers })
    }

    const answer = Promise.withResolvers<Awaited<Kept['answer']>>()
    answer.promise.catch(() => {}) // whoever waits hears of it; nobody else has to
    if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value ?? place)
    kept.set(place, { request, answer: answer.promise })
    const forget = () => void kept.delete(place)
    try {
      await next()
      const { status, headers } = c.res
      const body = await c.res.clone().text()
      answer.resolve({ status, headers: new Headers(headers), body })
      if (TRIED_AGAIN(status) || body.length > MAX_KEPT_BYTES) forget()
      else setTimeout(forget, KEPT_MS).unref()
    } catch (error) {
      forget()
      answer.reject(error)
      throw error
    }
    return undefined
  }
}
