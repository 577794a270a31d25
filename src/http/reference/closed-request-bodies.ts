// Gatepass refuses members of a request that a schema does not have. The generated OpenAPI document does not say so,
// because zod's objects are open by default, so `additionalProperties: false` is added to request bodies here. Answers
// stay open: later releases may add members.

type Node = { [member: string]: unknown }

const REFERENCE = /^#\/components\/schemas\/(.+)$/

/** Adds `additionalProperties: false` to the objects of request bodies that list their members, in place. */
export function closeRequestBodies<Document extends object>(document: Document): Document {
  const { paths, components } = document as { paths?: unknown; components?: unknown }
  const schemas = nodeOf(nodeOf(components)?.schemas) ?? {}
  const operations = Object.values(nodeOf(paths) ?? {}).flatMap((path) => Object.values(nodeOf(path) ?? {}))
  const bodies = operations.map((operation) => nodeOf(operation)?.requestBody)
  const inAnswers = new Set<unknown>()
  for (const operation of operations) visit(nodeOf(operation)?.responses, schemas, inAnswers)
  const inRequests = new Set<unknown>()
  for (const body of bodies) visit(body, schemas, inRequests)
  for (const schema of inRequests) {
    const node = schema as Node
    if (
      node.type === 'object' &&
      nodeOf(node.properties) &&
      !('additionalProperties' in node) &&
      !inAnswers.has(node)
    )
      node.additionalProperties = false
  }
  return document
}

/** Visits every object below the value, also through references. The parts of an `allOf` form one object, so they stay open. */
function visit(value: unknown, schemas: Node, seen: Set<unknown>): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return
  seen.add(value)
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'allOf' || name === 'example' || name === 'default') continue
    const [, component] = name === '$ref' ? (REFERENCE.exec(String(inner)) ?? []) : []
    visit(component === undefined ? inner : schemas[component], schemas, seen)
  }
}

function nodeOf(value: unknown): Node | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Node) : undefined
}
