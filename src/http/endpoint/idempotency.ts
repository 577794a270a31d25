import { randomUUID } from 'node:crypto'
import type { Broker } from '../../broker.ts'
import type { ApiKey } from '../../domain/api-key.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { BegunRun } from '../../domain/execution.ts'
import { sha256 } from '../../domain/ids.ts'
import type { Sealed } from '../../domain/sealed.ts'
import { runOnce } from '../../services/run-once.ts'
import type { KeyUse } from '../../store/idempotency-keys.ts'
import { sealingContext } from '../../store/protected-tables.ts'
import { retry } from '../../store/retry.ts'
import { type SealingContext, UnsealError } from '../../store/seal.ts'
import { createAwaitAnswer, type KeyKind, LONGEST_WAIT_MS, stillUnderWay } from './await-answer.ts'
import { clientClosed, STATUS } from './errors.ts'

/** How long an answer is kept, and how long the claim of a running request lasts unless it is prolonged. */
const KEPT_SECONDS = 10 * 60
const PROLONG_MS = 60_000
/** How long, and at which interval, the outcome of a request is written again while the database is unavailable. */
const LONGEST_WRITE_MS = 60_000
const WRITE_PAUSE_MS = 500
/** Of a longer answer only the fact that the request was executed is kept. */
const MAX_KEPT_CHARACTERS = 1024 * 1024
/** Headers of the connection and of one answer, which a repeated answer sets itself. */
const HEADERS_NOT_KEPT = [
  'x-request-id',
  'date',
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
]

/** A request with a key that its caller chose, by which a repeated request is recognized. */
export interface IdempotentRequest {
  /** The API key that sent it. Other API keys never get its answer. */
  readonly caller: ApiKey
  /** The scope of the idempotency key, such as the path, and the key itself. */
  readonly key: readonly string[]
  /** The content of the request. The same key with other content is refused. */
  readonly content: string
  readonly kind: KeyKind
  readonly signal: AbortSignal
}

export interface Executed {
  readonly response: Response
  /** The request had no effect, so the answer is not kept and a repeated request is executed. */
  readonly mayBeRepeated: boolean
}

/**
 * Executes an idempotent request once. A repeated request gets the answer of the first, for which it waits if the
 * first is still running, in any process. Answers are kept sealed for ten minutes. If the process of the first
 * request dies, a repeated request notices within seconds: it is executed if the first had begun no tool run, else it
 * is answered `outcome_unknown`. Throws the errors of `execute`, after which the key is free again; `invalid_request`
 * for a key that was used for another request; `rate_limited` when the first request runs for too long to wait for
 * it.
 */
export type ExecuteOnce = (
  idempotent: IdempotentRequest,
  execute: () => Promise<Executed>,
) => Promise<Response>

interface Answer {
  readonly status: number
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string
}

export function createExecuteOnce(broker: Broker): ExecuteOnce {
  const { store, sealer, now, log, liveness } = broker
  const { idempotencyKeys: keys } = store

  const awaitAnswer = createAwaitAnswer(broker)

  return (idempotent, execute) => liveness.whileAlive((processId) => answer(idempotent, execute, processId))

  async function answer(
    idempotent: IdempotentRequest,
    execute: () => Promise<Executed>,
    claimedBy: string,
  ): Promise<Response> {
    const { caller, key, kind, signal } = idempotent
    const { projectId } = caller
    const keyHash = sha256(JSON.stringify([caller.id, ...key]))
    const request = sha256(idempotent.content)
    const owner = randomUUID()
    const claim = { projectId, owner, request, claimedBy, seconds: KEPT_SECONDS }
    const began = performance.now()
    let abandonedOwner: string | undefined
    for (let isFirstTry = true; ; isFirstTry = false) {
      const existing = await keys.claim(keyHash, claim, now(), abandonedOwner)
      if (existing === 'claimed') break
      if (existing.request !== request)
        throw new BrokerError('invalid_request', `This ${kind} was used for another request. Use a new one.`)
      const hasWaited = !isFirstTry && performance.now() - began >= LONGEST_WAIT_MS
      if (hasWaited && existing.answer === undefined) throw stillUnderWay(kind)
      const known = await awaitAnswer(keyHash, existing, { kind, signal, began })
      if (known !== undefined && 'abandoned' in known) {
        const { abandoned } = known
        if (abandoned.begun !== undefined)
          return outcomeUnknown(idempotent, keyHash, abandoned, abandoned.begun)
        abandonedOwner = abandoned.owner // the first request has begun no tool run, so this one may be executed
        continue
      }
      const answer = known?.answer
      // the first request has released its claim, or its claim may have lapsed: this request tries to claim the key
      if (answer === undefined && !signal.aborted) continue
      return answer === undefined
        ? clientClosed()
        : open(sealingContext('answers', 'answer', { place: keyHash, projectId }), answer, kind)
    }

    const prolonging = setInterval(() => {
      keys.prolong(keyHash, owner, KEPT_SECONDS, now()).catch((error: unknown) => {
        log.warn(
          { reason: error instanceof BrokerError ? error.code : 'unknown' },
          'the claim of a running request could not be prolonged',
        )
      })
    }, PROLONG_MS)
    const recordRun = async (run: BegunRun) => {
      if (!(await keys.begin(keyHash, owner, run, KEPT_SECONDS, now())))
        throw new BrokerError(
          'outcome_unknown',
          `Another request with this ${kind} has taken over, so this one runs nothing.`,
        )
    }
    const { response, mayBeRepeated } = await runOnce(recordRun, execute)
      .catch(async (error: unknown) => {
        await writeOutcome(() => keys.release(keyHash, owner))
        throw error
      })
      .finally(() => clearInterval(prolonging))
    if (mayBeRepeated) {
      await writeOutcome(() => keys.release(keyHash, owner))
      return response
    }
    const seal = (answer: Answer) =>
      sealer.seal(JSON.stringify(answer), sealingContext('answers', 'answer', { place: keyHash, projectId }))
    const settle = (sealed: Sealed) =>
      writeOutcome(() => keys.settle(keyHash, owner, sealed, KEPT_SECONDS, now()))
    try {
      await settle(seal(await answerOf(response, kind)))
    } catch (error) {
      // the request was executed, so a repetition must not execute it although there is no answer for it
      await settle(seal(notKept(kind, 'its answer could not be kept')))
      throw error
    }
    return response
  }

  async function answerOf(response: Response, kind: IdempotentRequest['kind']): Promise<Answer> {
    const { status, headers } = response
    const body = await response.clone().text()
    if (body.length > MAX_KEPT_CHARACTERS) return notKept(kind, 'its answer was too large to be kept')
    const kept = [...headers].filter(([header]) => !HEADERS_NOT_KEPT.includes(header))
    return { status, headers: kept, body }
  }

  /**
   * Writes the outcome of a request that was executed. If the database is unavailable, the caller is answered
   * nevertheless: the write is repeated in the background for a minute, during which repeated requests wait.
   */
  async function writeOutcome(write: () => Promise<void>): Promise<void> {
    try {
      await write()
    } catch (error) {
      log.warn(
        { reason: error instanceof BrokerError ? error.code : 'unknown' },
        'the outcome of a request could not be written yet',
      )
      void liveness.whileAlive(() => writeLater(write)).catch(() => {})
    }
  }

  function writeLater(write: () => Promise<void>): Promise<void> {
    return retry(write, {
      isTransient: () => true,
      mayRetry: (elapsedMs) => elapsedMs < LONGEST_WRITE_MS,
      pauseMs: () => WRITE_PAUSE_MS,
      mayProcessEnd: true,
    }).catch((error: unknown) =>
      log.error(
        { reason: error instanceof BrokerError ? error.code : 'unknown' },
        'the outcome of a request was not written',
      ),
    )
  }

  /** The answer when it is unknown whether the tool ran. Each repeated request prolongs the claim. */
  async function outcomeUnknown(
    { caller: { projectId }, kind }: IdempotentRequest,
    keyHash: string,
    { owner }: KeyUse,
    { executionId, toolId }: BegunRun,
  ): Promise<Response> {
    await keys.prolong(keyHash, owner, KEPT_SECONDS, now())
    const execution = await store.executions.find(projectId, executionId)
    const body = {
      name: 'outcome_unknown',
      message:
        execution === undefined
          ? `The process that carried out the first request with this ${kind} has died after it began to run "${toolId}", which does not say that running it twice is safe. It may or may not have run, so Gatepass does not run it again. Check what it has done, then use a new ${kind}.`
          : `The process that carried out the first request with this ${kind} has died before it answered. The run of "${toolId}" is in the history: GET /v1/executions/${executionId}.`,
      execution_id: executionId,
      tool_id: toolId,
      status: execution?.status ?? 'unknown',
    }
    return new Response(JSON.stringify(body), {
      status: STATUS.outcome_unknown,
      // Arcade's clients repeat a 409 unless this header forbids it
      headers: { 'content-type': 'application/json', 'x-should-retry': 'false' },
    })
  }

  /** The answer to repeated requests when the first was executed but its answer is not kept. */
  function notKept(kind: IdempotentRequest['kind'], why: string): Answer {
    const message = `The request with this ${kind} was carried out, and ${why}. Look its outcome up (GET /v1/executions), then use a new ${kind}.`
    return {
      status: STATUS.answer_not_kept,
      headers: [['content-type', 'application/json']],
      body: JSON.stringify({ name: 'answer_not_kept', message }),
    }
  }

  function open(context: SealingContext, sealed: Sealed, kind: IdempotentRequest['kind']): Response {
    try {
      const { status, headers, body } = JSON.parse(sealer.open(sealed, context)) as Answer // as it was sealed above
      return new Response(body, {
        status,
        headers: headers.map(([name, value]): [string, string] => [name, value]),
      })
    } catch (cause) {
      if (!(cause instanceof UnsealError)) throw cause
      throw new BrokerError(
        'store_unavailable',
        `The answer that was kept for this ${kind} cannot be read. Look the outcome of the request up, then use a new ${kind}.`,
        { cause },
      )
    }
  }
}
