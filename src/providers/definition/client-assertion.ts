import { z } from 'zod'
import { ASSERTION_ALGORITHMS, type ClientAssertion, KEY_METHODS } from '../client-auth-method.ts'
import { isSent, keyFault, keyMethodOf } from '../client-key.ts'
import type { Provider } from '../provider.ts'
import { checkTemplate } from '../template.ts'
import { userVariables } from '../variables.ts'
import { withoutUndefined } from './member.ts'
import { refuse } from './refuse.ts'

// How a client whose secret is a key authenticates.

const template = z.string().min(1).max(1000)

export const clientAssertionInput = z
  .object({
    algorithm: z.enum(ASSERTION_ALGORITHMS),
    key_id: template.nullish(),
    issuer: template.nullish(),
    subject: template.nullish(),
    audience: template.nullish(),
    lifetime: z.number().int().min(10).max(3600).optional(),
  })
  .nullish()
  .meta({
    description:
      "Beyond Arcade: the JWT of `private_key_jwt`, `client_secret_jwt` and `signed_client_secret`, made for each request. `client_secret` is its key: a private key in PEM or as a JWK, for HS256 a text. `key_id`, `issuer`, `subject` (default: the client id) and `audience` (default: the entry's issuer, else the token endpoint) may name `{{client_id}}` and variables. `lifetime` is in seconds, 60 by default.",
    example: {
      algorithm: 'ES256',
      key_id: 'ABC123DEFG',
      issuer: '{{team_id}}',
      audience: 'https://appleid.apple.com',
    },
  })

export const clientAssertionAnswer = z
  .object({
    algorithm: z.string(),
    key_id: z.string().optional(),
    issuer: z.string().optional(),
    subject: z.string().optional(),
    audience: z.string().optional(),
    lifetime: z.number(),
  })
  .optional()

export function readClientAssertion(
  sent: z.output<typeof clientAssertionInput>,
  before: ClientAssertion | undefined,
): ClientAssertion | undefined {
  if (sent === undefined) return before
  if (sent === null) return undefined
  const { algorithm, key_id: keyId, issuer, subject, audience, lifetime = 60 } = sent
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
  // what users choose is not signed with the broker's key
  const asked = new Set(userVariables(provider).map(([name]) => name))
  const variables = Object.keys(provider.variables ?? {}).filter((name) => !asked.has(name))
  if (clientAssertion !== undefined) {
    if (method === undefined || method === 'tls_client_auth')
      refuse(
        'oauth2.client_assertion',
        `needs the auth_method ${KEY_METHODS.filter((candidate) => candidate !== 'tls_client_auth').join(' or ')} in token_request; null removes it`,
      )
    for (const [name, text] of Object.entries(writeClientAssertion(clientAssertion))) {
      const fault = typeof text === 'string' ? checkTemplate(text, ['client_id', ...variables]) : undefined
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
  for (const [name, block] of blocksOf(provider)) {
    if (block === undefined || block.authMethod === 'none' || block.authMethod === 'bearer_access_token')
      continue
    if (block.authMethod !== method)
      refuse(
        `oauth2.${name}.auth_method`,
        `has to be ${method}, as in the other requests: client_secret is a key`,
      )
    if (method === 'tls_client_auth' && !block.endpoint.startsWith('https:'))
      refuse(`oauth2.${name}.endpoint`, 'has to be https for the auth_method tls_client_auth')
  }
}

/** Refuses a client secret that is not the key which the provider needs, or a private key that would be sent. */
export function checkClientSecret(provider: Provider, clientSecret: string | undefined): void {
  if (clientSecret === undefined) return
  const fault = keyFault(provider, clientSecret)
  if (fault !== undefined) refuse('oauth2.client_secret', fault)
  if (keyMethodOf(provider) === undefined && !isSent(provider, { clientId: '', clientSecret }))
    refuse(
      'oauth2.client_secret',
      `is a private key, which is not sent: set token_request.auth_method to one of ${KEY_METHODS.join(', ')}`,
    )
}

function blocksOf(provider: Provider) {
  const { tokenRequest, refreshRequest, exchangeRequest, renewalRequest } = provider
  return Object.entries({
    token_request: tokenRequest,
    refresh_request: refreshRequest,
    exchange_request: exchangeRequest,
    renewal_request: renewalRequest,
    token_introspection_request: provider.introspectionRequest,
    revocation_request: provider.revocationRequest,
  })
}
