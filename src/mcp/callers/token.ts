import { decodeJwt, decodeProtectedHeader } from 'jose'

/** The claims of a verified access token, or why it is refused. The reason is for the log; the client sees 401 only. */
export type VerifiedToken =
  | {
      readonly outcome: 'valid'
      readonly userId: string
      readonly subject?: string
      readonly clientId?: string | undefined
      /** May include scopes of other resources. */
      readonly scopes: readonly string[]
    }
  | { readonly outcome: 'refused'; readonly reason: string }

/** Gatepass' own authorization server, for the callers of `/mcp`. */
export interface OwnAuthorizationServer {
  /** The `iss` of its tokens. */
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

/** The token of `Authorization: Bearer <JWT>`; `undefined` for other credentials, such as API keys. */
export function bearerJwt(authorization: string): string | undefined {
  const token = /^bearer +([\w-]+\.[\w-]+\.[\w-]*)$/i.exec(authorization.trim())?.[1]
  return token !== undefined && hasJwtHeader(token) ? token : undefined
}

/** Whether the text begins with a JWT header. An API key may have two dots too: `GATEPASS_API_KEY` is any text. */
function hasJwtHeader(text: string): boolean {
  try {
    decodeProtectedHeader(text)
    return true
  } catch {
    return false
  }
}

/** The unverified issuer of a token, which decides whose keys verify it; `undefined` if the text is no JWT. */
export function claimedIssuer(token: string): string | undefined {
  try {
    return decodeJwt(token).iss
  } catch {
    return undefined
  }
}
