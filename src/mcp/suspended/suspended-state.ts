import type { Broker } from '../../broker.ts'
import type { SuspendedCall } from '../../domain/suspended-call.ts'
import { isRecord } from '../../parsing/json-record.ts'
import { sealingContext } from '../../store/protected-tables.ts'
import { ELICITATION_ACTIONS, type Elicitation, type ElicitationAnswer } from '../../tools/dialog/dialog.ts'
import type { CallAnswer } from '../endpoint/mcp-call.ts'

/** The sealed payload of a suspended call. `caller` is `Principal.identity`: only this principal may answer. */
export type SuspendedState = { readonly caller: string } & (
  | { readonly status: 'asking'; readonly number: number; readonly question: Elicitation }
  | { readonly status: 'answered'; readonly number: number; readonly answer: ElicitationAnswer }
  | { readonly status: 'ended'; readonly result: CallAnswer }
)

/** How long a user has for one answer, and a client to fetch the result. */
export const SUSPENDED_SECONDS = 600
/** How long a tool may run after an answer. */
const RUNNING_SECONDS = 3_600

type Sealing = Pick<Broker, 'sealer' | 'now'>

/** The columns of the row that hold the state. */
export function toColumns(
  { sealer, now }: Sealing,
  { id, projectId }: Pick<SuspendedCall, 'id' | 'projectId'>,
  state: SuspendedState,
): Pick<SuspendedCall, 'status' | 'payload' | 'expiresAt'> {
  return {
    status: state.status,
    payload: sealer.seal(
      JSON.stringify(state),
      sealingContext('suspendedCalls', 'payload', { id, projectId }),
    ),
    expiresAt: now() + (state.status === 'answered' ? RUNNING_SECONDS : SUSPENDED_SECONDS),
  }
}

/** Decrypts the state of a row. Throws `UnsealError`. */
export function stateOf({ sealer }: Pick<Broker, 'sealer'>, { id, projectId, payload }: SuspendedCall) {
  return JSON.parse(
    sealer.open(payload, sealingContext('suspendedCalls', 'payload', { id, projectId })),
  ) as SuspendedState // `toColumns` wrote it
}

/** In characters of JSON. */
const MAX_ANSWER = 65_536

/** Reads a client's answer to an elicitation; `undefined` if it is invalid or too long. */
export function readElicitationAnswer(response: unknown): ElicitationAnswer | undefined {
  if (!isRecord(response)) return undefined
  const action = ELICITATION_ACTIONS.find((known) => known === response.action)
  if (action === undefined) return undefined
  const { content } = response
  if (action !== 'accept' || !isRecord(content)) return { action }
  return JSON.stringify(content).length > MAX_ANSWER ? undefined : { action, content }
}
