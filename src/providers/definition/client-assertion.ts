import { createPrivateKey } from 'node:crypto'
import { z } from 'zod'
import {
  ASSERTION_ALGORITHMS,
  type ClientAssertion,
  KEY_METHODS,
  type RequestObject,
} from '../client-auth-method.ts'
import { canSignRequests, isSent, keyFault, keyMethodOf, makesAssertions } from '../client-key.ts'
import { REQUESTS_BY_ROLE } from '../endpoint-role.ts'
import type { Provider } from '../provider.ts'
import { requestsOf } from '../provider-endpoints.ts'
import { checkTemplate } from '../template.ts'
import { userVariables } from '../variables.ts'
import { withoutUndefined } from './member.ts'
import { refuse } from './refuse.ts'

// How a client whose secret is a key authenticates.

const template = z.string().min(1).max(1000)

/** The members that every JWT of a client has. */
export const assertionInput = z.object({
  algorithm: z.enum(ASSERTION_ALGORITHMS),
  key_id: template.nullish(),
  issuer: template.nullish(),
  subject: template.nullish(),
  audience: template.nullish(),
  lifetime: z.number().int().min(10).max(3600).optional(),
})

export const assertionAnswer = z.object({
  algorithm: z.string(),
  key_id: z.string().optional(),
  issuer: z.string().optional(),
  subject: z.string().optional(),
  audience: z.string().optional(),
  lifetime: z.number(),
})

export const clientAssertionInput = assertionInput.nullish().meta({
  description:
    "Beyond Arcade: the JWT of `private_key_jwt`, `client_secret_jwt` and `signed_client_secret`, made for each request. `client_secret` is its key: a private key in PEM or as a JWK, for HS256 a text. `key_id`, `issuer`, `subject` (default: the client id) and `audience` (default: the entry's issuer, else the token endpoint) may name `{{client_id}}` and variables. `lifetime` is in seconds, 60 by default.",
  example: {
    algorithm: 'ES256',
    key_id: 'ABC123DEFG',
    issuer: '{{team_id}}',
    audience: 'https://appleid.apple.com',
  },
})

export const clientAssertionAnswer = assertionAnswer.optional()

export const requestObjectInput = z
  .object({ algorithm: z.enum(ASSERTION_ALGORITHMS).nullish(), key_id: template.nullish() })
  .nullish()
  .meta({
    description:
      'Beyond Arcade: the parameters of the authorization request go into a JWT (RFC 9101) that the key of `private_key_jwt` or `client_secret_jwt` signs. `algorithm` and `key_id` are those of `client_assertion` unless given.',
    example: { algorithm: 'PS256' },
  })

export const requestObjectAnswer = z
  .object({ algorithm: z.string().optional(), key_id: z.string().optional() })
  .optional()

export function readRequestObject(
  sent: z.output<typeof requestObjectInput>,
  before: RequestObject | undefined,
): RequestObject | undefined {
  if (sent === undefined) return before
  if (sent === null) return undefined
  const { algorithm, key_id: keyId } = sent
  return { ...(algorithm && { algorithm }), ...(keyId && { keyId }) }
}

/** A request object is signed by the client's key, and its parameters have their standard names. */
export function checkRequestObject(provider: Provider): void {
  const { requestObject, authorizationRequest, stateParameter } = provider
  if (requestObject === undefined) return
  const method = keyMethodOf(provider)
  if (!canSignRequests(provider))
    refuse(
      'oauth2.request_object',
      'needs the auth_method private_key_jwt or client_secret_jwt in token_request, whose key signs it; null removes it',
    )
  const isMac = requestObject.algorithm?.startsWith('HS')
  if (isMac !== undefined && isMac !== (method === 'client_secret_jwt'))
    refuse(
      'oauth2.request_object.algorithm',
      `has to be ${isMac ? 'no HS… algorithm' : 'HS256, HS384 or HS512'} for the auth_method ${method}`,
    )
  const fault =
    requestObject.keyId && checkTemplate(requestObject.keyId, ['client_id', ...ownVariables(provider)])
  if (fault) refuse('oauth2.request_object.key_id', fault)
  if (authorizationRequest?.parameterNames !== undefined || stateParameter !== undefined)
    refuse(
      'oauth2.request_object',
      'cannot be used with parameter_names of authorize_request or state_parameter',
    )
}

/** The variables that a JWT may name: what users choose is not signed with the broker's key. */
export function ownVariables(provider: Provider): string[] {
  const asked = new Set(userVariables(provider).map(([name]) => name))
  return Object.keys(provider.variables ?? {}).filter((name) => !asked.has(name))
}

export function readClientAssertion(
  sent: z.output<typeof clientAssertionInput>,
  before: ClientAssertion | undefined,
): ClientAssertion | undefined {
  if (sent === undefined) return before
  return sent === null ? undefined : readAssertion(sent, 60)
}

/** `lifetime`: of an assertion that names none. */
export function readAssertion(sent: z.output<typeof assertionInput>, usual: number): ClientAssertion {
  const { algorithm, key_id: keyId, issuer, subject, audience, lifetime = usual } = sent
  const templates = { keyId, issuer, subject, audience }
  const given = Object.entries(templates).map(([name, text]) => [name, text ?? undefined] as const)
  return { algorithm, ...withoutUndefined(Object.fromEntries(given)), lifetimeSeconds: lifetime }
}

export function writeClientAssertion({ algorithm, keyId, lifetimeSeconds, ...rest }: ClientAssertion) {
  return { algorithm, ...(keyId !== undefined && { key_id: keyId }), ...rest, lifetime: lifetimeSeconds }
}

/** Refuses a provider whose requests would authenticate the client by its key and by sending its secret. */
export function checkClientKey(provider: Provider): void {
  const method = keyMethodOf(provider)
  const { clientAssertion } = provider
  if (clientAssertion !== undefined) {
    if (method === undefined || method === 'tls_client_auth')
      refuse(
        'oauth2.client_assertion',
        `needs the auth_method ${KEY_METHODS.filter((candidate) => candidate !== 'tls_client_auth').join(' or ')} in token_request; null removes it`,
      )
    for (const [name, text] of Object.entries(writeClientAssertion(clientAssertion))) {
      const fault =
        typeof text === 'string' ? checkTemplate(text, ['client_id', ...ownVariables(provider)]) : undefined
      if (fault !== undefined) refuse(`oauth2.client_assertion.${name}`, fault)
    }
    const isMac = clientAssertion.algorithm.startsWith('HS')
    if (method === 'client_secret_jwt' ? !isMac : method === 'private_key_jwt' && isMac)
      refuse(
        'oauth2.client_assertion.algorithm',
        isMac
          ? 'must not be an HS… algorithm for the auth_method private_key_jwt'
          : 'has to be HS256, HS384 or HS512 for the auth_method client_secret_jwt',
      )
  }
  if (method === undefined) return
  for (const [role, { authMethod = 'none', endpoint }] of requestsOf(provider)) {
    const { wire } = REQUESTS_BY_ROLE[role]
    if (authMethod === 'none' || authMethod === 'bearer_access_token') continue
    if (authMethod !== method)
      refuse(
        `oauth2.${wire}.auth_method`,
        `has to be ${method}, as in the other requests: client_secret is a key`,
      )
    if (method === 'tls_client_auth' && !endpoint.startsWith('https:'))
      refuse(`oauth2.${wire}.endpoint`, 'has to be https for the auth_method tls_client_auth')
  }
}

function isRsaKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa'
  } catch {
    return false
  }
}

/** Refuses a client secret that is not the key which the provider needs, or a private key that would be sent. */
export function checkClientSecret(provider: Provider, clientSecret: string | undefined): void {
  if (clientSecret === undefined) return
  if (provider.oauth1 !== undefined) {
    const needsKey = provider.oauth1.signatureMethod === 'RSA-SHA1'
    if (needsKey !== isRsaKey(clientSecret))
      refuse(
        'oauth1.client_secret',
        needsKey
          ? 'has to be a private RSA key in PEM, which RSA-SHA1 signs with'
          : 'is a private key: set signature_method to RSA-SHA1',
      )
    return
  }
  const fault = keyFault(provider, clientSecret)
  if (fault !== undefined) refuse('oauth2.client_secret', fault)
  if (makesAssertions(provider)) return
  if (keyMethodOf(provider) === undefined && !isSent(provider, { clientId: '', clientSecret }))
    refuse(
      'oauth2.client_secret',
      `is a private key, which is not sent: set token_request.auth_method to one of ${KEY_METHODS.join(', ')}`,
    )
}
