import { KEYWORDS } from './dialect.ts'
import { isNode, type Schema, type SchemaDocument, type SchemaNode } from './read-document.ts'

/** Gatepass' own keyword. It charges the steps that a schema costs, before the schema's other keywords are applied. */
export const COST = 'gatepassCost'
/** Gatepass' own keyword. It charges steps for each member of the value. */
export const COST_OF_MEMBERS = 'gatepassCostOfMembers'
/**
 * Steps charged for a subschema that may fail without ending the check, because ajv keeps its errors until the end of
 * the check.
 */
const COST_OF_ALTERNATIVE = 20

/** Keywords that the flat schema has in another form. */
const REPLACED = new Set(['$ref', '$dynamicRef', '$defs', 'definitions', 'dependentRequired'])

/**
 * Moves every subschema to an entry of `$defs`, so that ajv generates a small function for each (its code grows with the
 * square of a schema's size), and adds the cost of each. Definitions that no reference leads to are left out.
 */
export function flatten({ dialect, root, nodes, targets }: SchemaDocument): Schema {
  const names = new Map<SchemaNode, string>()
  const waiting: SchemaNode[] = []
  const isTarget = new Set([...targets.values()].flat())
  const { schema, schemaList, schemaMap, value: ofValue } = KEYWORDS[dialect]

  const costOf = (node: SchemaNode): number =>
    Object.entries(node).reduce((sum, [keyword, value]) => {
      if (ofValue.has(keyword)) return sum + count(value)
      return sum + width(value) * (keyword === 'anyOf' || keyword === 'oneOf' ? COST_OF_ALTERNATIVE : 1)
    }, 1)

  const refer = (node: SchemaNode): SchemaNode => {
    const name = names.get(node) ?? String(names.size)
    if (!names.has(node)) {
      names.set(node, name)
      waiting.push(node)
    }
    return { [COST]: costOf(node), $ref: `#/$defs/${name}` }
  }

  const place = (inner: unknown): unknown => {
    if (!isNode(inner)) return inner
    if (Object.keys(inner).length === 0) return true
    const isSmall = Object.values(inner).every((value) => !isNode(value) && !isListOfNodes(value))
    const isReference = '$ref' in inner || '$dynamicRef' in inner
    const isInline = isSmall && !isReference && !isTarget.has(inner)
    return isInline ? { [COST]: costOf(inner), ...inner } : refer(inner)
  }

  // a double `not`, because ajv otherwise copies the errors of all earlier items whenever one item fails
  const containing = (inner: unknown): unknown =>
    isNode(inner) ? { [COST]: COST_OF_ALTERNATIVE, not: { not: place(inner) } } : inner

  // `required` in place of lists of names, because ajv's code for those takes time that grows with their square
  const placeEach = (map: SchemaNode): SchemaNode =>
    Object.fromEntries(
      Object.entries(map).map(([name, value]) => [
        name,
        place(Array.isArray(value) ? { required: value } : value),
      ]),
    )
  const required = ({ dependentRequired }: SchemaNode): SchemaNode[] =>
    isNode(dependentRequired) ? [{ dependentSchemas: placeEach(dependentRequired) }] : []

  const body = (node: SchemaNode): SchemaNode => {
    const references = (targets.get(node) ?? []).map((target) => place(target))
    // draft-07 ignores the siblings of `$ref`
    if (dialect === 'draft-07' && typeof node.$ref === 'string') return { allOf: references }
    const own = Object.entries(node)
      .filter(([keyword]) => !REPLACED.has(keyword))
      .map(([keyword, value]) => {
        if (schemaList.has(keyword) && Array.isArray(value))
          return [keyword, value.map((item) => place(item))]
        if (schemaMap.has(keyword) && isNode(value)) return [keyword, placeEach(value)]
        if (keyword === 'contains') return [keyword, containing(value)]
        return [keyword, schema.has(keyword) ? place(value) : value]
      })
    const flat: SchemaNode = Object.fromEntries(own)
    const more = [...references, ...required(node)]
    return {
      ...flat,
      ...(more.length > 0 && { allOf: [...(Array.isArray(flat.allOf) ? flat.allOf : []), ...more] }),
      ...('unevaluatedProperties' in node && { [COST_OF_MEMBERS]: nodes.length }),
    }
  }

  if (typeof root === 'boolean') return root
  const start = refer(root)
  const $defs: Record<string, SchemaNode> = {}
  for (const node of waiting) $defs[names.get(node) ?? ''] = body(node)
  return { ...start, $defs }
}

function isListOfNodes(value: unknown): boolean {
  return Array.isArray(value) && value.some(isNode)
}

/** Counts the values in a value, including itself. */
function count(value: unknown): number {
  const inner = Array.isArray(value) ? value : isNode(value) ? Object.values(value) : []
  return inner.reduce((sum: number, item) => sum + count(item), 1)
}

function width(value: unknown): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 1
}
