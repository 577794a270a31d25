import { textIn } from './form-outcome.ts'
import {
  choiceText,
  type FormField,
  initialText,
  type Json,
  type SchemaForm,
  type SimpleField,
} from './schema-form.ts'

/** The name of the field for the whole input as one JSON text. */
export const WHOLE_FIELD = '/'

export type FormInput =
  | { readonly outcome: 'read'; readonly input: Readonly<Record<string, Json>> }
  /** What is wrong with each field, by its name. */
  | { readonly outcome: 'faulty'; readonly faults: ReadonlyMap<string, string> }

/** A value that was read; `absent`: the field was left empty. */
export type Read = { readonly value: Json } | 'absent' | { readonly fault: string }

/** Reads the input from a sent form. `asText`: it was sent as one JSON text. */
export function readSchemaForm(form: SchemaForm, sent: URLSearchParams, asText = false): FormInput {
  if (asText || form.kind === 'whole') return readWhole(sent.get(WHOLE_FIELD) ?? '')
  const faults = new Map<string, string>()
  const input = objectOf(form.fields, (field) => {
    if (field.kind !== 'group') return readField(field, sent, faults)
    const inner = objectOf(field.fields, (simple) =>
      readField(simple, sent, faults, { isInOptionalGroup: !field.isRequired }),
    )
    if (field.isRequired) return { value: inner }
    if (!field.fields.some((simple) => isFilledIn(simple, sent))) return 'absent'
    checkRequired(field.fields, inner, faults)
    return { value: inner }
  })
  return faults.size > 0 ? { outcome: 'faulty', faults } : { outcome: 'read', input }
}

function readWhole(text: string): FormInput {
  const parsed = text.trim() === '' ? { value: {} } : parseJson(text)
  if ('fault' in parsed) return { outcome: 'faulty', faults: new Map([[WHOLE_FIELD, parsed.fault]]) }
  const { value } = parsed
  // `Array.isArray` does not narrow readonly arrays, hence the cast
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return { outcome: 'read', input: value as Readonly<Record<string, Json>> }
  return { outcome: 'faulty', faults: new Map([[WHOLE_FIELD, 'must be an object: {"name": "value"}.']]) }
}

/** The members whose fields are filled in. As own properties, so that a member may be called `__proto__`. */
function objectOf<Field extends FormField>(
  fields: readonly Field[],
  read: (field: Field) => Read,
): Record<string, Json> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const result = read(field)
      return typeof result === 'object' && 'value' in result ? [[field.member, result.value]] : []
    }),
  )
}

function readField(
  field: SimpleField,
  sent: URLSearchParams,
  faults: Map<string, string>,
  { isInOptionalGroup = false } = {},
): Read {
  const result = sentValue(field, sent)
  if (result === 'absent' && field.isRequired && !isInOptionalGroup) faults.set(field.name, MISSING)
  if (typeof result === 'object' && 'fault' in result) faults.set(field.name, result.fault)
  return result
}

const MISSING = 'is required.'

/** Whether the user has filled the field in. Constants and defaults do not count: browsers always send them. */
export function isFilledIn(field: SimpleField, sent: URLSearchParams): boolean {
  if (field.kind === 'constant' && field.isRequired) return false
  const initial = initialText(field)
  const texts = sent.getAll(field.name).map((text) => text.replaceAll('\r\n', '\n'))
  return (
    texts.some((text) => (field.kind === 'text' ? text : text.trim()) !== '') && texts.join('\n') !== initial
  )
}

/** Adds a fault for each missing required member of an optional group that is filled in. */
function checkRequired(
  fields: readonly SimpleField[],
  inner: Readonly<Record<string, Json>>,
  faults: Map<string, string>,
): void {
  for (const { name, member, isRequired } of fields)
    if (isRequired && !Object.hasOwn(inner, member) && !faults.has(name)) faults.set(name, MISSING)
}

export function sentValue(field: SimpleField, sent: URLSearchParams): Read {
  const text = textIn(sent, field.name)
  switch (field.kind) {
    case 'constant':
      return field.isRequired || text !== '' ? { value: field.value } : 'absent'
    case 'text':
      return text === '' ? 'absent' : { value: text }
    case 'number':
      return text.trim() === '' ? 'absent' : numberOf(text.trim(), field.isWhole)
    case 'boolean':
      return text === '' ? 'absent' : chosen(text, [true, false])
    case 'choice':
      return text === '' ? 'absent' : chosen(text, field.values)
    case 'texts': {
      const all = field.values === undefined ? text.split('\n') : sent.getAll(field.name)
      const texts = all.map((line) => line.trim()).filter((line) => line !== '')
      return texts.length === 0 && !field.isRequired
        ? 'absent'
        : { value: field.areNumbers ? texts.map(Number) : texts }
    }
    case 'json':
      return text.trim() === '' ? 'absent' : parseJson(text)
  }
}

/** The value that was sent as `choiceText` writes it. */
function chosen(text: string, values: readonly Json[]): Read {
  const value = values.find((candidate) => choiceText(candidate, values) === text)
  return value === undefined ? { fault: 'must be one of the choices.' } : { value }
}

function numberOf(text: string, isWhole: boolean): Read {
  const value = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text) ? Number(text) : Number.NaN
  if (!Number.isFinite(value)) return { fault: 'must be a number, such as 12 or 0.5.' }
  if (!isWhole) return { value }
  if (!Number.isInteger(value)) return { fault: 'must be a whole number.' }
  return Number.isSafeInteger(value) ? { value } : { fault: 'is too large to be exact.' }
}

function parseJson(text: string): { readonly value: Json } | { readonly fault: string } {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { fault: `is not JSON: ${(error as Error).message}.` } // JSON.parse throws only errors
  }
}
