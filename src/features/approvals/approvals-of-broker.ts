import { BrokerError } from '../../domain/errors.ts'
import type { ApprovalView, CallApprovals } from '../../services/call-approvals.ts'
import { createChangeSignal } from '../../services/change-signal.ts'
import { createOwnerCounts } from '../../services/owner-counts.ts'
import { auditOf } from './approval-audit.ts'
import type { ApprovalParts } from './approval-parts.ts'
import { approvalView } from './approval-view.ts'
import { askApproval } from './ask-approval.ts'
import { clientQuestion } from './client-question.ts'
import { decideApproval } from './decide-approval.ts'
import { decideOutside } from './decide-outside.ts'
import { type Approval, approvalAt, isOpen } from './domain.ts'
import { getApproval } from './get-approval.ts'
import { heldApproval } from './held-approval.ts'

const POLL_MS = 100
/** Requests of one owner that wait for decisions at a time; a further one is answered at once. */
const MAX_WAITS = 500

/** The approvals of one broker. */
export function createCallApprovals(parts: ApprovalParts): CallApprovals {
  const { store, now, usersUrl } = parts
  const changes = createChangeSignal(store, {
    topicOf: (change) => (change.noun === 'approval' ? change.id : undefined),
    pollMs: POLL_MS,
    rereadMs: 5_000,
  })
  const settled = createChangeSignal(store, {
    topicOf: ({ noun }) => (noun === 'approval' ? 'any' : undefined),
    pollMs: POLL_MS,
  })
  const waits = createOwnerCounts()
  const view = (approval: Approval) => approvalView(usersUrl, approval)

  /** An error is ignored: who waits can also ask again. */
  async function tell(id: string, listener: (approval: ApprovalView) => void): Promise<void> {
    const found = await store.approvals.findById(id)
    const seen = found && view(approvalAt(found, now()))
    if (seen !== undefined && seen.status !== 'pending') listener(seen)
  }

  async function get(projectId: string, id: string) {
    return view(await getApproval(parts, projectId, id))
  }

  return {
    async ask(call) {
      return call.held === undefined ? askApproval(parts, call) : heldApproval(parts, call, call.held)
    },
    decideOutside: (projectId, id, decision) => decideOutside(parts, { projectId, id }, decision),
    get,
    async getSettled(projectId, id) {
      await store.approvals.awaitWriters(projectId, id)
      return get(projectId, id)
    },
    async withdraw(projectId, id) {
      const approval = await getApproval(parts, projectId, id)
      if (!isOpen(approval)) return
      const to: Approval = { ...approval, status: 'cancelled', endedAt: now() }
      const entry = parts.audit.of(projectId, auditOf('approval.superseded', approval))
      await store.approvals.change(approval, to, now(), entry)
    },
    async wait(projectId, id, { waitSeconds, owner = '', signal }) {
      const found = await getApproval(parts, projectId, id)
      if (found.status !== 'pending' || waitSeconds <= 0 || waits.of(owner) >= MAX_WAITS) return view(found)
      const left = Math.min(waitSeconds, found.expiresAt - now())
      const uncount = waits.add(owner)
      try {
        const signals = [AbortSignal.timeout(left * 1000), ...(signal ? [signal] : [])]
        const settled = async () => {
          const current = await get(projectId, id)
          return current.status === 'pending' ? undefined : current
        }
        return await changes.waitFor(id, settled, AbortSignal.any(signals))
      } catch (error) {
        if (error instanceof BrokerError) throw error
        return get(projectId, id)
      } finally {
        uncount()
      }
    },
    clientQuestion: async (projectId, id) => clientQuestion(parts, await getApproval(parts, projectId, id)),
    async answerInClient(projectId, id, answer) {
      const { userId = '' } = await getApproval(parts, projectId, id)
      // whether it is still the same call is shown by the call itself, which is made again at once
      const isCurrent = async () => true
      await decideApproval(
        parts,
        { projectId, id },
        { id: userId, userId, proof: 'client' },
        answer,
        isCurrent,
      )
    },
    onSettled: (listener) =>
      settled.subscribe('any', (change) => {
        if (change?.noun === 'approval') tell(change.id, listener).catch(() => {})
      }),
  }
}
