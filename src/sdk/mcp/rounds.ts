import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { readCallContext } from '../worker/call-request.ts'
import { type Caller, callerKey } from './caller.ts'
import { askByInput, type ConsentLink, invalidRequestState, isLinkRefused } from './consent-answer.ts'
import { type ElicitationModes, elicitationModes } from './elicitation-modes.ts'
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
  readonly consent?: string | undefined
}

/** One round of a request. */
export interface Round {
  readonly questions: Questions
  readonly signal: AbortSignal
  /** The authorization whose link the client was given in an earlier round, and whether the user refused to open it. */
  readonly consent?: { readonly id: string; readonly isRefused: boolean } | undefined
  can(capability: ClientCapability): boolean
  /** Whether the client opens links for its user. */
  readonly canOpenLinks: boolean
  /**
   * Returns the result that ends the round, of the consent with this id (`askByInput`). `undefined` for clients of 2025,
   * which have no second round.
   */
  readonly endForConsent: ((id: string, link?: ConsentLink) => Promise<InputRequiredResult>) | undefined
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
  const modes = elicitationModes(declared)
  const seal = (consent?: string) =>
    codec.seal({ round: questions.state, consent } satisfies Carried, binding)
  const ran = run({
    questions,
    signal: AbortSignal.any([context.mcpReq.signal, roundEnd.signal]),
    consent:
      carried.consent === undefined
        ? undefined
        : { id: carried.consent, isRefused: isLinkRefused(responses[carried.consent]) },
    can: (capability) => isDeclared(declared, modes, capability),
    canOpenLinks: modes.url,
    endForConsent: async (id, link) => askByInput(await seal(id), link),
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
  const modes = elicitationModes(declared, server.getNegotiatedProtocolVersion() ?? '')
  return {
    questions: askedOnStream(({ method, params }, timeoutMs) =>
      mcpReq.send(
        { method: method as 'elicitation/create', params: { ...params } }, // one of the three that a client answers
        { signal: mcpReq.signal, timeout: timeoutMs ?? ANSWER_MS },
      ),
    ),
    signal: mcpReq.signal,
    can: (capability) => isDeclared(declared, modes, capability),
    canOpenLinks: modes.url,
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
  throw invalidRequestState()
}

function isDeclared(
  declared: ClientCapabilities | undefined,
  { form }: ElicitationModes,
  capability: ClientCapability,
): boolean {
  return capability === 'elicitation' ? form : declared?.[capability] !== undefined
}
