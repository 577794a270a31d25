import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'

// Google's description of an API (discovery document), as an OpenAPI document: https://developers.google.com/discovery/v1/reference

/** The OpenAPI document that says the same; `undefined` if the text is no discovery document. */
export function openapiOfDiscovery(text: string): JsonRecord | undefined {
  let root: unknown
  try {
    root = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    return undefined
  }
  if (!isRecord(root) || root.kind !== 'discovery#restDescription') return undefined
  const paths: Record<string, Record<string, unknown>> = {}
  for (const { id, method, tag } of methodsOf(root, '')) {
    const path = `/${String(method.path ?? '').replace(/^\//, '')}`
    const operation = operationOf(id, method, tag)
    const plain = path.replaceAll(/\{\+?(\w+)\}/g, '{$1}')
    paths[plain] = { ...paths[plain], [String(method.httpMethod ?? 'GET').toLowerCase()]: operation }
  }
  return {
    openapi: '3.0.3',
    info: { title: String(root.title ?? root.name ?? ''), version: String(root.version ?? '') },
    servers: [
      {
        url: `${String(root.rootUrl ?? '').replace(/\/$/, '')}/${String(root.servicePath ?? '').replace(/^\//, '')}`,
      },
    ],
    paths,
    components: {
      schemas: mapped(isRecord(root.schemas) ? root.schemas : {}, toSchema),
      securitySchemes: { google: { type: 'oauth2', flows: {} } },
    },
  }
}

interface FoundMethod {
  readonly id: string
  readonly method: JsonRecord
  readonly tag: string
}

/** The methods of a resource and of those below it. */
function methodsOf(resource: JsonRecord, within: string): FoundMethod[] {
  const of = (member: unknown) => Object.entries(isRecord(member) ? member : {})
  return [
    ...of(resource.methods).flatMap(([name, method]) =>
      isRecord(method) ? [{ id: within === '' ? name : `${within}.${name}`, method, tag: within }] : [],
    ),
    ...of(resource.resources).flatMap(([name, below]) =>
      isRecord(below) ? methodsOf(below, within === '' ? name : `${within}.${name}`) : [],
    ),
  ]
}

function operationOf(id: string, method: JsonRecord, tag: string): JsonRecord {
  const parameters = Object.entries(isRecord(method.parameters) ? method.parameters : {}).flatMap(
    ([name, parameter]) => {
      if (!isRecord(parameter)) return []
      const { location, required, repeated } = parameter
      const schema = toSchema(parameter)
      return [
        {
          name,
          in: location === 'path' ? 'path' : 'query',
          required: location === 'path' || required === true,
          schema: repeated === true ? { type: 'array', items: schema } : schema,
        },
      ]
    },
  )
  const request = isRecord(method.request) ? method.request.$ref : undefined
  const scopes = Array.isArray(method.scopes) ? method.scopes : []
  return {
    operationId: id,
    tags: [tag],
    parameters,
    ...(typeof request === 'string' && {
      requestBody: {
        content: { 'application/json': { schema: { $ref: `#/components/schemas/${request}` } } },
      },
    }),
    responses: { 200: { description: '' } },
    security: scopes.map((scope) => ({ google: [scope] })), // any one of them suffices
  }
}

/** A schema of discovery documents (JSON Schema draft 3) as OpenAPI has it. */
function toSchema(schema: unknown): JsonRecord {
  if (!isRecord(schema)) return {}
  const { $ref, type, enum: values, items, properties, additionalProperties, pattern } = schema
  if (typeof $ref === 'string') return { $ref: `#/components/schemas/${$ref}` }
  const isNumber = type === 'integer' || type === 'number'
  const bound = (member: 'minimum' | 'maximum') =>
    isNumber && Number.isFinite(Number(schema[member] ?? Number.NaN))
      ? { [member]: Number(schema[member]) }
      : {}
  return {
    ...(typeof type === 'string' && type !== 'any' && { type }),
    ...(Array.isArray(values) && { enum: values }),
    ...(typeof pattern === 'string' && { pattern }),
    ...bound('minimum'),
    ...bound('maximum'),
    ...(items !== undefined && { items: toSchema(items) }),
    ...(isRecord(properties) && { properties: mapped(properties, toSchema) }),
    ...(additionalProperties !== undefined && { additionalProperties: toSchema(additionalProperties) }),
  }
}

function mapped(record: JsonRecord, change: (value: unknown) => JsonRecord): JsonRecord {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}
