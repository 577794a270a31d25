import type { Context } from 'hono'
import type { Broker } from '../../broker.ts'
import { userFor } from '../../domain/api-key.ts'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import type { Authenticate } from '../../http/endpoint/authenticate.ts'
import { createClientAddress } from '../../http/endpoint/client-address.ts'
import { type Charge, createCountGuess } from '../../http/endpoint/rate-limit.ts'
import { utf8Header } from '../../http/endpoint/utf8-header.ts'
import { userIdText } from '../../operations/schemas/fields.ts'
import { checked, parse } from '../../parsing/parse.ts'
import { createIssuerTokens } from './issuer-tokens.ts'
import { type Credential, keyPrincipal, MCP_SCOPES, type Principal, tokenPrincipal } from './principal.ts'
import type { McpResource } from './resource.ts'
import { bearerJwt, claimedIssuer, type OwnAuthorizationServer, type VerifiedToken } from './token.ts'

/**
 * Returns the caller of a request to the resource, by the credential in `Authorization` alone, and counts the request
 * against its limit. Throws `invalid_authorization`, `insufficient_scope`, `user_not_allowed`, `rate_limited`, and
 * `provider_unavailable` while the keys of the issuer cannot be read.
 */
export type AuthenticateMcp = (c: Context, resource: McpResource) => Promise<Principal>

export interface CallerDependencies {
  /** The functions of the API, so that `/mcp` and the API share the limits of a key. */
  readonly authenticateKey: Authenticate
  readonly charge: Charge
  readonly authorizationServer: OwnAuthorizationServer
}

/** Requests a second of one user with one client, where `GATEPASS_RATE_LIMIT` sets no limit. */
const TOKEN_RATE = 100

/**
 * Reasons that concern a token which was valid once. Its client refreshes it after a 401. It is not counted as a guess,
 * which would lead to 429 for all clients behind the same proxy.
 */
const ENDED: ReadonlySet<string> = new Set(['expired', 'revoked', 'other_verifier', 'ERR_JWT_EXPIRED'])

/** Whose requests are counted together, with their limit: those of the API key, or of the user with this client. */
export function rateOf(
  { by, identity }: Principal,
  { requestsPerSecond }: Pick<Broker['settings'], 'requestsPerSecond'>,
): Parameters<Charge>[0] {
  return by.kind === 'api_key' ? by.key : { id: identity, rateLimit: requestsPerSecond || TOKEN_RATE }
}

export function createAuthenticateMcp(
  broker: Broker,
  { authenticateKey, charge, authorizationServer: own }: CallerDependencies,
): AuthenticateMcp {
  const { settings, store, log } = broker
  const { issuer } = settings.mcp
  const verifyExternal = issuer && createIssuerTokens(broker, issuer)
  const clientAddress = createClientAddress(settings)
  const countGuess = createCountGuess()
  let projectId: string | undefined

  async function verify(token: string, resource: string): Promise<VerifiedToken & { readonly iss?: string }> {
    const iss = claimedIssuer(token)
    if (iss === own.issuer) return { ...(await own.verify(token, resource)), iss }
    if (verifyExternal !== undefined && iss !== undefined && iss === issuer?.issuer)
      return { ...(await verifyExternal(token, resource)), iss }
    return { outcome: 'refused', reason: 'unknown_issuer' }
  }

  async function byToken(c: Context, token: string, resource: string): Promise<Principal> {
    const verified = await verify(token, resource)
    if (verified.outcome === 'refused') {
      log.debug({ reason: verified.reason, resource }, 'an access token was refused')
      if (!ENDED.has(verified.reason)) countGuess(clientAddress(c))
      throw new BrokerError('invalid_authorization', 'This access token is not valid here.')
    }
    const { userId, subject = userId, clientId, scopes, iss = '' } = verified
    const scope = MCP_SCOPES.find((known) => scopes.includes(known))
    if (scope === undefined)
      throw new BrokerError('insufficient_scope', 'This access token has neither the scope mcp nor mcp:read.')
    const by: Exclude<Credential, { kind: 'api_key' }> =
      iss === own.issuer
        ? { kind: 'client', clientId: clientId ?? '' }
        : { kind: 'issuer', issuer: iss, subject, clientId }
    projectId ??= (await store.projects.findByName(settings.mcp.project))?.id
    if (projectId === undefined) throw new Error('the project of GATEPASS_MCP_PROJECT no longer exists')
    const principal = tokenPrincipal(by, { projectId, userId, scope })
    charge(rateOf(principal, settings))
    // throws if the headers name another user
    userFor(principal, namedUser(c))
    return principal
  }

  return async (c, { url }) => {
    const authorization = c.req.header('authorization')
    if (authorization === undefined)
      throw new BrokerError(
        'invalid_authorization',
        'Send an API key or an access token as `Authorization: Bearer <token>`.',
      )
    const token = bearerJwt(authorization)
    if (token !== undefined) return byToken(c, token, url)
    const key = await authenticateKey(c, 'readonly')
    charge(key)
    return keyPrincipal(key, userFor(key, namedUser(c)))
  }
}

const userCheck = checked(userIdText, 'the headers')
/** Gatepass' own header, and Arcade's. */
const USER_HEADERS = ['x-gatepass-user', 'arcade-user-id'] as const

/** The user that the headers name. Throws `invalid_request` where they name two. */
function namedUser(c: Context): string | undefined {
  const values = USER_HEADERS.map((name) => c.req.header(name)).filter((value) => value !== undefined)
  const [first, second = first] = values
  if (first === undefined) return undefined
  if (first !== second)
    throw invalidMember('', 'conflict', 'X-Gatepass-User and Arcade-User-ID name different users.')
  return parse(userCheck, utf8Header(first))
}
