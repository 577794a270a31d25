import { createLocalJWKSet, type JWTPayload, jwtVerify } from 'jose'
import type { Broker } from '../../broker.ts'
import type { McpConsent } from '../../domain/mcp-consent.ts'
import { isApprovalValid } from '../../flows/mcp-clients.ts'
import { createReadCache } from '../../services/read-cache.ts'
import { claimedIssuer } from '../callers/token.ts'
import { publicJwk, type SigningKey, type SigningKeys } from './signing-keys.ts'

/** The claims of a verified access token. */
export interface AccessTokenClaims {
  readonly outcome: 'valid'
  readonly userId: string
  readonly clientId: string
  /** At least one of `mcp` and `mcp:read`. */
  readonly scopes: readonly string[]
  /** The id of the grant that the token belongs to. */
  readonly grant: string
}

/** Why a token is refused. The reason is for the log; the client never receives it. */
export type AccessTokenRefusal =
  /** Not a JWT, or a JWT whose `iss` is another issuer. */
  | 'not_issued_here'
  /** The signature is not by a key of this server, or the claims are not those of an access token. */
  | 'altered'
  | 'expired'
  /** Issued for another resource (RFC 8707). */
  | 'other_audience'
  /** The user or the administrator disconnected the client, or a refresh token was used twice. */
  | 'revoked'
  /** The user approved the client under another verifier than that of the settings. */
  | 'other_verifier'

export type VerifiedAccessToken =
  | AccessTokenClaims
  | { readonly outcome: 'refused'; readonly reason: AccessTokenRefusal }

/**
 * Verifies an access token of this authorization server (RFC 9068 section 4) for one resource, such as
 * `https://gatepass.example.com/mcp`. The grant is looked up through a cache that changes of the store invalidate.
 */
export type VerifyAccessToken = (token: string, resource: string) => Promise<VerifiedAccessToken>

/** The most grants that are cached. */
const MAX_CACHED = 20_000

export function createVerifyAccessToken(
  { store, now, settings }: Pick<Broker, 'store' | 'now' | 'settings'>,
  { keys, projectId }: { readonly keys: SigningKeys; readonly projectId: string },
): VerifyAccessToken {
  const issuer = settings.publicUrl.origin
  const grants = createReadCache<{ readonly consent?: McpConsent }>(store, {
    max: MAX_CACHED,
    forgets: (change) => (change.noun === 'mcp_grant' ? change.id : undefined),
  })
  const keySets = new WeakMap<readonly SigningKey[], ReturnType<typeof createLocalJWKSet>>()

  function keySetOf(signing: readonly SigningKey[]) {
    const known = keySets.get(signing)
    if (known !== undefined) return known
    const made = createLocalJWKSet({ keys: signing.map(publicJwk) })
    keySets.set(signing, made)
    return made
  }

  async function verified(
    token: string,
    signing: readonly SigningKey[],
  ): Promise<JWTPayload | AccessTokenRefusal | 'unknown_key'> {
    try {
      const { payload } = await jwtVerify(token, keySetOf(signing), {
        issuer,
        algorithms: ['ES256'],
        typ: 'at+jwt',
        requiredClaims: ['sub', 'aud', 'exp', 'iat', 'client_id', 'grant_id'],
        currentDate: new Date(now() * 1000),
      })
      return payload
    } catch (error) {
      const code = codeOf(error)
      if (code === 'ERR_JWKS_NO_MATCHING_KEY') return 'unknown_key'
      return code === 'ERR_JWT_EXPIRED' ? 'expired' : 'altered'
    }
  }

  return async (token, resource) => {
    if (claimedIssuer(token) !== issuer) return refused('not_issued_here')
    const known = await keys.current()
    let payload = await verified(token, known)
    if (payload === 'unknown_key') {
      const current = await keys.refresh()
      if (current !== known) payload = await verified(token, current)
    }
    if (payload === 'unknown_key') return refused('altered')
    if (typeof payload === 'string') return refused(payload)
    const { sub, aud, client_id, grant_id, scope } = payload
    if (aud !== resource) return refused('other_audience')
    if (typeof sub !== 'string' || typeof client_id !== 'string' || typeof grant_id !== 'string')
      return refused('altered')
    const { consent } = await grants.get(grant_id, async () => {
      const consent = await store.mcpConsents.findByGrant(grant_id)
      return consent === undefined ? {} : { consent }
    })
    if (consent?.userId !== sub || consent.clientId !== client_id || consent.projectId !== projectId)
      return refused('revoked')
    if (!isApprovalValid({ settings }, consent)) return refused('other_verifier')
    const scopes = typeof scope === 'string' ? scope.split(' ') : []
    return { outcome: 'valid', userId: sub, clientId: client_id, scopes, grant: grant_id }
  }
}

function refused(reason: AccessTokenRefusal): VerifiedAccessToken {
  return { outcome: 'refused', reason }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
