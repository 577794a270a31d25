import type { EpochSeconds } from '../domain/clock.ts'
import { type Outgoing, OutgoingError } from '../egress/outgoing.ts'
import type { ServerMetadata } from './discovery.ts'
import type { Provider } from './provider.ts'
import type { Client } from './provider-entry.ts'
import { ProviderRefusal, refusalWithoutResponse } from './provider-refusal.ts'
import type { TokenRequestBlock } from './request-block.ts'
import { readJsonMembers } from './response-body.ts'

/** The broker's client metadata (RFC 7591 section 2), for registrations and for its client ID metadata document. */
export interface ClientMetadata {
  readonly client_name: string
  readonly client_uri?: string
  readonly redirect_uris: readonly string[]
  readonly grant_types: readonly string[]
  readonly response_types: readonly string[]
  readonly token_endpoint_auth_method: string
  readonly application_type: 'web' | 'native'
  readonly scope?: string
}

/** A client, and how it authenticates at the token endpoint. */
export interface ClientRegistration {
  readonly client: Client
  readonly authMethod: TokenRequestBlock['authMethod']
  /** Absent: the client has no secret, or one that does not expire. */
  readonly secretExpiresAt?: EpochSeconds
}

/**
 * In the order of preference. The MCP SDK for Python wants `client_id` in the body of every token request, which Basic
 * leaves out, so a secret is sent in the body where the server accepts both.
 */
const METHODS = ['none', 'client_secret_post', 'client_secret_basic'] as const
const MAX_CREDENTIAL = 4096

export function clientMetadata(options: {
  readonly publicUrl: URL
  readonly redirectUris: readonly [string, ...string[]]
  readonly authMethod: string
  readonly scopes?: readonly string[]
}): ClientMetadata {
  const { publicUrl, redirectUris, authMethod, scopes = [] } = options
  return {
    client_name: 'Gatepass',
    client_uri: publicUrl.origin,
    redirect_uris: redirectUris,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: authMethod,
    // a web client has no http URI and no localhost (OpenID Connect Registration section 2)
    application_type: new URL(redirectUris[0]).protocol === 'https:' ? 'web' : 'native',
    ...(scopes.length > 0 && { scope: scopes.join(' ') }),
  }
}

/** The method that the broker registers with: a public client if the server accepts one, since PKCE binds the code. */
export function usualAuthMethod({
  token_endpoint_auth_methods_supported: supported,
}: Pick<ServerMetadata, 'token_endpoint_auth_methods_supported'>): (typeof METHODS)[number] {
  if (supported === undefined) return 'client_secret_basic' // RFC 8414 section 2
  return METHODS.find((method) => supported.includes(method)) ?? 'client_secret_basic'
}

/** Registers the broker openly (RFC 7591 section 3). Throws `ProviderRefusal`. */
export async function registerClient(
  outgoing: Outgoing,
  endpoint: string,
  metadata: ClientMetadata,
): Promise<ClientRegistration> {
  const { host } = new URL(endpoint)
  const { status, body } = await outgoing
    .send({
      url: endpoint,
      method: 'POST',
      purpose: 'discovery',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(metadata),
    })
    .catch((error: unknown) => {
      throw error instanceof OutgoingError ? refusalWithoutResponse(error) : error
    })
  const answer = readJsonMembers(body)
  if (status !== 201 && status !== 200) {
    const code =
      typeof answer?.error === 'string' ? answer.error.replace(/[^\x21-\x7e]/g, '?').slice(0, 100) : ''
    throw new ProviderRefusal(
      status >= 500 || status === 429 ? 'provider_unavailable' : 'provider_refused',
      `${host} refused to register this broker as a client (HTTP ${status}${code === '' ? '' : `, ${code}`}).`,
    )
  }
  const { client_id: clientId, client_secret: clientSecret, token_endpoint_auth_method: said } = answer ?? {}
  if (!isCredential(clientId))
    throw new ProviderRefusal('provider_bad_response', `${host} registered this broker without a client id.`)
  if (!isCredential(clientSecret)) return { client: { clientId }, authMethod: 'none' }
  const authMethod = METHODS.find((method) => method === said) ?? methodOfSecret(metadata)
  return authMethod === 'none'
    ? { client: { clientId }, authMethod }
    : { client: { clientId, clientSecret }, authMethod, ...expiryIn(answer) }
}

/** The method of a client whose registration names none: the one it asked for, or the default of RFC 7591 section 2. */
function methodOfSecret({ token_endpoint_auth_method: asked }: ClientMetadata): (typeof METHODS)[number] {
  return asked === 'client_secret_post' ? asked : 'client_secret_basic'
}

/** When the secret expires; 0 says that it never does (RFC 7591 section 3.2.1). */
function expiryIn(
  answer: Readonly<Record<string, unknown>> | undefined,
): Pick<ClientRegistration, 'secretExpiresAt'> {
  const { client_secret_expires_at: at } = answer ?? {}
  return typeof at === 'number' && Number.isSafeInteger(at) && at > 0 ? { secretExpiresAt: at } : {}
}

/** Whether the secret has expired that the server gave the broker at its registration. */
export function isSecretExpired(
  { clientSecretExpiresAt }: Pick<Provider, 'clientSecretExpiresAt'>,
  now: EpochSeconds,
): boolean {
  return clientSecretExpiresAt !== undefined && now >= clientSecretExpiresAt
}

function isCredential(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value !== '' &&
    value.length <= MAX_CREDENTIAL &&
    /^[\x20-\x7e]+$/.test(value)
  )
}
