import { decodeJwt } from 'jose'

/** What a verified access token says, or why it is refused: for the log, because a client sees no more than 401. */
export type VerifiedToken =
  | {
      readonly outcome: 'valid'
      readonly userId: string
      readonly subject?: string
      readonly clientId?: string
      /** Those of other resources too. */
      readonly scopes: readonly string[]
    }
  | { readonly outcome: 'refused'; readonly reason: string }

/** Gatepass' own authorization server, for the callers of `/mcp`. */
export interface OwnAuthorizationServer {
  /** As in `iss` of its tokens. */
  readonly issuer: string
  /** Verifies an access token for one resource, such as `https://gatepass.example.com/mcp`. */
  verify(token: string, resource: string): Promise<OwnToken>
}

export type OwnToken =
  | {
      readonly outcome: 'valid'
      readonly userId: string
      readonly clientId: string
      readonly scopes: readonly string[]
    }
  | { readonly outcome: 'refused'; readonly reason: string }

/** The token of `Authorization: Bearer <JWT>`; `undefined` where the credential is no JWT, as API keys are none. */
export function bearerJwt(authorization: string): string | undefined {
  return /^bearer +([\w-]+\.[\w-]+\.[\w-]*)$/i.exec(authorization.trim())?.[1]
}

/** The issuer that the token claims, unverified: it decides by whose keys the token is verified. */
export function claimedIssuer(token: string): string | undefined {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}
