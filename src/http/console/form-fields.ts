import { html } from 'hono/html'
import type { Html } from '../pages/layout.ts'

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

/**
 * A field for a secret that may have several lines, such as a PEM key: a password field would drop the line breaks.
 * Browsers that know `-webkit-text-security` show dots in place of what is typed.
 */
export function secretArea(
  label: string,
  id: string,
  { hint, fault, required = false }: Pick<FieldOptions, 'hint' | 'fault' | 'required'> = {},
): Html {
  return html`<div class="field"><label for="f-${id}">${label}</label>
<textarea class="secret" id="f-${id}" name="${id}" rows="2"${required ? html` required` : ''}${described(id, hint, fault)} autocomplete="off" autocapitalize="none" spellcheck="false"></textarea>${notes(id, hint, fault)}</div>`
}

export function select(
  label: string,
  id: string,
  choices: readonly (readonly [value: string, label: string])[],
  { value = '', hint, fault }: FieldOptions = {},
): Html {
  return html`<div class="field"><label for="f-${id}">${label}</label>
<select id="f-${id}" name="${id}"${described(id, hint, fault)}>${choices.map(
    ([option, text]) =>
      html`<option value="${option}"${option === value ? html` selected` : ''}>${text}</option>`,
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

/** The attributes of an input that tie it to its hint or its fault. */
export function described(id: string, hint: unknown, fault: unknown): Html | '' {
  if (fault !== undefined) return html` aria-invalid="true" aria-describedby="f-${id}-fault"`
  return hint === undefined ? '' : html` aria-describedby="f-${id}-hint"`
}

/** The hint and the fault of an input. */
export function notes(id: string, hint: string | Html | undefined, fault: string | undefined): Html {
  return html`${hint !== undefined && html`<p class="hint" id="f-${id}-hint">${hint}</p>`}${fault !== undefined && html`<p class="fault" id="f-${id}-fault">${fault}</p>`}`
}

/** A form of filters above a list. It is sent by GET, so that every filtered list has a URL. */
export function filters(path: string, fields: Html, { isFiltered = false } = {}): Html {
  return html`<form class="filters" method="get" action="/dashboard${path}">${fields}<button type="submit" class="secondary">Filter</button>${isFiltered && html`<a href="/dashboard${path}">Clear</a>`}</form>`
}
