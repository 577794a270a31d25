import type { JsonSchema } from '../../domain/tool.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import { isAbsent, isDeeperThan, kindOf, quote, Refusal } from '../read-json.ts'
import { at, type Warn, type Warning } from './metadata-member.ts'
import {
  agentMember,
  derivedNameWarning,
  hasToolMember,
  readNamespace,
  readVersion,
  toolName,
  warnOfSpellings,
} from './metadata-name.ts'
import { declaredSecrets, withoutSecrets } from './metadata-secrets.ts'
import { type OAuthEntry, readOAuthEntries } from './read-oauth-entry.ts'
import { readInputSchema, readOutputSchema } from './read-schema.ts'
import { warnOfRunTimeNeeds } from './run-time-needs.ts'

/** Tool metadata in the Shinkai format, normalized. */
export interface ToolMetadata {
  /** The name as the file writes it. */
  readonly title: string
  /** `[A-Za-z0-9_.-]`, 1 to 128 characters. */
  readonly name: string
  /** From `tool_set`, in lower case; `local` if that is empty. */
  readonly namespace: string
  /** SemVer without a `v`. */
  readonly version?: string | undefined
  readonly description: string
  /** JSON Schema 2020-12; always of type `object`. */
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema | undefined
  /** Keys of the secrets that the tool receives, derived from its configuration keys (`apiKey` becomes `API_KEY`). */
  readonly secrets: readonly string[]
  readonly oauth: readonly OAuthEntry[]
  /** The imported document, without secrets, to be stored and returned. */
  readonly document: JsonRecord
}

export type MetadataReading =
  | { readonly outcome: 'read'; readonly tool: ToolMetadata; readonly warnings: readonly Warning[] }
  | {
      readonly outcome: 'refused'
      readonly name: string
      readonly reason: string
      readonly warnings: readonly Warning[]
    }

export interface MetadataOptions {
  /** Whether this endpoint may be reached by plain `http:`. */
  allowsHttp(url: URL): boolean
}

/** Far more than any real file has; bounds every recursion over the document. */
const MAX_DEPTH = 64

/**
 * Reads the metadata of one tool. Deviations found in real files are repaired, each with a warning; what could only
 * be guessed is refused with a reason. Never throws for a JSON value and does no I/O. Warnings and reasons contain no
 * secrets.
 */
export function readToolMetadata(value: unknown, options: MetadataOptions): MetadataReading {
  const warnings: Warning[] = []
  const warn: Warn = (path, message) => warnings.push({ path, message })
  try {
    return { outcome: 'read', tool: readTool(value, options, warn), warnings }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { outcome: 'refused', name: nameOf(value), reason: error.message, warnings }
  }
}

function readTool(value: unknown, options: MetadataOptions, warn: Warn): ToolMetadata {
  if (!isRecord(value)) throw new Refusal(`Tool metadata is an object; this is ${kindOf(value)}.`)
  if (isDeeperThan(value, MAX_DEPTH))
    throw new Refusal(`It nests deeper than ${MAX_DEPTH} levels; flatten its schemas.`)
  const { tool, path } = unwrap(value)
  const agent = agentMember(tool)
  if (agent !== undefined)
    throw new Refusal(
      `It has \`${agent}\`, so it is an agent and not a tool; import the tools it uses instead.`,
    )
  if (typeof tool.name !== 'string' || tool.name.trim() === '')
    throw new Refusal('`name` is missing; give the tool a name.')
  if (!isAbsent(tool.credentials))
    throw new Refusal(
      '`credentials` is not read from tool metadata: a tool cannot ask users for keys or passwords. An administrator adds the provider, and the tool requires it by its id.',
    )
  if (!isAbsent(tool.oauth1))
    throw new Refusal(
      '`oauth1` is not read from tool metadata: requests are signed with a secret that an administrator stores. An administrator adds the provider, and the tool requires it by its id.',
    )
  if (!hasToolMember(tool))
    throw new Refusal(
      'It is not a tool: it has none of `parameters`, `result`, `configurations`, `oauth`, `tool_set` and the other members of tool metadata. Give it `parameters`, which may be empty.',
    )

  const title = tool.name
  const name = toolName(title)
  if (name !== title) warn(at(path, 'name'), derivedNameWarning(title, name))
  const version = readVersion(tool.version, at(path, 'version'), warn)
  warnOfSpellings(tool, path, warn)
  // `input_args` is the name in a Shinkai node's stored form
  const parameters = isAbsent(tool.parameters) ? 'input_args' : 'parameters'
  const outputSchema = readOutputSchema(tool.result, at(path, 'result'), warn)
  const oauth = readOAuthEntries(tool.oauth, at(path, 'oauth'), options, warn)
  const entries = oauth.map((entry) => entry.name)
  warnOfRunTimeNeeds(tool, path, entries, warn)
  return {
    title,
    name,
    namespace: readNamespace(tool.tool_set, at(path, 'tool_set'), warn),
    version,
    description: readDescription(tool.description, at(path, 'description'), warn),
    inputSchema: readInputSchema(tool[parameters], at(path, parameters), warn),
    outputSchema,
    secrets: declaredSecrets(tool, path, warn),
    oauth,
    document: tool === value ? withoutSecrets(tool) : storedWithoutSecrets(value, tool),
  }
}

const STORED_TYPES = ['deno', 'python']

/** Unwraps the form that a Shinkai node stores: `{"type": "Deno", "content": [{...}, true]}`. */
function unwrap(value: JsonRecord): { readonly tool: JsonRecord; readonly path: string } {
  const { type, content } = value
  if (typeof type !== 'string' || !Array.isArray(content) || value.name !== undefined)
    return { tool: value, path: '' }
  if (type.toLowerCase() === 'agent')
    throw new Refusal(
      'Its `type` is "Agent", so it is an agent and not a tool; import the tools it uses instead.',
    )
  if (!STORED_TYPES.includes(type.toLowerCase()))
    throw new Refusal(
      `Its stored \`type\` is ${quote(type)}; only "Deno" and "Python" tools can be imported.`,
    )
  const tool: unknown = content[0]
  if (!isRecord(tool)) throw new Refusal(`content[0] is ${kindOf(tool)}; the tool's metadata belongs there.`)
  return { tool, path: 'content[0]' }
}

/** `withoutSecrets` for the form that a Shinkai node stores. */
function storedWithoutSecrets(stored: JsonRecord, tool: JsonRecord): JsonRecord {
  const content = Array.isArray(stored.content) ? stored.content.slice(1) : []
  return { ...stored, content: [withoutSecrets(tool), ...content] }
}

function readDescription(description: unknown, path: string, warn: Warn): string {
  if (isAbsent(description)) return ''
  if (typeof description === 'string') return description
  warn(path, `It is ${kindOf(description)}, not a text; the tool has no description.`)
  return ''
}

/** The name of a refused tool for the report. */
function nameOf(value: unknown): string {
  if (!isRecord(value)) return '(no name)'
  if (typeof value.name === 'string' && value.name !== '') return value.name
  const { content } = value
  return Array.isArray(content) && isRecord(content[0]) ? nameOf({ name: content[0].name }) : '(no name)'
}
