// A refresh of one connection, from the row to an answer. `decide` says which arrow is taken; the loop in this file
// takes it.
//
//            ┌──────────────────────────── read again ◄─────────────────────────────┐
//            ▼                                                                       │
//        row_read ──► use_token | require_authorization | mark_unusable              │
//            ├──► count_refusal of what has no refresh ─► use_token | mark_unusable  │
//            │                                                                       │
//          send: take the lease, then send the refresh token                         │
//            ├──► the token to exchange is missing ──► require_authorization | …       │
//            ├──► provider_paused ──► use_token | report_failure                     │
//            ├──► lease_held ──► wait for the other process ─────────────────────────┤
//            │         └────────► use_token | report_failure                         │
//            ├──► lease_lapsed (nothing was sent) ──► release_lease ─────────────────┤
//            ├──► tokens_unreadable, dpop_changed ──► mark_unusable                  │
//            ├──► answered ──► store                                                 │
//            └──► failed                                                             │
//                   ├── grant refused ──► check_refusal                              │
//                   │      ├──► the lease was lost ──────────────────────────────────┤
//                   │      ├──► refusal_superseded ──► use_token                     │
//                   │      └──► refusal_checked ──► mark_unusable ── lease lost ─────┘
//                   │                 └──► back_off
//                   └── anything else ──► back_off: start a cool-down, release the lease
//                                            └──► backed_off ──► use_token | report_failure
//
// Wherever mark_unusable finds that the tokens have changed since they were read, the row is read again too.
//
// This folder owns all of that. services/refresh-table.ts keeps the running refreshes and cool-downs of a process, and
// services/provider-breaker.ts decides whether requests to a provider are sent at all.

import type { Broker } from '../../broker.ts'
import { type Connection, isAlive } from '../../domain/connection.ts'
import type { BrokerError } from '../../domain/errors.ts'
import { trailLines } from '../../domain/trail.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import type { RefreshFailure, RefreshOutcome } from '../../services/refresh-table.ts'
import { currentSpan, inSpan, inTrace } from '../../services/tracing.ts'
import { UnsealError } from '../../store/seal.ts'
import { causeOfFailedRefresh, failedRefresh, withFailure } from '../causes/failed-refresh.ts'
import { providerIdentity } from '../get-provider.ts'
import { hasLostConnection } from '../installation-token.ts'
import { withCurrentMetadata } from '../issuer-metadata.ts'
import { markUnusable } from '../mark-unusable.ts'
import { openAccess } from '../seal-grant.ts'
import { isStillTaken } from '../shared-key.ts'
import { countRefresh } from './count-refresh.ts'
import { type Decision, decide, type StepResult } from './decide.ts'
import { reportFailure } from './failure.ts'
import { checkRefusal, sendRefresh } from './send-refresh.ts'
import { storeRefreshed } from './store-refreshed.ts'
import { findSubjectToken } from './subject-token.ts'

export interface RefreshOptions {
  /**
   * An access token that a resource server rejected. It is refreshed although it has not expired, unless the stored token
   * is another one by now, or was received less than 10 seconds ago. If the refresh fails, the rejected token is not returned.
   */
  readonly rejected?: string
  /** Whether the call waits while another process refreshes the connection. By default it does. */
  readonly waits?: boolean
}

/** The options for a rejected token. None if the token cannot be decrypted: the refresh will find that too. */
export function rejecting(broker: Broker, connection: Connection): RefreshOptions {
  try {
    return { rejected: openAccess(broker, connection).accessToken }
  } catch (error) {
    if (error instanceof UnsealError) return {}
    throw error
  }
}

const AUTHORIZATION_REQUIRED = { outcome: 'authorization_required' } as const
/** How often the row is read again while another process refreshes, even if no change was announced. */
const READ_AGAIN_MS = 200

/**
 * A token that may be used: the refreshed one, or the stored one if it is still alive when the refresh fails. The refresh
 * token is sent to the endpoint that the issuer's metadata names now; the returned entry has it. Simultaneous calls share
 * one token request: in this process by the refresh that is running, between processes by a lease on the row (RFC 6749
 * section 6, RFC 9700 section 4.14). Only if the provider refuses the grant, the user is asked for a new consent. Throws
 * `token_request_refused`, `provider_incomplete` and `store_unavailable`.
 */
export async function refreshConnection(
  broker: Broker,
  found: ProviderEntry,
  connection: Connection,
  options: RefreshOptions = {},
): Promise<RefreshOutcome & { readonly entry: ProviderEntry }> {
  const { tracing, refreshes } = broker
  const current = await withCurrentMetadata(broker, found)
  // the caller compared the connection with `found`; an administrator may have stored another client or endpoint since
  const entry = providerIdentity(broker, current) === providerIdentity(broker, found) ? current : found
  const run = () => sharedRefresh(broker, entry, connection, options)
  if (tracing === undefined) return { ...(await run()), entry }
  // without a request that waits for it, a refresh is a trace of its own
  const traced = currentSpan() === undefined ? inTrace : inSpan
  const span = {
    name: 'token refresh',
    attributes: { 'gatepass.provider': entry.id },
    links: [refreshes.running.get(connection.id)?.traceparent],
  }
  const refreshed = await traced(tracing, span, run, ({ outcome }) => ({
    attributes: { 'gatepass.outcome': outcome },
  }))
  return { ...refreshed, entry }
}

async function sharedRefresh(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
  options: RefreshOptions,
): Promise<RefreshOutcome> {
  const { id } = connection
  const { running } = broker.refreshes
  const { rejected, waits = true } = options
  for (let other = running.get(id); other !== undefined; other = running.get(id)) {
    if (rejected === undefined && !other.isForced && other.waits === waits) return other.answer
    await other.answer.catch(() => {}) // the other refresh had other options, so the row is read again
    if (running.get(id) === other) return other.answer // it has new tokens, and waits for the database
  }
  const released = Promise.withResolvers<never>()
  const ended = refresh(broker, entry, connection, options, released.reject).finally(() => running.delete(id))
  const answer = Promise.race([ended, released.promise])
  const isForced = rejected !== undefined
  running.set(id, { ended, answer, isForced, waits, traceparent: currentSpan()?.traceparent })
  // callers handle the rejections; these handlers are for rejections after the last caller has left
  for (const promise of [ended, answer]) promise.catch(() => {})
  return answer
}

/** `releaseCallers` answers all callers with an error while the refresh goes on without them. */
async function refresh(
  broker: Broker,
  entry: ProviderEntry,
  found: Connection,
  { rejected, waits = true }: RefreshOptions,
  releaseCallers: (reason: BrokerError) => void,
): Promise<RefreshOutcome> {
  const { store, refreshes } = broker
  const began = performance.now()
  const read = async (): Promise<StepResult> => ({
    connection: await store.connections.find(found.id),
    situation: { at: 'row_read' },
  })
  let step = await read()
  let failed: RefreshFailure | undefined
  for (;;) {
    const { connection, situation } = step
    if (situation.at === 'failed') failed = situation.failure
    const decision = decide(
      connection,
      {
        situation,
        foundGeneration: found.generation,
        ...(rejected !== undefined &&
          connection !== undefined && { rejectedToken: stateOfRejected(broker, connection, rejected) }),
        waits,
        elapsedMs: performance.now() - began,
        provider: entry.provider,
        coolDown: connection && refreshes.findCoolDown(connection),
      },
      broker.now(),
    )
    switch (decision.next) {
      case 'use_token':
        if (decision.coolDown !== undefined) refreshes.startCoolDown(decision.connection, decision.coolDown)
        return { outcome: 'usable', connection: decision.connection }
      case 'require_authorization':
        return AUTHORIZATION_REQUIRED
      case 'report_failure': {
        const { failure, retryAfterSeconds } = decision
        const cause = causeOfFailedRefresh(broker, entry, connection ?? found, failure)
        return reportFailure(failure, retryAfterSeconds, cause)
      }
      case 'store':
        return storeRefreshed(broker, decision.answer, releaseCallers)
      case 'mark_unusable': {
        const { reason, leaseOwner, countAs } = decision
        const isOfApi = reason === 'credential_refused' && leaseOwner === undefined
        if (isOfApi && (await isStillTaken(broker, entry, decision.connection))) {
          const { id, generation } = decision.connection
          await store.connections.endRefusal(id, generation)
          return { outcome: 'usable', connection: decision.connection }
        }
        if (countAs !== undefined) countRefresh(broker, entry, countAs)
        const lines = failed && failedRefresh(broker, entry, decision.connection, failed)
        const marked = { reason, leaseOwner, lines: lines && trailLines(lines) }
        const isMarked = await markUnusable(broker, entry, decision.connection, marked)
        if (isMarked) return AUTHORIZATION_REQUIRED
        step = await read()
        break
      }
      case 'send': {
        const { connection: sent } = decision
        if (await hasLostConnection(broker, sent)) return AUTHORIZATION_REQUIRED
        const subject = await findSubjectToken(broker, entry, sent, refreshConnection)
        if (subject !== undefined && 'outcome' in subject) {
          const isStillGood = rejected === undefined && isAlive(sent, broker.now())
          return subject.outcome === 'provider_unavailable' && isStillGood
            ? { outcome: 'usable', connection: sent }
            : subject
        }
        step = await sendRefresh(broker, entry, sent, subject)
        break
      }
      case 'count_refusal': {
        const { connection: refused } = decision
        const since = await store.connections.countRefusal(refused.id, refused.generation, broker.now())
        step =
          since === undefined
            ? await read()
            : { connection: refused, situation: { at: 'refusal_counted', since } }
        break
      }
      case 'wait':
        await refreshes.waitForChange(found.id, READ_AGAIN_MS)
        step = await read()
        break
      case 'release_lease':
        await store.connections.releaseRefresh(found.id, decision.leaseOwner, 'answered')
        step = await read()
        break
      case 'check_refusal':
        step = (await checkRefusal(broker, entry, decision)) ?? (await read())
        break
      case 'back_off': {
        countRefresh(broker, entry, decision.countAs)
        step = await backOff(broker, entry, failed, decision)
      }
    }
  }
}

/** Whether the token that a resource server rejected is still the stored one, so that a refresh can help. */
function stateOfRejected(broker: Broker, connection: Connection, rejected: string): 'stored' | 'replaced' {
  try {
    return openAccess(broker, connection).accessToken === rejected ? 'stored' : 'replaced'
  } catch (error) {
    if (!(error instanceof UnsealError)) throw error
    return 'stored' // the refresh will find the tokens unreadable, and marks the connection
  }
}

async function backOff(
  broker: Broker,
  entry: ProviderEntry,
  failed: RefreshFailure | undefined,
  { connection, coolDown, leaseOwner, outcome }: Extract<Decision, { next: 'back_off' }>,
): Promise<StepResult> {
  const { store, refreshes, log } = broker
  const { id } = connection
  refreshes.startCoolDown(connection, coolDown)
  const trail = withFailure(connection, failedRefresh(broker, entry, connection, failed ?? coolDown.failure))
  await store.connections.releaseRefresh(id, leaseOwner, outcome, trail).catch((error: unknown) => {
    // the lease lapses after its time, and the refresh counts as unanswered
    const name = error instanceof Error ? error.name : 'unknown'
    log.error({ connection: id, error: name }, 'a refresh lease could not be released')
  })
  return { connection, situation: { at: 'backed_off', coolDown } }
}
