import { excerpt, SchemaFault } from './schema-fault.ts'

export type Dialect = '2020-12' | 'draft-07'

/** The keywords of a dialect that affect validity, grouped by what their value holds. All others are annotations. */
export interface Keywords {
  readonly schema: ReadonlySet<string>
  readonly schemaList: ReadonlySet<string>
  readonly schemaMap: ReadonlySet<string>
  readonly value: ReadonlySet<string>
}

const IN_BOTH = {
  schema: ['additionalProperties', 'propertyNames', 'items', 'contains', 'not', 'if', 'then', 'else'],
  schemaList: ['allOf', 'anyOf', 'oneOf'],
  // both names for definitions in both dialects, because many schemas mix them
  schemaMap: ['properties', 'patternProperties', '$defs', 'definitions'],
  value: [
    ...['type', 'enum', 'const', 'multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum'],
    ...['maxLength', 'minLength', 'pattern', 'maxItems', 'minItems', 'uniqueItems'],
    ...['maxProperties', 'minProperties', 'required', '$ref'],
  ],
}

export const KEYWORDS: Readonly<Record<Dialect, Keywords>> = {
  '2020-12': {
    schema: new Set([...IN_BOTH.schema, 'unevaluatedProperties', 'unevaluatedItems']),
    schemaList: new Set([...IN_BOTH.schemaList, 'prefixItems']),
    schemaMap: new Set([...IN_BOTH.schemaMap, 'dependentSchemas']),
    value: new Set([...IN_BOTH.value, 'minContains', 'maxContains', 'dependentRequired', '$dynamicRef']),
  },
  'draft-07': {
    schema: new Set([...IN_BOTH.schema, 'additionalItems']),
    schemaList: new Set([...IN_BOTH.schemaList, 'items']), // as a list it describes a tuple
    schemaMap: new Set([...IN_BOTH.schemaMap, 'dependencies']),
    value: new Set(IN_BOTH.value),
  },
}

export const TYPES: ReadonlySet<unknown> = new Set([
  ...['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'],
])

/** Reads `$schema` of the root: 2020-12 when absent. `$schema` in subschemas is ignored. Throws `SchemaFault`. */
export function readDialect(uri: unknown): Dialect {
  if (uri === undefined || uri === null) return '2020-12'
  if (typeof uri !== 'string')
    throw new SchemaFault('invalid_schema', '`$schema` must be the URI of a dialect of JSON Schema.')
  if (uri === 'https://json-schema.org/draft/2020-12/schema') return '2020-12'
  if (uri.replace(/#$/, '') === 'http://json-schema.org/draft-07/schema') return 'draft-07'
  throw new SchemaFault(
    'unsupported_schema',
    `"${excerpt(uri)}" is not a supported dialect: use https://json-schema.org/draft/2020-12/schema or http://json-schema.org/draft-07/schema#.`,
  )
}
