import { type AuthorizationRequirement, functionName, type JsonSchema } from '../../domain/tool.ts'
import { isToolName } from '../../domain/tool-id.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import type { CatalogueTool, ListedTool } from '../../tools/backend.ts'
import {
  isAbsent,
  isDeeperThan,
  list,
  quote,
  Refusal,
  record,
  scopeList,
  text,
} from '../../tools/read-json.ts'

const MAX_DEPTH = 64
const VERSION = /^\d+\.\d+\.\d+(?:[-+][A-Za-z0-9.+-]+)?$/

/**
 * Reads an OXP ToolDefinition. The schemas are its members, or members of `parameters` as in the prose of the
 * specification. `output_schema: null` means that the tool returns nothing.
 */
export function readOxpTool(definition: unknown): ListedTool {
  try {
    return { outcome: 'read', tool: readTool(definition) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const id = isRecord(definition) ? definition.id : undefined
    const name = typeof id === 'string' && id !== '' ? id.slice(0, 160) : '(no id)'
    return { outcome: 'refused', name, reason: error.message }
  }
}

/**
 * Splits `Toolkit.Tool[@version]` and completes the version: `@1` is 1.0.0. A tool's name has no dot; a toolkit's may
 * have.
 */
export function splitToolId(id: string): { toolkit: string; name: string; version?: string } {
  const [path = '', version] = id.split('@', 2)
  const dot = path.lastIndexOf('.')
  return {
    toolkit: path.slice(0, Math.max(dot, 0)),
    name: path.slice(dot + 1),
    ...(version !== undefined && { version: completedVersion(version) }),
  }
}

/** Completes `1` and `1.2` with zeros; other versions are returned unchanged. */
export function completedVersion(version: string): string {
  const [major, minor = '0'] = version.split('.', 2)
  return /^\d+(\.\d+)?$/.test(version) ? `${major}.${minor}.0` : version
}

/** Whether the tool requires a `user_id`. */
export function requiresUser(document: JsonRecord): boolean {
  return isRecord(document.requirements) && document.requirements.user_id === true
}

function readTool(definition: unknown): CatalogueTool {
  const document = record(definition, 'The definition')
  if (isDeeperThan(document, MAX_DEPTH))
    throw new Refusal(`The definition nests deeper than ${MAX_DEPTH} levels.`)
  const id = text(document.id, 'id') ?? ''
  const { toolkit: namespace, name, version: versionOfId } = splitToolId(id)
  if (!isToolName(namespace) || !isToolName(name))
    throw new Refusal(
      `id is ${id === '' ? 'missing' : quote(id)}; it is Toolkit.Tool, with @version or without.`,
    )
  const declared = text(document.version, 'version')
  const version = declared === undefined ? versionOfId : completedVersion(declared.replace(/^v/i, ''))
  if (version !== undefined && !VERSION.test(version))
    throw new Refusal(`version is ${quote(version)}; it is three numbers with dots between them.`)

  const title = text(document.name, 'name')
  const isPlain = title === undefined || [name, functionName({ namespace, name })].includes(title)
  const outputSchema = readOutputSchema(document)
  return {
    name,
    namespace,
    version,
    ...(!isPlain && { title }),
    description: text(document.description, 'description') ?? '',
    inputSchema: readInputSchema(document),
    outputSchema,
    requirements: readRequirements(document.requirements),
    document,
  }
}

function readInputSchema(document: JsonRecord): JsonSchema {
  const schema = ofEither(document, 'input_schema')
  if (isAbsent(schema)) return { type: 'object', properties: {} }
  const { type, ...rest } = record(schema, 'input_schema')
  if (isAbsent(type) || type === 'object') return { type: 'object', ...rest }
  throw new Refusal(`input_schema.type is ${quote(type)}; the input of a tool is an "object".`)
}

function readOutputSchema(document: JsonRecord): JsonSchema | undefined {
  const schema = ofEither(document, 'output_schema')
  if (schema === undefined) return undefined
  return schema === null ? { type: 'null' } : record(schema, 'output_schema')
}

/** The member of the document, else of `parameters`. `undefined` only if neither has it: `null` has a meaning. */
function ofEither(document: JsonRecord, name: string): unknown {
  const { parameters } = document
  return document[name] === undefined && isRecord(parameters) ? parameters[name] : document[name]
}

function readRequirements(value: unknown): CatalogueTool['requirements'] {
  const requirements = isAbsent(value) ? {} : record(value, 'requirements')
  const secrets = list(requirements.secrets, 'requirements.secrets').map((item, i) =>
    idOf(item, `requirements.secrets[${i}]`),
  )
  return {
    authorization: list(requirements.authorization, 'requirements.authorization').map(readAuthorization),
    secrets: [...new Set(secrets)],
    metadata: [],
  }
}

function readAuthorization(value: unknown, index: number): AuthorizationRequirement {
  const path = `requirements.authorization[${index}]`
  const id = idOf(value, path)
  const { oauth2 } = record(value, path)
  const scopes = isAbsent(oauth2) ? [] : record(oauth2, `${path}.oauth2`).scopes
  return { id, scopes: scopeList(scopes, `${path}.oauth2.scopes`) }
}

function idOf(value: unknown, path: string): string {
  const id = text(record(value, path).id, `${path}.id`)
  if (id === undefined) throw new Refusal(`${path}.id is missing.`)
  return id
}
