import { html } from 'hono/html'
import type { Authorization } from '../../domain/authorization.ts'
import { getAuthorization } from '../../flows/await-authorization.ts'
import { explainAuthorization } from '../../flows/causes/explain-authorization.ts'
import { type Searched, searchList } from '../../flows/console/search-list.ts'
import { providersOf } from '../../flows/get-provider.ts'
import type { ListedAuthorization } from '../../store/console-lists.ts'
import { type Html, name } from '../pages/layout.ts'
import { asCurl, badge, buttonLink, code, exactTime, facts, link, section, table, time } from './elements.ts'
import { field, filters, select } from './form-fields.ts'
import { newestEntries, PAGE_ROWS, searchPager, userPath } from './lists.ts'
import { live } from './live.ts'
import { listPosition, newerRows, newerText } from './pager.ts'
import { providerLabels } from './provider-label.ts'
import type { ConsoleRoutes, OnPage } from './routes.ts'
import { causeNote, entriesList, timeline } from './timeline.ts'

const STATUSES = ['pending', 'confirming', 'confirmed', 'exchanging', 'completed', 'failed'] as const
const LABELS = {
  pending: 'waiting for the user',
  confirming: 'waiting for a confirmation',
  confirmed: 'confirmed',
  exchanging: 'exchanging the code',
  completed: 'completed',
  failed: 'failed',
} as const satisfies Record<Authorization['status'], string>

/** The list of authorizations by status, and the page of one with each of its steps. */
export function addAuthorizationPages(routes: ConsoleRoutes): void {
  routes.page('/authorizations', async (on) => {
    const status = STATUSES.find((known) => known === on.query('status'))
    const userId = on.query('user')
    const found = await findAuthorizations(on, { status, userId })
    const providers = await providersOf(on.broker, on.projectId)
    const labels = await providerLabels(on)
    const isFiltered = new URL(on.c.req.url).search !== ''
    const now = on.broker.now()
    const body = html`${filters(
      '/authorizations',
      html`${select('Status', 'status', [['', 'All'], ...STATUSES.map((known) => [known, LABELS[known]] as const)], { value: status })}
${field('User', 'user', { value: userId, type: 'search' })}
${field('On or before', 'date', { value: on.query('date'), type: 'date' })}`,
      { isFiltered },
    )}
${newerRows(on, '/authorizations', userId === undefined ? found.rows[0]?.id : undefined)}
${table(
  'Authorizations',
  ['Begun', 'Status', 'Provider', 'User', 'Asked by'],
  found.rows.map((row) => [
    link(`/authorizations/${row.id}`, time(row.createdAt, now) ?? ''),
    statusOf(row, now),
    html`<span class="labels">${[...new Set(row.steps.map(({ providerUid }) => providerUid))].map((uid) => labels.of(providers.byUid(uid)))}</span>`,
    link(userPath(row.userId), name(row.userId, { longest: 40 })),
    row.requester === undefined ? undefined : name(row.requester),
  ]),
  isFiltered
    ? 'No authorization matches. They are kept for a week after their end.'
    : {
        title: 'No authorizations yet',
        text: 'Each time a user is asked for consent, it is listed here with all its steps, and with the reason if it failed. It is kept for a week after its end.',
        next: buttonLink('/tools', 'Try a tool', { secondary: false }),
      },
)}
${searchPager(on, found)}`
    return on.show('Authorizations', body, {
      lead: 'Each time a user was asked for consent, newest first.',
    })
  })

  routes.live('/authorizations', async (on) => {
    const status = STATUSES.find((known) => known === on.query('status'))
    const found = await findAuthorizations(on, { status, userId: on.query('user') })
    return newerText(found.rows.length, PAGE_ROWS)
  })

  routes.live('/authorizations/:id', async (on) => {
    const { status } = await getAuthorization(on.broker, on.projectId, on.c.req.param('id') ?? '')
    const { shown } = on.c.req.query()
    return shown === undefined || shown === status
      ? ''
      : `The status is now “${LABELS[status]}”: reload this page.`
  })

  routes.page('/authorizations/:id', async (on) => {
    const { broker, projectId } = on
    const authorization = await getAuthorization(broker, projectId, on.c.req.param('id') ?? '')
    const { id } = authorization
    const [explanation, history] = await Promise.all([
      explainAuthorization(broker, authorization),
      newestEntries(on, { userId: authorization.userId, since: authorization.createdAt - 1 }),
    ])
    const { userId, requester, createdAt, expiresAt, endedAt, providers } = explanation
    const connections = providers.flatMap(({ connectionId, providerId }) =>
      connectionId === undefined ? [] : [link(`/connections/${connectionId}`, providerId)],
    )
    const body = html`${
      endedAt === undefined &&
      html`<p role="status">${live(on, `/authorizations/${id}`, { shown: authorization.status })}</p>`
    }${causeNote(explanation.cause)}
${section(
  'Authorization',
  facts([
    ['Status', statusOf(authorization, broker.now())],
    ['Reason', explanation.reason === undefined ? undefined : code(explanation.reason)],
    ['Provider', name(providers.map((provider) => provider.name).join(', '))],
    ['User', link(userPath(userId), name(userId))],
    ['Asked by', requester === undefined ? undefined : name(requester)],
    ['Begun', exactTime(createdAt)],
    ['Ended', endedAt === undefined ? undefined : exactTime(endedAt)],
    ['Link valid until', endedAt !== undefined || expiresAt === undefined ? undefined : exactTime(expiresAt)],
    ['Connection', connections.length === 0 ? undefined : html`${connections}`],
    [
      'Scopes',
      html`<ul class="tags">${[...new Set(providers.flatMap((provider) => provider.scopes))].map((scope) => html`<li>${code(scope)}</li>`)}</ul>`,
    ],
    ['ID', code(id)],
  ]),
)}
<div class="cards">
${section('What happened', timeline(explanation))}
${section(
  'Audit trail of this user since',
  history.length === 0 ? html`<p class="muted">No entries yet.</p>` : entriesList(history),
)}
</div>
${asCurl(on, `/v1/auth/${id}/explain`)}`
    return on.show(`Consent at ${providers.map((provider) => provider.providerId).join(', ')}`, body, {
      above: [['Authorizations', '/authorizations']],
    })
  })
}

interface Filters {
  readonly status: Authorization['status'] | undefined
  readonly userId: string | undefined
}

/** Finds a status by an index. For a user there is no index here: at most 2,000 rows are read and compared. */
function findAuthorizations(on: OnPage, { status, userId }: Filters): Promise<Searched<ListedAuthorization>> {
  const { consoleLists } = on.broker.store
  const by = status === undefined ? {} : { status }
  const place = listPosition(on, 'auth')
  if (userId === undefined) return consoleLists.authorizations(on.projectId, by, place, PAGE_ROWS)
  return searchList(
    (from, limit) => consoleLists.authorizations(on.projectId, by, from, limit),
    (row) => row.userId === userId,
    place,
    PAGE_ROWS,
  )
}

function statusOf(
  {
    status,
    expiresAt,
    reason,
  }: Pick<ListedAuthorization, 'status' | 'expiresAt'> & { readonly reason?: string },
  now: number,
): Html {
  if (status === 'completed') return badge(LABELS.completed, 'good')
  if (status === 'failed')
    return html`${badge(LABELS.failed, 'bad')} ${reason !== undefined && html`<span class="muted small">${reason}</span>`}`
  return expiresAt <= now ? badge('expired', 'bad') : badge(LABELS[status], 'wait')
}
