import { html } from 'hono/html'
import type { Connection } from '../../domain/connection.ts'
import { explainConnection } from '../../flows/causes/explain-connection.ts'
import { refreshNow } from '../../flows/console/refresh-now.ts'
import { type Searched, searchList } from '../../flows/console/search-list.ts'
import { getConnection } from '../../flows/get-connection.ts'
import { findProviderByUid, providersOf } from '../../flows/get-provider.ts'
import { deleteConnection } from '../../operations/authorizations/connections.ts'
import type { ConnectionIndex, ListedConnection } from '../../store/console-lists.ts'
import { name } from '../pages/layout.ts'
import { asCurl, badge, code, exactTime, facts, link, section } from './elements.ts'
import { endOnce } from './end-once.ts'
import { field, filters, select, submit } from './form-fields.ts'
import {
  afterRevoking,
  connectionsTable,
  newestEntries,
  PAGE_ROWS,
  searchPager,
  statusBadge,
  userPath,
} from './lists.ts'
import { listPosition, newerRows, newerText } from './pager.ts'
import { perform } from './perform.ts'
import { providerLabels } from './provider-label.ts'
import type { ConsoleRoutes, OnPage } from './routes.ts'
import { causeNote, entriesList, timeline } from './timeline.ts'

const STATUSES = ['active', 'needs_authorization'] as const

/** The list of connections with its filters, and the page of one connection with its history and actions. */
export function addConnectionPages(routes: ConsoleRoutes): void {
  routes.page('/connections', async (on) => {
    const filter = await readFilters(on)
    const found = await findConnections(on, filter)
    const book = await providersOf(on.broker, on.projectId)
    const providers = book.entries.map(({ id }) => [id, id] as const)
    const body = html`${filters(
      '/connections',
      html`${field('User', 'user', { value: filter.userId, type: 'search' })}
${select('Provider', 'provider', [['', 'All'], ...providers], { value: filter.providerId })}
${select(
  'Status',
  'status',
  [
    ['', 'All'],
    ['active', 'Active'],
    ['needs_authorization', 'Needs a new consent'],
  ],
  { value: filter.status },
)}
${field('On or before', 'date', { value: on.query('date'), type: 'date' })}`,
      { isFiltered: new URL(on.c.req.url).search !== '' },
    )}
${newerRows(on, '/connections', isSearch(filter) ? undefined : found.rows[0]?.id)}
${await connectionsTable(on, found.rows)}
${searchPager(on, found)}
${asCurl(on, curlPath(filter))}`
    return on.show('Connections', body, { lead: 'The accounts that users have connected, newest first.' })
  })

  routes.live('/connections', async (on) =>
    newerText((await findConnections(on, await readFilters(on))).rows.length, PAGE_ROWS),
  )

  routes.page('/connections/:id', async (on) => {
    const connection = await connectionOf(on)
    const { broker, projectId } = on
    const [explanation, history, entry, labels] = await Promise.all([
      explainConnection(broker, connection),
      newestEntries(on, { connectionId: connection.id }),
      findProviderByUid(broker, projectId, connection.providerUid),
      providerLabels(on),
    ])
    const { id, userId, account, scopes, status, createdAt, lastUsedAt, expiresAt } = connection
    const canRefresh = connection.refresh !== undefined && entry?.status === 'active'
    const actions = html`${canRefresh && on.form(`/connections/${id}/refresh`, submit('Refresh token now', 'secondary'), { className: 'inline' })}
${!connection.isDefault && on.form(`/connections/${id}/default`, submit('Make default', 'secondary'), { className: 'inline' })}`
    const body = html`${causeNote(explanation.cause)}
${section(
  'Connection',
  facts([
    ['Status', statusBadge(status)],
    ['Provider', labels.of(entry)],
    ['User', link(userPath(userId), name(userId))],
    [
      'Account',
      html`${name(account.name || account.id || 'unknown')}${connection.isDefault && html` ${badge('default')}`}`,
    ],
    ['Connected', exactTime(createdAt)],
    ['Last used', lastUsedAt === undefined ? 'not yet' : exactTime(lastUsedAt)],
    ['Access token expires', expiresAt === undefined ? 'no end is known' : exactTime(expiresAt)],
    ['Refresh token', connection.refresh === undefined ? 'none' : 'kept, sealed'],
    [
      'Scopes',
      scopes.length === 0
        ? 'none'
        : html`<ul class="tags">${scopes.map((scope) => html`<li>${code(scope)}</li>`)}</ul>`,
    ],
    ['ID', code(id)],
  ]),
)}
<div class="cards">
${section('What happened', timeline(explanation))}
${section('Audit trail', history.length === 0 ? html`<p class="muted">No entries yet.</p>` : entriesList(history))}
</div>
${
  on.mayChange &&
  section(
    'Revoke',
    html`<p class="muted">Deletes the connection here, and revokes it at the provider where the provider can do that. ${afterRevoking(entry)}</p>
${on.form(`/connections/${id}/revoke`, submit('Revoke this connection', 'danger'), { recent: true })}`,
  )
}
${asCurl(on, `/v1/connections/${id}/explain`)}`
    const title = `${account.name || account.id || 'Connection'} at ${entry?.id ?? 'a removed provider'}`
    return on.show(title, body, { above: [['Connections', '/connections']], actions })
  })

  routes.form('/connections/:id/refresh', async (on) => {
    const connection = await connectionOf(on)
    const outcome = await refreshNow(on.broker, connection)
    return on.go(`/connections/${connection.id}`, REFRESHED[outcome.outcome])
  })

  routes.form('/connections/:id/default', async (on) => {
    const { id, projectId, userId } = await connectionOf(on)
    const audit = on.broker.audit.of(projectId, {
      action: 'connection.made_default',
      userId,
      connectionId: id,
    })
    await on.broker.store.connections.makeDefault(id, audit)
    return on.go(`/connections/${id}`, 'This account is now the default.')
  })

  routes.form(
    '/connections/:id/revoke',
    endOnce(
      (on) => ({
        entry: { action: 'connection.deleted', connectionId: idOf(on) },
        list: '/connections',
        already: 'The connection had already been deleted here.',
      }),
      async (on) => {
        const { revocation } = await perform(on, deleteConnection, { params: { id: idOf(on) } })
        return on.go('/connections', REVOKED[revocation])
      },
    ),
    { recent: true },
  )
}

const REFRESHED = {
  usable: 'The connection has a valid token. A token that was received less than ten seconds ago is kept.',
  authorization_required: 'The tokens cannot be refreshed: the user must approve again.',
  provider_unavailable:
    'No new token was received, so the stored one is kept. The refresh is tried again later.',
} as const

const REVOKED = {
  revoked: 'The connection was deleted here and revoked at the provider.',
  unsupported: 'The connection was deleted here. The provider offers no way to revoke it.',
  failed: 'The connection was deleted here. Revoking it at the provider failed.',
} as const

interface Filters {
  readonly userId?: string | undefined
  readonly providerId?: string | undefined
  readonly providerUid?: string | undefined
  readonly status?: Connection['status'] | undefined
}

async function readFilters(on: OnPage): Promise<Filters> {
  const providerId = on.query('provider')
  const book = await providersOf(on.broker, on.projectId)
  return {
    userId: on.query('user'),
    providerId,
    // a provider that does not exist has no connections
    providerUid: providerId === undefined ? undefined : (book.byId(providerId)?.uid ?? ''),
    status: STATUSES.find((known) => known === on.query('status')),
  }
}

/** Whether more than one filter is given. Each index covers only one. */
function isSearch({ userId, providerUid, status }: Filters): boolean {
  return [userId, providerUid, status].filter((filter) => filter !== undefined).length > 1
}

/** Searches by the index of the narrowest filter. Further filters are compared row by row. */
function findConnections(
  on: OnPage,
  { userId, providerUid, status }: Filters,
): Promise<Searched<ListedConnection>> {
  const by: ConnectionIndex =
    userId !== undefined
      ? { userId }
      : providerUid !== undefined
        ? { providerUid }
        : status !== undefined
          ? { status }
          : {}
  const { consoleLists } = on.broker.store
  const place = listPosition(on, 'conn')
  if (!isSearch({ userId, providerUid, status }))
    return consoleLists.connections(on.projectId, by, place, PAGE_ROWS)
  return searchList(
    (at, limit) => consoleLists.connections(on.projectId, by, at, limit),
    (row) =>
      (providerUid === undefined || row.providerUid === providerUid) &&
      (status === undefined || row.status === status),
    place,
    PAGE_ROWS,
  )
}

const idOf = ({ c }: OnPage) => c.req.param('id') ?? ''

function connectionOf(on: OnPage): Promise<Connection> {
  return getConnection(on.broker, on.projectId, idOf(on))
}

function curlPath({ userId, providerId }: Filters): string {
  const query = new URLSearchParams({
    ...(userId !== undefined && { user_id: userId }),
    ...(providerId !== undefined && { provider_id: providerId }),
  })
  return `/v1/connections${query.size === 0 ? '' : `?${query}`}`
}
