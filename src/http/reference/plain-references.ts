// zod-to-openapi writes a reference that has a description, or that may be null, as an `allOf` of the reference and
// another schema. That `allOf` is not needed for a description, which OpenAPI 3.1 allows beside a reference, and is
// wrong for null: the other schema allows null but the referenced one does not. zod-to-openapi also leaves null out
// of the `enum` of a value that may be null.

type Node = { [member: string]: unknown }

/** Rewrites such references and enums in place. */
export function simplifyReferences<Document extends object>(document: Document): Document {
  const { components } = document as { components?: { schemas?: Readonly<Record<string, Node>> } }
  const schemas = components?.schemas ?? {}

  function visit(value: unknown): void {
    if (typeof value !== 'object' || value === null) return
    if (!Array.isArray(value)) simplify(value as Node)
    for (const inner of Object.values(value)) visit(inner)
  }

  function simplify(node: Node): void {
    const { type, enum: values, allOf } = node
    const isNullable = Array.isArray(type) && type.includes('null')
    if (isNullable && Array.isArray(values) && !values.includes(null)) node.enum = [...values, null]
    if (!Array.isArray(allOf) || allOf.length !== 2) return
    const [{ $ref, ...others }, beside] = allOf as [Node, Node]
    if (typeof $ref !== 'string' || Object.keys(others).length > 0 || 'properties' in beside) return
    const { type: wanted, ...rest } = beside
    const takesNull = Array.isArray(wanted) && wanted.includes('null') && !admitsNull(schemas, $ref)
    delete node.allOf
    Object.assign(node, takesNull ? { anyOf: [{ $ref }, { type: 'null' }] } : { $ref }, rest)
  }

  visit(document)
  return document
}

function admitsNull(schemas: Readonly<Record<string, Node>>, $ref: string): boolean {
  const type = schemas[$ref.slice('#/components/schemas/'.length)]?.type
  return Array.isArray(type) && type.includes('null')
}
