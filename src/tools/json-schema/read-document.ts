import type { Pattern } from '../../parsing/pattern.ts'
import { escapeToken } from '../../sdk/worker/json-pointer.ts'
import { type Dialect, KEYWORDS, readDialect, TYPES } from './dialect.ts'
import { locationOf, SchemaFault } from './schema-fault.ts'
import { schemaPattern } from './schema-pattern.ts'
import { SchemaResources } from './schema-resources.ts'

/** A schema document reduced to what affects validity. */
export interface SchemaDocument {
  readonly dialect: Dialect
  readonly root: Schema
  readonly nodes: readonly SchemaNode[]
  /** The schemas that each node's references lead to. */
  readonly targets: ReadonlyMap<SchemaNode, readonly Schema[]>
  readonly patterns: ReadonlyMap<string, Pattern>
}

export type Schema = SchemaNode | boolean
/** A schema by keyword; its subschemas are nodes themselves. */
export type SchemaNode = Readonly<Record<string, unknown>>

/** Replaces a `type` that JSON Schema does not know. */
export const UNKNOWN_TYPE = 'gatepassUnknownType'

const MAX_DEPTH = 100
/** Each subschema takes about 0.3 ms to compile. */
const MAX_SCHEMAS = 2000
/** Direct subschemas of one schema. The generated code nests as deep as their number. */
const MAX_SUBSCHEMAS = 1000
/** Compiled size of all patterns together, in instructions. */
const MAX_PATTERN_SIZE = 20_000
/** Length of all patterns together, in characters. A class of a few characters may take as long as hundreds of instructions. */
const MAX_PATTERN_LENGTH = 20_000

/**
 * Reads a document of either dialect. Every reference is resolved, also in parts that nothing uses, and only within
 * the document. Throws `SchemaFault`.
 */
export function readDocument(json: unknown): SchemaDocument {
  const uri = isNode(json) ? json.$schema : undefined
  const dialect = readDialect(uri)
  if (!isNode(json) && typeof json !== 'boolean')
    throw new SchemaFault('invalid_schema', 'A schema must be an object, or true or false.')
  const resources = new SchemaResources(json, dialect)
  const nodes = new Map<string, Schema>()
  const references: { node: SchemaNode; pointer: string; base: string; keyword: string; uri: string }[] = []
  const patterns = new Map<string, Pattern>()
  let [patternSize, patternLength] = [0, 0]
  const keywords = KEYWORDS[dialect]

  let schemas = 0
  const countSchemas = (more: number) => {
    schemas += more
    if (schemas > MAX_SCHEMAS)
      throw new SchemaFault('invalid_schema', `The schema holds more than ${MAX_SCHEMAS} schemas.`)
  }

  const read = (raw: unknown, pointer: string, outerBase: string, depth: number): unknown => {
    countSchemas(1)
    if (!isNode(raw)) {
      if (typeof raw === 'boolean') nodes.set(pointer, raw)
      return raw // the metaschema check refuses what is not a schema
    }
    if (depth > MAX_DEPTH)
      throw new SchemaFault('invalid_schema', `The schema nests deeper than ${MAX_DEPTH} schemas.`)
    const base = resources.enter(raw, pointer, outerBase)
    const node: Record<string, unknown> = {}
    nodes.set(pointer, node)
    let subschemas = 0
    const inner = (value: unknown, ...path: readonly string[]) => {
      subschemas++
      return read(
        value,
        path.reduce((at, name) => pointerTo(name, at), pointer),
        base,
        depth + 1,
      )
    }
    for (const [keyword, value] of Object.entries(raw)) {
      if (value === null && keyword !== 'const') continue // `null` means absent
      if (keywords.schemaList.has(keyword) && Array.isArray(value))
        node[keyword] = value.map((item, index) => inner(item, keyword, String(index)))
      else if (keywords.schemaMap.has(keyword) && isNode(value))
        node[keyword] = Object.fromEntries(
          Object.entries(value).map(([name, inside]) => [name, inner(inside, keyword, name)]),
        )
      else if (keywords.schema.has(keyword)) node[keyword] = inner(value, keyword)
      else if (keyword === 'type') Object.assign(node, readType(value))
      else if (
        keywords.value.has(keyword) ||
        keywords.schemaMap.has(keyword) ||
        keywords.schemaList.has(keyword)
      )
        node[keyword] = value
    }
    if (isNode(node.dependentRequired)) {
      const { length } = Object.keys(node.dependentRequired) // flatten.ts makes a schema of each
      countSchemas(length)
      subschemas += length
    }
    if (Array.isArray(node.enum)) {
      if (node.enum.length === 0)
        throw new SchemaFault(
          'invalid_schema',
          `${locationOf(pointer)} has an \`enum\` that allows no value.`,
        )
      // duplicates are harmless; ajv's metaschema refuses them
      node.enum = [...new Map(node.enum.map((choice) => [JSON.stringify(choice), choice])).values()]
    }
    if (subschemas > MAX_SUBSCHEMAS)
      throw new SchemaFault(
        'invalid_schema',
        `${locationOf(pointer)} has more than ${MAX_SUBSCHEMAS} subschemas.`,
      )
    for (const keyword of ['$ref', '$dynamicRef']) {
      const uri = node[keyword]
      if (typeof uri === 'string') references.push({ node, pointer, base, keyword, uri })
    }
    for (const { source, size } of readPatterns(node, pointer, patterns)) {
      patternSize += size
      patternLength += source.length
      if (patternSize > MAX_PATTERN_SIZE || patternLength > MAX_PATTERN_LENGTH)
        throw new SchemaFault('invalid_schema', 'The patterns of the schema are too large in total.')
    }
    return node
  }

  const root = read(json, '', resources.root, 0)
  const targets = new Map<SchemaNode, Schema[]>()
  // a reference may lead to a value under no schema keyword, which is read now and may add further references
  for (const { node, pointer, base, keyword, uri } of references) {
    const found = resources.resolve(uri, base, { from: pointer, isDynamic: keyword === '$dynamicRef' })
    if (!nodes.has(found.pointer)) read(found.value, found.pointer, found.base, 0)
    const target = nodes.get(found.pointer)
    if (target === undefined)
      throw new SchemaFault(
        'invalid_schema',
        `${locationOf(pointer)} refers to something that is not a schema.`,
      )
    targets.set(node, [...(targets.get(node) ?? []), target])
  }
  if (!isNode(root) && typeof root !== 'boolean') throw new Error('a schema was read as none')
  return { dialect, root, nodes: [...nodes.values()].filter(isNode), targets, patterns }
}

/** Accepts types that JSON Schema does not know; no value matches them. */
function readType(type: unknown): SchemaNode {
  const names: readonly unknown[] = Array.isArray(type) ? type : [type]
  if (names.length === 0 || !names.every((name) => typeof name === 'string')) return { type: type }
  const known = names.filter((name) => TYPES.has(name))
  if (known.length === 0) return { [UNKNOWN_TYPE]: names.join(', ') }
  return { type: Array.isArray(type) ? known : known[0] }
}

/** Compiles the patterns that are new, one after the other. */
function* readPatterns(node: SchemaNode, pointer: string, patterns: Map<string, Pattern>) {
  const named = isNode(node.patternProperties) ? Object.keys(node.patternProperties) : []
  for (const source of typeof node.pattern === 'string' ? [node.pattern, ...named] : named)
    if (!patterns.has(source)) {
      const pattern = schemaPattern(source, locationOf(pointer))
      patterns.set(source, pattern)
      yield { source, size: pattern.size }
    }
}

/** The JSON Pointer of a member. Throws `SchemaFault` for half a surrogate pair, which ajv cannot put in its URLs. */
function pointerTo(name: string, parent: string): string {
  if (name.isWellFormed()) return `${parent}/${escapeToken(name)}`
  throw new SchemaFault(
    'invalid_schema',
    `The name ${JSON.stringify(name)} contains half of a surrogate pair.`,
  )
}

export function isNode(value: unknown): value is SchemaNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
