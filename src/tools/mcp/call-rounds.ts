import { setTimeout as sleep } from 'node:timers/promises'
import {
  type ElicitResult,
  type InputRequiredResult,
  isInputRequiredResult,
  ProtocolError,
} from '@modelcontextprotocol/client'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { ContextRequiredError } from '../../sdk/tools/errors.ts'
import { asText } from '../read-json.ts'
import { ExchangeFault } from './exchange.ts'
import { URL_ELICITATION_REQUIRED } from './mcp-error.ts'
import type { ServerMessages } from './server-messages.ts'

// A call may need several requests: a server of MCP 2026-07-28 asks its user by `input_required`, and a server of
// 2025-11-25 refuses with the error -32042 until the user has visited its page.

/** The additional parameters of a repeated request (MCP 2026-07-28, Multi Round-Trip Requests). */
export interface RoundParams {
  readonly inputResponses?: Readonly<Record<string, unknown>>
  readonly requestState?: string | undefined
}

export interface CallRounds {
  readonly messages: ServerMessages
  /** Whether the caller's client opens links. */
  readonly canOpenLinks: boolean
  readonly signal: AbortSignal
  /** Runs `ask` while the time limit of the call is paused. */
  pausedDuring<Answer>(ask: () => Promise<Answer>): Promise<Answer>
  /** Sends `tools/call`. */
  request(params: RoundParams): Promise<JsonRecord>
}

const MAX_ROUNDS = 30
const MAX_INPUTS = 10
/** The pause before a request that the server wants repeated without asking anything. */
const STATE_ONLY_PAUSE_MS = 1_000
/** How long a user may take on a page of the server, which does not report when the user has finished. */
const MAX_VISIT_MS = 120_000
const FIRST_VISIT_PAUSE_MS = 500
const LONGEST_VISIT_PAUSE_MS = 10_000

/** Repeats the call until there is a result. Throws `ExchangeFault`, and `ContextRequiredError` for an unanswered question. */
export async function runRounds(rounds: CallRounds): Promise<JsonRecord> {
  let params: RoundParams = {}
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const result = await requestVisiting(rounds, params)
    if (!isInputRequiredResult(result)) return result
    params = await answersTo(rounds, result)
  }
  throw new ContextRequiredError(`The tool asks its user in more than ${MAX_ROUNDS} rounds.`)
}

async function answersTo(
  rounds: CallRounds,
  { inputRequests = {}, requestState }: InputRequiredResult,
): Promise<RoundParams> {
  const asked = Object.entries(inputRequests)
  if (asked.length > MAX_INPUTS)
    throw new ContextRequiredError(`The tool asks for more than ${MAX_INPUTS} things at once.`)
  if (asked.length === 0) await pause(STATE_ONLY_PAUSE_MS, rounds.signal)
  const inputResponses: Record<string, unknown> = Object.create(null) // the server's keys may be any text
  for (const [key, { method, params }] of asked) {
    if (method !== 'elicitation/create')
      throw new ContextRequiredError(
        `The tool asks its client for ${asText(method).slice(0, 50)}, which Gatepass does not offer.`,
      )
    inputResponses[key] = await elicit(rounds, params)
  }
  return { ...(asked.length > 0 && { inputResponses }), requestState }
}

async function elicit(
  { messages, signal, pausedDuring }: CallRounds,
  params: unknown,
): Promise<ElicitResult> {
  try {
    return await pausedDuring(() => messages.elicit(params, signal))
  } catch (error) {
    if (error instanceof ContextRequiredError) throw error
    throw new ExchangeFault(error, { isCancelled: true })
  }
}

/** Waits. A cancellation ends the wait, and the next request reports it. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}

/** Sends the user to the pages that the server requires, and repeats the call until the server accepts it. */
async function requestVisiting(rounds: CallRounds, params: RoundParams): Promise<JsonRecord> {
  const { request, pausedDuring, signal } = rounds
  const visited = new Set<string>()
  let endsAt = 0
  for (let visit = 0; ; visit++) {
    try {
      return await request(params)
    } catch (error) {
      const links = rounds.canOpenLinks ? linksOf(error) : []
      if (links.length === 0) throw error
      const fresh = links.filter(({ url }) => !visited.has(url))
      for (const link of fresh) {
        visited.add(link.url)
        if (visited.size > MAX_INPUTS)
          throw new ContextRequiredError('The tool sends its user to too many pages.')
        const { action } = await elicit(rounds, link)
        if (action !== 'accept')
          throw new ContextRequiredError('The user did not open the page that the tool requires.')
      }
      // the time on the pages begins when the user has opened them, not when they were asked to
      if (fresh.length > 0) endsAt = performance.now() + MAX_VISIT_MS
      const pauseMs = Math.min(FIRST_VISIT_PAUSE_MS * 2 ** visit, LONGEST_VISIT_PAUSE_MS)
      if (performance.now() + pauseMs > endsAt)
        throw new ContextRequiredError(
          'The user has opened the page that the tool requires and is not done there. Call the tool again when they are.',
        )
      await pausedDuring(() => pause(pauseMs, signal))
    }
  }
}

function linksOf(
  error: unknown,
): readonly { readonly mode: 'url'; readonly url: string; readonly message: unknown }[] {
  const cause = error instanceof ExchangeFault ? error.cause : undefined
  if (!(cause instanceof ProtocolError) || cause.code !== URL_ELICITATION_REQUIRED) return []
  const listed = isRecord(cause.data) ? cause.data.elicitations : undefined
  if (!Array.isArray(listed)) return []
  return listed.flatMap((item) =>
    isRecord(item) && typeof item.url === 'string'
      ? [{ mode: 'url' as const, url: item.url, message: item.message }]
      : [],
  )
}
