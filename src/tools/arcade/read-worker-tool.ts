import type { AuthorizationRequirement, JsonSchema, ToolRequirements } from '../../domain/tool.ts'
import { isToolName } from '../../domain/tool-id.ts'
import type { JsonType } from '../json-schema/value-shape.ts'
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
import { INFERRABLE, VALUE_TYPES } from './value-schema.ts'

export type WorkerToolReading =
  | { readonly outcome: 'read'; readonly tool: WorkerTool }
  | { readonly outcome: 'refused'; readonly name: string; readonly reason: string }

/** A tool as its worker describes it. */
export interface WorkerTool {
  readonly name: string
  readonly toolkit: string
  /** As the worker spells it: a call names the tool so. */
  readonly toolkitVersion?: string
  readonly toolkitDescription?: string
  readonly description: string
  readonly inputSchema: JsonSchema
  /** Of the value; absent when nothing is said about it. */
  readonly outputSchema?: JsonSchema
  readonly requirements: ToolRequirements
  /** The definition as it came. */
  readonly document: JsonRecord
}

const MAX_DEPTH = 64
const VERSION = /^[A-Za-z0-9_.+-]{1,64}$/

/** Reads a worker's ToolDefinition (reference/arcade.md section 3). `null`, `""` and absent mean the same. */
export function readWorkerTool(definition: unknown): WorkerToolReading {
  try {
    return { outcome: 'read', tool: readTool(definition) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { outcome: 'refused', name: nameOf(definition), reason: error.message }
  }
}

function readTool(definition: unknown): WorkerTool {
  const document = record(definition, 'The definition')
  if (isDeeperThan(document, MAX_DEPTH))
    throw new Refusal(`The definition nests deeper than ${MAX_DEPTH} levels.`)
  const toolkit = record(document.toolkit, 'toolkit')
  const version = text(toolkit.version, 'toolkit.version')
  if (version !== undefined && !VERSION.test(version))
    throw new Refusal(`toolkit.version is ${quote(version)}; it is made of A-Z, a-z, 0-9 and _.+-`)
  const toolkitDescription = text(toolkit.description, 'toolkit.description')
  const outputSchema = readOutput(document.output)
  return {
    name: name(document.name, 'name'),
    toolkit: name(toolkit.name, 'toolkit.name'),
    ...(version !== undefined && { toolkitVersion: version }),
    ...(toolkitDescription !== undefined && { toolkitDescription }),
    description: text(document.description, 'description') ?? '',
    inputSchema: readInput(document.input),
    ...(outputSchema && { outputSchema }),
    requirements: readRequirements(document.requirements),
    document,
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
      ...toJsonSchema(parameter.value_schema, `${path}.value_schema`),
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
    ...toJsonSchema(schema, 'output.value_schema'),
    ...(said !== undefined && { description: said }),
  }
}

const JSON_TYPES: readonly JsonType[] = ['array', 'boolean', 'null', 'number', 'object', 'string']

/** What `value_schema` says, and no more: `json` without properties, and a type that is not known, are anything. */
function toJsonSchema(value: unknown, path: string): JsonSchema {
  if (isAbsent(value)) return {}
  const schema = record(value, path)
  const nullable = schema.nullable === true
  const description = text(schema.description, `${path}.description`)
  return { ...typeOf(schema, nullable, path), ...(description !== undefined && { description }) }
}

function typeOf(schema: JsonRecord, nullable: boolean, path: string): JsonSchema {
  const type = (name: JsonType) => ({ type: nullable ? [name, 'null'] : name })
  const val_type = VALUE_TYPES.find((known) => known === schema.val_type)
  switch (val_type) {
    case 'string':
    case 'integer':
    case 'number': {
      const said = list(schema.enum, `${path}.enum`)
      const values = val_type === 'string' ? said : said.map(Number)
      const isUsable =
        values.length > 0 && values.every((one) => typeof one === 'string' || Number.isFinite(one))
      return { ...type(val_type), ...(isUsable && { enum: nullable ? [...values, null] : values }) }
    }
    case 'boolean':
      return type('boolean')
    case 'array': {
      const items = itemsOf(schema, path)
      return { ...type('array'), ...(items && { items }) }
    }
    case 'json':
    case undefined: {
      if (isAbsent(schema.properties)) return nullable ? { type: JSON_TYPES } : {}
      const members = Object.entries(record(schema.properties, `${path}.properties`))
      const required = isAbsent(schema.required_keys)
        ? undefined
        : list(schema.required_keys, `${path}.required_keys`).filter((key) => typeof key === 'string')
      return {
        ...type('object'),
        properties: Object.fromEntries(
          members.map(([key, one]) => [key, toJsonSchema(one, `${path}.properties.${key}`)]),
        ),
        ...(required && { required: [...new Set(required)] }),
      }
    }
  }
}

/** `items` where a worker writes it, else what the `inner_…` members and `enum` say of the items. */
function itemsOf(schema: JsonRecord, path: string): JsonSchema | undefined {
  const { items, inner_val_type, inner_properties, inner_required_keys } = schema
  if (!isAbsent(items)) return toJsonSchema(items, `${path}.items`)
  if (isAbsent(inner_val_type)) return undefined
  const inner = { properties: inner_properties, required_keys: inner_required_keys, enum: schema.enum }
  return toJsonSchema({ val_type: inner_val_type, ...inner }, path)
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
