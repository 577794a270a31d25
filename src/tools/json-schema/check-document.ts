import type { ValidateFunction } from 'ajv'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Dialect } from './dialect.ts'
import { isNode, type SchemaDocument, type SchemaNode } from './read-document.ts'
import { replaceKeywords } from './replaced-keywords.ts'
import { locationOf, SchemaFault } from './schema-fault.ts'
import { withStepLimit } from './step-limit.ts'

const META_OPTIONS = { strict: false, validateFormats: false, logger: false } as const
const metaschemas = new Map<Dialect, ValidateFunction>()

/** Checks the document against its dialect's metaschema, and refuses endless references. Throws `SchemaFault`. */
export function checkDocument(document: SchemaDocument): void {
  const { dialect, root } = document
  const isValid = metaschema(dialect)
  const result = withStepLimit(() => isValid(root))
  if (typeof result === 'string')
    throw new SchemaFault('invalid_schema', 'The schema is too large to be used.')
  if (!result) {
    const { instancePath = '', message = '' } = isValid.errors?.[0] ?? {}
    const isTuple = /\/items$/.test(instancePath) && dialect === '2020-12'
    throw new SchemaFault(
      'invalid_schema',
      `${locationOf(instancePath)} ${message}.${isTuple ? ' A tuple is `prefixItems` in 2020-12; `items` with a list needs draft-07 in `$schema`.' : ''}`,
    )
  }
  refuseLoops(document)
}

/** Compiled on first use: this takes about 20 ms, and most commands need no metaschema. */
function metaschema(dialect: Dialect): ValidateFunction {
  const known = metaschemas.get(dialect)
  if (known !== undefined) return known
  const uri =
    dialect === '2020-12'
      ? 'https://json-schema.org/draft/2020-12/schema'
      : 'http://json-schema.org/draft-07/schema'
  const ajv = dialect === '2020-12' ? new Ajv2020(META_OPTIONS) : new Ajv(META_OPTIONS)
  replaceKeywords(ajv)
  const compiled = ajv.getSchema(uri)
  if (compiled === undefined) throw new Error(`ajv has no metaschema of ${dialect}`)
  metaschemas.set(dialect, compiled)
  return compiled
}

/**
 * Refuses schemas that apply themselves to the same value, since checking a value would never end (2020-12 core section
 * 9.4.1).
 */
function refuseLoops({ nodes, targets }: SchemaDocument): void {
  const open = new Set<SchemaNode>()
  const done = new Set<SchemaNode>()
  const visit = (schema: unknown): void => {
    if (!isNode(schema) || done.has(schema)) return
    if (open.has(schema))
      throw new SchemaFault(
        'invalid_schema',
        'The schema refers to itself endlessly, so no value could be checked.',
      )
    open.add(schema)
    for (const applied of [...appliedInPlace(schema), ...(targets.get(schema) ?? [])]) visit(applied)
    open.delete(schema)
    done.add(schema)
  }
  nodes.forEach(visit)
}

/** The subschemas that apply to the same value as the schema itself. */
function appliedInPlace({
  allOf,
  anyOf,
  oneOf,
  dependentSchemas,
  dependencies,
  ...node
}: SchemaNode): unknown[] {
  const lists = [allOf, anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list : []))
  const maps = [dependentSchemas, dependencies].flatMap((map) => (isNode(map) ? Object.values(map) : []))
  return [...lists, ...maps, node.not, node.if, node.then, node.else]
}
