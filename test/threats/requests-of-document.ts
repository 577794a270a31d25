import fc from 'fast-check'

/** The parts of an OpenAPI 3.1 document from which requests are made. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: Schema }[]
  readonly requestBody?: { readonly content: { readonly 'application/json'?: { readonly schema: Schema } } }
  readonly security?: readonly Readonly<Record<string, unknown>>[]
}

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly minimum?: number
}

export interface ApiRequest {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

export interface Route {
  readonly method: string
  readonly path: string
  /** Whether it needs an API key. The token of a connect session, for example, is none. */
  readonly needsKey: boolean
  readonly operation: Operation
}

export function routesOf(document: ApiDocument): Route[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      needsKey: operation.security?.some((scheme) => 'apiKey' in scheme) ?? false,
      operation,
    })),
  )
}

/** Makes the text for a place: `id` in the path, `user_id` in the query, `auth_requirement.id` in the body. */
export type Fill = (place: string) => fc.Arbitrary<string>

/** Requests that fit the description of the route, with `fill` in every place that takes a text. */
export function requestOf({ method, path, operation }: Route, document: ApiDocument, fill: Fill) {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const inQuery = (operation.parameters ?? []).filter((one) => one.in === 'query')
  const schema = operation.requestBody?.content['application/json']?.schema
  return fc
    .record({
      params: fc.record(Object.fromEntries(inPath.map((name) => [name, fill(name)]))),
      query: fc.record(
        Object.fromEntries(
          inQuery.map(({ name, schema = {} }) => [name, generated(schema, document, fill, name)]),
        ),
        { requiredKeys: [] },
      ),
      body: schema === undefined ? fc.constant(undefined) : generated(schema, document, fill, ''),
    })
    .map(({ params, query, body }): ApiRequest => {
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
        encodeURIComponent(String(params[name]).toWellFormed()),
      )
      const search = new URLSearchParams(
        Object.entries(query)
          .filter(([, value]) => value !== undefined && value !== null)
          .map(([name, value]) => [name, String(value)]),
      )
      return {
        method,
        path: `${filled}${search.size > 0 ? `?${search}` : ''}`,
        ...(schema !== undefined && { body: body ?? {} }),
      }
    })
}

function generated(schema: Schema, document: ApiDocument, fill: Fill, place: string): fc.Arbitrary<unknown> {
  const to = (of: Schema, where = place) => generated(of, document, fill, where)
  if (schema.$ref !== undefined)
    return to(document.components.schemas[schema.$ref.replace('#/components/schemas/', '')] ?? {})
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return fc.oneof(...choices.map((one) => to(one)))
  const types = [schema.type ?? []].flat()
  const type = types.find((one) => one !== 'null')
  const value = ((): fc.Arbitrary<unknown> => {
    switch (type) {
      case 'object': {
        const members = Object.entries(schema.properties ?? {})
        const values = members.map(([name, of]) => [name, to(of, place === '' ? name : `${place}.${name}`)])
        const record: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(values)
        if (members.length > 0) return fc.record(record, { requiredKeys: [...(schema.required ?? [])] })
        return fc.dictionary(fill(`${place}.*`), fill(`${place}.*`), { maxKeys: 2 })
      }
      case 'array':
        return fc.array(to(schema.items ?? {}), { maxLength: 2 })
      case 'integer':
      case 'number':
        return fc.constant(schema.minimum ?? 1)
      case 'boolean':
        return fc.boolean()
      case 'string':
        return fill(place)
      default:
        return fc.dictionary(fc.constantFrom('name', 'id', 'description', 'oauth'), fill(place), {
          maxKeys: 3,
        })
    }
  })()
  return types.includes('null') ? fc.option(value, { freq: 9 }) : value
}
