import { basename, extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { toJSONSchema, type z } from 'zod'
import type { AuthorizationRequirement, JsonSchema } from '../../domain/tool.ts'
import { isToolName } from '../../domain/tool-id.ts'
import { plainVersion } from '../../domain/version.ts'
import type { CatalogueTool } from '../backend.ts'
import { isRecord } from '../read-json.ts'
import {
  type DefinedTool,
  isTypedSchema,
  TOOL_MARK,
  type ToolAuth,
  type ToolOptions,
  type ToolSchema,
} from './define-tool.ts'

/** A tool of a module and its catalogue entry. */
export interface ModuleTool {
  readonly options: ToolOptions
  readonly listed: CatalogueTool
}

export interface ToolModule {
  /** The name of the file, without its extension. */
  readonly id: string
  /** A `file:` URL. */
  readonly url: string
  readonly tools: readonly ModuleTool[]
}

/** Why a module cannot be used, in one line that begins with its file. */
export class ModuleFault extends Error {
  constructor(file: string, why: string, cause?: unknown) {
    super(
      `${file}, ${why.replaceAll(/\s+/g, ' ').slice(0, MAX_FAULT_LENGTH)}`,
      cause === undefined ? {} : { cause },
    )
    this.name = 'ModuleFault'
  }
}

const MAX_FAULT_LENGTH = 500
const MAX_TIMEOUT_SECONDS = 3600

/**
 * Loaded modules by URL; a process imports each once. Modules come from the settings only: no stored row can cause
 * code to be loaded.
 */
const loaded = new Map<string, ToolModule>()

/** Imports the file and reads its tools. Throws `ModuleFault`. */
export async function loadModule(file: string): Promise<ToolModule> {
  const toolModule = pathToFileURL(file).href
  const known = loaded.get(toolModule)
  if (known !== undefined) return known
  let exported: unknown
  try {
    exported = await import(toolModule)
  } catch (error) {
    throw new ModuleFault(file, `which cannot be loaded: ${String(error)}`, error)
  }
  const id = basename(file, extname(file))
    .replaceAll(/[^A-Za-z0-9_.-]/g, '_')
    .slice(0, 100)
  const tools = toolsOf(file, exported).map((tool) => readTool(file, id, tool[TOOL_MARK]))
  const ids = tools.map(({ listed }) =>
    `${listed.namespace}:${listed.name}:${listed.version ?? ''}`.toLowerCase(),
  )
  const twice = tools.find((_, i) => ids.indexOf(ids[i] ?? '') !== i)
  if (twice !== undefined) throw new ModuleFault(file, `which has two tools called "${twice.listed.name}".`)
  const module: ToolModule = { id, url: toolModule, tools }
  loaded.set(toolModule, module)
  return module
}

export function loadedModule(url: string): ToolModule | undefined {
  return loaded.get(url)
}

/** The tools of a module: the export `tools`, else a list as default export, else all exports that are tools. */
function toolsOf(file: string, exported: unknown): readonly DefinedTool[] {
  const members = isRecord(exported) ? exported : {}
  const listed = members.tools ?? (Array.isArray(members.default) ? members.default : undefined)
  const candidates: readonly unknown[] = Array.isArray(listed)
    ? listed
    : Object.values(members).filter(isTool)
  const stranger = candidates.findIndex((one) => !isTool(one))
  if (stranger >= 0)
    throw new ModuleFault(
      file,
      `whose list of tools has something at ${stranger} that defineTool did not make.`,
    )
  const tools = candidates.filter(isTool)
  if (tools.length > 0) return tools
  throw new ModuleFault(
    file,
    'which exports no tool: export what defineTool makes, or a list of such as `tools` or as the default.',
  )
}

function isTool(value: unknown): value is DefinedTool {
  return typeof value === 'object' && value !== null && TOOL_MARK in value
}

function readTool(file: string, moduleId: string, options: ToolOptions): ModuleTool {
  const {
    name,
    namespace = moduleId,
    version,
    title,
    description,
    input,
    output,
    annotations,
    tags,
  } = options
  const fault = (what: string) => new ModuleFault(file, `whose tool "${String(name).slice(0, 128)}" ${what}`)
  if (typeof name !== 'string' || !isToolName(name))
    throw fault('needs a name of 1 to 128 of A-Z, a-z, 0-9 and _.-')
  if (!isToolName(namespace)) throw fault('has a namespace that is not made of A-Z, a-z, 0-9 and _.-')
  if (version !== undefined && plainVersion(version) !== version)
    throw fault('has a version that is no SemVer, such as 1.0.0.')
  if (typeof description !== 'string') throw fault('has no description.')
  if (typeof options.handler !== 'function') throw fault('has no handler.')
  for (const list of ['tags', 'requiresSecrets', 'requiresMetadata'] as const)
    if (options[list] !== undefined && !isTexts(options[list]))
      throw fault(`has ${list} that are no list of texts.`)
  const { timeoutSeconds = 1 } = options
  if (!(timeoutSeconds > 0 && timeoutSeconds <= MAX_TIMEOUT_SECONDS))
    throw fault(`has a timeoutSeconds that is not within ${MAX_TIMEOUT_SECONDS}.`)
  const inputSchema = schemaOf(input, 'input', fault)
  if (inputSchema.type !== 'object') throw fault('takes an input that is no object.')
  const outputSchema = output && schemaOf(output, 'output', fault)
  const authorization = authorizationsOf(options).map((one) => requirementOf(one, fault))
  const secrets = [...new Set(options.requiresSecrets ?? [])]
  const metadata = [...new Set(options.requiresMetadata ?? [])]
  const requirements = { authorization, secrets, metadata }
  return {
    options,
    listed: {
      name,
      namespace,
      ...(version !== undefined && { version }),
      ...(title !== undefined && { title }),
      description,
      inputSchema,
      ...(outputSchema && { outputSchema }),
      ...(annotations && { annotations }),
      ...(tags && { tags }),
      requirements,
      document: {},
    },
  }
}

function isTexts(list: unknown): list is readonly string[] {
  return Array.isArray(list) && list.every((one) => typeof one === 'string')
}

export function authorizationsOf({ requiresAuth }: Pick<ToolOptions, 'requiresAuth'>): readonly ToolAuth[] {
  if (requiresAuth === undefined) return []
  return 'scopes' in requiresAuth || 'id' in requiresAuth || 'provider' in requiresAuth
    ? [requiresAuth]
    : requiresAuth
}

type ToFault = (what: string) => ModuleFault

function requirementOf(auth: ToolAuth, fault: ToFault): AuthorizationRequirement {
  const scopes = [...(auth.scopes ?? [])]
  const name = 'id' in auth ? { id: auth.id } : { providerId: auth.provider }
  if (Object.values(name).every((one) => typeof one === 'string' && one !== '')) return { ...name, scopes }
  throw fault(
    'has a requiresAuth that names no provider: write {provider: "github", scopes: […]} or {id: …}.',
  )
}

function schemaOf(schema: ToolSchema, io: 'input' | 'output', fault: ToFault): JsonSchema {
  if (typeof schema !== 'object' || schema === null) throw fault(`has no schema of its ${io}.`)
  if (!isTypedSchema(schema)) return schema
  if (!('_zod' in schema))
    throw fault(`describes its ${io} by ${schema['~standard'].vendor}: use Zod 4 or JSON Schema.`)
  try {
    // an author's module may use another copy of Zod, so this relies only on Zod 4's schema description
    const described = toJSONSchema(schema as unknown as z.core.$ZodType, { io, unrepresentable: 'any' })
    const { '~standard': _, ...plain } = { ...described } as Record<string, unknown>
    return plain
  } catch (error) {
    throw fault(`describes its ${io} by a schema that has no JSON Schema: ${String(error)}`)
  }
}
