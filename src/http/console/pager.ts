import { html } from 'hono/html'
import { firstIdAt, type IdPrefix } from '../../domain/ids.ts'
import type { Html } from '../pages/layout.ts'
import { liveHref } from './live.ts'
import type { OnPage } from './routes.ts'

// The paging of lists: which rows a page shows, and the links to its neighbours.

/** The link "12 newer: show" above a list. It has no text until the page's script finds newer rows. */
export function newerRows(on: OnPage, path: string, newest: string | undefined): Html | '' {
  if (newest === undefined || ['before', 'after', 'date'].some((place) => on.query(place) !== undefined))
    return ''
  const parameters = new URL(on.c.req.url).searchParams
  parameters.set('after', newest)
  return html`<p role="status" class="newer"><a href="${urlWith(on, {})}" data-live="${liveHref(on, path, parameters)}"></a></p>`
}

/** The text of the link of `newerRows`. Rows are counted up to `most`. */
export function newerText(rows: number, most: number): string {
  return rows === 0 ? '' : `${rows >= most ? `${most} or more` : rows} newer: show`
}

/** The keys of the neighbouring pages of a list, newest first. */
export interface Neighbours {
  /** The id of the first row of this page, where newer rows may exist. */
  readonly newer?: string | undefined
  /** The id of the last row of this page, where older rows exist. */
  readonly older?: string | undefined
}

/** The links "Newer" and "Older", with the filters of this page. They need no count of all rows. */
export function pager(on: OnPage, { newer, older }: Neighbours): Html {
  if (newer === undefined && older === undefined) return html``
  return html`<nav class="pager" aria-label="Pages of the list">${
    newer !== undefined && html`<a rel="prev" href="${urlWith(on, { after: newer })}">← Newer</a>`
  }${older !== undefined && html`<a rel="next" href="${urlWith(on, { before: older })}">Older →</a>`}</nav>`
}

/** The links "Back" and "More" of a list in memory. `from`: index of the first row shown; `size`: rows of a page. */
export function offsetPager(
  on: OnPage,
  { from, size, count }: { readonly from: number; readonly size: number; readonly count: number },
): Html | '' {
  if (from === 0 && count <= size) return ''
  return html`<nav class="pager" aria-label="Pages of the list">${
    from > 0 &&
    html`<a rel="prev" href="${urlWith(on, { from: String(Math.max(0, from - size)) })}">← Back</a>`
  }${from + size < count && html`<a rel="next" href="${urlWith(on, { from: String(from + size) })}">More →</a>`}</nav>`
}

/** The URL of this page with these parameters set. The position in the list is dropped unless they set it. */
export function urlWith(on: OnPage, change: Readonly<Record<string, string>>): string {
  const url = new URL(on.c.req.url)
  for (const place of ['before', 'after', 'date']) url.searchParams.delete(place)
  for (const [key, value] of Object.entries(change)) url.searchParams.set(key, value)
  return `${url.pathname}${url.search}`
}

/** Where a page of a list begins: `?before=<id>`, `?after=<id>`, or the end of a day, `?date=2026-11-12`. */
export function listPosition(
  on: OnPage,
  prefix: IdPrefix,
): { readonly before?: string; readonly after?: string } {
  const [before, after, date] = ['before', 'after', 'date'].map(on.query)
  if (before !== undefined && ID.test(before)) return { before }
  if (after !== undefined && ID.test(after)) return { after }
  return date === undefined ? {} : beforeEndOf(date, prefix)
}

const ID = /^[\w-]{1,80}$/

/** Ids begin with their time in milliseconds (UUIDv7), so the end of a day can be written as an id of the list. */
function beforeEndOf(date: string, prefix: IdPrefix): { readonly before?: string } {
  const ms = /^\d{4}-\d\d-\d\d$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN
  if (Number.isNaN(ms)) return {}
  return { before: firstIdAt(prefix, ms / 1000 + 86_400) }
}
