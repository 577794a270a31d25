import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'

/** Keywords whose value is data, in which nothing is a schema. */
const DATA = new Set(['const', 'enum', 'default', 'examples'])
/** Keywords whose value maps names to schemas. */
const NAME_MAPS = new Set([
  ...['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'],
])

/** A copy of the schema in which `change` has been applied to each schema, the innermost first. */
export function mapSchemas(schema: JsonRecord, change: (one: JsonRecord) => JsonRecord): JsonRecord {
  const within = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(within)
    return isRecord(value) ? mapSchemas(value, change) : value
  }
  const members = Object.entries(schema).map(([keyword, value]) => {
    if (DATA.has(keyword)) return [keyword, value]
    if (NAME_MAPS.has(keyword) && isRecord(value))
      return [keyword, Object.fromEntries(Object.entries(value).map(([name, one]) => [name, within(one)]))]
    return [keyword, within(value)]
  })
  return change(Object.fromEntries(members))
}

/** The schema without these keywords, at any depth. A property of such a name stays. */
export function withoutKeywords(schema: JsonRecord, keywords: readonly string[]): JsonRecord {
  return mapSchemas(schema, (one) =>
    keywords.some((keyword) => Object.hasOwn(one, keyword))
      ? Object.fromEntries(Object.entries(one).filter(([keyword]) => !keywords.includes(keyword)))
      : one,
  )
}
