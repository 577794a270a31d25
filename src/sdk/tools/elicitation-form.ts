import { isRecord } from '../is-record.ts'

// MCP permits only simple schemas for a form, an object of primitive members, so that every client can show it.

const STRING_FORMATS = ['email', 'uri', 'date', 'date-time']
const TYPES = ['string', 'number', 'integer', 'boolean']

/**
 * Returns the schema as clients accept it: without `$schema`, `additionalProperties` and patterns, which forms do not
 * have. `elicit` checks the answer by the full schema. Throws `TypeError` for a schema that is no flat object of
 * strings, numbers, integers, booleans and choices.
 */
export function elicitationForm(
  schema: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { $schema: _, additionalProperties: __, ...form } = schema
  if (form.type !== 'object') throw fault('is not an object')
  const properties = isRecord(form.properties) ? form.properties : {}
  for (const [name, member] of Object.entries(properties)) {
    const reason = isRecord(member) ? faultOf(member) : 'has no schema'
    if (reason !== undefined) throw fault(`has the member ${JSON.stringify(name)}, which ${reason}`)
  }
  const other = Object.keys(form).find((key) => !FORM_MEMBERS.includes(key))
  if (other !== undefined) throw fault(`uses ${other}`)
  const members = Object.entries(properties).map(([name, member]) => [name, toMember(member)])
  return { ...form, properties: Object.fromEntries(members) }
}

const FORM_MEMBERS = ['type', 'properties', 'required', 'title', 'description']

function fault(reason: string): TypeError {
  return new TypeError(
    `The schema of ui.elicit() ${reason}. A form is an object of strings, numbers, integers, booleans and choices; string formats are ${STRING_FORMATS.join(', ')}.`,
  )
}

function faultOf(member: Readonly<Record<string, unknown>>): string | undefined {
  const { type, format, items } = member
  if (type === 'array')
    return isRecord(items) && isChoice(items) ? undefined : 'is a list whose items are not choices'
  if (type === undefined && isChoice(member)) return undefined
  if (typeof type !== 'string' || !TYPES.includes(type))
    return type === 'object' ? 'is an object' : 'is no string, number, integer or boolean'
  const combination = ['allOf', 'not', '$ref', 'if'].find((keyword) => keyword in member)
  if (combination !== undefined) return `uses ${combination}`
  if (format !== undefined && !STRING_FORMATS.includes(String(format)))
    return `has the format ${JSON.stringify(format)}`
  return undefined
}

/** Whether a schema is a choice between texts: `enum`, or `oneOf` or `anyOf` with a list of `{const, title}`. */
function isChoice({ enum: values, oneOf, anyOf }: Readonly<Record<string, unknown>>): boolean {
  if (Array.isArray(values)) return values.every((value) => typeof value === 'string')
  const titled = oneOf ?? anyOf
  return (
    Array.isArray(titled) && titled.every((choice) => isRecord(choice) && typeof choice.const === 'string')
  )
}

/** Returns a member as MCP has it: without a pattern; titled choices are `oneOf`, or `anyOf` in a list's `items`. */
function toMember(member: unknown): Readonly<Record<string, unknown>> {
  const { pattern: _, anyOf, oneOf, items, ...plain } = isRecord(member) ? member : {}
  const choices = choicesOf(oneOf ?? anyOf)
  if (choices !== undefined) return { type: 'string', ...plain, oneOf: choices }
  if (!isRecord(items)) return plain
  const several = choicesOf(items.anyOf ?? items.oneOf)
  return { ...plain, items: several === undefined ? items : { anyOf: several } }
}

function choicesOf(members: unknown): readonly Readonly<Record<string, unknown>>[] | undefined {
  if (!Array.isArray(members)) return undefined
  return members.filter(isRecord).map(({ const: value, title = value }) => ({ const: value, title }))
}
