import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { ContextRequiredError } from '../../sdk/tools/errors.ts'
import { type ClientQuestion, isApprovalId } from '../../services/call-approvals.ts'
import type { Dialog } from '../../tools/dialog/dialog.ts'
import type { Execution } from '../../tools/run/execution.ts'

/** How often a call asks: a client may answer with what does not fit the form, and a call may change meanwhile. */
const MAX_FORMS = 3

const DECISIONS = ['approve', 'deny'] as const
type Decision = (typeof DECISIONS)[number]

const FORM = {
  type: 'object',
  properties: { decision: { type: 'string', title: 'Decision', enum: DECISIONS } },
  required: ['decision'],
}

/**
 * Runs the tool. If the call waits for its user and a rule takes the answer of the client, the client's form asks, and the
 * call is made again. A question without an answer stays, so the outcome is that of a call that waits: the link.
 */
export async function askInClient(
  { approvals }: Pick<Broker, 'approvals'>,
  { projectId, dialog, signal }: { projectId: string; dialog: Dialog; signal: AbortSignal },
  run: () => Promise<Execution>,
): Promise<Execution> {
  for (let forms = 0; ; forms++) {
    const execution = await run()
    const { outcome } = execution
    if (outcome.outcome !== 'authorization_required' || approvals === undefined) return execution
    const { id } = outcome.authorization
    if (forms >= MAX_FORMS || !isApprovalId(id) || !dialog.modes.includes('form')) return execution
    const question = await approvals.clientQuestion(projectId, id)
    const decision = question && (await decisionOf(dialog, question, signal))
    if (question === undefined || decision === undefined) return execution
    if (decision === 'unfit') continue
    await approvals
      .answerInClient(projectId, id, { decision, digest: question.digest })
      .catch((error: unknown) => {
        // it was decided or has changed meanwhile: the call made again says what holds
        if (!(error instanceof BrokerError) || error.code === 'store_unavailable') throw error
      })
  }
}

/** The user's decision; `undefined` without an answer, and `unfit` for an answer that is none of the two. */
async function decisionOf(
  dialog: Dialog,
  { message }: ClientQuestion,
  signal: AbortSignal,
): Promise<Decision | 'unfit' | undefined> {
  try {
    const { action, content } = await dialog.elicit({ mode: 'form', message, requestedSchema: FORM }, signal)
    if (action !== 'accept') return action === 'decline' ? 'deny' : undefined
    return DECISIONS.find((one) => one === content?.decision) ?? 'unfit'
  } catch (error) {
    if (error instanceof ContextRequiredError) return undefined // too many calls wait for answers
    throw error
  }
}
