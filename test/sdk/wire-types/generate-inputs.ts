import type { InputMember } from '../../../src/cli/input-flags.ts'
import type { OutputMember } from '../../../src/cli/output-table.ts'
import {
  nameOfReference,
  type OpenApiDocument,
  type Operation,
  propertiesOf,
  type Schema,
  type Schemas,
} from './openapi.ts'

/** Commands read lists to their end, so these are no options. */
const OF_PAGES = new Set(['offset', 'limit', 'cursor'])

/** The text of `src/cli/generated/inputs.json`: for each operation the members that an option can hold. */
export function generateInputs({ paths, components: { schemas } }: OpenApiDocument): string {
  const rows = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap((operation) => {
      const members = [...membersOf(operation, schemas)]
      return members.length === 0 ? [] : [[operation.operationId, Object.fromEntries(members)] as const]
    })
  return JSON.stringify(Object.fromEntries(rows.toSorted(([a], [b]) => (a < b ? -1 : 1))))
}

/** The text of `src/cli/generated/outputs.json`: the members of each answer, or of the items of a list, that fit a cell. */
export function generateOutputs({ paths, components: { schemas } }: OpenApiDocument): string {
  const rows = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ operationId, responses }) => {
      const answers = Object.entries(responses).filter(([status]) => /^2/.test(status))
      const schema = answers.flatMap(([, { content = {} }]) => content['application/json']?.schema ?? [])[0]
      if (schema === undefined) return []
      const own = propertiesOf(schema, schemas)
      const all = own.items?.items === undefined ? own : propertiesOf(own.items.items, schemas)
      const members = Object.entries(all).flatMap(([name, one]) => {
        const type = cellTypeOf(one, schemas)
        return type === undefined ? [] : [[name, type] as const]
      })
      return members.length === 0 ? [] : [[operationId, Object.fromEntries(members)] as const]
    })
  return JSON.stringify(Object.fromEntries(rows.toSorted(([a], [b]) => (a < b ? -1 : 1))))
}

/** `undefined` for what is no text, number or list of texts. */
function cellTypeOf(schema: Schema, schemas: Schemas): OutputMember | undefined {
  if (schema.$ref !== undefined) return cellTypeOf(schemas[nameOfReference(schema.$ref)] ?? {}, schemas)
  const type = schema.enum === undefined ? schema.type : 'string'
  if (type === 'array')
    return schema.items && cellTypeOf(schema.items, schemas) === 'string' ? 'list' : undefined
  return type === 'string' || type === 'boolean'
    ? type
    : /^(integer|number)$/.test(String(type))
      ? 'number'
      : undefined
}

function* membersOf(
  { parameters = [], requestBody }: Operation,
  schemas: OpenApiDocument['components']['schemas'],
): Generator<readonly [string, InputMember]> {
  const resolve = ($: Schema): Schema =>
    $.$ref === undefined ? $ : resolve(schemas[nameOfReference($.$ref)] ?? {})
  if (requestBody === undefined) {
    for (const { name, in: where, schema, required = false } of parameters) {
      const member = where !== 'query' || OF_PAGES.has(name) ? undefined : memberOf(resolve(schema), required)
      if (member !== undefined) yield [name, member]
    }
    return
  }
  const { properties = {}, required = [] } = resolve(requestBody.content['application/json']?.schema ?? {})
  for (const [name, schema] of Object.entries(properties)) {
    const member = OF_PAGES.has(name) ? undefined : memberOf(resolve(schema), required.includes(name))
    if (member !== undefined) yield [name, member]
  }
}

/** `undefined` for an object, and for what may have several types. */
function memberOf(schema: Schema, isRequired: boolean): InputMember | undefined {
  const [type, ...others] = [schema.type ?? []].flat().filter((one) => one !== 'null')
  if (
    others.length > 0 ||
    (type !== 'string' && type !== 'integer' && type !== 'boolean' && type !== 'array')
  )
    return undefined
  const items = type === 'array' ? schema.items : schema
  if (type === 'array' && items?.type !== 'string') return undefined
  const choices = items?.enum?.filter((one) => typeof one === 'string')
  const { description, format, minLength, maxLength, minimum, maximum } = schema
  return {
    type,
    ...(isRequired && { isRequired }),
    ...(choices && { enum: choices }),
    ...JSON.parse(JSON.stringify({ description, format, minLength, maxLength, minimum, maximum })),
  }
}
