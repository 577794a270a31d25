import type * as Wire from '../generated/wire.ts'
import { withoutUndefined } from '../without-undefined.ts'
import { GatepassError } from './errors.ts'

/** A tool that can be run. */
export interface Tool {
  /** The name to give to models: letters, digits, `_` and `-`. Every method takes it. */
  readonly name: string
  /** `namespace:name`, with `:version` where the tool has one. */
  readonly id: string
  /** `Toolkit.Name`. */
  readonly qualifiedName: string
  readonly description: string
  readonly toolkit: {
    readonly name: string
    readonly version?: string
    readonly description?: string
  }
  /** The schema by which Gatepass checks the input. */
  readonly inputSchema: Wire.JsonSchema
  /** The same in the form that the APIs of models take: one object without alternatives at the top. */
  readonly modelSchema: Wire.JsonSchema
  /** The schema of an answer that is an object, where the tool has one. */
  readonly outputSchema?: Wire.JsonSchema
  /** What the tool states of its behaviour. Hints, as in MCP: do not rely on them for tools you do not trust. */
  readonly annotations?: Wire.ToolAnnotations
  readonly tags: readonly string[]
  readonly requirements: ToolRequirements
}

/** The requirements of a tool, and whether they are met. */
export interface ToolRequirements {
  /** Whether all are met, for `user` if one was named. */
  readonly met: boolean
  readonly authorizations: readonly RequiredAuthorization[]
  readonly secrets: readonly RequiredSecret[]
  /** The worker that runs the tool. Absent if there is none, or if Gatepass cannot run the tool. */
  readonly worker?: RequiredWorker
}

/** A provider whose token the tool gets. */
export interface RequiredAuthorization {
  /** The id of the provider entry. Absent where there is none yet. */
  readonly provider?: string
  readonly scopes: readonly string[]
  /** Whether the provider is configured and switched on. */
  readonly status: NonNullable<Wire.RequiredProvider['status']>
  readonly statusReason?: string
  /** The status of the user's consent, where a user was named: `completed` when the tool can run for them. */
  readonly consent?: NonNullable<Wire.RequiredProvider['token_status']>
}

/** A secret that the tool gets. */
export interface RequiredSecret {
  readonly key: string
  readonly met: boolean
  readonly statusReason?: string
}

export interface RequiredWorker {
  readonly id: string
  readonly met: boolean
  readonly status: Wire.RequiredWorker['status']
  readonly statusReason?: string
}

/** The formats that `toTool` reads. */
export const TOOL_FORMATS = 'mcp,openai'

export function toTool(wire: Wire.DescribedTool): Tool {
  const { mcp, openai } = wire.formatted_schema ?? {}
  if (mcp === undefined || openai === undefined)
    throw new GatepassError('unexpected_answer', 'The tool was described without its schemas.')
  const { met, authorization, authorizations, secrets, worker } = wire.requirements
  return withoutUndefined({
    name: mcp.name,
    id: wire.tool_id,
    qualifiedName: wire.qualified_name,
    description: wire.description,
    toolkit: wire.toolkit,
    inputSchema: mcp.inputSchema,
    modelSchema: openai.function.parameters,
    outputSchema: mcp.outputSchema,
    annotations: mcp.annotations,
    tags: wire.tags ?? [],
    requirements: withoutUndefined({
      met: met === true,
      authorizations: (authorizations ?? (authorization ? [authorization] : [])).map(toRequiredAuthorization),
      secrets: secrets.map(({ key, met: isMet, status_reason: statusReason }) =>
        withoutUndefined({ key, met: isMet === true, statusReason }),
      ),
      worker: worker && toRequiredWorker(worker),
    }),
  })
}

function toRequiredAuthorization(wire: Wire.RequiredProvider): RequiredAuthorization {
  return withoutUndefined({
    provider: wire.id ?? wire.provider_id,
    scopes: wire.oauth2?.scopes ?? [],
    status: wire.status ?? 'inactive',
    statusReason: wire.status_reason,
    consent: wire.token_status,
  })
}

function toRequiredWorker(wire: Wire.RequiredWorker): RequiredWorker {
  const { id, met, status, status_reason: statusReason } = wire
  return withoutUndefined({ id, met, status, statusReason })
}
