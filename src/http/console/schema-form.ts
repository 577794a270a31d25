import type { JsonSchema } from '../../domain/tool.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { escapeToken } from '../../sdk/worker/json-pointer.ts'
import type { Html } from '../pages/layout.ts'

// A form for the input of a tool or of an operation, made from its JSON Schema. It has fields for strings, numbers,
// booleans, enumerations, constants, arrays of strings, and one level of objects of these. Other parts of the input are
// written as JSON. The form only helps to write the input; the tool or the operation checks it.

/** A value of JSON. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

interface Described {
  /** The name of the form's field. */
  readonly name: string
  /** The member's name. */
  readonly member: string
  readonly title?: string
  readonly description?: string
  readonly isRequired: boolean
  readonly initial?: Json
  /** `writeOnly` of the schema: the value is never shown again. It may have several lines. */
  readonly isSecret?: true
  /** How a form of the console shows the field, where its schema does not say it. */
  readonly shown?: Shown
}

/** What a page says of a field in place of its schema. */
export interface Shown {
  readonly label: string
  readonly hint?: string | Html
  readonly placeholder?: string
  /** The text has one line, however long it may be. */
  readonly type?: 'text' | 'url'
  /** Offered in place of free input: texts of the form, with their labels. */
  readonly choices?: readonly (readonly [text: string, label: string])[]
}

/** Makes the name of a form's field of the path of its member. */
export type Naming = (path: readonly string[]) => string

/** A JSON Pointer (RFC 6901) into the input. */
export const pointer: Naming = (path) => path.map((member) => `/${escapeToken(member)}`).join('')

export type SimpleField = Described &
  (
    | { readonly kind: 'text'; readonly isLong: boolean; readonly maxLength?: number }
    | { readonly kind: 'number'; readonly isWhole: boolean; readonly least?: number; readonly most?: number }
    | { readonly kind: 'boolean' }
    | { readonly kind: 'choice'; readonly values: readonly Json[] }
    | { readonly kind: 'constant'; readonly value: Json }
    | { readonly kind: 'texts'; readonly values?: readonly string[]; readonly areNumbers?: boolean }
    | { readonly kind: 'json' }
  )

export type FormField =
  | SimpleField
  | (Described & { readonly kind: 'group'; readonly fields: readonly SimpleField[] })

/** `whole`: the schema says more than fields can, so that the input is written as one JSON text. */
export type SchemaForm =
  | { readonly kind: 'fields'; readonly fields: readonly FormField[] }
  | { readonly kind: 'whole' }

const WHOLE: SchemaForm = { kind: 'whole' }
const MAX_FIELDS = 100
const MAX_CHOICES = 200
/**
 * Texts that may be longer have a field of several lines, in the forms of tools and of operations, unless their schema
 * has a format or a pattern, or a page gives their `type`.
 */
const LINE_LENGTH = 200

/** Keywords with which the members of an object depend on each other, or on another schema. */
const DEPENDENT = [
  '$ref',
  '$dynamicRef',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'patternProperties',
  'propertyNames',
  'minProperties',
]

export type Keywords = JsonRecord

export function schemaForm(schema: JsonSchema | undefined): SchemaForm {
  if (!isRecord(schema) || !isPlainObject(schema)) return WHOLE
  const members = membersOf(schema)
  if (members.length === 0 && takesMore(schema)) return WHOLE
  const fields = members.map((member) => fieldOf(member, [], pointer))
  const count = fields.reduce((sum, field) => sum + (field.kind === 'group' ? field.fields.length : 1), 0)
  return count > MAX_FIELDS ? WHOLE : { kind: 'fields', fields }
}

/** The field of a member of the object at the path `above`. */
export function fieldOf(member: Member, above: readonly string[], naming: Naming): FormField {
  const path = [...above, member.member]
  const keywords = withoutNull(member.keywords)
  if (!isPlainObject(keywords) || takesMore(keywords)) return simpleFieldOf(member, path, naming)
  const fields = membersOf(keywords).map((inner) => simpleFieldOf(inner, [...path, inner.member], naming))
  if (fields.length === 0) return simpleFieldOf(member, path, naming)
  const initial = initialOf(keywords)
  const withDefaults = isRecord(initial)
    ? fields.map((inner) =>
        Object.hasOwn(initial, inner.member) ? { ...inner, initial: initial[inner.member] as Json } : inner,
      ) // `default` is JSON
    : fields
  return { ...described(naming(path), member, keywords), kind: 'group', fields: withDefaults }
}

function simpleFieldOf(member: Member, path: readonly string[], naming: Naming): SimpleField {
  const keywords = withoutNull(member.keywords)
  const about = described(naming(path), member, keywords)
  const json = { ...about, kind: 'json' } as const
  if (Object.hasOwn(keywords, 'const')) return { ...about, kind: 'constant', value: keywords.const as Json }
  if (DEPENDENT.some((keyword) => keyword in keywords)) return json
  if (Array.isArray(keywords.enum)) return choiceOf(about, keywords.enum as Json[]) ?? json
  switch (keywords.type) {
    case 'string': {
      const { maxLength } = keywords
      const isShort = keywords.format !== undefined || keywords.pattern !== undefined
      const most = numberOf(maxLength)
      return {
        ...about,
        kind: 'text',
        isLong: !isShort && (most === undefined || most > LINE_LENGTH),
        ...(most !== undefined && { maxLength: most }),
      }
    }
    case 'integer':
    case 'number': {
      const least = numberOf(keywords.minimum)
      const most = numberOf(keywords.maximum)
      return {
        ...about,
        kind: 'number',
        isWhole: keywords.type === 'integer',
        ...(least !== undefined && { least }),
        ...(most !== undefined && { most }),
      }
    }
    case 'boolean':
      return { ...about, kind: 'boolean' }
    case 'array': {
      const values = textsOf(keywords.items)
      return values === undefined ? json : { ...about, kind: 'texts', ...(values.length > 0 && { values }) }
    }
    default:
      return json
  }
}

function choiceOf(about: Described, values: readonly Json[]): SimpleField | undefined {
  const isSimple = values.every((value) => typeof value !== 'object' || value === null)
  return isSimple && values.length <= MAX_CHOICES ? { ...about, kind: 'choice', values } : undefined
}

/** How a form sends one of the values: as JSON, unless all of them are texts. An empty text means no choice. */
export function choiceText(value: Json, values: readonly Json[]): string {
  const areTexts = values.every((text) => typeof text === 'string' && text !== '')
  return areTexts ? String(value) : JSON.stringify(value)
}

/** The text with which a new form shows the field. */
export function initialText(field: SimpleField): string {
  const { initial } = field
  if (initial === undefined) return ''
  switch (field.kind) {
    case 'boolean':
      return JSON.stringify(initial)
    case 'choice':
      return choiceText(initial, field.values)
    case 'texts':
      return Array.isArray(initial) ? initial.join('\n') : ''
    case 'json':
      return JSON.stringify(initial, null, 2)
    default:
      return textOf(initial)
  }
}

export function textOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The texts that an array may have; empty: any. `undefined`: its items are not texts. */
function textsOf(items: unknown): readonly string[] | undefined {
  if (!isRecord(items) || DEPENDENT.some((keyword) => keyword in items)) return undefined
  const { type, enum: values } = items
  if (Array.isArray(values))
    return values.length <= MAX_CHOICES && values.every((value) => typeof value === 'string')
      ? values
      : undefined
  return type === 'string' ? [] : undefined
}

/** Removes `null` from a schema that takes it beside one other type: a form leaves an empty member out instead. */
export function withoutNull(keywords: Keywords): Keywords {
  const { type, anyOf, oneOf, ...rest } = keywords
  if (Array.isArray(type)) {
    const others = type.filter((name) => name !== 'null')
    return others.length === 1 ? { ...keywords, ...enumWithoutNull(keywords), type: others[0] } : keywords
  }
  const either = anyOf ?? oneOf
  if (type !== undefined || !Array.isArray(either) || (anyOf && oneOf)) return keywords
  const others = either.filter((schema) => !(isRecord(schema) && schema.type === 'null'))
  const [only] = others
  return others.length === 1 && either.length === 2 && isRecord(only) ? { ...only, ...rest } : keywords
}

function enumWithoutNull({ enum: values }: Keywords): Keywords {
  return Array.isArray(values) ? { enum: values.filter((value) => value !== null) } : {}
}

function described(name: string, { member, isRequired }: Member, keywords: Keywords): Described {
  const { title, description } = keywords
  const initial = initialOf(keywords)
  return {
    name,
    member,
    isRequired,
    ...(typeof title === 'string' && title !== '' && { title }),
    ...(typeof description === 'string' && description !== '' && { description }),
    ...(initial !== undefined && initial !== null && { initial }),
    ...(keywords.writeOnly === true && { isSecret: true }),
  }
}

function initialOf(keywords: Keywords): Json | undefined {
  return keywords.default as Json | undefined // schemas are JSON
}

function isPlainObject(keywords: Keywords): boolean {
  return keywords.type === 'object' && !DEPENDENT.some((keyword) => keyword in keywords)
}

/** Whether the schema describes members that it does not name, or names none and takes any. No field offers these. */
function takesMore({ properties, additionalProperties: more }: Keywords): boolean {
  if (isRecord(more) && Object.keys(more).length > 0) return true
  const takesAny = more === true || isRecord(more) // `{}` is the schema of every value
  return takesAny && Object.keys(isRecord(properties) ? properties : {}).length === 0
}

export interface Member {
  readonly member: string
  readonly keywords: Keywords
  readonly isRequired: boolean
}

/** The members that the schema of an object names, those that are required first. */
export function membersOf({ properties, required }: Keywords): readonly Member[] {
  if (!isRecord(properties)) return []
  const names: readonly unknown[] = Array.isArray(required) ? required : []
  return Object.entries(properties)
    .map(([member, keywords]) => ({
      member,
      keywords: isRecord(keywords) ? keywords : {},
      isRequired: names.includes(member),
    }))
    .sort((a, b) => Number(b.isRequired) - Number(a.isRequired))
}

/** The number, unless it is only the largest or the smallest that JSON holds exactly. */
function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : undefined
}
