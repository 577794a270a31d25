import type { JsonSchema } from '../../domain/tool.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { isUsablePattern } from '../json-schema/schema-pattern.ts'
import { asText, Refusal } from '../read-json.ts'
import { type OpenapiDocument, resolved, targetOf } from './openapi-document.ts'

/** The most schemas in one tool, nested ones included. */
const MAX_SCHEMAS = 3000

/**
 * The schemas exceed their budget. A tool is refused without its input schema, but still useful without its output
 * schema.
 */
export class TooManySchemas extends Refusal {}

/** Writes the schemas of one tool: self-contained JSON Schema 2020-12. */
export interface SchemaWriter {
  /** Throws `Refusal` for references out of the document. */
  write(schema: unknown): JsonSchema
  /** The `$defs` that the written schemas refer to. */
  definitions(): { readonly $defs?: JsonRecord }
}

/**
 * Converts a document's schemas. Schemas of OpenAPI 3.1 already are JSON Schema 2020-12; in those of OpenAPI 3.0,
 * `nullable` and the boolean `exclusiveMinimum` and `exclusiveMaximum` are translated. `readOnly` properties are left
 * out of inputs, `writeOnly` ones out of outputs. Outputs may have additional members, since APIs grow. A pattern that
 * the broker cannot check is kept as a comment.
 */
export function schemaWriter(document: OpenapiDocument, direction: 'input' | 'output'): SchemaWriter {
  const names = new Map<string, string>()
  const definitions = new Map<string, unknown>()
  /** Referenced schemas that are still to be written; a queue, because references may nest without limit. */
  const unwritten = new Map<string, string>()
  let left = MAX_SCHEMAS

  function nameOf(reference: string): string {
    const known = names.get(reference)
    if (known !== undefined) return known
    const plain = (reference.split('/').at(-1) ?? '').replaceAll(/[^A-Za-z0-9_.-]/g, '_') || 'schema'
    let name = plain
    for (let i = 2; definitions.has(name); i++) name = `${plain}_${i}`
    names.set(reference, name)
    definitions.set(name, {})
    unwritten.set(name, reference)
    return name
  }

  function writeDefinitions(): void {
    for (const [name, reference] of unwritten)
      definitions.set(name, writeSchema(targetOf(document, reference)))
    unwritten.clear()
  }

  function writeSchema(schema: unknown): unknown {
    if (typeof schema === 'boolean') return schema
    if (!isRecord(schema)) throw new Refusal('It has a schema that is neither an object nor a boolean.')
    if (left-- <= 0) throw new TooManySchemas(`It has more than ${MAX_SCHEMAS} schemas.`)
    if (document.budget[direction]-- <= 0)
      throw new TooManySchemas(
        'The operations before it use up the schemas allowed for one document: choose fewer in operations.include.',
      )
    if (schema.$dynamicRef !== undefined || schema.$recursiveRef !== undefined)
      throw new Refusal('It has a $dynamicRef, which is not supported.')
    const { $ref: reference, ...rest } = schema
    if (typeof reference !== 'string') return writeKeywords(schema)
    const target = { $ref: `#/$defs/${nameOf(reference)}` }
    // OpenAPI 3.0 ignores the siblings of `$ref`
    return document.version === '3.0' ? target : { ...writeKeywords(rest), ...target }
  }

  function writeKeywords(schema: JsonRecord): JsonRecord {
    const written: Record<string, unknown> = {}
    for (const [keyword, value] of Object.entries(checkable(withoutUnsent(schema, direction), document))) {
      if (DROPPED.has(keyword) || keyword.startsWith('x-')) continue
      if (keyword === 'example') written.examples ??= [value]
      else if (keyword === 'pattern' && !isUsable(value, document))
        written.$comment = `pattern: ${asText(value)}`
      else if (direction === 'output' && CLOSING.has(keyword) && value === false) continue
      else if (MAPS.has(keyword) && isRecord(value))
        written[keyword] = Object.fromEntries(
          Object.entries(value).map(([name, member]) => [name, writeSchema(member)]),
        )
      else if (LISTS.has(keyword) && Array.isArray(value)) written[keyword] = value.map(writeSchema)
      else if (SINGLE.has(keyword) && (isRecord(value) || typeof value === 'boolean'))
        written[keyword] = writeSchema(value)
      else if (!MAPS.has(keyword) && !LISTS.has(keyword) && !SINGLE.has(keyword)) written[keyword] = value
    }
    return document.version === '3.0' ? toDraft2020(written, schema.nullable === true) : written
  }

  return {
    write(schema) {
      // the top-level schema is written inline, where readers and models expect it
      const isReference = isRecord(schema) && typeof schema.$ref === 'string'
      const isBare = isReference && (document.version === '3.0' || Object.keys(schema).length === 1)
      const written = writeSchema(isBare ? resolved(document, schema, 'A schema') : schema)
      writeDefinitions()
      return isRecord(written) ? written : written === true ? {} : { not: {} }
    },
    definitions: () => (definitions.size > 0 ? { $defs: Object.fromEntries(definitions) } : {}),
  }
}

/**
 * Drops name patterns that cannot be checked, and with them `additionalProperties`, which applies to names that match
 * no pattern.
 */
function checkable(schema: JsonRecord, document: OpenapiDocument): JsonRecord {
  const { patternProperties, additionalProperties: _, unevaluatedProperties: __, ...rest } = schema
  if (!isRecord(patternProperties)) return schema
  const usable = Object.entries(patternProperties).filter(([pattern]) => isUsable(pattern, document))
  if (usable.length === Object.keys(patternProperties).length) return schema
  return { ...rest, patternProperties: Object.fromEntries(usable) }
}

/** Whether the broker can check the pattern. If not, only the API checks it, so that the operation is still usable. */
function isUsable(pattern: unknown, { patterns }: OpenapiDocument): boolean {
  if (typeof pattern !== 'string') return false
  const usable = patterns.get(pattern) ?? isUsablePattern(pattern)
  patterns.set(pattern, usable)
  return usable
}

/** Keywords of OpenAPI rather than JSON Schema, or with meaning only in the whole document. */
const DROPPED = new Set([
  ...['discriminator', 'xml', 'externalDocs', 'nullable', 'readOnly', 'writeOnly'],
  ...[
    '__proto__',
    '$schema',
    '$id',
    '$anchor',
    '$dynamicAnchor',
    '$vocabulary',
    '$comment',
    '$defs',
    'definitions',
  ],
])
/** Keywords that forbid further members if they are `false`. */
const CLOSING = new Set(['additionalProperties', 'unevaluatedProperties'])
const MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas'])
const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const SINGLE = new Set([
  ...['items', 'additionalProperties', 'unevaluatedProperties', 'unevaluatedItems', 'propertyNames'],
  ...['contains', 'not', 'if', 'then', 'else', 'contentSchema'],
])

/**
 * Removes properties that are not sent in this direction: `readOnly` in requests, `writeOnly` in responses, even if
 * they are in `required` (OpenAPI 3.1 section 4.8.24).
 */
function withoutUnsent(schema: JsonRecord, direction: 'input' | 'output'): JsonRecord {
  const { properties, required } = schema
  if (!isRecord(properties)) return schema
  const mark = direction === 'input' ? 'readOnly' : 'writeOnly'
  const unsent = Object.entries(properties).filter(
    ([, property]) => isRecord(property) && property[mark] === true,
  )
  if (unsent.length === 0) return schema
  const names: readonly unknown[] = unsent.map(([name]) => name)
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !names.includes(name))),
    ...(Array.isArray(required) && { required: required.filter((name) => !names.includes(name)) }),
  }
}

/** Translates keywords of OpenAPI 3.0 to 2020-12. */
function toDraft2020(schema: Record<string, unknown>, isNullable: boolean): JsonRecord {
  const { exclusiveMinimum, exclusiveMaximum, minimum, maximum, ...rest } = schema
  const plain: JsonRecord = {
    ...rest,
    ...bounds(exclusiveMinimum, minimum, 'exclusiveMinimum', 'minimum'),
    ...bounds(exclusiveMaximum, maximum, 'exclusiveMaximum', 'maximum'),
  }
  if (!isNullable) return plain
  const { type, enum: values } = plain
  if (typeof type !== 'string') return { anyOf: [plain, { type: 'null' }] }
  const withNull = Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {}
  return { ...plain, type: [type, 'null'], ...withNull }
}

function bounds(exclusive: unknown, inclusive: unknown, exclusiveName: string, name: string): JsonRecord {
  if (exclusive === true) return { [exclusiveName]: inclusive }
  return {
    ...(inclusive !== undefined && { [name]: inclusive }),
    ...(typeof exclusive === 'number' && { [exclusiveName]: exclusive }),
  }
}
