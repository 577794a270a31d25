import { html } from 'hono/html'
import type { Connection } from '../../domain/connection.ts'
import { type AuditFilter, readAudit } from '../../flows/audit/read-audit.ts'
import type { Searched } from '../../flows/console/search-list.ts'
import { providersOf } from '../../flows/get-provider.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { isUserless } from '../../providers/provider-grant.ts'
import type { AuditEntry } from '../../services/audit-entry.ts'
import type { ListedConnection } from '../../store/console-lists.ts'
import { type Html, name } from '../pages/layout.ts'
import { badge, buttonLink, type EmptyList, exactTime, link, table, time } from './elements.ts'
import { pager } from './pager.ts'
import { providerLabels } from './provider-label.ts'
import type { OnPage } from './routes.ts'
import { ACTIONS, rowDanger } from './row-actions.ts'

/** Rows of one page of a list. */
export const PAGE_ROWS = 50
/** Entries of the audit trail that a page of details shows. */
const NEWEST_ENTRIES = 20

/** The page of one user. The id is a query parameter, because any text may be a user's id. */
export function userPath(userId: string): string {
  return `/users/details?${new URLSearchParams({ id: userId })}`
}

export async function connectionsTable(on: OnPage, rows: readonly ListedConnection[]): Promise<Html> {
  const now = on.broker.now()
  const [{ entries, byUid }, labels] = await Promise.all([
    providersOf(on.broker, on.projectId),
    providerLabels(on),
  ])
  return table(
    'Connections',
    [
      ...['Account', 'Provider', 'User', 'Status', 'Last used', 'Connected'],
      ...(on.mayChange ? [ACTIONS] : []),
    ],
    rows.map((row) => [
      html`${link(`/connections/${row.id}`, name(row.account.name || row.account.id || 'unknown account'))}${row.isDefault && html` <span class="visually-hidden">, default</span>`}${tokenWords(byUid(row.providerUid), row.scopes)}`,
      labels.of(byUid(row.providerUid)),
      link(userPath(row.userId), name(row.userId, { longest: 40 })),
      statusBadge(row.status),
      time(row.lastUsedAt, now),
      time(row.createdAt, now),
      ...(on.mayChange ? [revokeAction(on, row, byUid(row.providerUid))] : []),
    ]),
    noConnections(on, entries.length > 0),
  )
}

/** Of a token that the client gets for a user without a consent: how, and with which scopes, since there is one for each set. */
function tokenWords(entry: ProviderEntry | undefined, scopes: readonly string[]): Html | '' {
  if (entry === undefined || !isUserless(entry.provider)) return ''
  const { subject } = entry.provider.grant ?? {}
  const how =
    subject === undefined ? 'Asked for in the user’s name' : `Exchanged for a token of ${subject.connection}`
  return html`<br><span class="muted small">${how}${scopes.length > 0 && html`: ${name(scopes.join(' '), { longest: 120 })}`}</span>`
}

/** What the end of a connection means for its user. */
export function afterRevoking(entry: ProviderEntry | undefined): string {
  return entry !== undefined && isUserless(entry.provider)
    ? 'The next use asks for a new token.'
    : 'The user has to connect again.'
}

function revokeAction(
  on: OnPage,
  { id, account, userId }: ListedConnection,
  entry: ProviderEntry | undefined,
): Html {
  return rowDanger(on, {
    action: `/connections/${id}/revoke`,
    text: 'Revoke',
    of: `${account.name || account.id} of ${userId}`,
    says: afterRevoking(entry),
    button: 'Revoke it',
  })
}

/** The text in place of an empty list. It depends on the page and on whether the list is filtered. */
function noConnections(on: OnPage, hasProviders: boolean): string | EmptyList {
  if (on.c.req.path !== '/dashboard/connections') return 'No connections.'
  if (new URL(on.c.req.url).search !== '') return 'No connection matches.'
  return {
    title: 'No connections yet',
    text: 'A connection is the account of a user that your application may use: its tokens are kept sealed and fresh. A user makes one by a link that your application asks for.',
    next: hasProviders
      ? buttonLink('/tools', 'Try a tool', { secondary: false })
      : on.mayChange && buttonLink('/catalogue', 'Add a provider', { secondary: false }),
  }
}

export function statusBadge(status: Connection['status']): Html {
  return status === 'active' ? badge('active', 'good') : badge('needs a new consent', 'bad')
}

/** The links to the neighbouring pages and, if a search has stopped before its end, how far it has come. */
export function searchPager(
  on: OnPage,
  { searchedTo, ...neighbours }: Searched<{ readonly id: string; readonly createdAt: number }>,
): Html {
  return html`${
    searchedTo !== undefined &&
    html`<p class="note wait">${
      on.query('after') === undefined
        ? html`Searched back to ${exactTime(searchedTo.createdAt)}. Older rows have not been searched: continue with Older.`
        : html`Searched up to ${exactTime(searchedTo.createdAt)}. Newer rows have not been searched: continue with Newer.`
    }</p>`
  }${pager(on, neighbours)}`
}

/** The newest entries of the audit trail that the filter selects, at most 20. */
export async function newestEntries(on: OnPage, filter: AuditFilter): Promise<readonly AuditEntry[]> {
  const entries: AuditEntry[] = []
  for await (const entry of readAudit(on.broker, on.projectId, filter, 'newest first')) {
    entries.push(entry)
    if (entries.length === NEWEST_ENTRIES) break
  }
  return entries
}
