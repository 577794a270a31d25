// The parts of an OpenAPI 3.1 document from which the types of the wire are generated.

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

export interface Operation {
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly required?: boolean; readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: Schema
}

export type Content = Readonly<Record<string, { readonly schema?: Schema }>>

export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly deprecated?: boolean
  readonly default?: unknown
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly format?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly oneOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

/** `#/components/schemas/Tool` -> `Tool`. */
export function nameOfReference($ref: string): string {
  return $ref.slice($ref.lastIndexOf('/') + 1)
}

export type Schemas = OpenApiDocument['components']['schemas']

/** The members of an object, with those of its parts. */
export function propertiesOf(schema: Schema, schemas: Schemas): Readonly<Record<string, Schema>> {
  if (schema.$ref !== undefined) return propertiesOf(schemas[nameOfReference(schema.$ref)] ?? {}, schemas)
  return Object.assign(
    {},
    ...(schema.allOf ?? []).map((one) => propertiesOf(one, schemas)),
    schema.properties,
  )
}
