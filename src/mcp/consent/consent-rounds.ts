import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import { LRUCache } from 'lru-cache'
import type { Broker } from '../../broker.ts'
import { authorizationAt } from '../../domain/authorization.ts'
import { BrokerError } from '../../domain/errors.ts'
import { awaitAuthorization } from '../../flows/await-authorization.ts'
import { maxEntries } from '../../services/cache-size.ts'
import type { Execution } from '../../tools/run/execution.ts'
import type { RequiredAuthorization, ToolResult } from '../../tools/tool-answer.ts'
import { type CallBinding, createRequestStates } from '../request-state.ts'
import {
  askByError,
  askByInput,
  askByText,
  type ClientAbilities,
  consentFormOf,
  consentRequest,
} from './ask-consent.ts'

/** A call of a tool by an MCP client. */
export interface ConsentCall {
  readonly binding: CallBinding
  /** `Principal.owner`, by which waiting calls are limited. */
  readonly owner: string
  /** The name by which the client knows the tool. */
  readonly title: string
  readonly abilities: ClientAbilities
  /** Whether the tool was listed with an `outputSchema`. */
  readonly publishesOutput: boolean
  readonly signal: AbortSignal
  /** The state that the client sends back from an earlier round (2026-07-28), unchecked. */
  readonly requestState?: string
  readonly inputResponses?: Readonly<Record<string, unknown>>
}

/** The outcome of a round: the tool was run, or the client gets this answer without a run. */
export type ConsentOutcome =
  | { readonly outcome: 'ran'; readonly execution: Execution & { readonly outcome: ToolResult } }
  | { readonly outcome: 'answered'; readonly answer: CallToolResult | InputRequiredResult }
  /** `requestState` belongs to no consent of this call. */
  | { readonly outcome: 'not_ours' }

export interface ConsentRounds {
  /**
   * Waits for the consent that the client was asked for in an earlier round, then runs the tool, or asks for a consent
   * that is missing. Throws the error -32042 with the link to clients of 2025-11-25 that open links.
   */
  run(call: ConsentCall, run: () => Promise<Execution>): Promise<ConsentOutcome>
}

/** The content of `requestState` while the user is at the link. */
interface ConsentState {
  readonly authorizationId: string
}

/** How long a repeated call is held while its user approves. Clients end a request after 60 s. */
const HOLD_SECONDS = 45
/** The most remembered links of clients without `requestState`. */
const MAX_REMEMBERED = 10_000

export function createConsentRounds(broker: Broker, holdSeconds = HOLD_SECONDS): ConsentRounds {
  const states = createRequestStates<ConsentState>(broker, 'consent')
  /** The authorization of the last link, by caller and tool. If it failed, the next answer says why. */
  const lastLinks = new LRUCache<string, string>(maxEntries(MAX_REMEMBERED))

  async function ask(
    call: ConsentCall,
    required: RequiredAuthorization,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { binding, abilities, publishesOutput } = call
    const request = await consentRequest(
      broker,
      { projectId: binding.projectId, title: call.title },
      required,
    )
    const form = consentFormOf(abilities)
    if (form === 'input_required')
      return askByInput(await states.seal({ authorizationId: required.id }, binding), request)
    const reason = await failureOf(broker, lastLinks.get(keyOf(binding)))
    lastLinks.set(keyOf(binding), required.id)
    if (form === 'url_required_error') throw askByError(request, reason)
    return askByText(request, { publishesOutput, ...(reason !== undefined && { reason }) })
  }

  /** The answer to a client whose user has not approved; `undefined` when the tool can be run. */
  async function waitForConsent(
    call: ConsentCall,
    { authorizationId }: ConsentState,
  ): Promise<CallToolResult | InputRequiredResult | undefined> {
    const { binding, owner, signal, title } = call
    const action = actionOf(call.inputResponses?.[authorizationId])
    if (action === 'decline' || action === 'cancel')
      return failure(`${title} was not run: the user did not open the link to approve it.`)
    const authorization = await awaitAuthorization(broker, binding.projectId, authorizationId, {
      waitSeconds: holdSeconds,
      owner,
      signal,
    }).catch((error: unknown) => {
      if (error instanceof BrokerError && error.code === 'not_found') return undefined
      throw error
    })
    if (authorization === undefined || authorization.status === 'completed') return undefined
    if (authorization.status === 'failed')
      return failure(`${title} was not run. ${authorization.message}`, authorization.reason)
    return askByInput(await states.seal({ authorizationId }, binding))
  }

  return {
    async run(call, run) {
      if (call.requestState !== undefined) {
        const state = await states.open(call.requestState, call.binding)
        if (state === undefined) return { outcome: 'not_ours' }
        const answer = await waitForConsent(call, state)
        if (answer !== undefined) return { outcome: 'answered', answer }
      }
      const execution = await run()
      const { outcome } = execution
      if (outcome.outcome === 'authorization_required')
        return { outcome: 'answered', answer: await ask(call, outcome.authorization) }
      lastLinks.delete(keyOf(call.binding))
      return { outcome: 'ran', execution: { ...execution, outcome } }
    },
  }
}

function keyOf({ projectId, caller, toolUid }: CallBinding): string {
  return JSON.stringify([projectId, caller, toolUid])
}

function actionOf(response: unknown): unknown {
  return typeof response === 'object' && response !== null && 'action' in response
    ? response.action
    : undefined
}

/** A sentence about why the authorization failed; `undefined` if it did not fail. */
async function failureOf(broker: Broker, id: string | undefined): Promise<string | undefined> {
  if (id === undefined) return undefined
  const found = await broker.store.authorizations.find(id)
  const authorization = found && authorizationAt(found, broker.now())
  return authorization?.status === 'failed' ? `The approval failed: ${authorization.message}` : undefined
}

function failure(text: string, reason?: string): CallToolResult {
  return {
    content: [{ type: 'text', text }],
    isError: true,
    ...(reason !== undefined && { _meta: { 'gatepass/authorization_failed': { reason } } }),
  }
}
