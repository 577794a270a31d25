import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../../broker.ts'
import type { ApiKey } from '../../domain/api-key.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { BegunRun } from '../../domain/execution.ts'
import { sha256 } from '../../domain/ids.ts'
import type { Sealed } from '../../domain/sealed.ts'
import { runOnce } from '../../services/run-once.ts'
import type { KeptAnswer } from '../../store/answers.ts'
import { type SealedPlace, UnsealError } from '../../store/seal.ts'
import { answerPlace } from '../../store/sealed-columns.ts'
import { STATUS } from './errors.ts'

const KEPT_SECONDS = 10 * 60
const PROLONG_MS = 60_000
/** How long a repeat waits for the first one's answer, and how often it looks whether the first one's process is alive. */
const LONGEST_WAIT_MS = 5 * 60_000
const LOOK_FOR_LIFE_MS = 1_000
/** How long it is tried to write what became of a request, while the database is away, and how often. */
const LONGEST_WRITE_MS = 60_000
const WRITE_PAUSE_MS = 500
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

/** The claim of a process that has died. */
interface Abandoned {
  readonly abandoned: KeptAnswer
}

export interface CarriedOut {
  readonly response: Response
  /** Nothing came of it that would have to stand: the same request again is carried out. */
  readonly mayBeRepeated: boolean
}

/**
 * Carries a named request out once: the same again, also while the first is under way and whichever process it
 * reaches, gets the first one's answer. Answers are kept sealed for ten minutes. When the first one's process dies, a
 * repeat learns it within seconds: it is carried out again where nothing was begun that must not be done twice, else it
 * is answered `outcome_unknown`. Throws what `carryOut` throws, after which the name is free again; `invalid_request` for
 * a name that was used for another request; `rate_limited`.
 */
export type AnswerOnce = (of: NamedRequest, carryOut: () => Promise<CarriedOut>) => Promise<Response>

interface Answer {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
}

export function createAnswerOnce(broker: Broker): AnswerOnce {
  const { store, sealer, now, log, liveness } = broker
  const { answers } = store

  let waiting = 0

  /** What the first one's answer is, once there is one; `undefined` when it was not kept. */
  async function untilAnswered(
    place: string,
    kept: KeptAnswer,
    { kind, signal }: NamedRequest,
  ): Promise<KeptAnswer | Abandoned | undefined> {
    let current: KeptAnswer | undefined = kept
    const began = performance.now()
    let nextLook = began
    if (kept.answer === undefined && waiting >= MAX_WAITING)
      throw new BrokerError(
        'rate_limited',
        `The first request with this ${kind} is still under way. Ask again later.`,
        { retryAfter: 2 },
      )
    waiting++
    try {
      for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 1.2, LAST_LOOK_MS)) {
        if (current === undefined || current.answer !== undefined || signal.aborted) return current
        if (performance.now() >= nextLook) {
          nextLook = performance.now() + LOOK_FOR_LIFE_MS
          const abandoned = await abandonedClaim(place, current)
          if (abandoned !== undefined) return { abandoned }
        }
        if (performance.now() - began >= LONGEST_WAIT_MS) return current
        await sleep(pause)
        current = await answers.find(place)
      }
    } finally {
      waiting--
    }
  }

  /** The claim as it stands, if its process is dead. */
  async function abandonedClaim(
    place: string,
    { owner, claimedBy }: KeptAnswer,
  ): Promise<KeptAnswer | undefined> {
    if (claimedBy === undefined || (await liveness.isAlive(claimedBy))) return undefined
    const current = await answers.find(place) // it may have been answered right before the process ended
    return current?.owner === owner && current.answer === undefined ? current : undefined
  }

  return (of, carryOut) => liveness.whileAlive((processId) => answer(of, carryOut, processId))

  async function answer(
    of: NamedRequest,
    carryOut: () => Promise<CarriedOut>,
    claimedBy: string,
  ): Promise<Response> {
    const { caller, name, kind, signal } = of
    const { projectId } = caller
    const place = sha256(JSON.stringify([caller.id, ...name]))
    const request = sha256(of.request)
    const owner = randomUUID()
    const claim = { projectId, owner, request, claimedBy, seconds: KEPT_SECONDS }
    let over: string | undefined
    for (let isFirst = true; ; isFirst = false) {
      const stands = await answers.claim(place, claim, now(), over)
      if (stands === 'claimed') break
      if (isFirst) of.onRepeated?.()
      if (stands.request !== request)
        throw new BrokerError('invalid_request', `This ${kind} was used for another request. Use a new one.`)
      const known = await untilAnswered(place, stands, of)
      if (known !== undefined && 'abandoned' in known) {
        const { abandoned } = known
        if (abandoned.begun !== undefined) return outcomeUnknown(of, place, abandoned, abandoned.begun)
        over = abandoned.owner // nothing was begun that would be done twice
        continue
      }
      const answer = known?.answer
      // not kept, since it asked for a retry: this is the retry
      if (answer === undefined && !signal.aborted) continue
      return answer === undefined
        ? new Response(null, { status: 499 })
        : open(answerPlace(place, projectId), answer, kind)
    }

    const stillUnderWay = setInterval(() => {
      answers.prolong(place, owner, KEPT_SECONDS, now()).catch((error: unknown) => {
        log.warn(
          { reason: error instanceof BrokerError ? error.code : 'unknown' },
          'the place of a request could not be kept while it is carried out',
        )
      })
    }, PROLONG_MS)
    const writeDown = async (run: BegunRun) => {
      if (!(await answers.begin(place, owner, run, KEPT_SECONDS, now())))
        throw new BrokerError(
          'outcome_unknown',
          `Another request with this ${kind} has taken over meanwhile, so nothing is run for this one.`,
        )
    }
    const { response, mayBeRepeated } = await runOnce(writeDown, carryOut)
      .catch(async (error: unknown) => {
        await written(() => answers.release(place, owner))
        throw error
      })
      .finally(() => clearInterval(stillUnderWay))
    const { status, headers } = response
    const body = await response.clone().text()
    const kept = [...headers].filter(([header]) => !NOT_KEPT.includes(header))
    const answer: Answer = body.length <= MAX_KEPT ? { status, headers: kept, body } : tooLarge(kind)
    const sealed = sealer.seal(JSON.stringify(answer), answerPlace(place, projectId))
    await written(() =>
      mayBeRepeated
        ? answers.release(place, owner)
        : answers.settle(place, owner, sealed, KEPT_SECONDS, now()),
    )
    return response
  }

  /**
   * Writes what became of a request. It was carried out, so its caller is told also while the database is away; then it
   * is tried for a while beside that, and repeats wait.
   */
  async function written(write: () => Promise<void>): Promise<void> {
    try {
      await write()
    } catch (error) {
      log.warn(
        { reason: error instanceof BrokerError ? error.code : 'unknown' },
        'what became of a request could not be written yet',
      )
      void liveness.whileAlive(() => insist(write)).catch(() => {})
    }
  }

  async function insist(write: () => Promise<void>): Promise<void> {
    const began = performance.now()
    for (;;) {
      await sleep(WRITE_PAUSE_MS, undefined, { ref: false })
      try {
        return await write()
      } catch (error) {
        if (performance.now() - began < LONGEST_WRITE_MS) continue
        log.error(
          { reason: error instanceof BrokerError ? error.code : 'unknown' },
          'what became of a request was not written',
        )
        return
      }
    }
  }

  /** Kept for as long after each repeat as an answer is. */
  async function outcomeUnknown(
    { caller: { projectId }, kind }: NamedRequest,
    place: string,
    { owner }: KeptAnswer,
    { executionId, toolId }: BegunRun,
  ): Promise<Response> {
    await answers.prolong(place, owner, KEPT_SECONDS, now())
    const execution = await store.executions.find(projectId, executionId)
    const body = {
      name: 'outcome_unknown',
      message:
        execution === undefined
          ? `The process that carried out the first request with this ${kind} has died after it began to run "${toolId}", which does not say that running it twice is safe. It may have run or not, and is not run again. Look at what it does, then use a new ${kind}.`
          : `The process that carried out the first request with this ${kind} has died before it answered. The run of "${toolId}" is in the history: GET /v1/executions/${executionId}.`,
      execution_id: executionId,
      tool_id: toolId,
      status: execution?.status ?? 'unknown',
    }
    return new Response(JSON.stringify(body), {
      status: STATUS.outcome_unknown,
      // the clients of Arcade repeat a 409 by themselves
      headers: { 'content-type': 'application/json', 'x-should-retry': 'false' },
    })
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
