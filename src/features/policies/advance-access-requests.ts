import type { Broker } from '../../broker.ts'
import { pollTask, submitAccessRequest, type TaskAnswer } from './access-request-client.ts'
import { openTask, sealTask } from './access-task.ts'
import type { AccessRequest, AccessTask } from './domain-access-request.ts'
import { hookSecretOf } from './hook-secret.ts'

const AT_ONCE = 20
/** Longer than any request may take. */
const CLAIM_SECONDS = 60
const FIRST_SECONDS = 2
const LONGEST_SECONDS = 60
const MAX_DOUBLINGS = 10

/** Submits new access requests, asks for the state of others, and answers the questions whose tasks have ended. */
export async function advanceAccessRequests(broker: Broker): Promise<void> {
  const { store, now, log } = broker
  const due = await store.accessRequests.claimDue(now(), AT_ONCE, CLAIM_SECONDS)
  await Promise.all(
    due.map((request) =>
      advance(broker, request).catch((error: unknown) =>
        // claimed again when the claim lapses
        log.warn(
          { policy: request.policy, approval: request.approvalId, err: error },
          'an access request failed',
        ),
      ),
    ),
  )
}

async function advance(broker: Broker, request: AccessRequest): Promise<void> {
  const { store, sealer, now, log } = broker
  const task = openTask(sealer, request)
  if (request.state === 'decided') return answerQuestion(broker, request, task)
  const answer = await answerOf(broker, request, task)
  const settle = (state: AccessRequest['state'], more: Partial<AccessTask>, nextIn: number) =>
    store.accessRequests.settle(
      request,
      { state, task: sealTask(sealer, request, { ...task, ...more }), nextIn },
      now(),
    )
  switch (answer.outcome) {
    case 'pending': {
      const { id, statusEndpoint, until = request.expiresAt, retryIn = 0 } = answer
      if (until <= now()) return settle('decided', { outcome: { outcome: 'expired' } }, 0)
      return settle('pending', { id, statusEndpoint }, Math.max(retryIn, pauseAfter(request.attempts)))
    }
    case 'failed':
      log.warn(
        { policy: request.policy, approval: request.approvalId, reason: answer.message },
        'an access request got no answer',
      )
      if (answer.isFinal) return settle('decided', { outcome: { outcome: 'cancelled' } }, 0)
      return settle(request.state, {}, Math.max(answer.retryIn ?? 0, pauseAfter(request.attempts)))
    default: {
      const { id: _, ...outcome } = answer
      return settle('decided', { outcome }, 0)
    }
  }
}

async function answerOf(broker: Broker, request: AccessRequest, task: AccessTask): Promise<TaskAnswer> {
  const { store, sealer, outgoing } = broker
  const now = broker.now()
  const { projectId, uid, policy: id } = request
  if (request.expiresAt <= now) return { outcome: 'expired' }
  const policy = await store.policies.find(projectId, id)
  const hook = policy?.enabled ? policy.hook : undefined
  if (policy === undefined || hook?.format !== 'authzen') return { outcome: 'cancelled' }
  const point = { url: hook.url, timeoutMs: hook.timeoutMs, secret: hookSecretOf(sealer, policy) }
  return request.state === 'new'
    ? submitAccessRequest(outgoing, point, task, { key: uid.replace(' ', '.'), now })
    : pollTask(outgoing, point, task, now)
}

/** Tells the question how its task ended. Repeated until it is recorded. */
async function answerQuestion(broker: Broker, request: AccessRequest, task: AccessTask): Promise<void> {
  const { approvals, store, now } = broker
  const { projectId, approvalId, policy } = request
  const { outcome = { outcome: 'cancelled' } as const } = task
  await approvals?.decideOutside(projectId, approvalId, {
    rule: policy,
    outcome: outcome.outcome,
    ...(outcome.outcome === 'approved' && { until: outcome.until }),
  })
  await store.accessRequests.settle(request, { state: 'ended', task: request.task }, now())
}

/** Seconds until the task is asked for again: longer each time, and not at the same moment for all. */
function pauseAfter(attempts: number): number {
  const longest = Math.min(LONGEST_SECONDS, FIRST_SECONDS * 2 ** Math.min(attempts - 1, MAX_DOUBLINGS))
  return Math.max(FIRST_SECONDS, Math.round(longest * (0.75 + Math.random() / 4)))
}
