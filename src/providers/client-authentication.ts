import type { EpochSeconds } from '../domain/clock.ts'
import type { ClientCertificate } from '../egress/outgoing.ts'
import type { ClientAuthMethod } from './client-auth-method.ts'
import { certificateOf, isKeyMethod, isSent, KeyFault, signedAssertion, signsGrants } from './client-key.ts'
import type { Client, RegisteredClient } from './provider-entry.ts'
import { ProviderRefusal } from './provider-refusal.ts'
import type { RequestBlock } from './request-block.ts'

/** The client's credentials in a request: an `Authorization` value, or parameters of the body. */
export interface ClientCredentials {
  readonly authorization?: string
  readonly params: Readonly<Record<string, string>>
  /** For mutual TLS at every endpoint of the provider, since tokens may be bound to it (RFC 8705 section 3). */
  readonly certificate?: ClientCertificate
}

const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/**
 * The credentials for one request of this block, made now. Throws `ProviderRefusal` (`invalid_client`), with nothing sent,
 * if the client secret is not the key that the entry needs, or is a key that this block would send.
 */
export async function credentialsFor(
  { authMethod }: Pick<RequestBlock, 'authMethod'>,
  registered: Pick<RegisteredClient, 'provider' | 'client'>,
  now: EpochSeconds,
): Promise<ClientCredentials> {
  return withKey(registered, async () => {
    const certificate = certificateOf(registered)
    const own = await ownCredentials(authMethod, registered, now)
    return { ...own, ...(certificate && { certificate }) }
  })
}

/** Runs what uses the client's key. A `KeyFault` becomes a `ProviderRefusal` (`invalid_client`). */
export async function withKey<Result>(
  { provider, client }: Pick<RegisteredClient, 'provider' | 'client'>,
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof KeyFault)) throw error
    const about = client.clientSecret === undefined ? 'is missing' : error.message
    throw new ProviderRefusal('invalid_client', `The client secret of ${provider.displayName} ${about}.`)
  }
}

async function ownCredentials(
  authMethod: ClientAuthMethod,
  registered: Pick<RegisteredClient, 'provider' | 'client'>,
  now: EpochSeconds,
): Promise<ClientCredentials> {
  const { provider, client } = registered
  const params = { client_id: client.clientId }
  // the assertion of the grant names the client (RFC 7523 section 3.1)
  if (authMethod === 'none' && signsGrants(provider)) return { params: {} }
  if (authMethod === 'none' || authMethod === 'bearer_access_token' || authMethod === 'tls_client_auth')
    return { params }
  if (!isKeyMethod(authMethod)) {
    if (!isSent(provider, client)) throw new KeyFault('is a key, which is not sent')
    return clientCredentials(authMethod, client)
  }
  const jwt = await signedAssertion(registered, now)
  return authMethod === 'signed_client_secret'
    ? { params: { ...params, client_secret: jwt } }
    : { params: { ...params, client_assertion_type: JWT_BEARER, client_assertion: jwt } }
}

/**
 * How a client authenticates with its secret, in exactly one way per request (RFC 6749 section 2.3.1). A client
 * without a secret is public and is named by its `client_id` alone. Every request that sends a secret uses this
 * function, so that the secret is encoded in the same way at the token, revocation and introspection endpoints and at a
 * login.
 */
export function clientCredentials(
  authMethod: ClientAuthMethod,
  { clientId, clientSecret }: Client,
): ClientCredentials {
  if (clientSecret === undefined || clientSecret === '') return { params: { client_id: clientId } }
  switch (authMethod) {
    case 'client_secret_basic':
      return { authorization: basic(encoded(clientId), encoded(clientSecret)), params: {} }
    case 'client_secret_basic_unencoded':
      return { authorization: basic(clientId, clientSecret), params: {} }
    case 'client_secret_post':
      return { params: { client_id: clientId, client_secret: clientSecret } }
    default:
      return { params: { client_id: clientId } }
  }
}

/**
 * Encodes what a decoder of forms (RFC 6749 section 2.3.1) or of percent alone would read as something else, and what
 * Basic cannot hold: `%`, `+`, the colon, space, control characters and all beyond ASCII. The rest stays unencoded
 * although `application/x-www-form-urlencoded` encodes it, because every decoder leaves it unchanged, and servers that
 * decode nothing then recognise most generated secrets. A space is `%20`: percent decoders do not read `+` as one.
 */
function encoded(text: string): string {
  return text.replaceAll(/[^!-~]+|[%+:]/g, (part) => encodeURIComponent(part.toWellFormed()))
}

/** RFC 7617 section 2, in UTF-8. */
function basic(userId: string, password: string): string {
  return `Basic ${Buffer.from(`${userId}:${password}`).toString('base64')}`
}
