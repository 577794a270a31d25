import { normalizeTags } from '../../domain/tags.ts'
import type { JsonSchema, ToolRequirements } from '../../domain/tool.ts'
import type { Checked } from '../check-output.ts'
import { checkNow, checkUsable } from '../check-value.ts'
import { MAX_SCHEMA_LENGTH } from '../json-schema/schema-validator.ts'

/** The parts of a tool that are validated. */
export interface ToolToValidate {
  readonly name: string
  readonly namespace?: string | undefined
  readonly version?: string | undefined
  readonly inputSchema?: JsonSchema | undefined
  readonly outputSchema?: JsonSchema | undefined
  readonly tags?: readonly string[] | undefined
}

/** In bytes. */
const MAX_NAME = 128
const MAX_VERSION = 100

/**
 * All faults of a tool of the project, one sentence each: names, version and tags first, then schemas. Does not block the
 * event loop.
 */
export async function toolFaults(tool: ToolToValidate, projectId: string): Promise<string[]> {
  const faults = modelFaults(tool)
  for (const { which, schema } of schemasOf(tool))
    faults.push(...schemaFaults(which, await checkUsable(schema, projectId)))
  return faults
}

/** The faults of a tool's schemas, one sentence each: input or output that cannot be validated. */
export function uncheckable(tool: ToolToValidate): string[] {
  return schemasOf(tool).flatMap(({ which, schema }) => schemaFaults(which, checkNow(schema)))
}

function schemasOf({ inputSchema, outputSchema }: ToolToValidate) {
  return [
    ...(inputSchema === undefined ? [] : [{ which: 'input', schema: inputSchema }]),
    ...(outputSchema === undefined ? [] : [{ which: 'output', schema: outputSchema }]),
  ]
}

function schemaFaults(which: string, checked: Checked): string[] {
  if (checked.outcome === 'valid') return []
  return [`Its ${which} schema cannot be used. ${checked.message}`]
}

/** The faults of a tool's names, version and tags. */
function modelFaults(tool: ToolToValidate): string[] {
  const { name, namespace = '', version, inputSchema, tags = [] } = tool
  return [
    ...(name === '' ? ['The name of the tool is empty.'] : nameFaults('name', name)),
    ...nameFaults('namespace', namespace),
    ...(version === undefined ? [] : versionFaults(version, namespace)),
    ...(inputSchema === undefined ? ['The tool has no input schema.'] : []),
    ...(tags.join('\n') === normalizeTags(tags).join('\n')
      ? []
      : [
          'The tags must be lower case, of letters a to z, digits, "-", "_" and ".", 20 at most, of 64 characters at most, each once.',
        ]),
  ]
}

function nameFaults(what: string, text: string): string[] {
  const bad = forbiddenCharacters(text, /[A-Za-z0-9_.-]/)
  return [
    ...(Buffer.byteLength(text) > MAX_NAME
      ? [`The ${what} of the tool has more than ${MAX_NAME} bytes.`]
      : []),
    ...(bad === ''
      ? []
      : [`The ${what} of the tool may have letters, digits, "_", "." and "-" only, not ${bad}.`]),
  ]
}

function versionFaults(version: string, namespace: string): string[] {
  const bad = forbiddenCharacters(version, /[A-Za-z0-9_.+-]/)
  return [
    ...(version === '' || version.length > MAX_VERSION
      ? [`The version of the tool must have 1 to ${MAX_VERSION} characters.`]
      : []),
    ...(bad === ''
      ? []
      : [`The version of the tool may have letters, digits, "_", ".", "+" and "-" only, not ${bad}.`]),
    ...(namespace === ''
      ? ['A tool with a version needs a namespace: without one its id could not say the version.']
      : []),
  ]
}

/** The characters of the text that are not allowed, each once. */
function forbiddenCharacters(text: string, allowed: RegExp): string {
  const bad = new Set([...text].filter((character) => !allowed.test(character)))
  return [...bad]
    .slice(0, 20)
    .map((character) => JSON.stringify(character))
    .join(', ')
}

/** Why a listed tool is left out (`unusable`), and which of its schemas cannot be validated here (`uncheckable`). */
export interface ListedFaults {
  readonly unusable: readonly string[]
  readonly uncheckable: readonly string[]
}

/** What decides whether a listed tool is taken and whether it has changed. */
export interface ItemSummary {
  /** The tool's id. */
  readonly named: string
  readonly namespace: string
  readonly name: string
  readonly tags: readonly string[]
  /** SHA-256 of the whole description. */
  readonly digest: string
  /** SHA-256 of what the tool says of itself and does (`definitionDigest`). */
  readonly definition: string
  /** The characters of the whole description, as JSON. */
  readonly size: number
  readonly requirements: ToolRequirements
  /** Whether every database can store the description. */
  readonly isText: boolean
  readonly faults: ListedFaults
}

/** A schema that cannot be validated here is no reason to leave the tool out: its worker validates the input itself. */
export function listedFaults(tool: ToolToValidate): ListedFaults {
  const isTooLong = [tool.inputSchema, tool.outputSchema].some(
    (schema) => schema !== undefined && JSON.stringify(schema).length > MAX_SCHEMA_LENGTH,
  )
  const length = isTooLong ? [`One of its schemas has more than ${MAX_SCHEMA_LENGTH} characters.`] : []
  return { unusable: [...modelFaults(tool), ...length], uncheckable: uncheckable(tool) }
}
