import type { z } from '@hono/zod-openapi'
import { html } from 'hono/html'
import type { Fault } from '../../domain/errors.ts'
import { jsonSchemaOf } from '../../operations/json-schema.ts'
import { isRecord, memberOf } from '../../parsing/json-record.ts'
import { invalidRequest } from '../../parsing/parse.ts'
import type { Html } from '../pages/layout.ts'
import { type Refused, textIn } from './form-outcome.ts'
import { isFilledIn, sentValue } from './read-schema-form.ts'
import type { ShowOptions } from './routes.ts'
import {
  type FormField,
  fieldOf,
  initialText,
  type Json,
  type Member,
  membersOf,
  type Naming,
  type Shown,
  type SimpleField,
  withoutNull,
} from './schema-form.ts'
import { fieldsView, type SentForm } from './schema-form-view.ts'

// A form for the body of an operation. Its fields, hints and limits come from the schema of the body, so a new member has
// a field without a change here or in a page. A page may say how a member is shown, or that it has no field.

/** How a member is shown. A text is the label; `false`: it has no field. */
export type FieldLayout =
  | false
  | string
  | (Partial<Shown> & {
      readonly initial?: Json
      /** This page needs it, although the operation does not. */
      readonly isRequired?: true
      /** The member takes a long text beside other types. */
      readonly asText?: true
    })

/**
 * By the member, or by the path of a member of an object, such as `oauth2.issuer`. These members come first, in this
 * order; the others of the same object follow in the order of the schema.
 */
export type Layout<Body> = {
  readonly [Path in MemberOf<Body> | `${MemberOf<Body>}.${string}`]?: FieldLayout
}
type MemberOf<Body> = Body extends object ? keyof Body & string : never

export interface FormOptions {
  /** The title of a section with the members that the layout does not name, closed at first; absent: they are shown. */
  readonly others?: string
  /** The form changes a record: members whose fields are left empty do not change. */
  readonly isChange?: boolean
  /** Objects whose members have a field only where the layout names them; the whole body is the empty text. */
  readonly only?: readonly string[]
  /** The parameters of the path have fields too. */
  readonly withParams?: boolean
  /** The form shows a whole record: an empty field that may be `null` is sent as `null`, except of a secret. */
  readonly isRecord?: boolean
  /** Members at or below these paths are in boxes of their own, after the others. */
  readonly sections?: Readonly<Record<string, FormSection>>
}

export interface FormSection {
  readonly title: string
  /** Paths of further members in the same box. */
  readonly also?: readonly string[]
  readonly hint?: string
  /** Shown without a click. */
  readonly isOpen?: true
  /**
   * Only with these values of another field, which has a select: otherwise it is hidden (`.only` in console.css), and what is
   * in it is not sent.
   */
  readonly only?: { readonly field: string; readonly values: readonly string[] }
}

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

/** One field with the path of the object that it belongs to. */
interface Placed {
  readonly above: readonly string[]
  readonly field: FormField
  readonly isNamed: boolean
  readonly takesNull: boolean
  /** The path of its section. */
  readonly section: string | undefined
}

const dotted: Naming = (path) => path.join('.')

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

/** The members of the body, and of the path if its parameters have fields. */
function inputMembers(
  { params, body }: { readonly params?: z.ZodType; readonly body?: z.ZodType },
  { withParams = false }: FormOptions,
): readonly Member[] {
  const all = [withParams ? params : undefined, body]
  return all.flatMap((schema) => (schema === undefined ? [] : membersOf(jsonSchemaOf(schema))))
}

type Given = Readonly<Record<string, FieldLayout | undefined>>

/** Throws if the layout names a member that the operation does not have. */
function placedFields(
  id: string,
  members: readonly Member[],
  layout: Given,
  options: FormOptions,
): readonly Placed[] {
  const order = Object.keys(layout)
  const known = new Set<string>()
  const placeOf = ({ isNamed, field }: Placed) => (isNamed ? order.indexOf(field.name) : order.length)

  /** Whether the layout names members of the object at this path. */
  const isAbove = (path: string) => order.some((name) => name.startsWith(`${path}.`))
  const sectionOf = (path: string) =>
    Object.entries(options.sections ?? {}).findLast(([section, { also = [] }]) =>
      [section, ...also].some((start) => `${path}.`.startsWith(`${start}.`)),
    )?.[0]
  const within = (
    members: readonly Member[],
    above: readonly string[],
    isOptional = false,
  ): readonly Placed[] =>
    members.flatMap((member): readonly Placed[] => {
      const path = dotted([...above, member.member])
      known.add(path)
      const own =
        layout[path] ?? (options.only?.includes(dotted(above)) && !isAbove(path) ? false : undefined)
      if (own === false) return []
      if (own === undefined && isAbove(path))
        return within(
          membersOf(withoutNull(member.keywords)),
          [...above, member.member],
          sectionOf(path) === path && !member.isRequired,
        )
      const wanted = { ...member, isRequired: member.isRequired && !isOptional }
      const field = shownField(wanted, above, own, options)
      const takesNull = withoutNull(member.keywords) !== member.keywords
      return [{ above, field, isNamed: own !== undefined, takesNull, section: sectionOf(path) }]
    })

  const all = within(members, [])
  const unknown = order.find((path) => !known.has(path))
  if (unknown !== undefined) throw new Error(`The operation ${id} has no member ${unknown}.`)
  return all.toSorted((a, b) => placeOf(a) - placeOf(b))
}

function shownField(
  wanted: Member,
  above: readonly string[],
  own: Exclude<FieldLayout, false> | undefined,
  options: FormOptions,
): FormField {
  const {
    initial,
    asText,
    isRequired: isNeeded,
    ...given
  } = typeof own === 'string' ? { label: own } : (own ?? {})
  const field = fieldOf(
    { ...wanted, isRequired: isNeeded ?? (wanted.isRequired && !options.isChange) },
    above,
    dotted,
  )
  const show = <Field extends FormField>(inner: Field, shown: Partial<Shown>): Field => {
    const { initial: _, ...rest } = inner
    const hint = shown.hint ?? (inner.description === undefined ? undefined : withCode(inner.description))
    const described = {
      ...shown,
      label: shown.label ?? inWords(inner.member),
      ...(hint !== undefined && { hint }),
    }
    // the generic type is kept: only members that every field has are set
    return {
      ...(options.isChange ? rest : inner),
      shown: inner.isSecret ? withSecretHint(described, options) : described,
    } as Field
  }
  if (field.kind === 'group')
    return { ...show(field, given), fields: field.fields.map((inner) => show(inner, {})) }
  const { name, member, isRequired, shown = { label: member } } = show(field, given)
  if (asText) return { name, member, isRequired, shown, kind: 'text', isLong: true }
  const { type, items } = withoutNull(wanted.keywords)
  if (type === 'array' && shown.choices !== undefined) {
    const areNumbers = isRecord(items) && /^(integer|number)$/.test(String(items.type))
    const values = shown.choices.map(([text]) => text)
    return { name, member, isRequired, shown, kind: 'texts', values, areNumbers }
  }
  return { ...show(field, given), ...(initial !== undefined && { initial }) }
}

function withSecretHint(shown: Shown, { isChange, isRecord }: FormOptions): Shown {
  const kept = isChange || isRecord ? ' Leave it empty to keep the current one.' : ''
  return { ...shown, hint: html`${shown.hint ?? ''} It is stored encrypted and never shown again.${kept}` }
}

/** `rate_limit` as a label: `Rate limit`. */
export function inWords(member: string): string {
  const words = member
    .replace('oauth2', 'OAuth')
    .replaceAll('_', ' ')
    .replaceAll(/\b(url|uri|id|jwt|api)\b/g, (word) => word.toUpperCase())
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** A description of the API, with its code in backticks. */
function withCode(description: string): Html {
  const parts = description.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))
  return html`${parts}${/[.:?!]$/.test(description) ? '' : '.'}`
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
