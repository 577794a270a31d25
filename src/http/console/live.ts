import type { Context } from 'hono'
import { html } from 'hono/html'
import type { ConsoleSession } from '../../flows/console/console-session.ts'
import type { Html } from '../pages/layout.ts'

// What the page's script asks for at intervals. Each request names the project that its page shows, because the
// operator may have chosen another project in another tab since.

/** The query parameter with the id of the project that the page shows. */
const PROJECT = 'project'

interface Shown {
  readonly projectId: string
}

/** The URL of a live text. `path` is below `/dashboard/live`. */
export function liveHref({ projectId }: Shown, path: string, query = new URLSearchParams()): string {
  query.set(PROJECT, projectId)
  return `/dashboard/live${path}?${query}`
}

/** A text that the page's script reloads at intervals; empty until then. */
export function live(on: Shown, path: string, query: Readonly<Record<string, string>>): Html {
  return html`<span data-live="${liveHref(on, path, new URLSearchParams(query))}"></span>`
}

/** The live text of a page that shows another project than the console does now; `undefined` for any other page. */
export function otherProjectText(c: Context, { project }: ConsoleSession): string | undefined {
  if (c.req.query(PROJECT) === project.id) return undefined
  return `The console now shows the project ${project.name}: reload this page.`
}
