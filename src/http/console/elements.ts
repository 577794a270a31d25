import { html, raw } from 'hono/html'
import { toTimestamp } from '../../domain/clock.ts'
import { type Html, name } from '../pages/layout.ts'
import type { OnPage } from './routes.ts'

// What the console's pages show: tables, badges, lists of facts, times, links.

/**
 * A table that scrolls sideways in its own box on a narrow screen. On a phone the stylesheet shows each row as a card, with
 * the name of its column beside each value; the roles are written out because browsers drop those of a table that is laid
 * out as blocks. Without rows it shows `empty`.
 */
export function table(
  caption: string,
  head: readonly (string | Html)[],
  rows: readonly (readonly (string | Html | undefined)[])[],
  empty: string | EmptyList,
): Html {
  if (rows.length === 0) return typeof empty === 'string' ? emptyState(empty) : emptyList(empty)
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table class="rows" role="table"><caption class="visually-hidden">${caption}</caption>
<thead role="rowgroup"><tr role="row">${head.map((cell) => html`<th scope="col" role="columnheader">${cell}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows.map((row) => html`<tr role="row">${row.map((cell, i) => html`<td role="cell"${labelOf(head[i])}>${cell ?? html`<span class="muted">–</span>`}</td>`)}</tr>`)}</tbody></table></div>`
}

/** The text of the column's head, for the cards. */
function labelOf(head: string | Html | undefined): Html {
  const label = typeof head === 'string' ? head : raw(String(head).replaceAll(/<[^>]*>/g, ''))
  return html` data-label="${label}"`
}

/** What a page says in place of a list that has no rows yet. */
export interface EmptyList {
  readonly title: string
  /** What the thing is for. */
  readonly text: string
  /** The button for what to do next. */
  readonly next?: Html | false
}

function emptyList({ title, text, next }: EmptyList): Html {
  return html`<div class="empty"><p class="title">${title}</p><p>${text}</p>${next !== undefined && next !== false && html`<p>${next}</p>`}</div>`
}

export function emptyState(text: string | Html): Html {
  return html`<div class="empty"><p>${text}</p></div>`
}

/** A list of terms with their values. Rows whose value is `undefined` are left out. */
export function facts(rows: readonly (readonly [string | Html, string | Html | undefined])[]): Html {
  return html`<dl class="facts">${rows.map(
    ([term, value]) => value !== undefined && html`<div><dt>${term}</dt><dd>${value}</dd></div>`,
  )}</dl>`
}

export type Tone = 'good' | 'bad' | 'wait' | 'plain'

export function badge(text: string, tone: Tone = 'plain'): Html {
  return html`<span class="badge ${tone}">${text}</span>`
}

/** A section of a page, in a box with a heading. */
export function section(title: string, body: Html, actions?: Html | ''): Html {
  return html`<section class="card"><div class="head"><h2>${title}</h2>${actions !== undefined && actions !== '' && html`<div class="actions">${actions}</div>`}</div>${body}</section>`
}

/** A time, shown as how long ago it was; the exact time is its title. */
export function time(at: number | undefined, now: number): Html | undefined {
  if (at === undefined) return undefined
  const text = toTimestamp(at)
  return html`<time datetime="${text}" title="${text}">${ago(now - at)}</time>`
}

/** Date and time in UTC. */
export function exactTime(at: number): Html {
  const text = toTimestamp(at)
  return html`<time datetime="${text}">${text.slice(0, 19).replace('T', ' ')} UTC</time>`
}

function ago(seconds: number): string {
  const past = Math.abs(seconds)
  const [count, unit] =
    past < 60
      ? [Math.round(past), 's']
      : past < 3600
        ? [Math.round(past / 60), ' min']
        : past < 2 * 86_400
          ? [Math.round(past / 3600), ' h']
          : [Math.round(past / 86_400), ' days']
  if (past < 5) return 'now'
  return seconds < 0 ? `in ${count}${unit}` : `${count}${unit} ago`
}

/** A name or an id from outside, in the font of code. */
export function code(text: string, options?: { readonly longest?: number }): Html {
  return html`<code>${name(text, options)}</code>`
}

/** A long name such as that of a setting, which may break after each `_`. */
export function wrappable(name: string): Html {
  return html`${name.split(/(?<=_)/).map((part, i) => html`${i > 0 && html`<wbr>`}${part}`)}`
}

export function link(path: string, text: string | Html): Html {
  return html`<a href="/dashboard${path}">${text}</a>`
}

/** A text in a table's column of numbers: the stylesheet aligns its cell on the right. */
export function numeric(text: string): Html {
  return html`<span class="number">${text}</span>`
}

/** A link that looks like a button. */
export function buttonLink(path: string, text: string, { secondary = true } = {}): Html {
  return html`<a class="button${secondary ? ' secondary' : ''}" href="/dashboard${path}">${text}</a>`
}

/** A `curl` command for the API request that corresponds to the page. */
export function asCurl(
  on: OnPage,
  path: string,
  { method = 'GET', body }: { readonly method?: string; readonly body?: unknown } = {},
): Html {
  const url = new URL(path, on.broker.settings.publicUrl).href
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(url)}`,
    `-H "Authorization: Bearer $GATEPASS_API_KEY"`,
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]),
  ]
  return html`<details class="curl"><summary>As curl</summary><pre tabindex="0"><code>${lines.join(' \\\n  ')}</code></pre></details>`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
