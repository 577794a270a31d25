import type { JsonSchema } from '../../domain/tool.ts'
import { isRecord } from '../../parsing/json-record.ts'
import { valueAtReference } from '../../sdk/worker/json-pointer.ts'
import { KEYWORDS } from '../../tools/json-schema/dialect.ts'

const LISTS = union('schemaList')
const MAPS = union('schemaMap')
const ONES = union('schema')
const REFERENCES = ['$ref', '$dynamicRef']
const DEFINITIONS = ['$defs', 'definitions']
/** Annotations, which do not affect validity and may be added to an inlined schema. */
const ANNOTATIONS = ['title', 'description', 'default', 'examples', 'deprecated', '$comment']
/** References can expand a small schema into a huge tree; past this many schemas anything is accepted. */
const MAX_SCHEMAS = 2000

/**
 * Replaces every reference by the schema it refers to, since OXP knows neither `$ref` nor definitions. A recursive
 * reference, and one that is not a JSON Pointer, becomes a schema that accepts anything; the tool itself is still
 * checked against its full schema when it is called.
 */
export function inlineReferences(root: JsonSchema): JsonSchema {
  let schemasLeft = MAX_SCHEMAS

  const inlined = (schema: unknown, followed: readonly string[]): unknown => {
    if (!isRecord(schema)) return schema
    if (schemasLeft-- <= 0) return {}
    const members = Object.entries(schema).filter(([name]) => ![...REFERENCES, ...DEFINITIONS].includes(name))
    const own = Object.fromEntries(
      members.map(([name, value]) => [name, inlinedMember(name, value, followed)]),
    )
    const reference = REFERENCES.map((name) => schema[name]).find((value) => typeof value === 'string')
    if (typeof reference !== 'string' || followed.includes(reference)) return own
    const target = inlined(valueAtReference(root, reference), [...followed, reference])
    if (!isRecord(target))
      return target === undefined ? own : { ...own, allOf: [...listOf(own.allOf), target] }
    const hasOnlyAnnotations = Object.keys(own).every((name) => ANNOTATIONS.includes(name))
    return hasOnlyAnnotations ? { ...target, ...own } : { ...own, allOf: [...listOf(own.allOf), target] }
  }

  const inlinedMember = (name: string, value: unknown, followed: readonly string[]): unknown => {
    if (LISTS.has(name) && Array.isArray(value)) return value.map((item) => inlined(item, followed))
    if (MAPS.has(name) && isRecord(value))
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inlined(item, followed)]))
    return ONES.has(name) ? inlined(value, followed) : value
  }

  const schema = inlined(root, ['#'])
  return isRecord(schema) ? schema : {}
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function union(kind: 'schema' | 'schemaList' | 'schemaMap'): ReadonlySet<string> {
  return new Set(Object.values(KEYWORDS).flatMap((keywords) => [...keywords[kind]]))
}
