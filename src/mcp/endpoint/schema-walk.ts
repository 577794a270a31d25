import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'

/** Keywords whose value is data, in which nothing is a schema. */
const DATA = new Set(['const', 'enum', 'default', 'examples'])
/** Keywords whose value maps names to schemas. */
const NAME_MAPS = new Set([
  ...['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'],
])

/**
 * The schema after `change` has been applied to each schema in it, the innermost first. What does not change is not copied:
 * most schemas have none of the keywords that are changed, and a hostile one may consist of tens of thousands of schemas.
 */
export function mapSchemas(schema: JsonRecord, change: (inner: JsonRecord) => JsonRecord): JsonRecord {
  const ofSchema = (inner: JsonRecord): JsonRecord => change(mapMembers(inner, ofKeyword))
  const ofKeyword = (value: unknown, keyword: string): unknown => {
    if (typeof value !== 'object' || value === null || DATA.has(keyword)) return value
    return NAME_MAPS.has(keyword) && isRecord(value) ? mapMembers(value, within) : within(value)
  }
  const within = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    return isRecord(value) ? ofSchema(value) : ofList(value as readonly unknown[]) // no record is a list
  }
  const ofList = (list: readonly unknown[]): readonly unknown[] => {
    let copy: unknown[] | undefined
    for (let i = 0; i < list.length; i++) {
      const changed = within(list[i])
      if (changed === list[i]) continue
      copy ??= [...list]
      copy[i] = changed
    }
    return copy ?? list
  }
  return ofSchema(schema)
}

function mapMembers(record: JsonRecord, change: (value: unknown, name: string) => unknown): JsonRecord {
  let copy: Record<string, unknown> | undefined
  for (const name in record) {
    const value = record[name]
    const changed = change(value, name)
    if (changed === value) continue
    copy ??= { ...record }
    copy[name] = changed
  }
  return copy ?? record
}

/** The schema without these keywords, at any depth. A property of such a name stays. */
export function withoutKeywords(schema: JsonRecord, keywords: readonly string[]): JsonRecord {
  return mapSchemas(schema, (inner) =>
    keywords.some((keyword) => Object.hasOwn(inner, keyword))
      ? Object.fromEntries(Object.entries(inner).filter(([keyword]) => !keywords.includes(keyword)))
      : inner,
  )
}
