import type {
  AuthorizationRequirement,
  JsonSchema,
  ToolAnnotations,
  ToolRequirements,
} from '../../domain/tool.ts'
import { isToolName } from '../../domain/tool-id.ts'
import { plainVersion } from '../../domain/version.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import type { CatalogueTool, ListedTool } from '../backend.ts'
import { isAbsent, isDeeperThan, kindOf, quote, Refusal, record, text } from '../read-json.ts'
import { declaredRequirements } from './declared-requirements.ts'
import { parameterHeaderFault } from './parameter-headers.ts'
import { type McpRequirements, type McpSettings, neededScopes } from './settings.ts'

/** The members that tools inherit from their server. */
export interface McpServerInfo {
  readonly namespace: string
  readonly version?: string
}

const MAX_DEPTH = 64
/** The longest definition of one tool, in characters of JSON. */
const MAX_TOOL_LENGTH = 256 * 1024

/** Reads one item of `tools/list` and keeps the original as `document`. */
export function readMcpTool(value: unknown, server: McpServerInfo, settings: McpSettings): ListedTool {
  try {
    return read(value, server, settings)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const given = isRecord(value) && typeof value.name === 'string' ? value.name.slice(0, 160) : ''
    return {
      outcome: 'refused',
      name: given.replaceAll(/\p{Cc}+/gu, ' ') || '(no name)',
      reason: error.message,
    }
  }
}

function read(value: unknown, server: McpServerInfo, settings: McpSettings): ListedTool {
  const document = record(value, 'The tool')
  if (isDeeperThan(document, MAX_DEPTH)) throw new Refusal(`It nests deeper than ${MAX_DEPTH} levels.`)
  if (JSON.stringify(document).length > MAX_TOOL_LENGTH)
    throw new Refusal(`Its definition is larger than ${MAX_TOOL_LENGTH / 1024} KiB.`)
  const { name, title, description, inputSchema, outputSchema, annotations, icons, _meta, execution } =
    document
  if (typeof name !== 'string' || !isToolName(name))
    throw new Refusal(`name is ${quote(name)}; it must be 1 to 128 of A-Z, a-z, 0-9 and _.-`)
  if (isRecord(execution) && execution.taskSupport === 'required')
    throw new Refusal('It runs only as a task, which is not supported.')
  const headerFault = parameterHeaderFault(inputSchema)
  if (headerFault !== undefined) throw new Refusal(headerFault)
  const hints = isAbsent(annotations) ? undefined : readAnnotations(record(annotations, 'annotations'))
  const meta = isAbsent(_meta) ? undefined : record(_meta, '_meta')
  const displayTitle = text(title, 'title') ?? hints?.title
  const isOutputUsable = isAbsent(outputSchema) || isRecord(outputSchema)
  const tool: CatalogueTool = {
    ...server,
    name,
    title: displayTitle,
    description: text(description, 'description') ?? '',
    inputSchema: schemaOfInput(inputSchema),
    ...(isRecord(outputSchema) && { outputSchema }),
    annotations: hints,
    meta,
    ...(Array.isArray(icons) && { icons: icons.filter(isRecord) }),
    requirements: requirementsOf(name, meta ?? {}, settings),
    document,
  }
  if (isOutputUsable) return { outcome: 'read', tool }
  return { outcome: 'read', tool, remark: `outputSchema is ${kindOf(outputSchema)} and was ignored.` }
}

/**
 * The requirements of a tool: the authorization for the server itself, and the tool's own needs. These come from the
 * operator's settings for this tool, or else from the tool's declaration, or else from the settings for all tools.
 */
function requirementsOf(name: string, meta: JsonRecord, settings: McpSettings): ToolRequirements {
  const { authorization: server, requirements: configuredNeeds } = settings
  const byName =
    configuredNeeds?.tools && Object.hasOwn(configuredNeeds.tools, name)
      ? configuredNeeds.tools[name]
      : undefined
  const needs =
    byName === undefined
      ? (declared(meta, settings) ?? configured(configuredNeeds ?? {}))
      : configured(byName)
  const ofServer: AuthorizationRequirement[] =
    server === undefined
      ? []
      : [{ providerUid: server.providerUid, scopes: neededScopes(settings, server.scopes), use: 'server' }]
  return { ...needs, authorization: [...ofServer, ...needs.authorization] }
}

function configured({ authorization = [], secrets = [] }: McpRequirements): ToolRequirements {
  return { authorization, secrets, metadata: [] }
}

function declared(meta: JsonRecord, { providers }: McpSettings): ToolRequirements | undefined {
  const requirements = declaredRequirements(meta)
  if (requirements === undefined || providers === undefined) return requirements
  const allowed = providers.map((provider) => provider.toLowerCase())
  const all = [requirements.authorization, ...(requirements.alternatives ?? [])].flat()
  const other = all
    .map(({ id, providerId }) => id ?? providerId ?? '')
    .find((name) => !allowed.includes(name.toLowerCase()))
  if (other !== undefined)
    throw new Refusal(`It requires a token of ${quote(other)}, which mcp.providers does not allow.`)
  return requirements
}

function readAnnotations(annotations: JsonRecord): ToolAnnotations {
  const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'].filter(
    (hint) => typeof annotations[hint] === 'boolean',
  )
  return {
    ...(typeof annotations.title === 'string' && { title: annotations.title }),
    ...Object.fromEntries(hints.map((hint) => [hint, annotations[hint]])),
  }
}

/**
 * Derives a namespace from the server's name: `github-mcp-server` becomes `Github`, without the words `mcp` and
 * `server`.
 */
export function namespaceOf(serverName: string, workerId: string): string {
  const words = serverName.split(/[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])/).filter((word) => word !== '')
  const distinctive = words.filter((word) => !['mcp', 'server'].includes(word.toLowerCase()))
  const name = distinctive.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  return isToolName(name) ? name : workerId
}

/** The version without a `v`; `undefined` if it is not SemVer, since versions are selected by SemVer. */
export function versionOf(version: string): string | undefined {
  return version.length <= 64 ? plainVersion(version) : undefined
}

function schemaOfInput(value: unknown): JsonSchema {
  const schema = record(value, 'inputSchema')
  if (schema.type === 'object') return schema
  throw new Refusal(`inputSchema.type is ${quote(schema.type)}; it must be "object".`)
}
