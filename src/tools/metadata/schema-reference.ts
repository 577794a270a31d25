import type { JsonSchema } from '../../domain/tool.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { escapeToken } from '../../sdk/worker/json-pointer.ts'
import { quote } from '../read-json.ts'
import { at, type Warn } from './metadata-member.ts'

/** Keywords whose subschemas apply to the same value: a reference that recurs through these never ends. */
const IN_PLACE = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'dependentSchemas'])
const HOLDS_DATA = new Set(['default', 'const', 'enum', 'examples', 'required', 'dependentRequired'])
const HOLDS_NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])

interface Node {
  readonly schema: JsonRecord
  /** Pointers of the schemas that apply to the same value. */
  readonly inPlace: readonly string[]
}

/**
 * Removes every `$ref` that leads out of the document, to no schema, or into an endless circle. The remaining ones
 * are `#` and a JSON Pointer (RFC 6901 section 6) to a schema within the root.
 */
export function removeBadReferences(root: JsonSchema, path: string, warn: Warn): JsonSchema {
  const nodes = new Map<string, Node>()
  collect(root, '', nodes)
  if (![...nodes.values()].some(({ schema }) => typeof schema.$ref === 'string')) return root
  const endless = endlessSchemas(nodes)
  const convert = (value: unknown, pointer: string, where: string): unknown => {
    if (Array.isArray(value))
      return value.map((item, i) => convert(item, `${pointer}/${i}`, `${where}[${i}]`))
    if (!isRecord(value)) return value
    const isSchema = nodes.has(pointer)
    const members = Object.entries(value).map(([name, inner]) => {
      if (isSchema && HOLDS_DATA.has(name)) return [name, inner] as const
      if (isSchema && name === '$ref')
        return [name, checkedReference(String(inner), at(where, name))] as const
      return [name, convert(inner, `${pointer}/${escapeToken(name)}`, at(where, name))] as const
    })
    return Object.fromEntries(members.filter(([, inner]) => inner !== undefined))
  }
  const checkedReference = (reference: string, where: string): string | undefined => {
    const target = pointerOf(reference)
    if (target === undefined || !nodes.has(target))
      warn(where, `${quote(reference)} leads to no schema in this document; anything is accepted.`)
    else if (endless.has(target)) warn(where, `${quote(reference)} leads in a circle; anything is accepted.`)
    else return `#${target.split('/').map(encodeURIComponent).join('/')}`
    return undefined
  }
  const schema = convert(root, '', path)
  return isRecord(schema) ? schema : {}
}

/** Collects every schema by its pointer, without following references. */
function collect(schema: unknown, pointer: string, nodes: Map<string, Node>): void {
  if (!isRecord(schema)) return
  const inPlace: string[] = []
  nodes.set(pointer, { schema, inPlace })
  for (const [keyword, value] of Object.entries(schema)) {
    if (HOLDS_DATA.has(keyword)) continue
    const inner = `${pointer}/${escapeToken(keyword)}`
    if (keyword === '$ref') inPlace.push(pointerOf(String(value)) ?? '?')
    else if (isRecord(value) && !HOLDS_NAMED.has(keyword)) visit(value, inner, keyword)
    else if (isRecord(value) || Array.isArray(value))
      for (const [name, member] of Object.entries(value))
        visit(member, `${inner}/${escapeToken(name)}`, keyword)
  }
  function visit(inside: unknown, where: string, keyword: string): void {
    if (IN_PLACE.has(keyword)) inPlace.push(where)
    collect(inside, where, nodes)
  }
}

/** The schemas whose check may never end: a topological sort removes those whose check certainly ends. */
function endlessSchemas(nodes: ReadonlyMap<string, Node>): ReadonlySet<string> {
  /** The number of targets of a schema that were not removed yet. */
  const left = new Map<string, number>()
  const usedBy = new Map<string, string[]>()
  for (const [pointer, { inPlace }] of nodes) {
    const targets = inPlace.filter((target) => nodes.has(target))
    left.set(pointer, targets.length)
    for (const target of targets) {
      const users = usedBy.get(target) ?? []
      users.push(pointer)
      usedBy.set(target, users)
    }
  }
  const ended = [...left].filter(([, count]) => count === 0).map(([pointer]) => pointer)
  for (let pointer = ended.pop(); pointer !== undefined; pointer = ended.pop()) {
    left.delete(pointer)
    for (const user of usedBy.get(pointer) ?? []) {
      const count = (left.get(user) ?? 0) - 1
      left.set(user, count)
      if (count === 0) ended.push(user)
    }
  }
  return new Set(left.keys())
}

/** The decoded JSON Pointer of a `#...` reference; `undefined` for any other reference. */
function pointerOf(reference: string): string | undefined {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined
  if (!reference.isWellFormed()) return undefined // `encodeURIComponent` throws for half of a surrogate pair
  try {
    return decodeURIComponent(reference.slice(1))
  } catch {
    return undefined
  }
}
