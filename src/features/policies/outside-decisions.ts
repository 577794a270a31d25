import type { Broker } from '../../broker.ts'
import type { RequestedUse } from '../../domain/requested-use.ts'
import type { OutsideDecisions } from '../../services/use-gate.ts'
import { openTask, sealTask } from './access-task.ts'
import type { Policy } from './domain.ts'
import { type AccessEvaluation, accessRequestUid, type RequestableDenial } from './domain-access-request.ts'
import type { AppliedPolicy, PolicyRefusalReason } from './evaluate.ts'
import { hookSecretOf } from './hook-secret.ts'
import { askDecisionPoint } from './policy-hook.ts'

/** A use that a decision point has denied, as long as no access request is approved. */
export interface HeldByHook {
  readonly match: AppliedPolicy
  readonly evaluation: AccessEvaluation
  readonly denial: RequestableDenial
  readonly message?: string
}

type Refuse = (
  use: RequestedUse,
  reason: PolicyRefusalReason,
  by: readonly AppliedPolicy[],
  more?: { readonly message?: string; readonly retryAfter?: number },
) => Promise<never>

/**
 * Returns what asks the decision points of held uses for an approval, and evaluates again with it. `onAgreed`: the decision
 * point has permitted the use in the new evaluation.
 */
export function createOutsideDecisions(
  { store, sealer, outgoing, now }: Pick<Broker, 'store' | 'sealer' | 'outgoing' | 'now'>,
  refuse: Refuse,
) {
  return (
    use: RequestedUse,
    held: readonly HeldByHook[],
    onAgreed: (policy: Policy) => unknown,
  ): OutsideDecisions => ({
    async request({ id: approvalId, expiresAt }) {
      for (const { match, evaluation, denial } of held) {
        const { projectId, id: policy } = match.policy
        const row = { uid: accessRequestUid(approvalId, policy), projectId }
        await store.accessRequests.add({
          ...row,
          approvalId,
          policy,
          userId: evaluation.subject.id,
          state: 'new',
          task: sealTask(sealer, row, { evaluation, ...denial }),
          attempts: 0,
          nextAt: 0,
          expiresAt,
        })
      }
    },

    async confirm(approvalId, end) {
      for (const { match, evaluation } of held) {
        const { policy } = match
        const answer = await evaluateAnew(approvalId, policy, evaluation, use.executionId)
        if (answer.outcome === 'agreed') onAgreed(policy)
        else if (answer.outcome === 'failed') await refuse(use, 'hook_failed', [match])
        else if (answer.outcome === 'refused' && answer.retryIn !== undefined)
          await refuse(use, 'hook_failed', [match], { retryAfter: answer.retryIn })
        else {
          await end()
          await refuse(use, 'hook_refused', [match], answer)
        }
      }
    },
  })

  /** Failed also where the rule permits on failure: only the decision point's word runs what it had denied. */
  async function evaluateAnew(
    approvalId: string,
    policy: Policy,
    evaluation: AccessEvaluation,
    requestId: string | undefined,
  ) {
    const { hook } = policy
    const found = await store.accessRequests.find(accessRequestUid(approvalId, policy.id))
    const outcome = found && openTask(sealer, found).outcome
    const at = now()
    if (hook === undefined || outcome?.outcome !== 'approved' || outcome.until <= at)
      return { outcome: 'failed' } as const
    const secret = hookSecretOf(sealer, policy)
    return askDecisionPoint(
      outgoing,
      { hook, secret, requestId, now: at, approval: outcome.approval },
      evaluation,
    )
  }
}
