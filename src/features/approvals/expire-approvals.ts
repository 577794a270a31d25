import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { FeatureJobs } from '../feature.ts'
import { auditOf } from './approval-audit.ts'
import { approvalAt } from './domain.ts'
import { OPEN } from './store-approvals.ts'

const INTERVAL_MS = 5_000
const AT_ONCE = 100
/** How long the call of an approval that has ended is kept. */
const CALL_SECONDS = 24 * 3600
/** How long an approval that has ended is kept, as its record in the audit trail is. */
const KEPT_SECONDS = 90 * 86_400

export const approvalJobs: FeatureJobs = {
  shared: (broker) => [{ intervalMs: INTERVAL_MS, run: () => expireApprovals(broker) }],
  async sweep({ store, now }) {
    await store.approvals.forgetCalls(now() - CALL_SECONDS)
    await store.approvals.sweep(now() - KEPT_SECONDS)
    await store.standingApprovals.sweep(now())
  },
}

/** Writes that the time of questions and approvals is over, with the entry of the trail and the event. */
export async function expireApprovals({ store, now, audit }: Broker): Promise<void> {
  for (const status of OPEN) {
    // in an order, so that rows which cannot be changed, such as altered ones, keep no others from their end
    let after: EpochSeconds | undefined = 0
    while (after !== undefined) {
      const { items, last } = await store.approvals.overdue(status, now(), after, AT_ONCE)
      for (const approval of items) {
        const { projectId } = approval
        const to = approvalAt(approval, await store.approvals.clock(projectId, now()))
        const entry = audit.of(projectId, auditOf('approval.expired', approval))
        if (to !== approval) await store.approvals.change(approval, to, now(), entry)
      }
      after = last
    }
  }
}
