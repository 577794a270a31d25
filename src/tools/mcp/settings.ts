import type { Broker } from '../../broker.ts'
import type { AuthorizationRequirement } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import { openSecret } from '../../flows/manage-secrets.ts'
import { UnsealError } from '../../store/seal.ts'
import { isHeaderValue } from '../openapi/request-plan.ts'
import { WorkerFault } from '../worker-fault.ts'
import { openWorkerSecret } from '../worker-secret.ts'

/** The settings of an MCP server besides its URL: what the operator configured and what discovery found. */
export interface McpSettings {
  /** Sent with every request; `${secret:NAME}` is replaced by a secret. */
  readonly headers?: Readonly<Record<string, string>>
  readonly oauth2?: {
    readonly clientId?: string
    /** The issuer to use, if the server names several or none. */
    readonly authorizationUrl?: string
    readonly externalId?: string
    /** Requested besides the scopes that the server lists. `openid` is requested only if it is listed here. */
    readonly scopes?: readonly string[]
  }
  /** Replaces the namespace derived from the server's name. */
  readonly namespace?: string
  /** The member of a call's `_meta` that carries what the tool needs. Default: `arcade_context`. */
  readonly tokenMeta?: string
  /** The providers whose tokens the tools may require in their own declarations; absent: any. */
  readonly providers?: readonly string[]
  /** The requirements of tools that declare none; `tools` overrides declared ones by tool name. */
  readonly requirements?: McpRequirements & { readonly tools?: Readonly<Record<string, McpRequirements>> }
  /** Discovered: the server requires OAuth. */
  readonly authorization?: ServerAuthorization
}

/**
 * The scopes a call requires of the server's token: none if the server names no scopes; users are then asked for the
 * entry's default scopes.
 */
export function neededScopes(settings: McpSettings, named: readonly string[]): readonly string[] {
  return named.length === 0 ? [] : serverScopes(settings, named)
}

/**
 * The scopes that users are asked for. `openid` is dropped unless configured: servers list it along with everything
 * their authorization server supports, but tools need no ID token, and an invalid one would fail the whole grant.
 */
export function serverScopes({ oauth2 }: McpSettings, listed: readonly string[]): readonly string[] {
  const wanted = listed.filter((scope) => scope !== 'openid')
  return [...new Set([...wanted, ...(oauth2?.scopes ?? [])])]
}

export interface McpRequirements {
  readonly authorization?: readonly AuthorizationRequirement[]
  readonly secrets?: readonly string[]
}

export interface ServerAuthorization {
  readonly providerUid: string
  /** The scopes that the server requires of a token; empty: any token will do. */
  readonly scopes: readonly string[]
  /** The user whose connection lists the tools. */
  readonly userId?: string
}

/** The sealed part of the settings. */
export interface McpSecrets {
  readonly secrets?: Readonly<Record<string, string>>
  readonly clientSecret?: string
  /** Shared with the server: every request is signed with it, which proves that `_meta` is Gatepass's. */
  readonly brokerSecret?: string
}

export const DEFAULT_TOKEN_META = 'arcade_context'

export function mcpSettings({ settings }: Pick<Worker, 'settings'>): McpSettings {
  return settings as McpSettings // only this broker writes these settings
}

/** The decrypted secrets of the settings. Throws `UnsealError`. */
export function mcpSecrets(broker: Broker, worker: Worker): McpSecrets {
  const sealed = openWorkerSecret(broker, worker)
  return sealed === '' ? {} : (JSON.parse(sealed) as McpSecrets) // only this broker writes it
}

/**
 * Like `mcpSecrets`, for showing or changing the settings: empty if the sealed value was tampered with, so that an
 * operator can set it again.
 */
export function readableMcpSecrets(broker: Broker, worker: Worker): McpSecrets {
  try {
    return mcpSecrets(broker, worker)
  } catch (error) {
    if (error instanceof UnsealError) return {}
    throw error
  }
}

const PLACEHOLDER = /\$\{secret:([A-Za-z0-9_.-]{1,100})\}/g

/** Whether the value contains a placeholder, so that it is not itself secret. */
export function hasSecretPlaceholder(value: string): boolean {
  return new RegExp(PLACEHOLDER.source).test(value)
}

/** How Gatepass identifies itself to a server. */
export interface McpCredentials {
  readonly headers: Readonly<Record<string, string>>
  /** Signs requests, if the server shares a secret with Gatepass. */
  readonly signer?: RequestSigner
  /** The secrets in the headers and of the signer, which no answer may show. */
  readonly secretValues: readonly string[]
}

export interface RequestSigner {
  readonly secret: string
  /** The public URL of this Gatepass. */
  readonly issuer: string
}

/**
 * The worker's headers with secrets inserted (the worker's own, else the project's), and its signer. Throws
 * `WorkerFault` if a secret is missing.
 */
export async function mcpCredentials(broker: Broker, worker: Worker): Promise<McpCredentials> {
  const templates = Object.entries(mcpSettings(worker).headers ?? {})
  const { secrets = {}, brokerSecret } = mcpSecrets(broker, worker)
  const signer = brokerSecret && { secret: brokerSecret, issuer: broker.settings.publicUrl.origin }
  const own = new Map(Object.entries(secrets))
  const names = new Set(
    templates.flatMap(([, value]) => [...value.matchAll(PLACEHOLDER)].map(([, name = '']) => name)),
  )
  const values = new Map<string, string>()
  for (const name of names) {
    const value = own.get(name) ?? (await openSecret(broker, worker.projectId, name))
    if (value === undefined || !isHeaderValue(value))
      throw headerFault(
        value === undefined
          ? `A header needs the secret ${name}, which is not set. Set it by PATCH /v1/workers/${worker.id} {"mcp": {"secrets": {"${name}": …}}}, or POST /v1/admin/secrets/${name}.`
          : `The secret ${name} contains characters that a header must not contain.`,
      )
    values.set(name, value)
  }
  const headers = templates.map(([name, template]) => [
    name.toLowerCase(),
    template.replaceAll(PLACEHOLDER, (_, secret: string) => values.get(secret) ?? ''),
  ])
  return {
    headers: Object.fromEntries(headers),
    ...(signer && { signer }),
    secretValues: [...values.values(), ...(signer ? [signer.secret] : [])],
  }
}

function headerFault(developerMessage: string): WorkerFault {
  return new WorkerFault({
    kind: 'TOOL_REQUIREMENTS_NOT_MET',
    message: 'The server of the tool is not set up yet: its sync_error tells an administrator why.',
    canRetry: false,
    developerMessage,
  })
}
