import type { JsonSchema } from './content.ts'

/** A schema of Zod 4, or of another library that implements Standard Schema (standardschema.dev). */
export interface TypedSchema<Output = unknown> {
  readonly '~standard': {
    readonly vendor: string
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    /** Standard JSON Schema: how the library describes the schema. */
    readonly jsonSchema?: Readonly<Record<'input' | 'output', DescribeSchema>> | undefined
  }
}

type DescribeSchema = (options: {
  readonly target: 'draft-2020-12'
  readonly libraryOptions?: Record<string, unknown> | undefined
}) => Record<string, unknown>

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

export interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

export type ToolSchema = TypedSchema | JsonSchema

/** The type a schema produces. For JSON Schema, TypeScript knows only that it is an object. */
export type ValueOf<Schema> =
  Schema extends TypedSchema<infer Output> ? Output : Readonly<Record<string, unknown>>

export function isTypedSchema(schema: ToolSchema): schema is TypedSchema {
  return '~standard' in schema
}

export type SchemaSide = 'input' | 'output'

/** The schema of a date, which JSON has as text. */
const DATE = { type: 'string', format: 'date-time' }

/** Options by which each library describes types that JSON Schema does not have. */
const LIBRARY_OPTIONS: Readonly<Record<string, Record<string, unknown>>> = {
  zod: {
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }: ZodOverride) => {
      if (zodSchema._zod.def.type === 'date') Object.assign(jsonSchema, DATE)
    },
  },
  arktype: {
    fallback: { date: () => DATE, default: ({ base }: { readonly base: unknown }) => base },
  },
}

interface ZodOverride {
  readonly zodSchema: { readonly _zod: { readonly def: { readonly type: string } } }
  readonly jsonSchema: Record<string, unknown>
}

/**
 * Describes a schema as JSON Schema: `input` is what it accepts, `output` what it produces. `describeZod` describes
 * schemas of Zod that do not describe themselves (`zod/mini`, Zod before 4.2). Throws `TypeError` for a schema without
 * a description.
 */
export function jsonSchemaOf(
  schema: ToolSchema,
  side: SchemaSide,
  describeZod?: (schema: TypedSchema, side: SchemaSide, options: Record<string, unknown>) => JsonSchema,
): JsonSchema {
  const isSchema = (typeof schema === 'object' && schema !== null) || typeof schema === 'function'
  if (!isSchema) throw new TypeError('is no schema')
  if (!isTypedSchema(schema)) return schema
  const { vendor, jsonSchema } = schema['~standard']
  const libraryOptions = LIBRARY_OPTIONS[vendor]
  if (jsonSchema !== undefined)
    return jsonSchema[side]({ target: 'draft-2020-12', ...(libraryOptions && { libraryOptions }) })
  if (describeZod !== undefined && '_zod' in schema) return describeZod(schema, side, libraryOptions ?? {})
  throw new TypeError(
    `is a schema of ${vendor} without JSON Schema ("~standard".jsonSchema): use Zod 4.2 or newer, another library that has it, or JSON Schema`,
  )
}

export type Parsed =
  | { readonly outcome: 'accepted'; readonly value: unknown }
  /** `reason`: sentences that name the members at fault. */
  | { readonly outcome: 'refused'; readonly reason: string }

const MAX_ISSUES = 5

/**
 * Parses a value with a typed schema. With a JSON Schema it accepts every value: Gatepass checks the input of its own
 * calls, and the input of other callers is not checked.
 */
export async function parseValue(schema: ToolSchema, value: unknown): Promise<Parsed> {
  if (!isTypedSchema(schema)) return { outcome: 'accepted', value }
  const result = await schema['~standard'].validate(value)
  if (result.issues === undefined) return { outcome: 'accepted', value: result.value }
  return { outcome: 'refused', reason: result.issues.slice(0, MAX_ISSUES).map(toSentence).join(' ') }
}

function toSentence({ message, path = [] }: SchemaIssue): string {
  const keys = path.map((part) => String(typeof part === 'object' ? part.key : part))
  return `${keys.length > 0 ? `${keys.join('.')}: ` : ''}${message}${/[.!?]$/.test(message) ? '' : '.'}`
}
