import type { Broker } from '../broker.ts'
import { BrokerError, type ErrorCode } from '../domain/errors.ts'
import { randomToken } from '../domain/ids.ts'

// Flow ids for a caller's verifier page that the database does not store: `prefix.until.nonce.proof`. The proof covers
// what a confirmation must match.

export interface SignedFlow {
  readonly prefix: 'login' | 'trial'
  /** What the proof covers; its first member names the kind of flow. */
  readonly about: readonly string[]
}

/** Makes a flow id that is valid for so many seconds. */
export function signFlowId(broker: Broker, { prefix, about }: SignedFlow, seconds: number): string {
  const until = String(broker.now() + seconds)
  const nonce = randomToken()
  return [prefix, until, nonce, broker.confirmations.proofOf(subject(about, until, nonce))].join('.')
}

/**
 * The id of the flow without its proof; `undefined` for the flow ids of another prefix. Throws `forged` if the proof is of
 * another flow, and `authorization_expired`.
 */
export function openFlowId(
  { now, confirmations }: Broker,
  { prefix, about }: SignedFlow,
  flowId: string,
  refusals: { readonly forged: readonly [code: ErrorCode, message: string]; readonly expired: string },
): string | undefined {
  const [given, until = '', nonce = '', proof = ''] = flowId.split('.')
  if (given !== prefix) return undefined
  if (!confirmations.isProof(proof, subject(about, until, nonce))) throw new BrokerError(...refusals.forged)
  if (Number(until) <= now()) throw new BrokerError('authorization_expired', refusals.expired)
  return `${prefix}.${nonce}`
}

/** The subject of the proof. It contains brackets, which no flow hash has, so the two cannot be confused. */
function subject(about: readonly string[], until: string, nonce: string): string {
  return JSON.stringify([...about, until, nonce])
}
