import type { Broker } from '../broker.ts'
import { ruleKey } from '../domain/approval.ts'
import { BrokerError } from '../domain/errors.ts'
import type {
  ApprovedConnection,
  CallToApprove,
  GivenApproval,
  WaitingApproval,
} from '../services/call-approvals.ts'
import type { Release } from '../services/release.ts'
import { noteApproval } from '../services/request-context.ts'

/** The use may begin, if `spend` begins it; else the question must be put again. */
export interface ApprovedUse {
  readonly outcome: 'approved'
  /** Absent where nothing had to be approved. */
  readonly id?: string
  /** The keys of the rules that asked. */
  readonly rules: ReadonlySet<string>
  /** Spends the approval and begins the use: `undefined`, with nothing begun, if it no longer counts. */
  readonly spend: <T>(executionId: string, run: (executionId: string) => Promise<T>) => Promise<T | undefined>
}

/**
 * Finds the approval of the use, or asks for it; the answer of the request then names it. Throws `policy_check_failed` where
 * nothing can ask, and what `CallApprovals.ask` throws.
 */
export async function approveUse(
  broker: Broker,
  call: CallToApprove,
): Promise<ApprovedUse | WaitingApproval> {
  const { approvals } = broker
  const { rules } = call.needed
  if (approvals === undefined)
    throw new BrokerError(
      'policy_check_failed',
      `The policy "${rules[0]?.id}" wants a person to approve this, and this Gatepass cannot ask anyone.`,
    )
  const answer = await approvals.ask(call)
  if (answer.outcome === 'waiting') {
    noteApproval(answer.approval.id)
    return answer
  }
  return approvedBy(broker, call, answer)
}

function approvedBy(
  { liveness, log }: Broker,
  { needed, isRepeatable = false }: CallToApprove,
  given: GivenApproval,
): ApprovedUse {
  const spend = async (executionId: string, processId?: string) => {
    const isSpent = await given.spend(executionId, processId)
    if (isSpent) noteApproval(given.id)
    return isSpent
  }
  return {
    outcome: 'approved',
    id: given.id,
    rules: new Set(needed.rules.map(ruleKey)),
    async spend(executionId, run) {
      const id = given.executionId ?? executionId
      const { ended } = given
      if (ended === undefined || !isRepeatable) return (await spend(id)) ? run(id) : undefined
      // while this process lives, no other runs the call again
      return liveness.whileAlive(async (processId) => {
        if (!(await spend(id, processId))) return undefined
        try {
          return await run(id)
        } finally {
          await ended(processId).catch(() =>
            log.warn({ approval: given.id }, 'the end of an approved run could not be written'),
          )
        }
      })
    },
  }
}

export function approvedConnection({ connection, entry }: Release): ApprovedConnection {
  const { id, account } = connection
  return { id, provider: entry.provider.displayName, account: account.name }
}
