import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { MiddlewareHandler } from 'hono'
import type { Broker } from '../broker.ts'
import { BrokerError } from '../domain/errors.ts'
import { sha256 } from '../domain/ids.ts'
import type { Sealed } from '../domain/sealed.ts'
import { type SealedPlace, UnsealError } from '../store/seal.ts'
import { answerPlace } from '../store/sealed-columns.ts'
import type { KeptAnswer } from '../store/store.ts'
import type { Authenticate } from './authenticate.ts'
import { limitBody, MAX_API_BODY_BYTES } from './body-limit.ts'
import { MAX_IDEMPOTENCY_KEY } from './limits.ts'
import type { Charge } from './rate-limit.ts'

const KEPT_SECONDS = 10 * 60
/** Longer than a tool may run: when the process that carries the request out dies, the place is free again after it. */
const CLAIM_SECONDS = 5 * 60
const LOOK_MS = 50
/** How many at once may wait for an answer that another request is getting: each looks for it again and again. */
const MAX_WAITING = 1_000
const MAX_KEPT_BYTES = 256 * 1024
/** Clients try these again with the same key and mean it. */
const TRIED_AGAIN = (status: number) => status >= 500 || [408, 409, 429].includes(status)
/** What is said of one answer alone, and what the connection says for itself. */
const NOT_KEPT = ['x-request-id', 'date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length']

interface Answer {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
}

/**
 * A POST with an `Idempotency-Key` is carried out once: the same request again, also while the first is under way and
 * whichever process it reaches, gets the first one's answer. Arcade's clients retry POSTs with the same key after a
 * timeout. Answers are kept sealed for ten minutes; those that ask for a retry are not kept.
 */
export function idempotent(broker: Broker, authenticate: Authenticate, charge: Charge): MiddlewareHandler {
  const { store, sealer, now, log } = broker
  const { answers } = store

  let waiting = 0

  /** What the first one's answer is, once there is one; `undefined` when it was not kept. */
  async function untilAnswered(
    place: string,
    kept: KeptAnswer,
    signal: AbortSignal,
  ): Promise<KeptAnswer | undefined> {
    let current: KeptAnswer | undefined = kept
    const end = now() + CLAIM_SECONDS
    if (kept.answer === undefined && waiting >= MAX_WAITING)
      throw new BrokerError(
        'rate_limited',
        'The first request with this Idempotency-Key is still under way. Ask again later.',
        { retryAfter: 2 },
      )
    waiting++
    try {
      while (current !== undefined && current.answer === undefined && now() < end && !signal.aborted) {
        await sleep(LOOK_MS)
        current = await answers.find(place)
      }
      return current
    } finally {
      waiting--
    }
  }

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
    const { projectId } = caller
    const owner = randomUUID()
    for (;;) {
      const stands = await answers.claim(
        place,
        { projectId, owner, request, until: now() + CLAIM_SECONDS },
        now(),
      )
      if (stands === 'claimed') break
      if (stands.request !== request)
        throw new BrokerError(
          'invalid_request',
          'This Idempotency-Key was used for another request. Use a new one.',
        )
      const { answer } = (await untilAnswered(place, stands, c.req.raw.signal)) ?? {}
      // not kept, since it asked for a retry: this is the retry
      if (answer === undefined && !c.req.raw.signal.aborted) continue
      charge(caller) // the first was charged where it was carried out
      return answer === undefined
        ? new Response(null, { status: 499 })
        : open(answerPlace(place, projectId), answer)
    }

    try {
      await next()
    } catch (error) {
      await answers.release(place, owner)
      throw error
    }
    const { status, headers } = c.res
    const body = await c.res.clone().text()
    const isKept = !TRIED_AGAIN(status) && body.length <= MAX_KEPT_BYTES
    const kept = [...headers].filter(([name]) => !NOT_KEPT.includes(name))
    const answer: Answer = { status, headers: kept, body }
    const settled = isKept
      ? answers.settle(
          place,
          owner,
          sealer.seal(JSON.stringify(answer), answerPlace(place, projectId)),
          now() + KEPT_SECONDS,
        )
      : answers.release(place, owner)
    await settled.catch((error: unknown) => {
      // it was carried out, so its caller is told; the place stays claimed for a while, so that it is not done again
      log.warn(
        { reason: error instanceof BrokerError ? error.code : 'unknown' },
        'an answer could not be kept',
      )
    })
    return undefined
  }

  function open(place: SealedPlace, sealed: Sealed): Response {
    try {
      const { status, headers, body } = JSON.parse(sealer.open(sealed, place)) as Answer // as it was sealed above
      return new Response(body, {
        status,
        headers: headers.map(([name, value]): [string, string] => [name, value]),
      })
    } catch (cause) {
      if (!(cause instanceof UnsealError)) throw cause
      throw new BrokerError(
        'store_unavailable',
        'The answer that was kept for this Idempotency-Key cannot be read. Look what became of the request, then use a new key.',
        { cause },
      )
    }
  }
}
