import { html } from 'hono/html'
import { type Html, name } from '../pages/layout.ts'
import { hidden, submit } from './form-fields.ts'
import { type OnPage, pathAndQuery } from './routes.ts'

// What an operator does from the row of a list. The forms are those of the pages of the items.

/** The field by which a form says that it was sent from a list, to which its answer then returns. */
const FROM = 'from'

/** The head of the column of actions. Readers without rights to change have no such column. */
export const ACTIONS = html`<span class="visually-hidden">Actions</span>`

export interface RowAction {
  /** Of the form, below `/dashboard`. */
  readonly action: string
  readonly text: string
  /** What the row is about, for screen readers. */
  readonly of: string
  readonly fields?: Html
  readonly recent?: boolean
}

/** A button in a row. If the login is not recent, it leads to its confirmation, which returns to the list. */
export function rowButton(
  on: OnPage,
  { action, text, of, fields = html``, recent = false }: RowAction,
): Html {
  const label = html`${text}<span class="visually-hidden"> ${name(of)}</span>`
  if (recent && !on.session.isRecent)
    return html`<a class="button secondary small" href="/dashboard/confirm?next=${encodeURIComponent(pathAndQuery(on.c))}">${label}</a>`
  const button = html`<button type="submit" class="secondary small">${label}</button>`
  return html`${on.form(action, html`${hidden(FROM, 'list')}${fields}${button}`, { recent, className: 'inline' })}`
}

/** An action that cannot be undone: it opens, says what it does, and has its button there. */
export function rowDanger(
  on: OnPage,
  {
    action,
    text,
    of,
    fields = html``,
    recent = true,
    says,
    button,
  }: RowAction & { readonly says: string; readonly button: string },
): Html {
  const form = on.form(action, html`${hidden(FROM, 'list')}${fields}${submit(button, 'danger')}`, { recent })
  return html`<details class="row-action"><summary>${text}<span class="visually-hidden"> ${name(of)}</span></summary><p class="small">${says}</p>${form}</details>`
}

/** Where the answer to a form leads: the list, if the form was in one of its rows. */
export function returnTo(form: URLSearchParams, list: string, page: string): string {
  return form.get(FROM) === 'list' ? list : page
}
