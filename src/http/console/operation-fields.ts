import type { z } from '@hono/zod-openapi'
import { html } from 'hono/html'
import { jsonSchemaOf } from '../../operations/json-schema.ts'
import { isRecord } from '../../parsing/json-record.ts'
import type { Html } from '../pages/layout.ts'
import {
  type FormField,
  fieldOf,
  type Json,
  type Member,
  membersOf,
  type Naming,
  type Shown,
  withoutNull,
} from './schema-form.ts'

// The fields of a form for the body of an operation. They come from the schema of the body, so a new member has a field without
// a change here or in a page. A page may say how a member is shown, or that it has no field.

const dotted: Naming = (path) => path.join('.')

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

/** One field with the path of the object that it belongs to. */
export interface Placed {
  readonly above: readonly string[]
  readonly field: FormField
  readonly isNamed: boolean
  readonly takesNull: boolean
  /** The path of its section. */
  readonly section: string | undefined
}

/** The members of the body, and of the path if its parameters have fields. */
export function inputMembers(
  { params, body }: { readonly params?: z.ZodType; readonly body?: z.ZodType },
  { withParams = false }: FormOptions,
): readonly Member[] {
  const all = [withParams ? params : undefined, body]
  return all.flatMap((schema) => (schema === undefined ? [] : membersOf(jsonSchemaOf(schema))))
}

export type Given = Readonly<Record<string, FieldLayout | undefined>>

/** Throws if the layout names a member that the operation does not have. */
export function placedFields(
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
