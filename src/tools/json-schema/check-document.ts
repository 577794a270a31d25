import type { ValidateFunction } from 'ajv'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Dialect } from './dialect.ts'
import { useOwnKeywords } from './own-keywords.ts'
import { isNode, type SchemaDocument, type SchemaNode } from './read-document.ts'
import { placeOf, SchemaFault } from './schema-fault.ts'
import { withinSteps } from './steps.ts'

const META_OPTIONS = { strict: false, validateFormats: false, logger: false } as const
const metaschemas = new Map<Dialect, ValidateFunction>()

/** That every keyword has a value its dialect allows, and that no schema is its own part. Throws `SchemaFault`. */
export function checkDocument(document: SchemaDocument): void {
  const { dialect, root } = document
  const isValid = metaschema(dialect)
  const isSo = withinSteps(() => isValid(root))
  if (typeof isSo === 'string') throw new SchemaFault('invalid_schema', 'The schema is too large to be used.')
  if (!isSo) {
    const { instancePath = '', message = '' } = isValid.errors?.[0] ?? {}
    const isTuple = /\/items$/.test(instancePath) && dialect === '2020-12'
    throw new SchemaFault(
      'invalid_schema',
      `${placeOf(instancePath)} ${message}.${isTuple ? ' A tuple is `prefixItems` in 2020-12; `items` with a list needs draft-07 in `$schema`.' : ''}`,
    )
  }
  refuseLoops(document)
}

/** Compiled at first need: it takes some 20 ms, and most runs of the command line need none. */
function metaschema(dialect: Dialect): ValidateFunction {
  const known = metaschemas.get(dialect)
  if (known !== undefined) return known
  const uri =
    dialect === '2020-12'
      ? 'https://json-schema.org/draft/2020-12/schema'
      : 'http://json-schema.org/draft-07/schema'
  const ajv = dialect === '2020-12' ? new Ajv2020(META_OPTIONS) : new Ajv(META_OPTIONS)
  useOwnKeywords(ajv)
  const compiled = ajv.getSchema(uri)
  if (compiled === undefined) throw new Error(`ajv has no metaschema of ${dialect}`)
  metaschemas.set(dialect, compiled)
  return compiled
}

/** A schema that applies itself to the very value it is applied to would never end (2020-12 core section 9.4.1). */
function refuseLoops({ nodes, targets }: SchemaDocument): void {
  const open = new Set<SchemaNode>()
  const done = new Set<SchemaNode>()
  const visit = (schema: unknown): void => {
    if (!isNode(schema) || done.has(schema)) return
    if (open.has(schema))
      throw new SchemaFault(
        'invalid_schema',
        'The schema refers to itself without an end: no value could be checked.',
      )
    open.add(schema)
    for (const applied of [...appliedInPlace(schema), ...(targets.get(schema) ?? [])]) visit(applied)
    open.delete(schema)
    done.add(schema)
  }
  nodes.forEach(visit)
}

/** The schemas in a schema that look at the same value as it does. */
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
