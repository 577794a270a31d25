import {
  type Content,
  nameOfReference,
  type OpenApiDocument,
  type Operation,
  type Parameter,
  type Schema,
} from './openapi.ts'
import { braces, comment, memberOf, objectMembers, type TypeOptions, typeOf } from './type-of.ts'

// Makes TypeScript types from the OpenAPI document: one for each named schema, and `Operations`, which has the method, the
// path, the input and the answer of each operation by its id.

const HEADER = `// The types of Gatepass's wire, generated from /openapi.json by \`npm run wire-types\`. Do not edit.
`

const IN_REQUEST: TypeOptions = { takesUndefined: true }
const IN_ANSWER: TypeOptions = { takesUndefined: false }

/** The text of the module, not yet formatted. */
export function generateWireTypes(document: OpenApiDocument): string {
  const { schemas } = document.components
  const asked = schemasOfRequests(document)
  const types = Object.entries(schemas)
    .toSorted(byName)
    .map(([name, schema]) => namedType(name, schema, asked.has(name) ? IN_REQUEST : IN_ANSWER))
  return `${HEADER}\n${types.join('\n')}\n${operationsOf(document)}`
}

function namedType(name: string, schema: Schema, options: TypeOptions): string {
  const declared = `${comment(schema)}export`
  const { allOf = [], type, properties } = schema
  if (type === 'object' && properties !== undefined)
    return `${declared} interface ${name} ${braces(objectMembers(schema, options))}\n`
  const [base, added, ...more] = allOf
  if (base?.$ref !== undefined && added?.properties !== undefined && more.length === 0)
    return `${declared} interface ${name} extends ${nameOfReference(base.$ref)} ${braces(objectMembers(added, options))}\n`
  return `${declared} type ${name} = ${typeOf(schema, options)}\n`
}

function operationsOf({ paths }: OpenApiDocument): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [method, path, operation] as const),
  )
  const members = operations
    .toSorted(([, , one], [, , other]) => byName([one.operationId], [other.operationId]))
    .map(([method, path, operation]) => operationType(method, path, operation))
  return `/** Every operation by its id. \`path\` has its parameters as \`{name}\`. */
export interface Operations ${braces(members.join('\n'))}\n`
}

function operationType(method: string, path: string, operation: Operation): string {
  const { operationId, summary, parameters = [], requestBody } = operation
  const { schema: body } = requestBody?.content['application/json'] ?? {}
  const orNone = requestBody !== undefined && requestBody.required !== true ? ' | undefined' : ''
  const parts = {
    method: JSON.stringify(method.toUpperCase()),
    path: JSON.stringify(path),
    params: parametersType(parameters, 'path'),
    query: parametersType(parameters, 'query'),
    body: body === undefined ? 'undefined' : `${typeOf(body, IN_REQUEST)}${orNone}`,
    ...answerOf(operation),
  }
  const text = Object.entries(parts).map(([name, type]) =>
    memberOf(name, type, { ...IN_ANSWER, isRequired: true }),
  )
  const doc = { ...(summary !== undefined && { description: summary }) }
  return memberOf(operationId, braces(text.join('\n')), { ...IN_ANSWER, isRequired: true, doc })
}

function parametersType(all: readonly Parameter[], place: Parameter['in']): string {
  const parameters = all.filter((one) => one.in === place)
  if (parameters.length === 0) return 'undefined'
  const members = parameters.map(({ name, schema, required, description }) => {
    const text = description ?? schema.description
    const doc = { ...(text !== undefined && { description: text }), default: schema.default }
    return memberOf(name, typeOf(schema, IN_REQUEST), { ...IN_REQUEST, isRequired: required === true, doc })
  })
  return braces(members.join('\n'))
}

/** The type of an operation's answers of status 2xx. An answer that is not JSON has its media type beside it. */
function answerOf({
  responses,
}: Operation): Readonly<Record<'answer' | 'mediaType', string>> | { answer: string } {
  const contents = Object.entries(responses)
    .filter(([status]) => /^2/.test(status))
    .map(([, { content }]) => contentOf(content))
  const answer = [...new Set(contents.map(({ type }) => type))].join(' | ')
  const mediaTypes = contents.flatMap(({ mediaType }) => mediaType ?? [])
  if (mediaTypes.length === 0) return { answer }
  return { answer, mediaType: mediaTypes.map((one) => JSON.stringify(one)).join(' | ') }
}

function contentOf(content: Content = {}): { readonly type: string; readonly mediaType?: string } {
  const [[mediaType, { schema }] = [undefined, {}]] = Object.entries(content)
  if (mediaType === undefined) return { type: 'undefined' }
  const type = schema === undefined ? 'unknown' : typeOf(schema, IN_ANSWER)
  return mediaType === 'application/json' ? { type } : { type, mediaType }
}

/** The names of the schemas that request bodies reach. */
function schemasOfRequests({ paths, components }: OpenApiDocument): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [member, inner] of Object.entries(value)) {
      if (member !== '$ref' || typeof inner !== 'string') visit(inner)
      else if (!found.has(nameOfReference(inner))) {
        found.add(nameOfReference(inner))
        visit(components.schemas[nameOfReference(inner)])
      }
    }
  }
  for (const operation of Object.values(paths).flatMap((path) => Object.values(path)))
    visit(operation.requestBody)
  return found
}

function byName([one]: readonly [string, ...unknown[]], [other]: readonly [string, ...unknown[]]): number {
  return one < other ? -1 : 1
}
