import type { z } from '@hono/zod-openapi'
import { html } from 'hono/html'
import type { Broker } from '../../broker.ts'
import { asCurl, badge, code, link, table } from '../../http/console/elements.ts'
import { endOnce } from '../../http/console/end-once.ts'
import { field, filters } from '../../http/console/form-fields.ts'
import { PAGE_ROWS, userPath } from '../../http/console/lists.ts'
import { outputView } from '../../http/console/output-view.ts'
import { offsetPager } from '../../http/console/pager.ts'
import { perform } from '../../http/console/perform.ts'
import type { ConsoleRoutes, OnPage } from '../../http/console/routes.ts'
import { ACTIONS, rowDanger } from '../../http/console/row-actions.ts'
import { type Html, name } from '../../http/pages/layout.ts'
import { omitted } from '../../operations/omitted.ts'
import { agentNames } from './inbox.ts'
import { deleteStandingApproval, listStandingApprovals } from './operations.ts'
import { standingApprovalSchema } from './wire.ts'

export const STANDING_PATH = '/approvals/remembered'

type StandingWire = z.output<typeof standingApprovalSchema>

/** The list of approvals that cover further calls, and of agents that users have blocked. */
export function addStandingPages(routes: ConsoleRoutes, broker: Broker): void {
  routes.page(STANDING_PATH, async (on) => {
    const user = on.query('user')
    const from = Number(on.query('from')) || 0
    const query = {
      limit: String(PAGE_ROWS),
      offset: String(Math.max(0, from)),
      ...(user !== undefined && { user_id: user }),
    }
    const [page, agents] = await Promise.all([
      perform(on, listStandingApprovals, { query }),
      agentNames(broker, on.projectId),
    ])
    const rows = outputView(standingApprovalSchema, {
      subject: ['What', ({ subject, kind }) => (kind === 'block' ? badge('blocked', 'bad') : code(subject))],
      agent: ['Agent', ({ agent }) => name(agents.get(agent) ?? agent, { longest: 100 })],
      user_id: ['User', ({ user_id: id }) => id && link(userPath(id), name(id, { longest: 60 }))],
      fixed: ['Stays the same', ({ fixed }) => html`${fixed.map((one) => html`${code(one)} `)}`],
      created_at: 'Since',
      expires_at: 'Ends',
      ...omitted('id', 'kind'),
    })
    const now = broker.now()
    const heads = [...rows.heads, ...(on.mayChange ? [ACTIONS] : [])]
    const body = html`${filters(STANDING_PATH, field('User', 'user', { value: user, type: 'search' }), { isFiltered: user !== undefined })}
${table(
  'Remembered approvals and blocked agents',
  heads,
  page.items.map((one) => [...rows.cells(one, now), ...(on.mayChange ? [removeAction(on, one)] : [])]),
  {
    title: user === undefined ? 'Nothing is remembered' : 'Nothing is remembered for this user',
    text: 'An approver may let an approval cover further calls, for an hour or until it is taken back, where the policy permits it. A user may block an agent.',
  },
)}
${offsetPager(on, { from, size: PAGE_ROWS, count: page.total_count })}
${asCurl(on, '/v1/admin/standing_approvals')}`
    return on.show('Remembered', body, {
      above: [['Approvals', '/approvals']],
      lead: 'Approvals that cover further calls without asking, and agents whose calls users refuse.',
    })
  })

  routes.form(
    `${STANDING_PATH}/:id/remove`,
    endOnce(
      (on) => ({
        entry: { action: 'standing_approval.removed', subject: idOf(on) },
        list: STANDING_PATH,
        already: `${idOf(on)} had already been taken back.`,
      }),
      async (on) => {
        await perform(on, deleteStandingApproval, { params: { id: idOf(on) } })
        return on.go(STANDING_PATH, `${idOf(on)} was taken back.`)
      },
    ),
    { recent: true },
  )
}

const idOf = ({ c }: OnPage) => c.req.param('id') ?? ''

function removeAction(on: OnPage, { id, kind, subject, agent }: StandingWire): Html {
  const isBlock = kind === 'block'
  return rowDanger(on, {
    action: `${STANDING_PATH}/${id}/remove`,
    text: isBlock ? 'Unblock' : 'Take back',
    of: isBlock ? agent : subject,
    says: isBlock ? 'The agent can ask this user again.' : 'The next such call waits for a person again.',
    button: isBlock ? 'Unblock it' : 'Take it back',
  })
}
