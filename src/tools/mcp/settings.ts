import type { Broker } from '../../broker.ts'
import type { AuthorizationRequirement } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import { UnsealError } from '../../store/seal.ts'
import { WorkerFault } from '../backend.ts'
import { openSecret } from '../secrets.ts'
import { openWorkerSecret } from '../worker-secret.ts'

/** What is known of an MCP server besides its URL: what the operator said, and what was found out. */
export interface McpSettings {
  /** Sent with every request; `${secret:NAME}` stands for a secret. */
  readonly headers?: Readonly<Record<string, string>>
  readonly oauth2?: {
    readonly clientId?: string
    /** The issuer that is to be used, where the server names several or none. */
    readonly authorizationUrl?: string
    readonly externalId?: string
    /** Asked for besides what the server lists. `openid` is asked for only if it is here. */
    readonly scopes?: readonly string[]
  }
  /** In place of the one that the server's name makes. */
  readonly namespace?: string
  /** The member of a call's `_meta` that carries what its tool needs; `arcade_context` unless said. */
  readonly tokenMeta?: string
  /** The only providers whose tokens tools may declare for themselves; absent: any. */
  readonly providers?: readonly string[]
  /** Of tools that declare none; `tools` has the last word on those it names. */
  readonly requirements?: McpRequirements & { readonly tools?: Readonly<Record<string, McpRequirements>> }
  /** Found out: the server wants OAuth. */
  readonly authorization?: ServerAuthorization
}

/** What a call needs of the server's token: nothing certain where the server names no scopes; users are asked for the entry's. */
export function neededScopes(settings: McpSettings, named: readonly string[]): readonly string[] {
  return named.length === 0 ? [] : serverScopes(settings, named)
}

/**
 * The scopes that users are asked for. Servers list `openid` for all that their authorization server can do; a token for
 * tools needs no ID token, and one that is wrong would fail the whole grant.
 */
export function serverScopes({ oauth2 }: McpSettings, listed: readonly string[]): readonly string[] {
  const wanted = listed.filter((one) => one !== 'openid')
  return [...new Set([...wanted, ...(oauth2?.scopes ?? [])])]
}

export interface McpRequirements {
  readonly authorization?: readonly AuthorizationRequirement[]
  readonly secrets?: readonly string[]
}

export interface ServerAuthorization {
  readonly providerUid: string
  /** What the server says a token needs; empty: any will do. */
  readonly scopes: readonly string[]
  /** Whose connection lists the tools. */
  readonly userId?: string
}

/** What is kept sealed. */
export interface McpSecrets {
  readonly secrets?: Readonly<Record<string, string>>
  readonly clientSecret?: string
}

export const USUAL_TOKEN_META = 'arcade_context'

export function mcpSettings({ settings }: Pick<Worker, 'settings'>): McpSettings {
  return settings as McpSettings // written by this broker itself, in this shape
}

export function mcpSecrets(broker: Broker, worker: Worker): McpSecrets {
  const sealed = openWorkerSecret(broker, worker)
  return sealed === '' ? {} : (JSON.parse(sealed) as McpSecrets) // as above
}

/** The same to be shown or changed: nothing where it was altered, so that it can be seen and set again. */
export function keptMcpSecrets(broker: Broker, worker: Worker): McpSecrets {
  try {
    return mcpSecrets(broker, worker)
  } catch (error) {
    if (error instanceof UnsealError) return {}
    throw error
  }
}

const PLACEHOLDER = /\$\{secret:([A-Za-z0-9_.-]{1,100})\}/g

/** Whether something of the value stands elsewhere, so that it is no secret by itself. */
export function namesSecret(value: string): boolean {
  return new RegExp(PLACEHOLDER.source).test(value)
}

/**
 * The worker's headers with its own secrets put in, else the project's; and what was put in, which no answer may show.
 * Throws `WorkerFault` where one is missing.
 */
export async function mcpHeaders(
  broker: Broker,
  worker: Worker,
): Promise<{ readonly headers: Readonly<Record<string, string>>; readonly values: readonly string[] }> {
  const templates = Object.entries(mcpSettings(worker).headers ?? {})
  if (templates.length === 0) return { headers: {}, values: [] }
  const own = new Map(Object.entries(mcpSecrets(broker, worker).secrets ?? {}))
  const names = new Set(
    templates.flatMap(([, value]) => [...value.matchAll(PLACEHOLDER)].map(([, name = '']) => name)),
  )
  const values = new Map<string, string>()
  for (const name of names) {
    const value = own.get(name) ?? (await openSecret(broker, worker.projectId, name))
    if (value === undefined || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw headerFault(
        value === undefined
          ? `A header needs the secret ${name}, which is not set: PATCH /v1/workers/${worker.id} {"mcp": {"secrets": {"${name}": …}}}, or POST /v1/admin/secrets/${name}.`
          : `The secret ${name} holds characters that no header may have.`,
      )
    values.set(name, value)
  }
  const headers = templates.map(([name, template]) => [
    name.toLowerCase(),
    template.replaceAll(PLACEHOLDER, (_, secret: string) => values.get(secret) ?? ''),
  ])
  return { headers: Object.fromEntries(headers), values: [...values.values()] }
}

function headerFault(developer_message: string): WorkerFault {
  return new WorkerFault({
    kind: 'TOOL_REQUIREMENTS_NOT_MET',
    message: 'What runs the tool is not set up yet: an administrator can read why in its sync_error.',
    can_retry: false,
    developer_message,
  })
}
