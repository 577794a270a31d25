import type {
  AuthorizationRequirement,
  JsonSchema,
  ToolAnnotations,
  ToolRequirements,
} from '../../domain/tool.ts'
import { isToolName } from '../../domain/tool-id.ts'
import type { CatalogueItem, CatalogueTool } from '../backend.ts'
import {
  isAbsent,
  isDeeperThan,
  isRecord,
  type JsonRecord,
  list,
  quote,
  Refusal,
  record,
  scopeList,
  text,
} from '../read-json.ts'
import { readValueSchema } from './read-value-schema.ts'
import { INFERRABLE } from './value-schema.ts'

const MAX_DEPTH = 64
const VERSION = /^[A-Za-z0-9_.+-]{1,64}$/

/** Reads a worker's ToolDefinition (reference/arcade.md section 3). `null`, `""` and absent mean the same. */
export function readWorkerTool(definition: unknown): CatalogueItem {
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
    throw new Refusal(`toolkit.version is ${quote(version)}; it is made of A-Z, a-z, 0-9 and _.+-`)
  text(toolkit.description, 'toolkit.description') // it is shown as the document has it
  const outputSchema = readOutput(document.output)
  const namespace = name(toolkit.name, 'toolkit.name')
  const annotations = readAnnotations(document)
  return {
    name: name(document.name, 'name'),
    description: text(document.description, 'description') ?? '',
    inputSchema: readInput(document.input),
    ...(outputSchema && { outputSchema }),
    requirements: readRequirements(document.requirements),
    document,
    namespace,
    ...(version !== undefined && { version }),
    ...(annotations && { annotations }),
  }
}

function readInput(input: unknown): JsonSchema {
  const properties = new Map<string, JsonSchema>()
  const required: string[] = []
  const parameters = isAbsent(input) ? [] : list(record(input, 'input').parameters, 'input.parameters')
  for (const [index, one] of parameters.entries()) {
    const path = `input.parameters[${index}]`
    const parameter = record(one, path)
    const key = text(parameter.name, `${path}.name`)
    if (key === undefined) throw new Refusal(`${path}.name is missing.`)
    if (properties.has(key)) throw new Refusal(`${path} is called ${quote(key)}, as another one is.`)
    const description = text(parameter.description, `${path}.description`)
    properties.set(key, {
      ...readValueSchema(parameter.value_schema, `${path}.value_schema`),
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
  const said = text(description, 'output.description')
  // a tool that may answer null says so by its modes; the schema is of what else it answers
  const mayBeNull = Array.isArray(available_modes) && available_modes.includes('null')
  const schema = { ...record(value_schema, 'output.value_schema'), ...(mayBeNull && { nullable: true }) }
  return {
    ...readValueSchema(schema, 'output.value_schema'),
    ...(said !== undefined && { description: said }),
  }
}

/** MCP's hints out of what a worker says of its tool's behaviour. */
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

function readRequirements(value: unknown): ToolRequirements {
  const requirements = isAbsent(value) ? {} : record(value, 'requirements')
  return {
    authorization: readAuthorization(requirements.authorization),
    secrets: readKeys(requirements.secrets, 'requirements.secrets'),
    metadata: readKeys(requirements.metadata, 'requirements.metadata'),
  }
}

function readAuthorization(value: unknown): AuthorizationRequirement[] {
  if (isAbsent(value)) return []
  const path = 'requirements.authorization'
  const authorization = record(value, path)
  const type = text(authorization.provider_type, `${path}.provider_type`) ?? 'oauth2'
  if (type !== 'oauth2') throw new Refusal(`${path}.provider_type is ${quote(type)}; only "oauth2" is known.`)
  const id = text(authorization.id, `${path}.id`)
  const providerId = text(authorization.provider_id, `${path}.provider_id`)
  if (id === undefined && providerId === undefined)
    throw new Refusal(`${path} names no provider; give its id or its provider_id.`)
  const oauth2 = isAbsent(authorization.oauth2) ? {} : record(authorization.oauth2, `${path}.oauth2`)
  const scopes = scopeList(oauth2.scopes, `${path}.oauth2.scopes`)
  return [{ ...(id !== undefined && { id }), ...(providerId !== undefined && { providerId }), scopes }]
}

/** `[{"key": "API_KEY"}]`. */
function readKeys(value: unknown, path: string): string[] {
  const keys = list(value, path).map((one, index) => {
    const key = text(record(one, `${path}[${index}]`).key, `${path}[${index}].key`)
    if (key === undefined) throw new Refusal(`${path}[${index}].key is missing.`)
    return key
  })
  return [...new Set(keys)]
}

function name(value: unknown, path: string): string {
  const said = text(value, path)
  if (said !== undefined && isToolName(said)) return said
  throw new Refusal(
    `${path} is ${said === undefined ? 'missing' : quote(said)}; it is 1 to 128 of A-Z, a-z, 0-9 and _.-`,
  )
}

/** What a refused tool is called in the answer: `Toolkit.Name` as far as it has one. */
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
