import { parseJwt } from '../jwt.ts'
import { tokenVerifier } from '../worker/verify-token.ts'
import { type IssuerOptions, issuerVerifier } from './issuer.ts'

/** Who sends a request. */
export type Caller =
  /** Gatepass, identified by the shared secret: its `_meta.arcade_context` is used. */
  | { readonly kind: 'broker' }
  /** Someone whose token was verified, or the configured user of a stdio server. */
  | { readonly kind: 'user'; readonly userId: string; readonly claims: Readonly<Record<string, unknown>> }
  /** Only where the app's tools need neither a user nor a secret. */
  | { readonly kind: 'anonymous' }

export interface CallerOptions {
  /**
   * Shared with Gatepass, at least 32 characters: the `secret` of its worker of the type `mcp`. Gatepass signs each
   * request with it, as it does for workers over HTTP: `Authorization: Bearer` a JWT by HS256 with the audience
   * `worker` and `ver` "1".
   */
  readonly brokerSecret?: string | undefined
  /** An authorization server whose JWTs are accepted; `sub` is the user. */
  readonly issuer?: IssuerOptions | undefined
  /** Checks any other token. Returns its user, or `undefined` for a token that is not valid. */
  readonly verify?:
    | ((token: string, request: Request) => VerifiedToken | undefined | Promise<VerifiedToken | undefined>)
    | undefined
}

export interface VerifiedToken {
  /** The id of the user at Gatepass. */
  readonly sub: string
  readonly [claim: string]: unknown
}

const MIN_SECRET_LENGTH = 32

/** Returns the caller of a request, or `undefined` if it must be refused with 401. */
export type IdentifyCaller = (request: Request) => Promise<Caller | undefined>

/** Throws `TypeError` for options that would leave the tools open. */
export function callerIdentification(
  { brokerSecret, issuer, verify }: CallerOptions,
  { needsCaller, now }: { readonly needsCaller: () => string | undefined; readonly now: () => number },
): IdentifyCaller {
  if (brokerSecret !== undefined && brokerSecret.length < MIN_SECRET_LENGTH)
    throw new TypeError(`brokerSecret must have at least ${MIN_SECRET_LENGTH} characters.`)
  const isBroker = brokerSecret === undefined ? undefined : tokenVerifier(brokerSecret)
  const isIssued = issuer && issuerVerifier(issuer, now)
  if (brokerSecret === undefined && isIssued === undefined && verify === undefined) {
    const need = needsCaller()
    if (need !== undefined)
      throw new TypeError(
        `${need}, so callers over HTTP must be known. Give brokerSecret, issuer or verify; over stdio, user.`,
      )
    // a tool that is added later may need a caller
    return async () => (needsCaller() === undefined ? { kind: 'anonymous' } : undefined)
  }
  return async (request) => {
    const token = /^Bearer +([^\s]+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
    if (token === undefined) return undefined
    if (await isBroker?.(request.headers.get('authorization'))) return { kind: 'broker' }
    const jwt = parseJwt(token)
    if (isIssued !== undefined && jwt !== undefined && isUser(jwt.claims.sub) && (await isIssued(jwt)))
      return { kind: 'user', userId: jwt.claims.sub, claims: jwt.claims }
    const verified = await verify?.(token, request)
    return verified && isUser(verified.sub)
      ? { kind: 'user', userId: verified.sub, claims: verified }
      : undefined
  }
}

/** JavaScript programs may return a token without a user from `verify`. */
function isUser(sub: unknown): sub is string {
  return typeof sub === 'string' && sub !== ''
}

/** Identifies a caller: a session or a state of one caller is refused to another. */
export function callerKey(caller: Caller): string {
  return caller.kind === 'user' ? `user:${caller.userId}` : caller.kind
}

export function userOf(caller: Caller): string | null {
  return caller.kind === 'user' ? caller.userId : null
}
