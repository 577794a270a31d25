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
   * Shared with Gatepass, at least 32 characters: the `secret` of its worker of the type `mcp`. Each request from
   * Gatepass has a bearer token, as for workers over HTTP: a JWT that is signed with this secret (HS256), with the
   * audience `worker` and `ver` "1".
   */
  readonly brokerSecret?: string | undefined
  /** An authorization server whose JWTs are accepted; `sub` is the user. */
  readonly issuer?: IssuerOptions | undefined
  /** Checks any other token. Returns the token's claims, or `undefined` for a token that is not valid. */
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

/** Whether an option makes every request need a token. */
export function identifiesCallers({ brokerSecret, issuer, verify }: CallerOptions): boolean {
  return brokerSecret !== undefined || issuer !== undefined || verify !== undefined
}

/** Returns the caller of a request, or `undefined` if it must be refused with 401. */
export type IdentifyCaller = (request: Request) => Promise<Caller | undefined>

/**
 * Makes the function that identifies callers. Throws `TypeError` for a `brokerSecret` that is too short, and where the
 * tools need a caller and no option identifies one.
 */
export function callerIdentification(
  options: CallerOptions,
  {
    whyCallerNeeded,
    now,
  }: {
    /** Returns why the tools need a caller, for the error's message; `undefined` if they do not. */
    readonly whyCallerNeeded: () => string | undefined
    readonly now: () => number
  },
): IdentifyCaller {
  const { brokerSecret, issuer, verify } = options
  if (brokerSecret !== undefined && brokerSecret.length < MIN_SECRET_LENGTH)
    throw new TypeError(`brokerSecret must have at least ${MIN_SECRET_LENGTH} characters.`)
  const isBroker = brokerSecret === undefined ? undefined : tokenVerifier(brokerSecret)
  const isIssued = issuer && issuerVerifier(issuer, now)
  if (!identifiesCallers(options)) {
    const reason = whyCallerNeeded()
    if (reason !== undefined)
      throw new TypeError(
        `${reason}, so callers must be identified. Set brokerSecret, issuer or verify; over stdio, set user.`,
      )
    // a tool that is added later may need a caller
    return async () => (whyCallerNeeded() === undefined ? { kind: 'anonymous' } : undefined)
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

/** Whether `sub` names a user. `verify` of a program in JavaScript may return claims without `sub`. */
function isUser(sub: unknown): sub is string {
  return typeof sub === 'string' && sub !== ''
}

/** Returns the key of a caller. Sessions and request states are bound to it, so another caller cannot use them. */
export function callerKey(caller: Caller): string {
  return caller.kind === 'user' ? `user:${caller.userId}` : caller.kind
}

export function userOf(caller: Caller): string | null {
  return caller.kind === 'user' ? caller.userId : null
}
