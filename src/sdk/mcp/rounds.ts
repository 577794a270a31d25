import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { readCallContext } from '../worker/call-request.ts'
import { type Caller, callerKey } from './caller.ts'
import {
  askedOnStream,
  FIRST_ROUND,
  type Questions,
  type RoundState,
  replayedQuestions,
} from './questions.ts'
import type { StateCodec } from './request-state.ts'

// The rounds of one request of a client: the state that is carried between them, and what ends a round.

/** The kinds of questions that a client may declare that it answers. */
export type ClientCapability = 'elicitation' | 'sampling' | 'roots'

/** What a request asks for: the same in each of its rounds. */
export interface Target {
  readonly method: string
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}

/** The content of `requestState`. */
interface Carried {
  readonly round: RoundState
  /** The id of the authorization whose link the client was given. */
  readonly consent?: string
}

/** One round of a request. */
export interface Round {
  readonly questions: Questions
  readonly signal: AbortSignal
  /** The authorization whose link the client was given in an earlier round, and whether the user refused to open it. */
  readonly consent?: { readonly id: string; readonly isRefused: boolean }
  can(capability: ClientCapability): boolean
  /** Whether the client opens links for its user. */
  readonly canOpenLinks: boolean
  /**
   * Returns the result that ends the round: the client shows the link with the message and then sends the request
   * again. Without a link or a message, the client sends the request again and shows nothing. `undefined` for clients
   * of 2025, which have no second round.
   */
  readonly endForConsent:
    | ((
        consent: { readonly id: string; readonly url?: string },
        message?: string,
      ) => Promise<InputRequiredResult>)
    | undefined
}

export interface RoundsOptions {
  readonly server: Server
  readonly context: ServerContext
  readonly isModern: boolean
  readonly caller: Caller
  readonly codec: StateCodec
  readonly appName: string
}

/** Runs one round. Clients of 2025 have only one, in which their answers come on the open stream. */
export async function inRound<Result>(
  options: RoundsOptions,
  target: Target,
  run: (round: Round) => Promise<Result>,
): Promise<Result | InputRequiredResult> {
  const { context, caller, codec, appName, isModern } = options
  if (!isModern) return run(legacyRound(options))
  const binding = [appName, target.method, target.name, target.input, callerKey(caller), onBehalfOf(options)]
  const carried = await openState(context, codec, binding)
  const responses = context.mcpReq.inputResponses ?? {}
  const questions = replayedQuestions(carried.round, responses)
  const roundEnd = new AbortController()
  const envelope: Readonly<Record<string, unknown>> = context.mcpReq.envelope ?? {}
  // the SDK has checked the envelope
  const declared = envelope[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined
  const seal = (consent?: string) =>
    codec.seal(
      { round: questions.state, ...(consent !== undefined && { consent }) } satisfies Carried,
      binding,
    )
  const ran = run({
    questions,
    signal: AbortSignal.any([context.mcpReq.signal, roundEnd.signal]),
    ...(carried.consent !== undefined && { consent: consentResponse(carried.consent, responses) }),
    can: (capability) => isDeclared(declared, capability),
    canOpenLinks: declared?.elicitation?.url !== undefined,
    async endForConsent({ id, url }, message) {
      const isShown = url !== undefined && message !== undefined
      const inputRequests = isShown ? { [id]: inputRequired.elicitUrl({ url, message }) } : undefined
      return inputRequired({ ...(inputRequests && { inputRequests }), requestState: await seal(id) })
    },
  }).finally(questions.end)
  const first = await Promise.race([
    ran.then((result) => ({ result })),
    questions.waiting.then((inputRequests) => ({ inputRequests })),
  ])
  if ('result' in first) return first.result
  roundEnd.abort(new Error('The handler waits for the next round.'))
  ran.catch(() => undefined)
  // `replayedQuestions` builds them in the form of MCP
  const inputRequests = first.inputRequests as NonNullable<InputRequiredResult['inputRequests']>
  return inputRequired({ inputRequests, requestState: await seal() })
}

/** Returns the user for whom Gatepass calls. Gatepass calls for many, and a state must serve only its own user. */
function onBehalfOf({ caller, context }: RoundsOptions): string | null {
  return caller.kind === 'broker' ? readCallContext(context.mcpReq._meta?.arcade_context).userId : null
}

function legacyRound({ server, context }: RoundsOptions): Round {
  const { mcpReq } = context
  const declared = server.getClientCapabilities()
  return {
    questions: askedOnStream(({ method, params }, timeoutMs) =>
      mcpReq.send(
        { method: method as 'elicitation/create', params: { ...params } }, // one of the three that a client answers
        { signal: mcpReq.signal, timeout: timeoutMs ?? ANSWER_MS },
      ),
    ),
    signal: mcpReq.signal,
    can: (capability) => isDeclared(declared, capability),
    // forms came before 2025-11-25, links with it
    canOpenLinks:
      declared?.elicitation?.url !== undefined &&
      (server.getNegotiatedProtocolVersion() ?? '') >= '2025-11-25',
    endForConsent: undefined,
  }
}

/** Default limit, as long as one round of MCP 2026-07-28 may take (`STATE_SECONDS`): a person answers the form. */
const ANSWER_MS = 600_000

async function openState(
  { mcpReq }: ServerContext,
  codec: StateCodec,
  binding: readonly unknown[],
): Promise<Carried> {
  const state = mcpReq.requestState<string>()
  if (state === undefined) return { round: FIRST_ROUND }
  const carried = await codec.open(state, binding)
  if (carried !== undefined) return carried as Carried // only this module seals states
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', {
    reason: 'invalid_request_state',
  })
}

/** Reads the client's answer to the link. The client answers once: in later rounds, no answer is no refusal. */
function consentResponse(
  id: string,
  responses: Readonly<Record<string, unknown>>,
): NonNullable<Round['consent']> {
  const response = responses[id]
  const isRefused =
    typeof response === 'object' && response !== null && 'action' in response && response.action !== 'accept'
  return { id, isRefused }
}

function isDeclared(declared: ClientCapabilities | undefined, capability: ClientCapability): boolean {
  const members = declared?.[capability]
  if (members === undefined) return false
  // an empty `elicitation` means forms, because older protocols have no other mode
  return (
    capability !== 'elicitation' ||
    declared?.elicitation?.form !== undefined ||
    Object.keys(members).length === 0
  )
}
