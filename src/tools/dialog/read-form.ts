import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { ContextRequiredError } from '../../sdk/tools/errors.ts'
import { SchemaFault } from '../json-schema/schema-fault.ts'
import { checkSchema } from '../json-schema/schema-validator.ts'

// Reads the schema of a form that a tool shows its user. MCP (2026-07-28, Elicitation, Requested Schema) permits an
// object whose members are texts, numbers, booleans and choices. Unknown keywords are left out, so that none reaches a
// client.

const MAX_FIELDS = 50
const MAX_CHOICES = 500
/** In characters of JSON. */
const MAX_LENGTH = 32_000
/** In characters. */
const MAX_TEXT = 1_000
const FORMATS: readonly unknown[] = ['email', 'uri', 'date', 'date-time']

/** Throws `ContextRequiredError` for a schema that MCP does not permit, or that no answer can be checked against. */
export function readForm(schema: unknown): JsonRecord {
  if (!isRecord(schema) || schema.type !== 'object' || !isRecord(schema.properties))
    throw refusal('is not an object with properties')
  const { properties, required, title, description } = schema
  const fields = Object.entries(properties)
  if (fields.length > MAX_FIELDS) throw refusal(`has more than ${MAX_FIELDS} fields`)
  const form = {
    type: 'object',
    ...texts({ title, description }),
    properties: Object.fromEntries(fields.map(([name, field]) => [name, readField(name, field)])),
    ...(Array.isArray(required) && {
      required: required.filter((name) => typeof name === 'string' && Object.hasOwn(properties, name)),
    }),
  }
  if (JSON.stringify(form).length > MAX_LENGTH) throw refusal('is too long')
  checkUsable(form)
  return form
}

/** The user's answer is checked against the schema, so an impossible schema is refused before the user sees the form. */
function checkUsable(form: JsonRecord): void {
  try {
    checkSchema(form)
  } catch (error) {
    if (error instanceof SchemaFault) throw refusal(`cannot be used: ${error.message.replace(/\.$/, '')}`)
    throw error
  }
}

function readField(name: string, field: unknown): JsonRecord {
  if (!isRecord(field)) throw refusal(`has the field ${JSON.stringify(name)} without a schema`)
  const { title, description } = field
  const read = readType(field)
  if (read === undefined)
    throw refusal(
      `has the field ${JSON.stringify(name)}, which is not a text, a number, a boolean or a choice as forms have them`,
    )
  return { ...texts({ title, description }), ...read }
}

function readType(field: JsonRecord): JsonRecord | undefined {
  const { type, format, default: preset } = field
  switch (type) {
    case 'string': {
      if ('enum' in field || 'oneOf' in field) {
        const choices = readChoices(field, 'oneOf')
        return choices && { type, ...choices, ...given({ default: preset }, isText) }
      }
      if (format !== undefined && !FORMATS.includes(format)) return undefined
      const lengths = given({ minLength: field.minLength, maxLength: field.maxLength }, isNumber)
      return { type, ...lengths, ...given({ format, default: preset }, isText) }
    }
    case 'number':
    case 'integer':
      return { type, ...given({ minimum: field.minimum, maximum: field.maximum, default: preset }, isNumber) }
    case 'boolean':
      return { type, ...given({ default: preset }, (value) => typeof value === 'boolean') }
    case 'array': {
      const items = isRecord(field.items) ? readChoices(field.items, 'anyOf') : undefined
      return (
        items && {
          type,
          items: 'enum' in items ? { type: 'string', ...items } : items,
          ...given({ minItems: field.minItems, maxItems: field.maxItems }, isNumber),
          ...given({ default: preset }, (value) => Array.isArray(value) && value.every(isText)),
        }
      )
    }
    default:
      return undefined
  }
}

/** `enum`, with or without `enumNames`, or a list of `{const, title}`. */
function readChoices(field: JsonRecord, titled: 'oneOf' | 'anyOf'): JsonRecord | undefined {
  const { enum: values, enumNames } = field
  if (Array.isArray(values)) {
    if (values.length > MAX_CHOICES || !values.every(isText)) return undefined
    const areNamed = Array.isArray(enumNames) && enumNames.every(isText) && enumNames.length === values.length
    return { enum: values, ...(areNamed && { enumNames: enumNames.map(words) }) }
  }
  const choices = field[titled]
  if (!Array.isArray(choices) || choices.length > MAX_CHOICES) return undefined
  const read = choices.flatMap((choice) =>
    isRecord(choice) && isText(choice.const)
      ? [{ const: choice.const, title: words(isText(choice.title) ? choice.title : choice.const) }]
      : [],
  )
  return read.length === choices.length ? { [titled]: read } : undefined
}

function texts(members: JsonRecord): JsonRecord {
  const read = Object.entries(given(members, isText))
  return Object.fromEntries(read.map(([name, text]) => [name, words(String(text))]))
}

function words(text: string): string {
  return plainWords(text, MAX_TEXT)
}

/** Text for people, of bounded length, without control and bidirectional characters. */
export function plainWords(text: string, most: number): string {
  return text.replaceAll(/[^\P{Cc}\n]+|[\p{Bidi_Control}\p{Zl}\p{Zp}]+/gu, ' ').slice(0, most)
}

/** The members whose values are valid. The others are left out. */
function given(members: JsonRecord, isValid: (value: unknown) => boolean): JsonRecord {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => isValid(value)))
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number'
}

function refusal(reason: string): ContextRequiredError {
  return new ContextRequiredError(
    `The form with which the tool asks its user is not shown, because its schema ${reason}. MCP permits flat objects of texts, numbers, booleans and choices.`,
  )
}
