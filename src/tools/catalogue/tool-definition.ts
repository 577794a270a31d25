import { type Tool, toolId } from '../../domain/tool.ts'
import type { WorkerStatus } from '../../domain/worker.ts'
import { type Parameter, toParameters, toValueSchema, type ValueSchema } from '../arcade/value-schema.ts'
import { isRecord, type JsonRecord } from '../read-json.ts'
import type { AuthorizationStatus } from '../tool-answer.ts'

/** A provider that a tool needs, as the wire has it. */
export interface RequiredProvider {
  readonly id?: string
  readonly provider_id?: string
  readonly provider_type: string
  readonly oauth2: { readonly scopes: string[] }
  /** Whether the provider is configured and enabled. */
  readonly status: 'active' | 'inactive'
  readonly status_reason?: string
  /** Only where a user was named. */
  readonly token_status?: AuthorizationStatus
}

/** Whether what a tool needs is there, as the wire has it. */
export interface RequirementStatus {
  readonly met: boolean
  /** The contract has room for one: the first that is not met, else the first. */
  readonly authorization?: RequiredProvider
  /** All, where there are several. */
  readonly authorizations?: RequiredProvider[]
  readonly secrets: { readonly key: string; readonly met: boolean; readonly status_reason?: string }[]
  /** What runs it; absent where nothing does yet. */
  readonly worker?: RequiredWorker
}

export interface RequiredWorker {
  readonly id: string
  readonly met: boolean
  readonly status: WorkerStatus
  readonly status_reason?: string
}

/** Arcade's ToolDefinition (reference/arcade.md section 2), and our `tool_id`. */
export interface ToolDefinition {
  fully_qualified_name: string
  qualified_name: string
  name: string
  tool_id: string
  description: string
  toolkit: { name: string; version?: string; description?: string }
  input: { parameters: Parameter[] }
  output: { available_modes: string[]; description?: string; value_schema?: ValueSchema }
  requirements: {
    met?: boolean
    authorization?: Partial<RequiredProvider>
    secrets: { key: string; met?: boolean; status_reason?: string }[]
    worker?: RequiredWorker
  }
  /** What a worker says of its tool's behaviour. */
  metadata?: Record<string, unknown>
  tags?: string[]
}

/** Without `status` the definition says what the tool needs, not whether it is there. */
export function toDefinition(tool: Tool, status: RequirementStatus | undefined): ToolDefinition {
  const { namespace, name, version, source } = tool
  const qualified = namespace === '' ? name : `${namespace}.${name}`
  const document = source.kind === 'worker' ? source.document : {}
  const toolkitDescription = isRecord(document.toolkit) ? document.toolkit.description : undefined
  return {
    fully_qualified_name: version === undefined ? qualified : `${qualified}@${version}`,
    qualified_name: qualified,
    name,
    tool_id: toolId(tool),
    description: tool.description,
    toolkit: {
      name: namespace,
      ...(version !== undefined && { version }),
      ...(typeof toolkitDescription === 'string' && { description: toolkitDescription }),
    },
    input: { parameters: toParameters(tool.inputSchema) },
    output: toOutput(tool, document),
    requirements: status ? { ...status } : toRequirements(tool),
    ...metadataOf(tool, document),
    ...(tool.tags.length > 0 && { tags: [...tool.tags] }),
  }
}

/** What its worker says, or what MCP's hints say in the same words. */
function metadataOf({ annotations }: Tool, { metadata }: JsonRecord): Pick<ToolDefinition, 'metadata'> {
  if (isRecord(metadata)) return { metadata: { ...metadata } }
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations ?? {}
  const behavior = {
    ...(readOnlyHint !== undefined && { read_only: readOnlyHint }),
    ...(destructiveHint !== undefined && { destructive: destructiveHint }),
    ...(idempotentHint !== undefined && { idempotent: idempotentHint }),
    ...(openWorldHint !== undefined && { open_world: openWorldHint }),
  }
  return Object.keys(behavior).length > 0 ? { metadata: { behavior } } : {}
}

const USUAL_MODES = ['value', 'error', 'null', 'requires_authorization']

function toOutput({ outputSchema }: Tool, document: JsonRecord): ToolDefinition['output'] {
  const said = isRecord(document.output) ? document.output.available_modes : undefined
  const modes = Array.isArray(said) ? said.filter((mode) => typeof mode === 'string') : []
  const { description, nullable, ...value_schema }: ValueSchema & { nullable?: boolean } = outputSchema
    ? toValueSchema(outputSchema)
    : { val_type: 'json' }
  // its worker says by its modes that it may answer null
  const isSaid = modes.includes('null')
  return {
    available_modes: modes.length > 0 ? modes : USUAL_MODES,
    ...(description !== undefined && { description }),
    ...(outputSchema && { value_schema: { ...value_schema, ...(nullable && !isSaid && { nullable }) } }),
  }
}

/** The contract has room for one provider: the first, with all scopes. */
function toRequirements({ requirements }: Tool): ToolDefinition['requirements'] {
  const [first] = requirements.authorization
  const scopes = [...new Set(requirements.authorization.flatMap((one) => one.scopes))]
  return {
    ...(first && {
      authorization: {
        ...(first.id !== undefined && { id: first.id }),
        ...(first.providerId !== undefined && { provider_id: first.providerId }),
        provider_type: 'oauth2',
        oauth2: { scopes },
      },
    }),
    secrets: requirements.secrets.map((key) => ({ key })),
  }
}
