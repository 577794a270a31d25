import { html } from 'hono/html'
import { BrokerError } from '../../domain/errors.ts'
import type { SeenUser } from '../../store/users.ts'
import { name } from '../pages/layout.ts'
import { asCurl, buttonLink, code, exactTime, facts, link, section, table, time } from './elements.ts'
import { field, filters } from './form-fields.ts'
import { connectionsTable, newestEntries, PAGE_ROWS, searchPager, userPath } from './lists.ts'
import { listPosition, urlWith } from './pager.ts'
import type { ConsoleRoutes, OnPage } from './routes.ts'
import { entriesList } from './timeline.ts'

/** The list of users, last seen first, and the page of one user with connections and audit entries. */
export function addUserPages(routes: ConsoleRoutes): void {
  routes.page('/users', async (on) => {
    const wanted = on.query('user')
    if (wanted !== undefined) return on.go(userPath(wanted))
    const { users } = on.broker.store
    const found = await users.list(on.projectId, PAGE_ROWS + 1, seenBefore(on))
    const rows = found.slice(0, PAGE_ROWS)
    const last = found.length > PAGE_ROWS ? rows.at(-1) : undefined
    const body = html`${filters('/users', field('User ID', 'user', { type: 'search', placeholder: 'the exact ID' }))}
${table(
  'Users',
  ['User', 'Last seen'],
  rows.map(({ userId, lastSeenAt }) => [
    link(userPath(userId), name(userId)),
    time(lastSeenAt, on.broker.now()),
  ]),
  {
    title: 'No users yet',
    text: 'A user is listed as soon as your application asks for their consent or for their tokens, or a tool runs for them.',
    next: buttonLink('/tools', 'Try a tool', { secondary: false }),
  },
)}
${
  last !== undefined &&
  html`<nav class="pager" aria-label="Pages of the list"><a rel="next" href="${urlWith(on, { seen: String(last.lastSeenAt), id: last.userId })}">Earlier →</a></nav>`
}`
    return on.show('Users', body, {
      lead: 'Users for whom Gatepass has acted, latest first.',
    })
  })

  routes.page('/users/details', async (on) => {
    const userId = on.query('id')
    if (userId === undefined) throw new BrokerError('not_found', 'The link names no user.')
    const { broker, projectId } = on
    const [seen, connections, history] = await Promise.all([
      broker.store.users.find(projectId, userId),
      broker.store.consoleLists.connections(projectId, { userId }, listPosition(on, 'conn'), PAGE_ROWS),
      newestEntries(on, { userId }),
    ])
    const body = html`${section(
      'User',
      facts([
        ['User ID', code(userId, { longest: 512 })],
        [
          'Last seen',
          seen === undefined
            ? 'never, more than 400 days ago, or before Gatepass recorded it'
            : exactTime(seen.lastSeenAt),
        ],
      ]),
    )}
${section('Connections', await connectionsTable(on, connections.rows))}
${searchPager(on, connections)}
${section('Audit trail', history.length === 0 ? html`<p class="muted">No entries about this user.</p>` : entriesList(history))}
${asCurl(on, `/v1/connections?${new URLSearchParams({ user_id: userId })}`)}`
    return on.show(userId, body, { above: [['Users', '/users']] })
  })
}

/** The last user of the page before this one: the list goes on after this user. */
function seenBefore(on: OnPage): SeenUser | undefined {
  const [seen, userId] = [on.query('seen'), on.query('id')]
  return seen !== undefined && userId !== undefined && /^\d{1,12}$/.test(seen)
    ? { lastSeenAt: Number(seen), userId }
    : undefined
}
