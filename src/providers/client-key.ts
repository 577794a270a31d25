import { createPrivateKey, createSecretKey, type KeyObject, randomUUID, X509Certificate } from 'node:crypto'
import { SignJWT } from 'jose'
import type { EpochSeconds } from '../domain/clock.ts'
import type { ClientCertificate } from '../egress/outgoing.ts'
import {
  type AssertionAlgorithm,
  type ClientAssertion,
  type ClientAuthMethod,
  KEY_METHODS,
  type KeyMethod,
} from './client-auth-method.ts'
import type { Provider } from './provider.ts'
import { authorizationRequestIn, requestsOf, tokenRequestIn } from './provider-endpoints.ts'
import type { Client, RegisteredClient } from './provider-entry.ts'
import { isInstalled } from './provider-grant.ts'
import { fillTemplate } from './template.ts'

// Clients whose secret is a key: it signs a JWT for each request, or belongs to a TLS certificate. The key is sealed in
// the place of the client secret, and is not sent.

export function isKeyMethod(authMethod: ClientAuthMethod): authMethod is KeyMethod {
  return KEY_METHODS.some((known) => known === authMethod)
}

/** The method for which the provider's client secret is a key; `undefined` if it is a secret that is sent. */
export function keyMethodOf(provider: Provider): KeyMethod | undefined {
  return requestsOf(provider)
    .flatMap(([, { authMethod }]) => (authMethod === undefined ? [] : [authMethod]))
    .find(isKeyMethod)
}

/** Whether the provider's client secret is the key of the assertions that it exchanges for tokens. */
export function signsGrants({ grant }: { readonly grant?: Provider['grant'] | undefined }): boolean {
  return grant?.type === 'jwt_bearer'
}

/** Whether the client signs assertions for its tokens: with its secret as the key, or with a key beside its secret. */
export function makesAssertions(provider: { readonly grant?: Provider['grant'] | undefined }): boolean {
  return signsGrants(provider) || isInstalled(provider)
}

/**
 * The client as requests use it. With the grant `installation` the entry keeps the secret and, after it, the private key
 * in PEM as one text: the secret is sent, the key only signs.
 */
export function withKeyApart(provider: Provider, client: Client): Client {
  const { clientSecret: text } = client
  const at = text?.indexOf('-----BEGIN ') ?? -1
  if (text === undefined || at === -1 || !isInstalled(provider)) return client
  const { clientSecret: _, ...rest } = client
  const secret = text
    .slice(0, at)
    .replace(/(?:\\n|\s)+$/, '')
    .trim()
  return { ...rest, ...(secret !== '' && { clientSecret: secret }), privateKey: text.slice(at) }
}

/** Whether the client has a key that can sign its authorization requests (RFC 9101). */
export function canSignRequests(provider: Provider): boolean {
  const method = keyMethodOf(provider)
  return method === 'private_key_jwt' || method === 'client_secret_jwt'
}

/** Whether requests may carry the client secret. A private key is never sent, not even after a change of the method. */
export function isSent(provider: Provider, { clientSecret = '' }: Client): boolean {
  return (
    !signsGrants(provider) &&
    keyMethodOf(provider) === undefined &&
    !/-----BEGIN [A-Z ]*PRIVATE KEY-----|"kty"\s*:/.test(clientSecret)
  )
}

/**
 * The JWT that authenticates the client (RFC 7523 section 3), made for one request. Throws `KeyFault` if the client secret
 * is not the key that the provider's algorithm needs.
 */
export async function signedAssertion(
  { provider, client: { clientId, clientSecret = '' } }: Pick<RegisteredClient, 'provider' | 'client'>,
  now: EpochSeconds,
): Promise<string> {
  const assertion = assertionOf(provider)
  const { issuer, subject, audience, lifetimeSeconds } = assertion
  const filled = templatesOf(provider, clientId)
  const jwt = new SignJWT()
    .setIssuer(filled(issuer ?? '{{client_id}}'))
    .setSubject(filled(subject ?? '{{client_id}}'))
    .setAudience(filled(audience ?? provider.issuer ?? tokenRequestIn(provider).endpoint))
    .setIssuedAt(now)
    .setExpirationTime(now + lifetimeSeconds)
    .setJti(randomUUID())
  return signed(jwt, { ...assertion, type: 'JWT' }, clientSecret, filled)
}

const REQUEST_OBJECT_SECONDS = 300

/**
 * The parameters of an authorization request as a JWT (RFC 9101 section 4), signed with the key of the client's assertion.
 * Throws `KeyFault` as `signedAssertion`.
 */
export async function signedRequestObject(
  { provider, client: { clientId, clientSecret = '' } }: Pick<RegisteredClient, 'provider' | 'client'>,
  params: Readonly<Record<string, string>>,
  now: EpochSeconds,
): Promise<string> {
  const { issuer = new URL(authorizationRequestIn(provider).endpoint).origin } = provider
  const jwt = new SignJWT({ ...params })
    .setIssuer(clientId)
    .setAudience(issuer)
    .setIssuedAt(now)
    .setExpirationTime(now + REQUEST_OBJECT_SECONDS)
    .setJti(randomUUID())
  const header = { ...assertionOf(provider), ...provider.requestObject, type: 'oauth-authz-req+jwt' }
  return signed(jwt, header, clientSecret, templatesOf(provider, clientId))
}

/** Fills the templates of the entry's JWTs: `{{client_id}}` and variables. */
function templatesOf({ variables = {} }: Provider, clientId: string): (template: string) => string {
  const values = Object.entries(variables).map(([name, { value }]) => [name, value] as const)
  return (template) => fillTemplate(template, { ...Object.fromEntries(values), client_id: clientId })
}

/** Signs with the client's key. Throws `KeyFault`. */
export async function signed(
  jwt: SignJWT,
  { algorithm, keyId, type }: Pick<ClientAssertion, 'algorithm' | 'keyId'> & { readonly type: string },
  secret: string,
  filled: (template: string) => string,
): Promise<string> {
  const key = signingKey(secret, algorithm)
  const kid = keyId !== undefined && { kid: filled(keyId) }
  try {
    return await jwt.setProtectedHeader({ alg: algorithm, typ: type, ...kid }).sign(key)
  } catch {
    throw new KeyFault(`is no key for ${algorithm}`) // the library's message may describe the key
  }
}

/** The client secret is not the key that the provider's method needs. The message contains no part of the secret. */
export class KeyFault extends Error {
  constructor(fault: string) {
    super(fault)
    this.name = 'KeyFault'
  }
}

/** For a provider without `clientAssertion`: the claims of RFC 7523, with the algorithm that most servers accept. */
const USUAL_ASSERTION: ClientAssertion = { algorithm: 'RS256', lifetimeSeconds: 60 }
const USUAL_MAC: ClientAssertion = { algorithm: 'HS256', lifetimeSeconds: 60 }

function assertionOf(provider: Provider): ClientAssertion {
  const usual = keyMethodOf(provider) === 'client_secret_jwt' ? USUAL_MAC : USUAL_ASSERTION
  return provider.clientAssertion ?? usual
}

/** Why the client secret cannot be used by the provider's authentication method, or `undefined`. */
export function keyFault(provider: Provider, clientSecret: string): string | undefined {
  try {
    const method = keyMethodOf(provider)
    if (method === 'tls_client_auth') readCertificate(clientSecret)
    else if (method !== undefined) signingKey(clientSecret, assertionOf(provider).algorithm)
    const algorithm = provider.assertion?.algorithm ?? 'RS256'
    if (signsGrants(provider)) signingKey(clientSecret, algorithm)
    if (isInstalled(provider)) {
      const apart = withKeyApart(provider, { clientId: '', clientSecret })
      if (apart.privateKey === undefined || apart.clientSecret === undefined)
        throw new KeyFault('has to be the client secret and, after it, the private key in PEM')
      signingKey(apart.privateKey, algorithm)
    }
    if (provider.requestObject?.algorithm !== undefined)
      signingKey(clientSecret, provider.requestObject.algorithm)
    return undefined
  } catch (error) {
    if (error instanceof KeyFault) return error.message
    throw error
  }
}

/** RFC 7518 section 3.2: a key must not be shorter than the hash. */
const BYTES_OF_MAC = { HS256: 32, HS384: 48, HS512: 64 }
const CURVES: Readonly<Partial<Record<AssertionAlgorithm, string>>> = {
  ES256: 'prime256v1',
  ES384: 'secp384r1',
  ES512: 'secp521r1',
}

function signingKey(secret: string, algorithm: AssertionAlgorithm): KeyObject {
  if (algorithm === 'HS256' || algorithm === 'HS384' || algorithm === 'HS512') {
    const bytes = Buffer.from(secret)
    if (bytes.byteLength < BYTES_OF_MAC[algorithm])
      throw new KeyFault(`has fewer than the ${BYTES_OF_MAC[algorithm]} bytes that ${algorithm} needs`)
    return createSecretKey(bytes)
  }
  const key = privateKey(secret)
  const { asymmetricKeyType: type, asymmetricKeyDetails: { namedCurve, modulusLength = 0 } = {} } = key
  const curve = CURVES[algorithm]
  const fits =
    curve !== undefined
      ? namedCurve === curve
      : algorithm === 'EdDSA'
        ? type === 'ed25519'
        : type === 'rsa' && modulusLength >= 2048
  if (!fits) throw new KeyFault(`is no key for ${algorithm}${neededKey(curve, algorithm)}`)
  return key
}

function neededKey(curve: string | undefined, algorithm: AssertionAlgorithm): string {
  if (curve !== undefined) return ` (an EC key of the curve ${curve === 'prime256v1' ? 'P-256' : curve})`
  return algorithm === 'EdDSA' ? ' (an Ed25519 key)' : ' (an RSA key of 2048 bits or more)'
}

/** A private key in PEM (PKCS #8, PKCS #1, SEC 1) or as a JWK. */
function privateKey(text: string): KeyObject {
  try {
    const trimmed = text.trim()
    return trimmed.startsWith('{')
      ? createPrivateKey({ key: JSON.parse(trimmed), format: 'jwk' })
      : createPrivateKey(withLineBreaks(text))
  } catch {
    throw new KeyFault('is not a private key without a password, in PEM or as a JWK')
  }
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g

/**
 * The certificate of `tls_client_auth`, for every request to the provider's endpoints: access tokens may be bound to it
 * (RFC 8705 section 3). `undefined` for clients that authenticate by other methods. Throws `KeyFault`.
 */
export function certificateOf({
  provider,
  client,
}: Pick<RegisteredClient, 'provider' | 'client'>): ClientCertificate | undefined {
  return keyMethodOf(provider) === 'tls_client_auth' ? readCertificate(client.clientSecret ?? '') : undefined
}

function readCertificate(text: string): ClientCertificate {
  const pem = withLineBreaks(text)
  const chain = pem.match(CERTIFICATE) ?? []
  const [own] = chain
  if (own === undefined) throw new KeyFault('has no certificate in PEM')
  const key = privateKey(pem.replaceAll(CERTIFICATE, ''))
  try {
    if (!new X509Certificate(own).checkPrivateKey(key)) throw new KeyFault('has a key of another certificate')
  } catch (error) {
    throw error instanceof KeyFault ? error : new KeyFault('has no readable certificate')
  }
  return { cert: chain.join('\n'), key: String(key.export({ type: 'pkcs8', format: 'pem' })) }
}

/** Environments and JSON files often hold PEM on one line, with `\n` written out. */
function withLineBreaks(pem: string): string {
  return pem.replaceAll('\\n', '\n')
}
