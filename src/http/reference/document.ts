import { type JsonSchema, refName } from './schema-view.ts'

/** The parts of an OpenAPI 3.1 document that the API reference shows. */
export interface OpenApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly servers?: readonly { readonly url: string }[]
  readonly tags?: readonly { readonly name: string; readonly description?: string }[]
  readonly paths?: Readonly<Record<string, PathItem>>
  readonly components?: Components
}

export interface Components {
  readonly schemas?: Readonly<Record<string, JsonSchema>>
}

type PathItem = { readonly [M in Method]?: Operation }

export interface Operation {
  readonly operationId?: string
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content?: Content }
  readonly responses?: Readonly<Record<string, Response>>
}

export interface Parameter {
  readonly name?: string
  readonly in?: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: JsonSchema
}

export interface Response {
  readonly description?: string
  readonly content?: Content
}

export type Content = Readonly<Record<string, { readonly schema?: JsonSchema }>>

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const
export type Method = (typeof METHODS)[number]

/** One operation, with its method, its path and its anchor in the reference. */
export interface Entry {
  readonly id: string
  readonly method: Method
  readonly path: string
  readonly anchor: string
  readonly operation: Operation
}

/** The operations of one tag, which have a page of their own. */
export interface Group {
  readonly name: string
  readonly href: string
  readonly description: string | undefined
  readonly entries: readonly Entry[]
}

/** One group for each tag, in the order of the document. Operations without a tag are in the group "Other". */
export function groupsOf({ paths = {}, tags = [] }: OpenApiDocument): Group[] {
  const entriesByTag = new Map<string, Entry[]>(tags.map((tag) => [tag.name, []]))
  for (const [path, item] of Object.entries(paths)) {
    for (const method of METHODS) {
      const operation = item[method]
      if (operation === undefined) continue
      const tag = operation.tags?.[0] ?? 'Other'
      const id = operation.operationId ?? slug(`${method}${path}`)
      const entries = entriesByTag.get(tag) ?? []
      entriesByTag.set(tag, entries)
      entries.push({ id, method, path, anchor: slug(id), operation })
    }
  }
  return [...entriesByTag]
    .filter(([, entries]) => entries.length > 0)
    .map(([name, entries]) => ({
      name,
      href: hrefOf(name),
      description: tags.find((tag) => tag.name === name)?.description,
      entries,
    }))
}

/** The schema that a reference refers to; other schemas unchanged. */
export function resolve(schema: JsonSchema, { schemas = {} }: Components): JsonSchema {
  return schema.$ref === undefined ? schema : (schemas[refName(schema.$ref)] ?? schema)
}

/** The page of the operations of this tag. */
export function hrefOf(tag: string): string {
  return `/docs/${slug(tag).toLowerCase()}`
}

function slug(text: string): string {
  return text.replace(/[^A-Za-z0-9_]+/g, '-').replace(/^-|-$/g, '')
}
