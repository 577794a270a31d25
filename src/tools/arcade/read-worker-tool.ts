import type {
  AuthorizationRequirement,
  JsonSchema,
  Tool,
  ToolAnnotations,
  ToolRequirements,
} from '../../domain/tool.ts'
import { isToolName } from '../../domain/tool-id.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { INFERRABLE } from '../../sdk/worker/value-schema.ts'
import type { CatalogueTool, ListedTool } from '../backend.ts'
import { isAbsent, isDeeperThan, list, quote, Refusal, record, scopeList, text } from '../read-json.ts'
import { readValueSchema, type ValueReading } from './read-value-schema.ts'

const MAX_DEPTH = 64
const VERSION = /^[A-Za-z0-9_.+-]{1,64}$/

/** Reads all tool definitions of a worker. */
export function readWorkerTools(definitions: readonly unknown[]): ListedTool[] {
  const items = definitions.map(readWorkerTool)
  /** By each id, the names at the worker of the tools that have the id, or would get it by `withoutToolkit`. */
  const claims = new Map<string, Set<string>>()
  for (const item of items) {
    if (item.outcome !== 'read') continue
    for (const tool of [item.tool, withoutToolkit(item.tool)]) {
      const id = plainId(tool)
      claims.set(id, (claims.get(id) ?? new Set()).add(item.tool.name.toLowerCase()))
    }
  }
  return items.map((item) => {
    if (item.outcome !== 'read') return item
    const tool = withoutToolkit(item.tool)
    return claims.get(plainId(tool))?.size === 1 ? { ...item, tool } : item
  })
}

function plainId({ namespace, name }: Pick<CatalogueTool, 'namespace' | 'name'>): string {
  return `${namespace}.${name}`.toLowerCase()
}

/**
 * Removes the toolkit from the tool's name, if its author repeated it there: `HeldOut.whoami` in the toolkit `HeldOut`
 * becomes `whoami`.
 */
function withoutToolkit(tool: CatalogueTool): CatalogueTool {
  const { namespace, name } = tool
  const rest = name.slice(namespace.length)
  const isDoubled = name.toLowerCase().startsWith(namespace.toLowerCase()) && /^[._-]/.test(rest)
  return isDoubled && isToolName(rest.slice(1)) ? { ...tool, name: rest.slice(1) } : tool
}

/** The name by which the worker knows the tool, which may be longer than the listed one. */
export function nameAtWorker(document: JsonRecord, name: string): string {
  return typeof document.name === 'string' ? document.name : name
}

/** Reads a worker's ToolDefinition. A member that is `null` or `""` counts as absent. */
export function readWorkerTool(definition: unknown): ListedTool {
  try {
    return { outcome: 'read', tool: readTool(definition) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { outcome: 'refused', name: nameOf(definition), reason: error.message }
  }
}

function readTool(definition: unknown): CatalogueTool {
  const document = record(definition, 'The definition')
  if (isDeeperThan(document, MAX_DEPTH))
    throw new Refusal(`The definition nests deeper than ${MAX_DEPTH} levels.`)
  const toolkit = record(document.toolkit, 'toolkit')
  const version = text(toolkit.version, 'toolkit.version')
  if (version !== undefined && !VERSION.test(version))
    throw new Refusal(`toolkit.version is ${quote(version)}; it must be 1 to 64 of A-Z, a-z, 0-9 and _.+-`)
  text(toolkit.description, 'toolkit.description') // only checked; its value is kept in `document`
  const outputSchema = readOutput(document.output)
  const namespace = name(toolkit.name, 'toolkit.name')
  const annotations = readAnnotations(document)
  return {
    name: name(document.name, 'name'),
    description: text(document.description, 'description') ?? '',
    inputSchema: readInput(document.input),
    outputSchema,
    requirements: readRequirements(document.requirements, document.metadata),
    document,
    namespace,
    version,
    annotations,
  }
}

const looseSchemas = new WeakMap<object, JsonSchema>()

/**
 * The input schema that is checked before a call. Parameters whose type the tool's definition cannot express accept
 * any value: the worker checks them.
 */
export function looseInputSchema({ source, inputSchema: declared }: Tool): JsonSchema {
  // a metadata tool's schema was written by its author
  if (source.kind !== 'worker') return declared
  const { document } = source
  const inputSchema = looseSchemas.get(document) ?? readInput(document.input, { isLoose: true })
  looseSchemas.set(document, inputSchema)
  return inputSchema
}

function readInput(input: unknown, reading: ValueReading = {}): JsonSchema {
  const properties = new Map<string, JsonSchema>()
  const required: string[] = []
  const parameters = isAbsent(input) ? [] : list(record(input, 'input').parameters, 'input.parameters')
  for (const [index, described] of parameters.entries()) {
    const path = `input.parameters[${index}]`
    const parameter = record(described, path)
    const key = text(parameter.name, `${path}.name`)
    if (key === undefined) throw new Refusal(`${path}.name is missing.`)
    if (properties.has(key)) throw new Refusal(`${path} has the name ${quote(key)} of another parameter.`)
    const description = text(parameter.description, `${path}.description`)
    properties.set(key, {
      ...readValueSchema(parameter.value_schema, `${path}.value_schema`, reading),
      ...(description !== undefined && { description }),
      ...(parameter.inferrable === false && { [INFERRABLE]: false }),
    })
    if (parameter.required === true) required.push(key)
  }
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  }
}

function readOutput(output: unknown): JsonSchema | undefined {
  if (isAbsent(output)) return undefined
  const { value_schema, description, available_modes } = record(output, 'output')
  if (isAbsent(value_schema)) return undefined
  const outputDescription = text(description, 'output.description')
  // a nullable result is declared by `available_modes`; the schema describes the other values
  const mayBeNull = Array.isArray(available_modes) && available_modes.includes('null')
  const schema = { ...record(value_schema, 'output.value_schema'), ...(mayBeNull && { nullable: true }) }
  return {
    ...readValueSchema(schema, 'output.value_schema'),
    ...(outputDescription !== undefined && { description: outputDescription }),
  }
}

/** Converts the worker's `behavior` metadata to MCP's hints. */
function readAnnotations({ metadata }: JsonRecord): ToolAnnotations | undefined {
  const behavior = isRecord(metadata) ? metadata.behavior : undefined
  if (!isRecord(behavior)) return undefined
  const hints = [
    ['readOnlyHint', behavior.read_only],
    ['destructiveHint', behavior.destructive],
    ['idempotentHint', behavior.idempotent],
    ['openWorldHint', behavior.open_world],
  ].filter((hint): hint is [string, boolean] => typeof hint[1] === 'boolean')
  return hints.length > 0 ? Object.fromEntries(hints) : undefined
}

/**
 * A metadata key that already has a value in the definition is not required of callers: arcade-mcp-ts lists every key of
 * its own metadata as required.
 */
function readRequirements(value: unknown, metadata: unknown): ToolRequirements {
  const requirements = isAbsent(value) ? {} : record(value, 'requirements')
  const stated = new Set(statedKeys(metadata).concat(statedKeys(requirements.metadata)))
  return {
    ...readAuthorizations(requirements),
    secrets: readKeys(requirements.secrets, 'requirements.secrets'),
    metadata: readKeys(requirements.metadata, 'requirements.metadata').filter((key) => !stated.has(key)),
  }
}

/** The keys of an object that have a value. `true` and an empty value only mean that a value is required. */
function statedKeys(value: unknown): string[] {
  if (!isRecord(value)) return []
  return Object.keys(value).filter((key) => !isAbsent(value[key]) && value[key] !== true)
}

/**
 * Arcade has one authorization for each tool. A worker of Gatepass's SDK lists several in `authorizations` and
 * `authorization_alternatives`, and `authorization` repeats the first of them.
 */
function readAuthorizations({
  authorization,
  authorizations,
  authorization_alternatives: alternatives,
}: JsonRecord): Pick<ToolRequirements, 'authorization' | 'alternatives'> {
  if (isAbsent(authorizations))
    return { authorization: readAuthorization(authorization, 'requirements.authorization') }
  const readList = (value: unknown, path: string) =>
    list(value, path).flatMap((item, index) => readAuthorization(item, `${path}[${index}]`))
  const path = 'requirements.authorization_alternatives'
  return {
    authorization: readList(authorizations, 'requirements.authorizations'),
    ...(!isAbsent(alternatives) && {
      alternatives: list(alternatives, path).map((group, index) => readList(group, `${path}[${index}]`)),
    }),
  }
}

function readAuthorization(value: unknown, path: string): AuthorizationRequirement[] {
  if (isAbsent(value)) return []
  const authorization = record(value, path)
  const type = text(authorization.provider_type, `${path}.provider_type`) ?? 'oauth2'
  if (type === 'credentials')
    throw new Refusal(
      `${path}.provider_type is "credentials": a worker's catalogue cannot ask users for keys or passwords. An administrator adds the provider, and the tool names its id.`,
    )
  if (type !== 'oauth2') throw new Refusal(`${path}.provider_type is ${quote(type)}; only "oauth2" is known.`)
  const id = text(authorization.id, `${path}.id`)
  const providerId = text(authorization.provider_id, `${path}.provider_id`)
  if (id === undefined && providerId === undefined)
    throw new Refusal(`${path} names no provider; give its id or its provider_id.`)
  const oauth2 = isAbsent(authorization.oauth2) ? {} : record(authorization.oauth2, `${path}.oauth2`)
  const scopes = scopeList(oauth2.scopes, `${path}.oauth2.scopes`)
  return [{ ...(id !== undefined && { id }), ...(providerId !== undefined && { providerId }), scopes }]
}

/** Reads `[{"key": "API_KEY"}]`, `["API_KEY"]`, or the keys of an object. */
function readKeys(value: unknown, path: string): string[] {
  if (isRecord(value)) return Object.keys(value)
  const keys = list(value, path).map((item, index) => {
    if (typeof item === 'string' && item !== '') return item
    const key = text(record(item, `${path}[${index}]`).key, `${path}[${index}].key`)
    if (key === undefined) throw new Refusal(`${path}[${index}].key is missing.`)
    return key
  })
  return [...new Set(keys)]
}

function name(value: unknown, path: string): string {
  const declared = text(value, path)
  if (declared !== undefined && isToolName(declared)) return declared
  throw new Refusal(
    `${path} is ${declared === undefined ? 'missing' : quote(declared)}; it must be 1 to 128 of A-Z, a-z, 0-9 and _.-`,
  )
}

/** Names a refused tool in the report: `Toolkit.Name`, as far as the definition has them. */
function nameOf(definition: unknown): string {
  if (!isRecord(definition)) return '(no name)'
  const { toolkit } = definition
  const parts = [isRecord(toolkit) ? toolkit.name : undefined, definition.name]
  return (
    parts
      .filter((part) => typeof part === 'string' && part !== '')
      .join('.')
      .slice(0, 160) || '(no name)'
  )
}
