import { errors, type JWTPayload, type JWTVerifyOptions, type JWTVerifyResult, jwtVerify } from 'jose'
import type { Broker, McpIssuer } from '../../broker.ts'
import { userIdText } from '../../operations/schemas/fields.ts'
import { ID_TOKEN_ALGORITHMS } from '../../providers/openid.ts'
import { type KeySet, keysOfIssuer } from './issuer-keys.ts'
import { MCP_SCOPES } from './principal.ts'
import type { VerifiedToken } from './token.ts'

/** How far the clocks of the issuer and of this machine may differ. */
const CLOCK_SKEW_SECONDS = 60
const TYPES = ['at+jwt', 'application/at+jwt', 'jwt']

/**
 * Returns the function that verifies an access token of `GATEPASS_MCP_ISSUER` (RFC 9068 section 4). It throws
 * `provider_unavailable` while the issuer's keys cannot be read.
 */
export function createIssuerTokens(
  broker: Pick<Broker, 'outgoing' | 'discover' | 'now' | 'log'>,
  { issuer, audience, userClaim }: McpIssuer,
): (token: string, resource: string) => Promise<VerifiedToken> {
  const keys = keysOfIssuer(broker, issuer)

  async function verify(token: string, options: JWTVerifyOptions): Promise<JWTVerifyResult> {
    const known = await keys.current()
    try {
      return await verifyBy(known, token, options)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      const newer = await keys.newerThan(known) // the issuer may have a new key
      if (newer === undefined) throw error
      return verifyBy(newer, token, options)
    }
  }

  return async (token, resource) => {
    try {
      const { payload, protectedHeader } = await verify(token, {
        issuer,
        audience: audience ?? resource,
        algorithms: ID_TOKEN_ALGORITHMS,
        requiredClaims: ['iss', 'aud', 'exp'],
        clockTolerance: CLOCK_SKEW_SECONDS,
        currentDate: new Date(broker.now() * 1000),
      })
      const { typ } = protectedHeader
      const type = typ?.toLowerCase()
      if (type !== undefined && !TYPES.includes(type)) return refused('wrong_type')
      // a GATEPASS_MCP_AUDIENCE that is a client id is also the audience of ID tokens, which have no scopes
      const mayBeIdToken = audience !== undefined && (type === undefined || type === 'jwt')
      if (mayBeIdToken && payload.scope === undefined && payload.scp === undefined) return refused('id_token')
      return readClaims(payload, userClaim)
    } catch (error) {
      if (error instanceof errors.JOSEError) return refused(error.code)
      throw error
    }
  }
}

/** Verifies the token. If it names no key and several fit, each is tried. */
async function verifyBy(keys: KeySet, token: string, options: JWTVerifyOptions): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, keys, options)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    for await (const key of error) {
      try {
        return await jwtVerify(token, key, options)
      } catch (failure) {
        if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw failure
      }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

function readClaims(claims: JWTPayload, userClaim: string): VerifiedToken {
  // only ID tokens have these claims
  if (claims.nonce !== undefined || claims.at_hash !== undefined) return refused('id_token')
  // such a token is valid only with a proof of the client's key (RFC 7800), which is not checked here
  if (claims.cnf !== undefined) return refused('bound_to_key')
  const user = userIdText.safeParse(claims[userClaim])
  if (!user.success) return refused('no_user')
  if (userClaim === 'email' && claims.email_verified !== true) return refused('email_not_verified')
  const { client_id: client, azp } = claims
  const clientId = typeof client === 'string' ? client : typeof azp === 'string' ? azp : undefined
  return {
    outcome: 'valid',
    userId: user.data,
    ...(typeof claims.sub === 'string' && { subject: claims.sub }),
    clientId,
    scopes: scopesOf(claims),
  }
}

/** `scope` (RFC 9068 section 2.2.3), or `scp` as some issuers write it. A token without either has every scope. */
function scopesOf({ scope, scp }: JWTPayload): readonly string[] {
  const given = scope ?? scp
  if (given === undefined) return MCP_SCOPES
  if (typeof given === 'string') return given.split(' ')
  return Array.isArray(given) ? given.filter((item) => typeof item === 'string') : []
}

function refused(reason: string): VerifiedToken {
  return { outcome: 'refused', reason }
}
