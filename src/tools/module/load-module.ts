import { basename, extname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { toJSONSchema, type z } from 'zod'
import {
  type AuthorizationRequirement,
  type JsonSchema,
  type ToolRequirements,
  toolId,
} from '../../domain/tool.ts'
import { isToolName, type ToolId } from '../../domain/tool-id.ts'
import { plainVersion } from '../../domain/version.ts'
import { isRecord } from '../../parsing/json-record.ts'
import { authRequirements, type ToolAuth } from '../../sdk/tools/auth.ts'
import type { RunnableTool } from '../../sdk/tools/run.ts'
import { jsonSchemaOf, type SchemaSide, type ToolSchema, type TypedSchema } from '../../sdk/tools/schema.ts'
import {
  type AnyToolOptions,
  type DefinedTool,
  isMaterialized,
  MAX_TIMEOUT_SECONDS,
  type NamedToolOptions,
  TOOL_MARK,
} from '../../sdk/tools/tool.ts'
import { isToolApp, type ToolApp } from '../../sdk/tools/tool-app.ts'
import type { CatalogueTool } from '../backend.ts'

/** A tool of a module and its catalogue entry. */
export interface ModuleTool extends RunnableTool {
  readonly listed: CatalogueTool
}

export interface ToolModule {
  /** The name of the file, without its extension. */
  readonly id: string
  /** A `file:` URL. */
  readonly url: string
  /** The present tools: apps may add and remove tools. Throws `ModuleFault` if one that was added cannot be used. */
  tools(): readonly ModuleTool[]
  /** The present tool of this id. Throws `ModuleFault` if it cannot be used. Other tools are not read. */
  find(id: ToolId): ModuleTool | undefined
}

/**
 * Why a module cannot be used. The message is one line; it begins with the file and continues `GATEPASS_TOOLS names `.
 */
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
  const sources = sourcesOf(file, exported)
  const read = new WeakMap<AnyToolOptions, ModuleTool>()
  const readOnce = (source: ToolSource): ModuleTool => {
    const known = read.get(source.options)
    if (known?.name === source.name && known.app === source.app) return known
    const tool = readTool(file, id, source)
    read.set(source.options, tool)
    return tool
  }
  const module: ToolModule = {
    id,
    url: toolModule,
    tools() {
      const tools = sources().map(readOnce)
      const taken = new Set<string>()
      for (const { listed } of tools) {
        const lower = toolId(listed).toLowerCase()
        if (taken.has(lower)) throw new ModuleFault(file, `which has two tools called "${listed.name}".`)
        taken.add(lower)
      }
      return tools
    },
    find({ namespace, name, version }) {
      const source = sources().find((candidate) => {
        const its = namesOf(id, candidate)
        return candidate.name === name && its.namespace === namespace && its.version === version
      })
      return source && readOnce(source)
    },
  }
  module.tools() // throws for a tool that cannot be used
  loaded.set(toolModule, module)
  return module
}

/** The loaded module of this URL; `undefined` if the settings of this process do not name it. */
export function loadedModule(url: string): ToolModule | undefined {
  return loaded.get(url)
}

/** A tool as a module defines it, before it is checked. */
interface ToolSource {
  readonly name: string
  readonly options: AnyToolOptions & Pick<NamedToolOptions, 'namespace'>
  readonly app?: ToolApp
}

/**
 * Returns the function that lists the present tools of a module. They come from the export `tools`, else from a list as
 * default export, else from all exports that are apps or tools.
 */
function sourcesOf(file: string, exported: unknown): () => readonly ToolSource[] {
  const members = isRecord(exported) ? exported : {}
  const listed = members.tools ?? (Array.isArray(members.default) ? members.default : undefined)
  const candidates: readonly unknown[] = Array.isArray(listed) ? listed : Object.values(members)
  const isSource = (source: unknown) => isToolApp(source) || isDefined(source)
  const invalid = Array.isArray(listed) ? candidates.findIndex((candidate) => !isSource(candidate)) : -1
  if (invalid >= 0)
    throw new ModuleFault(
      file,
      `whose list of tools has a member (index ${invalid}) that is neither a ToolApp nor made by defineTool.`,
    )
  const found = [...new Set(candidates.filter(isSource))]
  if (found.length === 0)
    throw new ModuleFault(
      file,
      'which exports no tool: export a ToolApp as the default, tools made by defineTool, or a list of these under the name `tools`.',
    )
  return () =>
    found.flatMap((source): readonly ToolSource[] => {
      if (isToolApp(source)) return source.tools.list().map((tool) => ({ ...tool, app: source }))
      return isDefined(source) ? [{ name: source[TOOL_MARK].name, options: source[TOOL_MARK] }] : []
    })
}

/** Whether `defineTool` made the value. A tool that `tool()` made has no name, and only an app can add it. */
function isDefined(value: unknown): value is DefinedTool {
  return isMaterialized(value) && 'name' in value[TOOL_MARK]
}

/** The namespace and version of a tool: its own, else those of its app, else the module's name and no version. */
function namesOf(moduleId: string, { options, app }: ToolSource) {
  const { namespace = app?.name ?? moduleId, version = app?.version } = options
  return { namespace, version }
}

function readTool(file: string, moduleId: string, source: ToolSource): ModuleTool {
  const { name, options, app } = source
  const { namespace, version } = namesOf(moduleId, source)
  const { title, description = '', input, output, annotations, tags } = options
  const fault = (what: string) => new ModuleFault(file, `whose tool "${String(name).slice(0, 128)}" ${what}`)
  if (typeof name !== 'string' || !isToolName(name))
    throw fault('needs a name of 1 to 128 characters of A-Z, a-z, 0-9 and _.-')
  if (!isToolName(namespace)) throw fault('has a namespace that is not made of A-Z, a-z, 0-9 and _.-')
  if (version !== undefined && plainVersion(version) !== version)
    throw fault('has a version that is not SemVer: write it like 1.0.0.')
  if (typeof description !== 'string') throw fault('has a description that is not a string.')
  if (typeof options.handler !== 'function') throw fault('has no handler.')
  for (const list of ['tags', 'requiresSecrets', 'requiresMetadata'] as const)
    if (options[list] !== undefined && !isStringList(options[list]))
      throw fault(`has ${list}, which must be a list of strings.`)
  const { timeoutSeconds = 1 } = options
  if (!(timeoutSeconds > 0 && timeoutSeconds <= MAX_TIMEOUT_SECONDS))
    throw fault(`needs a timeoutSeconds above 0 and at most ${MAX_TIMEOUT_SECONDS}.`)
  const inputSchema = schemaOf(input, 'input', fault)
  if (inputSchema.type !== 'object') throw fault('needs an input schema of the type object.')
  const outputSchema = output && schemaOf(output, 'output', fault)
  const requirements = {
    ...requirementsOf(options, fault),
    secrets: [...new Set(options.requiresSecrets ?? [])],
    metadata: [...new Set(options.requiresMetadata ?? [])],
  }
  return {
    name,
    options,
    ...(app && { app }),
    listed: {
      name,
      namespace,
      version,
      title,
      description,
      inputSchema,
      outputSchema,
      annotations,
      ...(tags && { tags }),
      requirements,
      document: {},
    },
  }
}

function isStringList(list: unknown): list is readonly string[] {
  return Array.isArray(list) && list.every((item) => typeof item === 'string')
}

type ToFault = (what: string) => ModuleFault

function requirementsOf(
  { requiresAuth }: AnyToolOptions,
  fault: ToFault,
): Pick<ToolRequirements, 'authorization' | 'alternatives'> {
  if (requiresAuth === null || (requiresAuth !== undefined && typeof requiresAuth !== 'object'))
    throw fault(NO_PROVIDER_NAMED)
  const { all, alternatives } = authRequirements(requiresAuth)
  const toRequirement = (auth: ToolAuth) => requirementOf(auth, fault)
  return {
    authorization: all.map(toRequirement),
    ...(alternatives.length > 0 && { alternatives: alternatives.map((group) => group.map(toRequirement)) }),
  }
}

const NO_PROVIDER_NAMED =
  'has a requiresAuth that names no provider: write GitHub({scopes: […]}), {provider: "github", scopes: […]} or {id: …}.'

function requirementOf(auth: ToolAuth, fault: ToFault): AuthorizationRequirement {
  const scopes = [...(auth.scopes ?? [])]
  const name = 'id' in auth ? { id: auth.id } : { providerId: auth.provider }
  if (Object.values(name).every((text) => typeof text === 'string' && text !== '')) return { ...name, scopes }
  throw fault(NO_PROVIDER_NAMED)
}

function schemaOf(schema: ToolSchema, side: SchemaSide, fault: ToFault): JsonSchema {
  if (schema === undefined || schema === null) throw fault(`has no schema for its ${side}.`)
  try {
    const { '~standard': _, ...plain } = jsonSchemaOf(schema, side, describeZod)
    return plain
  } catch (error) {
    throw fault(`has an ${side} whose schema ${error instanceof Error ? error.message : String(error)}.`)
  }
}

/** Converts schemas of `zod/mini`, of Zod before 4.2 and of another copy of Zod. */
function describeZod(schema: TypedSchema, io: SchemaSide, options: Record<string, unknown>): JsonSchema {
  return { ...toJSONSchema(schema as unknown as z.core.$ZodType, { ...options, io }) } // schemas with `_zod` are Zod 4's
}
