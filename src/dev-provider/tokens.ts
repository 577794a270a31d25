import { randomUUID } from 'node:crypto'
import { errors, jwtVerify, SignJWT } from 'jose'
import type { Clock, EpochSeconds } from '../domain/clock.ts'
import { SANDBOX_CLIENT_ID } from './client.ts'
import { deriveKey } from './keys.ts'

export type TokenKind = 'code' | 'access' | 'refresh'

/** A user's approval; the code and all tokens that come from it carry it. */
export interface Approval {
  /** The account that approved. */
  readonly sub: string
  /** Space-separated. */
  readonly scope: string
  /** The id of the approval, shared by all its tokens. */
  readonly grant: string
}

/** Binds a code to its authorization request (RFC 6749 section 4.1.3, RFC 7636 section 4.4). */
export interface CodeBinding {
  readonly redirect_uri: string
  readonly code_challenge: string
}

/** The claims of a valid token. */
export interface TokenClaims extends Approval, Partial<CodeBinding> {
  readonly jti: string
  readonly exp: EpochSeconds
}

export interface SandboxTokens {
  issue(kind: 'code', approval: Approval & CodeBinding): Promise<string>
  issue(kind: 'access' | 'refresh', approval: Approval): Promise<string>
  /** The claims of a token; `undefined` if it is not of this kind, has expired or was revoked. Does not spend it. */
  read(kind: TokenKind, token: string): Promise<TokenClaims | undefined>
  /**
   * Spends a code or refresh token, which is valid once. Returns `false` if it was spent before: it may have leaked,
   * so the whole grant is revoked (RFC 9700 sections 2.1.1 and 4.14.2).
   */
  spend(claims: TokenClaims): boolean
  /** Revokes one access token, or, given a refresh token, the whole grant (RFC 7009 section 2.1). */
  revoke(kind: TokenKind, claims: TokenClaims): void
}

const MINUTE = 60
const DAY = 24 * 60 * MINUTE

/** In seconds. Access tokens expire early, so that a newcomer soon sees a refresh. */
export const LIFETIME: Readonly<Record<TokenKind, number>> = {
  code: MINUTE,
  access: 2 * MINUTE,
  refresh: 30 * DAY,
}

const TYPE: Readonly<Record<TokenKind, string>> = { code: 'code+jwt', access: 'at+jwt', refresh: 'rt+jwt' }

/**
 * Codes and tokens are signed JWTs, so none are stored. Spent and revoked ones are remembered in memory, until a
 * restart.
 */
export function sandboxTokens({
  issuer,
  key,
  now,
}: {
  issuer: string
  key: Buffer
  now: Clock
}): SandboxTokens {
  const keys = {
    code: deriveKey(key, 'code'),
    access: deriveKey(key, 'access token'),
    refresh: deriveKey(key, 'refresh token'),
  }
  /** Spent codes and refresh tokens by `jti`, until they expire. */
  const spent = new Map<string, EpochSeconds>()
  /** Revoked access tokens by `jti`, and revoked grants by id. */
  const revoked = new Map<string, EpochSeconds>()

  function remember(memory: Map<string, EpochSeconds>, id: string, until: EpochSeconds): void {
    for (const [known, end] of memory) if (end <= now()) memory.delete(known)
    memory.set(id, until)
  }

  function endGrant(grant: string): void {
    remember(revoked, grant, now() + LIFETIME.refresh)
  }

  return {
    issue(kind, { sub, scope, grant, ...binding }: Approval & Partial<CodeBinding>) {
      return new SignJWT({ scope, grant, ...binding })
        .setProtectedHeader({ alg: 'HS256', typ: TYPE[kind] })
        .setIssuer(issuer)
        .setAudience(SANDBOX_CLIENT_ID)
        .setSubject(sub)
        .setJti(randomUUID())
        .setIssuedAt(now())
        .setExpirationTime(now() + LIFETIME[kind])
        .sign(keys[kind])
    },

    async read(kind, token) {
      try {
        const { payload } = await jwtVerify<TokenClaims>(token, keys[kind], {
          algorithms: ['HS256'],
          typ: TYPE[kind],
          issuer,
          audience: SANDBOX_CLIENT_ID,
          currentDate: new Date(now() * 1000),
        })
        return revoked.has(payload.grant) || revoked.has(payload.jti) ? undefined : payload
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined
        throw error
      }
    },

    spend({ jti, grant, exp }) {
      if (spent.has(jti)) {
        endGrant(grant)
        return false
      }
      remember(spent, jti, exp)
      return true
    },

    revoke(kind, { jti, grant, exp }) {
      if (kind === 'access') remember(revoked, jti, exp)
      else endGrant(grant)
    },
  }
}
