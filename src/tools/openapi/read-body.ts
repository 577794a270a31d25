import type { JsonSchema } from '../../domain/tool.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { quote, Refusal } from '../read-json.ts'
import { type OpenapiDocument, resolved, textOf } from './openapi-document.ts'
import { isJsonType, styleOf } from './read-parameters.ts'
import { type ParameterForm, type PlannedBody, placeholder } from './request-plan.ts'
import type { SchemaWriter } from './tool-schema.ts'

/** The properties that the body adds to a tool's input, and how they become the body. */
export interface ReadBody {
  readonly planned: PlannedBody
  readonly properties: Readonly<Record<string, JsonSchema>>
  readonly required: readonly string[]
}

const PLAIN_JSON = /^\s*application\/json\s*(;|$)/i
const FORM = 'application/x-www-form-urlencoded'
const WHOLE = 'body'

/**
 * Reads the request body. The members of a plain object become parameters of the tool if their names are free; any
 * other body becomes the single parameter `body`, or `request_body` if `body` is taken. Throws `Refusal` for a body
 * that is neither JSON nor a form, and for a form in a style that is not supported.
 */
export function readBody(
  document: OpenapiDocument,
  requestBody: unknown,
  writer: SchemaWriter,
  taken: readonly string[],
): ReadBody | undefined {
  if (requestBody === undefined) return undefined
  const { content, required, description } = resolved(document, requestBody, 'Its requestBody')
  const offered = isRecord(content) ? Object.entries(content) : []
  const [contentType, media] =
    offered.find(([type]) => PLAIN_JSON.test(type)) ??
    offered.find(([type]) => isJsonType(type)) ??
    offered.find(([type]) => type.toLowerCase().startsWith(FORM)) ??
    []
  if (contentType === undefined)
    throw new Refusal(
      `It takes a body of ${offered.map(([type]) => type).join(', ') || 'no kind'}; JSON and ${FORM} are supported.`,
    )
  const encoding = isJsonType(contentType) ? 'json' : 'form'
  const schema = (isRecord(media) && media.schema) || {}
  const isRequired = required === true
  const base = { contentType, encoding, isRequired, ...(encoding === 'form' && formsOf(media)) } as const
  const members = plainMembers(document, schema)
  // documents that omit `required` mostly mean a required body, so only an explicit `false` counts as optional
  const fits = members && (required !== false || members.required.length === 0)
  if (
    members &&
    fits &&
    !Object.keys(members.properties).some((name) => taken.includes(name) || /[{}]/.test(name))
  )
    return {
      planned: {
        ...base,
        template: Object.fromEntries(
          Object.keys(members.properties).map((name) => [name, placeholder(name)]),
        ),
      },
      properties: Object.fromEntries(
        Object.entries(members.properties).map(([name, member]) => [name, writer.write(member)]),
      ),
      required: members.required,
    }
  if (encoding === 'form' && members === undefined)
    throw new Refusal('It takes a form whose members are not described.')
  const property = taken.includes(WHOLE) ? 'request_body' : WHOLE
  const text = textOf(description)
  return {
    planned: { ...base, template: placeholder(property) },
    properties: { [property]: { ...writer.write(schema), ...(text !== undefined && { description: text }) } },
    required: isRequired ? [property] : [],
  }
}

/** The members of a schema that describes an object by its properties and nothing else. */
function plainMembers(
  document: OpenapiDocument,
  schema: unknown,
): { readonly properties: JsonRecord; readonly required: readonly string[] } | undefined {
  const plain = resolved(document, schema, 'The schema of its body')
  if (isRecord(schema) && typeof schema.$ref === 'string' && Object.keys(schema).length > 1) return undefined
  const { type, properties, required, additionalProperties, nullable } = plain
  if (type !== 'object' || nullable === true || !isRecord(properties)) return undefined
  if (additionalProperties !== undefined && additionalProperties !== false) return undefined
  if (Object.keys(plain).some((keyword) => COMBINING.includes(keyword))) return undefined
  const sent = Object.entries(properties).filter(
    ([, property]) => !(isRecord(property) && property.readOnly === true),
  )
  const names = sent.map(([name]) => name)
  if (names.length === 0) return undefined
  return {
    properties: Object.fromEntries(sent),
    required: (Array.isArray(required) ? required : []).filter((name) => names.includes(name)),
  }
}

const COMBINING = [
  ...['allOf', 'anyOf', 'oneOf', 'not', 'if', 'patternProperties', 'unevaluatedProperties', 'propertyNames'],
  ...['dependentRequired', 'dependentSchemas', 'minProperties', 'maxProperties', 'const', 'enum'],
]

/**
 * How members of a form are serialized, if the document says so: as parameters of a query (OpenAPI 3.1 section 4.8.15).
 * Throws `Refusal`.
 */
function formsOf(media: unknown): Pick<PlannedBody, 'forms'> {
  const encodings = isRecord(media) && isRecord(media.encoding) ? Object.entries(media.encoding) : []
  const forms = encodings.flatMap(([name, encoding]): [string, ParameterForm][] => {
    if (!isRecord(encoding) || (encoding.style === undefined && encoding.explode === undefined)) return []
    const form = styleOf(encoding, 'query')
    if (form !== undefined) return [[name, form]]
    throw new Refusal(
      `The member ${quote(name)} of its form is in the style ${quote(encoding.style)}, which is not supported in a form.`,
    )
  })
  return forms.length > 0 ? { forms: Object.fromEntries(forms) } : {}
}
