import { html } from 'hono/html'
import type { Broker } from '../../broker.ts'
import {
  badge,
  buttonLink,
  code,
  link,
  section,
  type Tone,
  table,
  time,
} from '../../http/console/elements.ts'
import { PAGE_ROWS, searchPager, userPath } from '../../http/console/lists.ts'
import { listPosition } from '../../http/console/pager.ts'
import type { ConsoleRoutes, OnPage } from '../../http/console/routes.ts'
import { type Html, name } from '../../http/pages/layout.ts'
import { type Approval, approvalAt, unmetRules } from './domain.ts'
import { agentNames, endedIn, type Inbox, waitingIn } from './inbox.ts'

/** Questions that are listed at once; people should not have more. */
const MOST_WAITING = 200

/** Operators with another role see the questions to all groups. */
export function inboxOf({ projectId, session }: OnPage): Inbox {
  return { projectId, groups: session.role === 'approver' ? session.groups : undefined }
}

/** The list of the calls that wait, and of those that were decided or have ended. */
export function addInbox(routes: ConsoleRoutes, broker: Broker): void {
  routes.page(
    '/approvals',
    async (on) => {
      const inbox = inboxOf(on)
      const [waiting, ended, agents] = await Promise.all([
        waitingIn(broker, inbox, MOST_WAITING),
        endedIn(broker, inbox, listPosition(on, 'appr'), PAGE_ROWS),
        agentNames(broker, on.projectId),
      ])
      const more = waiting.searchedTo !== undefined || waiting.older !== undefined
      const count = `${waiting.rows.length}${more ? ' or more' : ''}`
      const now = broker.now()
      const cells = (one: Approval) => [
        link(`/approvals/${one.id}`, code(one.subject, { longest: 200 })),
        name(agents.get(one.agent) ?? one.agent, { longest: 100 }),
        one.userId && userCell(on, one.userId),
      ]
      const body = html`${section(
        `${count === '0' ? 'No call waits' : count === '1' ? '1 call waits' : `${count} calls wait`} for a decision`,
        table(
          'Calls that wait',
          ['Call', 'Asked by', 'For the user', 'Waits for', 'Asked', 'Ends'],
          waiting.rows.map((one) => [
            ...cells(one),
            deciders(one),
            time(one.createdAt, now),
            time(one.expiresAt, now),
          ]),
          'A call comes here while it waits, and its agent waits with it.',
        ),
      )}
${section(
  'Decided and ended',
  html`${table(
    'Calls that were decided or have ended',
    ['Call', 'Asked by', 'For the user', 'State', 'By', 'Asked'],
    ended.rows.map((one) => [
      ...cells(one),
      stateBadge(approvalAt(one, now)),
      one.decisions.length > 0
        ? html`${one.decisions.map(({ approver }) => name(approver, { longest: 60 }))}`
        : undefined,
      time(one.createdAt, now),
    ]),
    'No call has been decided yet.',
  )}${searchPager(on, ended)}`,
)}`
      return on.show('Approvals', body, {
        ...(on.session.role !== 'approver' && { actions: buttonLink('/approvals/remembered', 'Remembered') }),
        lead:
          on.session.role === 'approver'
            ? html`Calls that ask your groups: ${on.session.groups.map((group) => code(group))}`
            : 'Calls of tools that a policy holds until a person approves them.',
      })
    },
    { approvers: true },
  )
}

/** A user's page is not for those who are only approvers. */
function userCell(on: OnPage, userId: string): Html {
  const shown = name(userId, { longest: 60 })
  return on.session.role === 'approver' ? shown : link(userPath(userId), shown)
}

/** The groups whose approval is still missing, with how many people of it have approved. */
function deciders(approval: Approval): Html {
  return html`${unmetRules(approval).map(({ id, by }) => {
    if (typeof by !== 'object') return html`its user `
    const have = approval.decisions.filter(({ rules }) => rules.includes(id)).length
    return html`${code(by.group)}${by.count > 1 && html` <span class="muted">${have} of ${by.count}</span>`} `
  })}`
}

const TONES: Readonly<Record<Approval['status'], Tone>> = {
  pending: 'wait',
  approved: 'good',
  used: 'good',
  denied: 'bad',
  expired: 'plain',
  cancelled: 'plain',
  superseded: 'plain',
}

export function stateBadge({ status }: Approval): Html {
  return badge(status === 'used' ? 'approved, has run' : status, TONES[status])
}
