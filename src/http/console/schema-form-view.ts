import { html } from 'hono/html'
import { type Html, name } from '../pages/layout.ts'
import { WHOLE_FIELD } from './read-schema-form.ts'
import {
  choiceText,
  type FormField,
  initialText,
  type Json,
  type SchemaForm,
  type SimpleField,
  textOf,
} from './schema-form.ts'

export interface SentForm {
  readonly values: URLSearchParams
  /** What is wrong with each field, by its name. */
  readonly faults: ReadonlyMap<string, string>
}

/** The fields of a tool's input. `sent`: what was sent before, with its faults. */
export function schemaFormView(form: SchemaForm, sent?: SentForm): Html {
  if (form.kind === 'whole') return wholeView(sent)
  if (form.fields.length === 0) return html`<p class="muted">It takes no input.</p>`
  return fieldsView(form.fields, sent)
}

export function fieldsView(fields: readonly FormField[], sent?: SentForm): Html {
  return html`${fields.map((field) => fieldView(field, sent))}`
}

/** The whole input as one JSON text. */
export function wholeView(sent?: SentForm): Html {
  const text = sent?.values.get(WHOLE_FIELD) ?? '{}'
  const fault = sent?.faults.get(WHOLE_FIELD)
  return html`<div class="field"><label for="input-json">Input as JSON</label>
<textarea id="input-json" name="${WHOLE_FIELD}" rows="8" class="code" spellcheck="false" autocapitalize="none"${ariaAttributes(fault, 'input-json-note')}>
${text}</textarea>
<p class="${fault === undefined ? 'hint' : 'fault'}" id="input-json-note">${fault === undefined ? 'One object, as the schema of the tool describes it.' : html`The input ${fault}`}</p></div>`
}

function fieldView(field: FormField, sent: SentForm | undefined): Html {
  if (field.kind !== 'group') return simpleView(field, sent)
  const fault = sent?.faults.get(field.name)
  return html`<fieldset class="group"><legend>${labelText(field)}</legend>
${field.description !== undefined && html`<p class="muted small">${describedText(field)}</p>`}
${fault !== undefined && html`<p class="fault small">${faultText(field, fault)}</p>`}
${field.fields.map((simple) => simpleView(simple, sent))}</fieldset>`
}

function simpleView(field: SimpleField, sent: SentForm | undefined): Html {
  if (field.kind === 'texts' && field.values !== undefined) return checkboxesView(field, field.values, sent)
  const id = idOf(field)
  const note = `${id}-note`
  const fault = sent?.faults.get(field.name)
  const value = sent === undefined ? initialText(field) : (sent.values.get(field.name) ?? '')
  return html`<div class="field"><label for="${id}">${labelText(field)}</label>
${controlView(field, { id, value, aria: ariaAttributes(fault, note) })}
<p class="${fault === undefined ? 'hint' : 'fault'}" id="${note}">${noteOf(field, fault)}</p></div>`
}

function idOf({ name: pointer }: SimpleField): string {
  return `input-${pointer.replace(/^\//, '').replaceAll(/[^\w-]/g, '-')}`
}

interface Control {
  readonly id: string
  readonly value: string
  /** ARIA attributes: whether the control is invalid, and which element describes it. */
  readonly aria: Html
}

function controlView(field: SimpleField, { id, value, aria }: Control): Html {
  // a field of a group is not marked, because the group may be optional
  const required = field.isRequired && !field.name.slice(1).includes('/') ? html` required` : ''
  const { placeholder, choices: offered, type } = field.shown ?? {}
  const hint = placeholder === undefined ? '' : html` placeholder="${placeholder}"`
  const attributes = html` id="${id}" name="${field.name}" autocomplete="off" autocapitalize="none" spellcheck="false"${aria}${hint}`
  if (offered !== undefined) return options(offered, value, html`${attributes}${required}`)
  if (field.isSecret) return html`<textarea class="secret"${attributes}${required} rows="2"></textarea>`
  switch (field.kind) {
    case 'text':
      return field.isLong && type === undefined
        ? html`<textarea${attributes}${required} rows="2">
${value}</textarea>`
        : html`<input type="${type ?? 'text'}" value="${value}"${attributes}${required}${field.maxLength !== undefined && html` maxlength="${field.maxLength}"`}>`
    case 'number':
      return html`<input type="text" inputmode="${field.isWhole ? 'numeric' : 'decimal'}" value="${value}"${attributes}${required}>`
    case 'boolean':
      return choices([true, false], value, html`${attributes}${required}`, (choice) =>
        choice === true ? 'yes' : 'no',
      )
    case 'choice':
      return choices(field.values, value, html`${attributes}${required}`, textOf)
    case 'constant':
      return field.isRequired
        ? html`<input type="text" value="${textOf(field.value)}"${attributes} readonly>`
        : choices([field.value], value, attributes, textOf)
    case 'texts':
      return html`<textarea${attributes} rows="3">
${value}</textarea>`
    case 'json':
      return html`<textarea${attributes} rows="3" class="code">
${value}</textarea>`
  }
}

function choices(
  values: readonly Json[],
  chosen: string,
  attributes: Html,
  shown: (value: Json) => string,
): Html {
  const all = values.map((value) => [choiceText(value, values), shown(value)] as const)
  return options([['', '—'], ...all], chosen, attributes)
}

function options(
  all: readonly (readonly [text: string, label: string])[],
  chosen: string,
  attributes: Html,
): Html {
  return html`<select${attributes}>${all.map(
    ([text, label]) =>
      html`<option value="${text}"${text === chosen && text !== '' ? html` selected` : ''}>${label}</option>`,
  )}</select>`
}

function checkboxesView(field: SimpleField, values: readonly string[], sent: SentForm | undefined): Html {
  const initial = Array.isArray(field.initial) ? field.initial : []
  const chosen: readonly unknown[] = sent === undefined ? initial : sent.values.getAll(field.name)
  const labels = new Map(field.shown?.choices)
  const note = `${idOf(field)}-note`
  const fault = sent?.faults.get(field.name)
  return html`<fieldset aria-describedby="${note}"><legend>${labelText(field)}</legend>
${values.map((value) => html`<label><input type="checkbox" name="${field.name}" value="${value}"${chosen.includes(value) ? html` checked` : ''}>${labels.get(value) ?? name(value)}</label>`)}
<p class="${fault === undefined ? 'hint' : 'fault'}" id="${note}">${noteOf(field, fault)}</p></fieldset>`
}

function labelText({ title, member, isRequired, shown: own }: FormField): Html | string {
  if (own !== undefined) return own.label
  const shown =
    title === undefined
      ? html`<code>${name(member)}</code>`
      : html`${name(title)} <code>${name(member)}</code>`
  return isRequired ? shown : html`${shown} <span class="muted">optional</span>`
}

function noteOf(field: SimpleField, fault: string | undefined): Html | string {
  if (fault !== undefined) return faultText(field, fault)
  const described = describedText(field)
  const hint = field.shown?.choices === undefined ? hintOf(field) : ''
  return hint === '' ? described : html`${described} ${hint}`
}

/** What is wrong with the field. An operation says it in a whole sentence. */
function faultText({ title, member, shown }: FormField, fault: string): Html | string {
  return shown === undefined ? html`${name(title ?? member)} ${fault}` : fault
}

function describedText({ description, shown }: FormField): Html | string {
  if (shown?.hint !== undefined) return shown.hint
  return description === undefined ? '' : name(description, { longest: 600 })
}

function hintOf(field: SimpleField): string {
  switch (field.kind) {
    case 'number': {
      const { least, most } = field
      if (least !== undefined && most !== undefined) return `From ${least} to ${most}.`
      if (least !== undefined) return `At least ${least}.`
      return most === undefined ? '' : `At most ${most}.`
    }
    case 'texts':
      return field.values === undefined ? 'One per line.' : ''
    case 'json':
      return 'Written as JSON.'
    default:
      return ''
  }
}

function ariaAttributes(fault: string | undefined, note: string): Html {
  return html` aria-describedby="${note}"${fault !== undefined && html` aria-invalid="true"`}`
}
