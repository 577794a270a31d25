import type { TrailDetails } from '../../domain/trail.ts'
import type { Revocation } from '../../providers/revocation.ts'
import {
  type ComparedDefinition,
  combineFindings,
  compareConsent,
  type Findings,
  finding,
} from './findings.ts'

// The live test of a provider: one real consent, compared with the definition. `gatepass providers test --live` and the
// console show the same findings.

/** The user of a live test who is not named. */
export const TEST_USER = 'gatepass-live-test'

type Details = Omit<TrailDetails, 'first_at'>

/** An authorization as `explain` tells it, inside the server and on the wire. */
export interface ExplainedConsent {
  readonly status: string
  readonly reason?: string | undefined
  readonly cause?: { readonly code: string; readonly message: string; readonly toDo: string } | undefined
  readonly steps: readonly { readonly step: string; readonly details: Details }[]
}

/** The connection that the consent made, with what is compared. */
export interface ConsentedConnection {
  readonly id: string
  readonly account: { readonly id: string; readonly name: string }
  readonly scopes: readonly string[]
}

/** The connection that the consent made; `undefined` if it made none. */
export function connectionIdOf({ status, steps }: ExplainedConsent): string | undefined {
  return status === 'completed' ? detailsOf(steps, 'stored')?.connection_id : undefined
}

/** Compares an ended consent with the definition. `connection`: the one of `connectionIdOf`, if it still exists. */
export function consentFindings(
  definition: ComparedDefinition,
  explained: ExplainedConsent,
  connection: ConsentedConnection | undefined,
): Findings {
  const { steps, status, cause, reason } = explained
  const why = cause === undefined ? (reason ?? status) : `${cause.code}: ${cause.message} ${cause.toDo}`
  const exchange = detailsOf(steps, 'code_exchange')
  if (exchange === undefined) return finding('consent', 'failed', why)
  const answer = [
    exchange.status === undefined ? (exchange.failure ?? '') : `HTTP ${exchange.status}`,
    `client authentication ${exchange.authentication ?? 'none'}`,
  ].join(', ')
  const isStored = connectionIdOf(explained) !== undefined
  const userInfo = detailsOf(steps, 'user_info')?.received
  const compared = compareConsent(definition, {
    received: exchange.received ?? [],
    isStored,
    asked: detailsOf(steps, 'sent_to_provider')?.scopes ?? [],
    granted: connection?.scopes ?? [],
    missing: detailsOf(steps, 'stored')?.missing_scopes ?? [],
    isAccountRead: {
      id: connection !== undefined && !['', connection.id].includes(connection.account.id),
      name: (connection?.account.name ?? '') !== '',
    },
    ...(userInfo !== undefined && { userInfo }),
  })
  const isRefused = exchange.status === undefined || exchange.status > 299 || exchange.error !== undefined
  return combineFindings(
    finding('consent', 'ok', 'the browser came back with a code'),
    finding('code exchange', isStored ? 'ok' : 'failed', isStored ? answer : `${answer}; ${why}`),
    ...(isRefused && !isStored ? [] : [compared]),
  )
}

/** What the deletion of the test's connection has shown. */
export function revocationFinding(revocation: Revocation): Findings {
  if (revocation === 'revoked') return finding('revocation', 'ok', 'the provider revoked the tokens')
  if (revocation === 'unsupported')
    return finding('revocation', 'not_tried', 'the definition has no revocation_request; deleted here')
  return finding('revocation', 'failed', 'the provider did not confirm it; deleted here')
}

function detailsOf(steps: ExplainedConsent['steps'], step: string): Details | undefined {
  return steps.findLast((one) => one.step === step)?.details
}
