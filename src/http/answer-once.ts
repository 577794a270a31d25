import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../broker.ts'
import type { ApiKey } from '../domain/api-key.ts'
import { BrokerError } from '../domain/errors.ts'
import { sha256 } from '../domain/ids.ts'
import type { Sealed } from '../domain/sealed.ts'
import { type SealedPlace, UnsealError } from '../store/seal.ts'
import { answerPlace } from '../store/sealed-columns.ts'
import type { KeptAnswer } from '../store/store.ts'
import { STATUS } from './errors.ts'

const KEPT_SECONDS = 10 * 60
/** Prolonged while the request is carried out: when its process dies, the place is free again after it. */
const CLAIM_SECONDS = 5 * 60
const PROLONG_MS = 60_000
/** Looks are further apart the longer it takes: what answers soon is told soon. */
const FIRST_LOOK_MS = 50
const LAST_LOOK_MS = 500
/** How many at once may wait for an answer that another request is getting: each looks for it again and again. */
const MAX_WAITING = 1_000
/** In characters; of what is larger only that it was carried out is kept. */
const MAX_KEPT = 1024 * 1024
/** What is said of one answer alone, and what the connection says for itself. */
const NOT_KEPT = ['x-request-id', 'date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length']

/** A request that has a name of its caller's choice, so that it can be known again. */
export interface NamedRequest {
  /** Whose name it is: an answer is not for another key, nor for one of a lesser role. */
  readonly caller: ApiKey
  /** Where the name counts, and the name. */
  readonly name: readonly string[]
  /** What is asked. The same name for something else is refused. */
  readonly request: string
  /** What such names are called, for refusals. */
  readonly kind: 'Idempotency-Key' | 'call_id'
  readonly signal: AbortSignal
  /** Told when it is found to be no first one; what it throws is thrown. */
  readonly onRepeated?: () => void
}

export interface CarriedOut {
  readonly response: Response
  /** Nothing came of it that would have to stand: the same request again is carried out. */
  readonly mayBeRepeated: boolean
}

/**
 * Carries a named request out once: the same again, also while the first is under way and whichever process it
 * reaches, gets the first one's answer. Answers are kept sealed for ten minutes. Throws what `carryOut` throws, after
 * which the name is free again; `invalid_request` for a name that was used for another request; `rate_limited`.
 */
export type AnswerOnce = (of: NamedRequest, carryOut: () => Promise<CarriedOut>) => Promise<Response>

interface Answer {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
}

export function createAnswerOnce(broker: Broker): AnswerOnce {
  const { store, sealer, now, log } = broker
  const { answers } = store

  let waiting = 0

  /** What the first one's answer is, once there is one; `undefined` when it was not kept. */
  async function untilAnswered(
    place: string,
    kept: KeptAnswer,
    { kind, signal }: NamedRequest,
  ): Promise<KeptAnswer | undefined> {
    let current: KeptAnswer | undefined = kept
    const end = now() + CLAIM_SECONDS
    if (kept.answer === undefined && waiting >= MAX_WAITING)
      throw new BrokerError(
        'rate_limited',
        `The first request with this ${kind} is still under way. Ask again later.`,
        { retryAfter: 2 },
      )
    waiting++
    try {
      for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 1.2, LAST_LOOK_MS)) {
        if (current === undefined || current.answer !== undefined || now() >= end || signal.aborted) break
        await sleep(pause)
        current = await answers.find(place)
      }
      return current
    } finally {
      waiting--
    }
  }

  return async (of, carryOut) => {
    const { caller, name, kind, signal } = of
    const { projectId } = caller
    const place = sha256(JSON.stringify([caller.id, ...name]))
    const request = sha256(of.request)
    const owner = randomUUID()
    for (let isFirst = true; ; isFirst = false) {
      const stands = await answers.claim(
        place,
        { projectId, owner, request, until: now() + CLAIM_SECONDS },
        now(),
      )
      if (stands === 'claimed') break
      if (isFirst) of.onRepeated?.()
      if (stands.request !== request)
        throw new BrokerError('invalid_request', `This ${kind} was used for another request. Use a new one.`)
      const { answer } = (await untilAnswered(place, stands, of)) ?? {}
      // not kept, since it asked for a retry: this is the retry
      if (answer === undefined && !signal.aborted) continue
      return answer === undefined
        ? new Response(null, { status: 499 })
        : open(answerPlace(place, projectId), answer, kind)
    }

    const stillUnderWay = setInterval(() => {
      answers.prolong(place, owner, now() + CLAIM_SECONDS).catch((error: unknown) => {
        log.warn(
          { reason: error instanceof BrokerError ? error.code : 'unknown' },
          'the place of a request could not be kept while it is carried out',
        )
      })
    }, PROLONG_MS)
    const { response, mayBeRepeated } = await carryOut()
      .catch(async (error: unknown) => {
        await answers.release(place, owner)
        throw error
      })
      .finally(() => clearInterval(stillUnderWay))
    const { status, headers } = response
    const body = await response.clone().text()
    const kept = [...headers].filter(([header]) => !NOT_KEPT.includes(header))
    const answer: Answer = body.length <= MAX_KEPT ? { status, headers: kept, body } : tooLarge(kind)
    const settled = !mayBeRepeated
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
    return response
  }

  /** For who asks again; the first has the answer itself. */
  function tooLarge(kind: NamedRequest['kind']): Answer {
    const message = `The request with this ${kind} was carried out, and its answer was too large to be kept. Look what became of it (GET /v1/executions), then use a new one.`
    return {
      status: STATUS.answer_not_kept,
      headers: [['content-type', 'application/json']],
      body: JSON.stringify({ name: 'answer_not_kept', message }),
    }
  }

  function open(place: SealedPlace, sealed: Sealed, kind: NamedRequest['kind']): Response {
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
        `The answer that was kept for this ${kind} cannot be read. Look what became of the request, then use a new one.`,
        { cause },
      )
    }
  }
}
