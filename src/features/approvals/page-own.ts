import { html } from 'hono/html'
import { BrokerError } from '../../domain/errors.ts'
import type { OwnPagePart, OwnPageUser } from '../../http/page-routes.ts'
import { csrfInput } from '../../http/pages/csrf-input.ts'
import { type Html, name } from '../../http/pages/layout.ts'
import { moment } from '../../http/pages/times.ts'
import { APPROVE_PATH } from './approval-view.ts'
import { removeStanding } from './decide-approval.ts'
import { type Approval, approvalAt, type StandingApproval } from './domain.ts'
import { agentNames } from './inbox.ts'
import { approvalTexts } from './page-texts.ts'

/** The latest questions that are read, and how many that were decided are shown. */
const READ = 100
const DECIDED = 10
const HOUR = 3600

/** What users see of approvals on their own page: open questions, what they decided, and what is remembered. */
export const approvalsOfUser: OwnPagePart = {
  async show(broker, user) {
    const { projectId, userId, words } = user
    const now = broker.now()
    const [{ items }, standing] = await Promise.all([
      broker.store.approvals.page(projectId, { userId }, { offset: 0, limit: READ }),
      broker.store.standingApprovals.list(projectId, userId, now),
    ])
    if (items.length === 0 && standing.length === 0) return { first: '', rest: '' }
    const agents = await agentNames(broker, projectId)
    const agentOf = (id: string) => name(agents.get(id) ?? id.replace(/^client:/, ''), { longest: 100 })
    const t = approvalTexts(words).own
    const asked = items.map((one) => approvalAt(one, now)).filter(asksUser)
    const waiting = asked.filter(({ status }) => status === 'pending')
    const decided = asked.filter(({ status }) => status !== 'pending').slice(0, DECIDED)
    const denials = Map.groupBy(
      asked.filter(({ status, endedAt = 0 }) => status === 'denied' && endedAt > now - HOUR),
      ({ subject, agent }) => JSON.stringify([subject, agent]),
    )
    const blocks = standing.filter(({ kind }) => kind === 'block')
    const remembered = standing.filter(({ kind }) => kind === 'approval')
    const at = (one: Approval) => t.askedBy({ agent: agentOf(one.agent), time: moment(words, one.createdAt) })

    const first = html`${
      waiting.length > 0 &&
      html`<section class="aside"><h2>${t.waiting}</h2>${waiting.map((one) =>
        card(
          one.id,
          subjectOf(one),
          html`<p>${at(one)}</p>
<div class="actions"><a class="button" href="${APPROVE_PATH}/${one.id}" aria-label="${t.look}: ${one.subject}">${t.look}</a></div>`,
        ),
      )}</section>`
    }`
    const rest = html`<section class="aside"><h2>${t.title}</h2>
${remembered.length > 0 && html`<h3>${t.remembered}</h3>`}
${remembered.map((one) =>
  card(
    one.id,
    subjectOf(one),
    html`<p>${t.forAgent({ agent: agentOf(one.agent), time: moment(words, one.expiresAt) })}</p>
${one.fixed.length > 0 && html`<p>${t.fixed({ names: html`${one.fixed.map((key) => html`<code>${name(key)}</code> `)}` })}</p>`}
${mayRemove(user, one) && removeForm(user, one, t.takeBack)}`,
  ),
)}
${blocks.length > 0 && html`<h3>${t.blocked}</h3>`}
${blocks.map((one) => card(one.id, agentOf(one.agent), html`<p>${t.blockedText}</p>${mayRemove(user, one) && removeForm(user, one, t.unblock)}`))}
${
  denials.size > 0 &&
  html`<h3>${t.denied}</h3><p class="small">${t.deniedText}</p><ul class="points">${[...denials.values()].map(
    ([one, ...more]) =>
      one && html`<li>${subjectOf(one)} · ${agentOf(one.agent)}: ${words.number(more.length + 1)}</li>`,
  )}</ul>`
}
${
  decided.length > 0 &&
  html`<h3>${t.lately}</h3><ul class="points">${decided.map((one) => html`<li>${subjectOf(one)}: <strong>${t.states[stateOf(one)]}</strong>. ${at(one)}</li>`)}</ul>`
}
</section>`
    return { first, rest: decided.length + standing.length === 0 ? '' : rest }
  },
  form: {
    path: 'remembered',
    async send(broker, user, id) {
      const { projectId, userId } = user
      const found = await broker.store.standingApprovals.find(projectId, id)
      if (found === undefined || found.userId !== userId || !mayRemove(user, found)) return undefined
      try {
        await removeStanding(broker, { projectId, id, userId })
      } catch (error) {
        // taken back by another request meanwhile
        if (!(error instanceof BrokerError) || error.code !== 'not_found') throw error
      }
      return found.kind === 'block' ? 'agent_unblocked' : 'approval_removed'
    },
  },
}

function asksUser({ rules }: Approval): boolean {
  return rules.some(({ by }) => typeof by === 'string')
}

/** Ending access needs the right to disconnect. Letting an agent ask again needs the right to decide. */
function mayRemove({ may }: OwnPageUser, { kind }: StandingApproval): boolean {
  return may.includes('approve') || (kind === 'approval' && may.includes('disconnect'))
}

function subjectOf({ subject }: { readonly subject: string }): Html {
  return name(subject.split(':')[1] ?? subject, { longest: 200 })
}

function card(id: string, title: Html, inside: Html): Html {
  return html`<article class="card connection" aria-labelledby="${id}"><header><div><h3 id="${id}">${title}</h3></div></header>${inside}</article>`
}

function removeForm({ csrf }: OwnPageUser, { id, subject, agent }: StandingApproval, text: string): Html {
  return html`<div class="actions"><form method="post" action="/me/remembered/${id}">${csrfInput(csrf)}<button type="submit" class="secondary" aria-label="${text}: ${subject || agent}">${text}</button></form></div>`
}

function stateOf({ status }: Approval): 'approved' | 'used' | 'denied' | 'expired' | 'superseded' {
  return status === 'cancelled' || status === 'pending' ? 'superseded' : status
}
