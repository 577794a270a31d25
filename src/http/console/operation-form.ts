import type { z } from '@hono/zod-openapi'
import { html } from 'hono/html'
import type { Fault } from '../../domain/errors.ts'
import { isRecord, memberOf } from '../../parsing/json-record.ts'
import { invalidRequest } from '../../parsing/parse.ts'
import type { Html } from '../pages/layout.ts'
import { type Refused, textIn } from './form-outcome.ts'
import {
  type FormOptions,
  type FormSection,
  type Given,
  inputMembers,
  type Layout,
  type Placed,
  placedFields,
} from './operation-fields.ts'
import { isFilledIn, sentValue } from './read-schema-form.ts'
import type { ShowOptions } from './routes.ts'
import { type FormField, initialText, type Json, type SimpleField } from './schema-form.ts'
import { fieldsView, type SentForm } from './schema-form-view.ts'

/** The form as it was sent, with what is wrong with it; `undefined` for a new one. */
export interface SentBody {
  readonly values: URLSearchParams
  readonly refused?: Refused | undefined
}

/** What the fields show of it. */
export type SentFields = Pick<SentBody, 'values'> & {
  readonly refused?: Pick<Refused, 'faults'> | undefined
}

/** What the page of a refused form says above it. */
export function problemOf({ refused }: Pick<SentBody, 'refused'> = {}): ShowOptions {
  return refused === undefined ? {} : { problem: refused.message, status: refused.status }
}

export interface OperationForm {
  readonly fields: readonly FormField[]
  /** `more`: fields written by hand, which come before the section of the others. */
  view(sent?: SentFields, more?: Html): Html
  /**
   * The body of the request with the parameters that have fields, not checked yet. Throws `invalid_request` for a field that
   * is not JSON.
   */
  read(form: URLSearchParams): Readonly<Record<string, Json>>
  /** The form filled in with the record, without secrets. */
  valuesOf(record: object): URLSearchParams
}

/** The form for this operation. It is made when it is first used. */
export function operationForm<Params extends z.ZodType, Body extends z.ZodType>(
  operation: { readonly id: string; readonly params?: Params; readonly body?: Body },
  layout: Layout<z.input<Body> & z.input<Params>>,
  options: FormOptions = {},
): OperationForm {
  let made: readonly Placed[] | undefined
  const placed = () => {
    made ??= placedFields(operation.id, inputMembers(operation, options), layout as Given, options)
    return made
  }
  return {
    get fields() {
      return placed().map(({ field }) => field)
    },
    view({ values, refused } = { values: new URLSearchParams() }, more = html``) {
      const sent = { values, faults: refused?.faults ?? new Map<string, string>() }
      const state = [...values].length > 0 || refused !== undefined ? sent : undefined
      const of = (isNamed: boolean) =>
        placed().flatMap((member) =>
          member.isNamed === isNamed && member.section === undefined ? member.field : [],
        )
      const others = of(false)
      return html`${fieldsView(of(true), state)}${more}
${options.others === undefined ? fieldsView(others, state) : sectionView({ title: options.others, className: 'stack' }, others, state)}
${Object.entries(options.sections ?? {}).map(([path, section]) => sectionView(section, inSection(placed(), path), state))}`
    },
    read(form) {
      const faults: Fault[] = []
      const body: Record<string, Json> = {}
      const sent = { values: form, faults: new Map<string, string>() }
      for (const { above, field, takesNull, section } of placed()) {
        // values with which a new form begins do not make an object of their own
        if (section !== undefined && !isShown(options.sections?.[section], form)) continue
        if (section !== undefined && !inSection(placed(), section).some((inner) => isUsed(inner, sent)))
          continue
        const value = readValue(field, form, faults)
        const isRemoved = options.isRecord === true && takesNull && !field.isSecret
        if (value !== undefined || isRemoved) put(body, [...above, field.member], value ?? null)
      }
      if (faults.length > 0) throw invalidRequest(faults)
      return body
    },
    valuesOf(record) {
      const values = placed().flatMap(({ above, field }) =>
        field.isSecret
          ? []
          : textsOf(field, above.reduce<unknown>(memberOf, record)).map((text) => [field.name, text]),
      )
      return new URLSearchParams(values)
    },
  }
}

function inSection(placed: readonly Placed[], path: string): readonly FormField[] {
  return placed.flatMap(({ section, field }) => (section === path ? field : []))
}

function isShown({ only }: Pick<FormSection, 'only'> = {}, form: URLSearchParams): boolean {
  return only === undefined || only.values.includes(form.get(only.field) ?? '')
}

/** The fields in a box, which is open if one of them is filled in or has a fault. */
function sectionView(
  { title, hint, isOpen, only, className = 'columns' }: FormSection & { readonly className?: string },
  fields: readonly FormField[],
  state: SentForm | undefined,
): Html | '' {
  if (fields.length === 0) return ''
  const body = html`<div class="${className}">${fieldsView(fields, state)}</div>`
  if (isOpen)
    return html`<fieldset class="plain"><legend>${title}</legend>${hint !== undefined && html`<p class="hint">${hint}</p>`}${body}</fieldset>`
  const isFilled = state !== undefined && fields.some((field) => isUsed(field, state))
  const ofValues = only === undefined ? '' : html` class="only ${only.values.join(' ')}"`
  return html`<details${ofValues}${isFilled ? html` open` : ''}><summary>${title}</summary>${hint !== undefined && html`<p class="hint">${hint}</p>`}${body}</details>`
}

/** The texts that a form sends for the field of an object's member. */
function textsOf(field: FormField, object: unknown): readonly string[] {
  if (field.kind === 'group')
    return field.fields.flatMap((inner) => textsOf(inner, memberOf(object, field.member)))
  const value = memberOf(object, field.member) as Json | undefined // records are JSON
  if (value === undefined || value === null) return []
  return field.kind === 'texts' && field.values !== undefined && Array.isArray(value)
    ? value.map(String)
    : [initialText({ ...field, initial: value })]
}

/** Whether the field was filled in, or has a fault. */
function isUsed(field: FormField, { values, faults }: SentForm): boolean {
  if (faults.has(field.name)) return true
  return field.kind === 'group'
    ? field.fields.some((inner) => isUsed(inner, { values, faults }))
    : isFilledIn(field, values)
}

function readValue(field: FormField, form: URLSearchParams, faults: Fault[]): Json | undefined {
  if (field.kind === 'group') {
    if (!field.fields.some((simple) => isFilledIn(simple, form))) return undefined
    const members = field.fields.map((simple) => [simple.member, readSimple(simple, form, faults)] as const)
    return Object.fromEntries(members.filter((member): member is [string, Json] => member[1] !== undefined))
  }
  return readSimple(field, form, faults)
}

function readSimple(field: SimpleField, form: URLSearchParams, faults: Fault[]): Json | undefined {
  const text = textIn(form, field.name)
  if (field.kind === 'text') return (field.isSecret ? withoutCopiedBreak(text) : text.trim()) || undefined
  const read = sentValue(field, form)
  if (read === 'absent') return undefined
  if ('value' in read) return read.value
  if (field.kind === 'json')
    faults.push({
      path: field.name,
      code: 'invalid_json',
      message: `${field.shown?.label ?? field.member} ${read.fault}`,
    })
  // the operation says what is wrong with it
  return field.kind === 'number' && Number.isFinite(Number(text)) ? Number(text) : text
}

/** The line break after a single line comes from copying it. */
function withoutCopiedBreak(text: string): string {
  const [line = '', ...rest] = text.split('\n')
  return rest.every((other) => other === '') ? line : text
}

function put(object: Record<string, Json>, [member = '', ...rest]: readonly string[], value: Json): void {
  if (rest.length === 0) {
    object[member] = value
    return
  }
  const present = object[member]
  const inner: Record<string, Json> = isRecord(present) ? { ...(present as Record<string, Json>) } : {}
  put(inner, rest, value)
  object[member] = inner
}
