import { html } from 'hono/html'
import type { Broker } from '../../broker.ts'
import { REMEMBER } from '../../domain/approval.ts'
import { code, exactTime, facts, section } from '../../http/console/elements.ts'
import { field, hidden } from '../../http/console/form-fields.ts'
import { attempt, given } from '../../http/console/form-outcome.ts'
import type { ConsoleRoutes, OnPage } from '../../http/console/routes.ts'
import { type Html, name } from '../../http/pages/layout.ts'
import { wordsOf } from '../../http/pages/texts/words.ts'
import { untrustedText } from '../../http/pages/untrusted-text.ts'
import { inboxOf, stateBadge } from './console-inbox.ts'
import { type Approver, decideApproval, isOwnCall } from './decide-approval.ts'
import { type Approval, concerns, groupsOf, personOf, unmetRules } from './domain.ts'
import { getApproval, noApproval } from './get-approval.ts'
import { decideButtons, isUnread, questionView, type ShownQuestion, shownQuestion } from './page-question.ts'
import { approvalTexts } from './page-texts.ts'
import { supersede } from './supersede.ts'
import { isStillSame } from './tool-still-same.ts'

const ABOVE = [['Approvals', '/approvals']] as const
/** The console is in English. */
const words = wordsOf('en')

/** The page of one call, on which a member of a group decides about it. */
export function addCallPage(routes: ConsoleRoutes, broker: Broker): void {
  /** Throws `not_found`, also for a question to other groups than those of an approver. */
  async function find(on: OnPage): Promise<Approval> {
    const id = on.c.req.param('id') ?? ''
    const approval = await getApproval(broker, on.projectId, id)
    if (concerns(approval, inboxOf(on).groups)) return approval
    throw noApproval(id)
  }

  async function show(on: OnPage, found: Approval, problem?: string): Promise<Response> {
    const why = await whyNot(broker, found, on)
    const mayDecide = found.status === 'pending' && why === undefined
    const approval = mayDecide && !(await isStillSame(broker, found)) ? await supersede(broker, found) : found
    const isOpen = mayDecide && approval === found
    // readers see that there is a call, and administrators and approvers what is in it
    const maySee = on.session.role !== 'readonly' || concerns(approval, on.session.groups)
    const question = maySee ? await shownQuestion(broker, approval) : undefined
    const showsAll = on.query('all') === '1'
    const action = `/approvals/${approval.id}`
    const title = question?.call.title ?? approval.subject
    const body = html`${section('The call', factsOf(approval, question))}
${
  question !== undefined &&
  section(
    'The decision',
    isOpen
      ? html`${on.form(
          `${action}${showsAll ? '?all=1' : ''}`,
          html`${hidden('digest', approval.digest)}
<div class="call">${questionView(question, { words, showsAll })}</div>
${field('Reason', 'reason', { hint: 'One sentence for the model that made the call. It is sent only with a denial.', maxlength: 200 })}
<div class="buttons">${decideButtons(question, { words, showsAll, action: `/dashboard${action}` })}</div>`,
          { approvers: true },
        )}`
      : html`${why !== undefined && html`<p class="note">${why}</p>`}<div class="call">${questionView({ ...question, remember: ['once'] }, { words, showsAll: true })}</div>`,
  )
}
${question === undefined && html`<p class="note">${maySee ? 'What was asked is no longer stored.' : 'Your role is readonly: administrators and the approvers who are asked see what would be sent.'}</p>`}`
    return on.show(title, body, {
      above: ABOVE,
      ...(problem !== undefined && { problem, status: 400 as const }),
    })
  }

  routes.page('/approvals/:id', async (on) => show(on, await find(on)), { approvers: true })

  routes.form(
    '/approvals/:id',
    async (on, form) => {
      const approval = await find(on)
      const decision = form.get('decision')
      if (decision !== 'approve' && decision !== 'deny') return show(on, approval)
      if (decision === 'approve' && (await isUnread(broker, approval, on.query('all') === '1')))
        return show(on, approval)
      const made = await attempt(() =>
        decideApproval(
          broker,
          approval,
          approverOf(on),
          {
            decision,
            digest: form.get('digest') ?? '',
            remember: REMEMBER.find((one) => one === form.get('remember')) ?? 'once',
            fixed: form.getAll('fixed'),
            reason: given(form, 'reason'),
          },
          (one) => isStillSame(broker, one),
        ),
      )
      if (made.outcome === 'done')
        return on.go(
          '/approvals',
          `You ${decision === 'approve' ? 'approved' : 'denied'} ${approval.subject}.`,
        )
      // another approver was faster, or the call has changed: the page says how it is now
      const now = await find(on)
      return made.status === 400 ? show(on, now, made.message) : on.go(`/approvals/${now.id}`, made.message)
    },
    { approvers: true },
  )
}

function approverOf({ session: { opened, groups } }: OnPage): Approver {
  return { id: opened.subject, proof: 'console', groups, userIds: opened.userIds }
}

/** Why the operator does not decide about the call; `undefined`: they are asked. */
async function whyNot(broker: Broker, approval: Approval, on: OnPage): Promise<string | undefined> {
  const { groups, role } = on.session
  const approver = approverOf(on)
  if (approval.status !== 'pending') return undefined
  const asked = groupsOf(approval)
  if (!concerns(approval, groups)) {
    if (asked.length === 0) return 'The user of the call decides about it. You can look, but not decide.'
    const who = role === 'admin' ? 'Administrators can look, but do not decide' : 'You do not decide'
    return `${who}: members of the group ${asked.join(', ')} do (GATEPASS_DASHBOARD_ROLES).`
  }
  if (approval.decisions.some((one) => personOf(one.approver) === personOf(approver.id)))
    return 'You have approved this call. It waits for further people.'
  if (await isOwnCall(broker, approval, approver))
    return 'This call is your own: it is made for you, by you, or by an API key that you created. Somebody else of the group decides.'
  return undefined
}

function factsOf(approval: Approval, question: ShownQuestion | undefined): Html {
  const { userId, agent, subject, status, decisions, createdAt, expiresAt, executionId } = approval
  const call = question?.call
  const t = approvalTexts(words)
  const missing = unmetRules(approval).flatMap(({ by }) =>
    typeof by === 'object' ? [by.group] : ['its user'],
  )
  return html`${call?.hints.includes('destructive') === true && html`<p class="note wait">${t.destructive}</p>`}
${facts([
  ['State', stateBadge(approval)],
  ['Tool', code(subject, { longest: 200 })],
  [t.askedBy, call === undefined ? code(agent) : untrustedText(call.agentName)],
  ['For the user', userId && name(userId, { longest: 512 })],
  ...(call?.connections ?? []).map(
    (one) =>
      [
        t.account,
        html`${name(one.provider)}${one.account !== '' && html` · ${untrustedText(one.account)}`}`,
      ] as const,
  ),
  [
    t.host,
    call !== undefined && call.hosts.length > 0
      ? html`${call.hosts.map((host) => html`<code>${untrustedText(host)}</code> `)}`
      : undefined,
  ],
  [t.runAt, call?.runAt === undefined ? undefined : exactTime(call.runAt)],
  ['Waits for', status === 'pending' ? missing.join(', ') : undefined],
  ['Asked', exactTime(createdAt)],
  ['Waits until', status === 'pending' ? exactTime(expiresAt) : undefined],
  ...decisions.map(
    ({ decision, approver, reason, at }) =>
      [
        decision === 'approve' ? 'Approved by' : 'Denied by',
        html`${name(approver, { longest: 200 })}, ${exactTime(at)}${reason !== undefined && html`: ${untrustedText(reason)}`}`,
      ] as const,
  ),
  ['Run', executionId && code(executionId)],
])}`
}
