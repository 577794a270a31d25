/** A JSON Schema: draft 2020-12, or draft-07 where the tool's author wrote that. */
export type JsonSchema = Readonly<Record<string, unknown>>

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
  readonly inputSchema: JsonSchema
  /** The same in the form that the APIs of models take: one object without alternatives at the top. */
  readonly modelSchema: JsonSchema
  /** The schema of an answer that is an object, where the tool has one. */
  readonly outputSchema?: JsonSchema
  /** What the tool states of its behaviour. Hints, as in MCP: do not rely on them for tools you do not trust. */
  readonly annotations?: ToolAnnotations
  readonly tags: readonly string[]
  readonly requirements: ToolRequirements
}

/** MCP's ToolAnnotations. */
export interface ToolAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/** What a tool needs, and whether it is there. */
export interface ToolRequirements {
  /** Everything is there: for `user`, if one was named. */
  readonly met: boolean
  readonly authorizations: readonly RequiredAuthorization[]
  readonly secrets: readonly RequiredSecret[]
  /** What runs the tool. Absent where nothing does, and for what Gatepass cannot run. */
  readonly worker?: RequiredWorker
}

/** A provider whose token the tool gets. */
export interface RequiredAuthorization {
  /** The id of the provider entry. Absent where there is none yet. */
  readonly provider?: string
  readonly scopes: readonly string[]
  /** Of the provider entry: `missing` where it is incomplete. */
  readonly status: 'active' | 'inactive' | 'missing'
  readonly statusReason?: string
  /** Of the user's consent, where a user was named: `completed` when the tool can run for them. */
  readonly consent?: 'not_started' | 'pending' | 'completed' | 'failed'
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
  readonly status: 'active' | 'inactive' | 'unreachable' | 'unauthorized'
  readonly statusReason?: string
}

interface RequiredAuthorizationWire {
  readonly id?: string
  readonly provider_id?: string
  readonly oauth2?: { readonly scopes?: readonly string[] }
  readonly status?: RequiredAuthorization['status']
  readonly status_reason?: string
  readonly token_status?: NonNullable<RequiredAuthorization['consent']>
}

/** A tool definition with the formats `mcp` and `openai`. */
export interface ToolWire {
  readonly tool_id: string
  readonly qualified_name: string
  readonly description: string
  readonly toolkit: { readonly name: string; readonly version?: string; readonly description?: string }
  readonly tags?: readonly string[]
  readonly requirements: {
    readonly met?: boolean
    readonly authorization?: RequiredAuthorizationWire
    readonly authorizations?: readonly RequiredAuthorizationWire[]
    readonly secrets: readonly {
      readonly key: string
      readonly met?: boolean
      readonly status_reason?: string
    }[]
    readonly worker?: {
      readonly id: string
      readonly met: boolean
      readonly status: RequiredWorker['status']
      readonly status_reason?: string
    }
  }
  readonly formatted_schema: {
    readonly mcp: {
      readonly name: string
      readonly inputSchema: JsonSchema
      readonly outputSchema?: JsonSchema
      readonly annotations?: ToolAnnotations
    }
    readonly openai: { readonly function: { readonly parameters: JsonSchema } }
  }
}

/** The formats that `toTool` reads. */
export const TOOL_FORMATS = 'mcp,openai'

export function toTool(wire: ToolWire): Tool {
  const { mcp, openai } = wire.formatted_schema
  const { met, authorization, authorizations, secrets, worker } = wire.requirements
  return {
    name: mcp.name,
    id: wire.tool_id,
    qualifiedName: wire.qualified_name,
    description: wire.description,
    toolkit: wire.toolkit,
    inputSchema: mcp.inputSchema,
    modelSchema: openai.function.parameters,
    ...(mcp.outputSchema && { outputSchema: mcp.outputSchema }),
    ...(mcp.annotations && { annotations: mcp.annotations }),
    tags: wire.tags ?? [],
    requirements: {
      met: met === true,
      authorizations: (authorizations ?? (authorization ? [authorization] : [])).map(toRequiredAuthorization),
      secrets: secrets.map(({ key, met: isMet, status_reason: reason }) => ({
        key,
        met: isMet === true,
        ...(reason !== undefined && { statusReason: reason }),
      })),
      ...(worker && { worker: toRequiredWorker(worker) }),
    },
  }
}

function toRequiredAuthorization(wire: RequiredAuthorizationWire): RequiredAuthorization {
  const { id, provider_id, oauth2, status = 'missing', status_reason: reason, token_status: consent } = wire
  const provider = id ?? provider_id
  return {
    ...(provider !== undefined && { provider }),
    scopes: oauth2?.scopes ?? [],
    status,
    ...(reason !== undefined && { statusReason: reason }),
    ...(consent !== undefined && { consent }),
  }
}

function toRequiredWorker(wire: NonNullable<ToolWire['requirements']['worker']>): RequiredWorker {
  const { id, met, status, status_reason: reason } = wire
  return { id, met, status, ...(reason !== undefined && { statusReason: reason }) }
}
