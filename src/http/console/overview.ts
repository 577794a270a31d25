import { html } from 'hono/html'
import { emptyState } from './parts.ts'
import type { ConsoleRoutes } from './routes.ts'

/** What needs attention, then how much is used. */
export function addOverview(routes: ConsoleRoutes): void {
  routes.page('', (on) => on.show('Overview', html`${emptyState('Nothing needs your attention.')}`))
}
