import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import { LRUCache } from 'lru-cache'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { awaitConsent } from '../../flows/await-authorization.ts'
import {
  askByError,
  askByInput,
  askByText,
  failureText,
  isLinkRefused,
} from '../../sdk/mcp/consent-answer.ts'
import { maxEntries } from '../../services/cache-size.ts'
import type { Execution } from '../../tools/run/execution.ts'
import type { RequiredAuthorization, ToolResult } from '../../tools/tool-answer.ts'
import { type CallBinding, createRequestStates } from '../request-state.ts'
import { consentLink, endOf } from './consent-link.ts'

/** A call of a tool by an MCP client. */
export interface ConsentCall {
  readonly binding: CallBinding
  /** `Principal.owner`, by which waiting calls are limited. */
  readonly owner: string
  /** The name by which the client knows the tool. */
  readonly title: string
  /** Whether the client speaks MCP 2026-07-28. */
  readonly isModern: boolean
  /** Whether the client opens links for its user. */
  readonly opensLinks: boolean
  /** Whether the tool was listed with an `outputSchema`. */
  readonly publishesOutput: boolean
  readonly signal: AbortSignal
  /** The state that the client sends back from an earlier round (2026-07-28), unchecked. */
  readonly requestState?: string | undefined
  readonly inputResponses?: Readonly<Record<string, unknown>> | undefined
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
    const { binding, title, isModern, opensLinks, publishesOutput } = call
    const link = await consentLink(broker, { projectId: binding.projectId, title }, required)
    if (isModern && opensLinks)
      return askByInput(await states.seal({ authorizationId: required.id }, binding), link)
    const reason = await failureOf(broker, binding.projectId, lastLinks.get(keyOf(binding)))
    lastLinks.set(keyOf(binding), required.id)
    if (opensLinks) throw askByError(link, reason)
    return askByText(link, { ends: endOf(broker, required), publishesOutput, reason })
  }

  /** The answer to a client whose user has not approved; `undefined` when the tool can be run. */
  async function waitForConsent(
    call: ConsentCall,
    { authorizationId }: ConsentState,
  ): Promise<CallToolResult | InputRequiredResult | undefined> {
    const { binding, owner, signal, title } = call
    if (isLinkRefused(call.inputResponses?.[authorizationId]))
      return failureText(`${title} was not run: the user did not open the link to approve it.`)
    const authorization = await awaitConsent(broker, binding.projectId, authorizationId, {
      waitSeconds: holdSeconds,
      owner,
      signal,
    }).catch((error: unknown) => {
      if (error instanceof BrokerError && error.code === 'not_found') return undefined
      throw error
    })
    if (authorization === undefined || authorization.status === 'completed') return undefined
    if (authorization.status === 'failed') {
      const { message, reason } = authorization
      return {
        ...failureText(`${title} was not run. ${message}`),
        _meta: { 'gatepass/authorization_failed': { reason } },
      }
    }
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

/** A sentence about why the authorization failed; `undefined` if it did not fail. */
async function failureOf(
  broker: Broker,
  projectId: string,
  id: string | undefined,
): Promise<string | undefined> {
  if (id === undefined) return undefined
  const now = { waitSeconds: 0 }
  const ended = await awaitConsent(broker, projectId, id, now).catch((error: unknown) => {
    if (error instanceof BrokerError && error.code === 'not_found') return undefined
    throw error
  })
  return ended?.status === 'failed' ? `The approval failed: ${ended.message}` : undefined
}
