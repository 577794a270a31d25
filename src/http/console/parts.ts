import { html } from 'hono/html'
import { toTimestamp } from '../../domain/clock.ts'
import type { IdPrefix } from '../../domain/ids.ts'
import { type Html, name } from '../pages/layout.ts'
import type { OnPage } from './routes.ts'

// What the console's pages are made of: tables, badges, lists of facts, times, forms' fields, the way through a list.

/** A table that scrolls sideways in its own box on a narrow screen. Without rows it says what would be here. */
export function table(
  caption: string,
  head: readonly (string | Html)[],
  rows: readonly (readonly (string | Html | undefined)[])[],
  empty: string | Html,
): Html {
  if (rows.length === 0) return emptyState(empty)
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table><caption class="visually-hidden">${caption}</caption>
<thead><tr>${head.map((one) => html`<th scope="col">${one}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell ?? html`<span class="muted">–</span>`}</td>`)}</tr>`)}</tbody></table></div>`
}

export function emptyState(text: string | Html): Html {
  return html`<div class="empty"><p>${text}</p></div>`
}

/** Terms and what they are; those that are `undefined` are left out. */
export function facts(rows: readonly (readonly [string, string | Html | undefined])[]): Html {
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

/** When something happened, as how long ago; the exact time is its title. */
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

export function link(path: string, text: string | Html): Html {
  return html`<a href="/dashboard${path}">${text}</a>`
}

/** A link that looks like a button. */
export function buttonLink(path: string, text: string, { secondary = true } = {}): Html {
  return html`<a class="button${secondary ? ' secondary' : ''}" href="/dashboard${path}">${text}</a>`
}

export interface FieldOptions {
  readonly value?: string | undefined
  readonly type?: 'text' | 'password' | 'number' | 'url' | 'search' | 'date' | 'email'
  readonly hint?: string | Html
  readonly fault?: string | undefined
  readonly required?: boolean
  readonly placeholder?: string
  readonly maxlength?: number
}

/** A labelled input with its hint and its fault. */
export function field(label: string, id: string, options: FieldOptions = {}): Html {
  const { value = '', type = 'text', hint, fault, required = false, placeholder, maxlength = 2000 } = options
  return html`<div class="field"><label for="f-${id}">${label}</label>
<input id="f-${id}" name="${id}" type="${type}" value="${value}" maxlength="${maxlength}"${required ? html` required` : ''}${placeholder === undefined ? '' : html` placeholder="${placeholder}"`}${described(id, hint, fault)} autocomplete="off" spellcheck="false">${notes(id, hint, fault)}</div>`
}

export function textArea(
  label: string,
  id: string,
  { value = '', hint, fault, rows = 8 }: FieldOptions & { readonly rows?: number } = {},
): Html {
  return html`<div class="field"><label for="f-${id}">${label}</label>
<textarea id="f-${id}" name="${id}" rows="${rows}" spellcheck="false"${described(id, hint, fault)}>${value}</textarea>${notes(id, hint, fault)}</div>`
}

export function select(
  label: string,
  id: string,
  choices: readonly (readonly [value: string, label: string])[],
  { value = '', hint, fault }: FieldOptions = {},
): Html {
  return html`<div class="field"><label for="f-${id}">${label}</label>
<select id="f-${id}" name="${id}"${described(id, hint, fault)}>${choices.map(
    ([one, text]) => html`<option value="${one}"${one === value ? html` selected` : ''}>${text}</option>`,
  )}</select>${notes(id, hint, fault)}</div>`
}

export function checkbox(label: string, id: string, isChecked = false, value = 'on'): Html {
  return html`<div class="field check"><input id="f-${id}-${value}" name="${id}" type="checkbox" value="${value}"${isChecked ? html` checked` : ''}><label for="f-${id}-${value}">${label}</label></div>`
}

export function hidden(id: string, value: string): Html {
  return html`<input type="hidden" name="${id}" value="${value}">`
}

export function submit(text: string, tone: 'primary' | 'secondary' | 'danger' = 'primary'): Html {
  return html`<button type="submit" class="${tone}">${text}</button>`
}

function described(id: string, hint: unknown, fault: unknown): Html | '' {
  if (fault !== undefined) return html` aria-invalid="true" aria-describedby="f-${id}-fault"`
  return hint === undefined ? '' : html` aria-describedby="f-${id}-hint"`
}

function notes(id: string, hint: string | Html | undefined, fault: string | undefined): Html {
  return html`${hint !== undefined && html`<p class="hint" id="f-${id}-hint">${hint}</p>`}${fault !== undefined && html`<p class="fault" id="f-${id}-fault">${fault}</p>`}`
}

/** A form of filters above a list: it is sent by GET, so that every list has a URL. */
export function filters(path: string, fields: Html, { isFiltered = false } = {}): Html {
  return html`<form class="filters" method="get" action="/dashboard${path}">${fields}<button type="submit" class="secondary">Show</button>${isFiltered && html`<a href="/dashboard${path}">Clear</a>`}</form>`
}

/** The same request over the API, to be pasted into a shell. */
export function asCurl(
  on: OnPage,
  path: string,
  { method = 'GET', body }: { readonly method?: string; readonly body?: unknown } = {},
): Html {
  const url = new URL(path, on.broker.settings.publicUrl).href
  const lines = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quoted(url)}`,
    `-H "Authorization: Bearer $GATEPASS_KEY"`,
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]),
  ]
  return html`<details class="curl"><summary>As curl</summary><pre tabindex="0"><code>${lines.join(' \\\n  ')}</code></pre></details>`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** A text that the page's script asks for again at intervals, where scripts run; `path` is below `/dashboard/live`. */
export function live(path: string, text: string): Html {
  return html`<span data-live="/dashboard/live${path}">${text}</span>`
}

/** "12 newer: show" above a list, once there are rows above its first one. */
export function newerRows(on: OnPage, path: string, newest: string | undefined): Html | '' {
  if (newest === undefined || ['before', 'after', 'date'].some((place) => on.query(place) !== undefined))
    return ''
  const asked = new URL(on.c.req.url).searchParams
  asked.set('after', newest)
  return html`<p role="status" class="newer"><a href="${at(on, {})}" data-live="/dashboard/live${path}?${asked}"></a></p>`
}

/** How many rows are above the first one; lists count no further than a page. */
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

/** "Newer / Older": the list goes on after the id, with the same filters. No list is counted. */
export function pager(on: OnPage, { newer, older }: Neighbours): Html {
  if (newer === undefined && older === undefined) return html``
  return html`<nav class="pager" aria-label="Pages of the list">${
    newer !== undefined && html`<a rel="prev" href="${at(on, { after: newer })}">← Newer</a>`
  }${older !== undefined && html`<a rel="next" href="${at(on, { before: older })}">Older →</a>`}</nav>`
}

/** The URL of this page with other parameters; the place in the list is left out unless given. */
export function at(on: OnPage, change: Readonly<Record<string, string>>): string {
  const url = new URL(on.c.req.url)
  for (const place of ['before', 'after', 'date']) url.searchParams.delete(place)
  for (const [key, value] of Object.entries(change)) url.searchParams.set(key, value)
  return `${url.pathname}${url.search}`
}

/** Where a page of a list begins: `?before=<id>`, `?after=<id>`, or the end of a day, `?date=2026-11-12`. */
export function placeInList(
  on: OnPage,
  prefix: IdPrefix,
): { readonly before?: string; readonly after?: string } {
  const [before, after, date] = ['before', 'after', 'date'].map(on.query)
  if (before !== undefined && ID.test(before)) return { before }
  if (after !== undefined && ID.test(after)) return { after }
  return date === undefined ? {} : beforeEndOf(date, prefix)
}

const ID = /^[\w-]{1,80}$/

/** Ids begin with their time in milliseconds (UUIDv7), so a day's end is an id of the list, as any row's. */
function beforeEndOf(date: string, prefix: IdPrefix): { readonly before?: string } {
  const ms = /^\d{4}-\d\d-\d\d$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN
  if (Number.isNaN(ms)) return {}
  return { before: `${prefix}_${(ms + 86_400_000).toString(16).padStart(12, '0')}` }
}
