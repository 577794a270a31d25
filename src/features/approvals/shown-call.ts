import type { Hint } from '../../domain/requested-use.ts'
import type { Sealed } from '../../domain/sealed.ts'
import type { ApprovedConnection, CallToApprove } from '../../services/call-approvals.ts'
import type { Sealer } from '../../store/seal.ts'
import { approvalContext } from './store.ts'

/** What a person sees of a call. Sealed in its row, and deleted some time after the end. */
export interface ShownCall {
  /** The tool's or provider's name for people. */
  readonly title: string
  /** The name of the agent: of its API key, or the client id of an MCP client. */
  readonly agentName: string
  readonly workerId?: string | undefined
  readonly hosts: readonly string[]
  readonly hints: readonly Hint[]
  /** The digest of the tool's definition when the question was put. */
  readonly definition?: string | undefined
  readonly input: Readonly<Record<string, unknown>>
  readonly always?: readonly string[] | undefined
  readonly hidden?: readonly string[] | undefined
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly connections: readonly ApprovedConnection[]
  readonly runAt?: number | undefined
  /** Whether the user had allowed the MCP client that makes the call at Gatepass' own authorization server. */
  readonly clientHasAccess?: boolean | undefined
}

export function shownCall(call: CallToApprove, agentName: string): ShownCall {
  const { title, workerId, hosts, hints, definition, input, always, hidden, metadata, connections, runAt } =
    call
  return {
    title,
    agentName,
    workerId,
    hosts,
    hints,
    definition,
    input,
    always,
    hidden,
    metadata,
    connections,
    runAt,
  }
}

type Row = { readonly id: string; readonly projectId: string }
type Table = 'approvals' | 'standingApprovals'

export function sealCall(sealer: Sealer, table: Table, { id, projectId }: Row, call: ShownCall): Sealed {
  return sealer.seal(JSON.stringify(call), approvalContext(table, 'sealed_call', { id, projectId }))
}

/** `undefined` if the call is no longer stored. Throws `UnsealError`. */
export function openCall(
  sealer: Sealer,
  table: Table,
  { id, projectId, call }: Row & { readonly call?: Sealed | undefined },
): ShownCall | undefined {
  if (call === undefined) return undefined
  return JSON.parse(sealer.open(call, approvalContext(table, 'sealed_call', { id, projectId }))) as ShownCall // `sealCall` wrote it
}
