import { createHash } from 'node:crypto'
import { type Context, Hono } from 'hono'
import { splitScope } from '../domain/scopes.ts'
import { findAccount } from './accounts.ts'
import { authenticateClient } from './client.ts'
import { type Parameters, readParameters } from './parameters.ts'
import { type Approval, LIFETIME, type SandboxTokens } from './tokens.ts'

interface TokenEndpointOptions {
  readonly tokens: SandboxTokens
  readonly clientSecret: string
}

type Values = Parameters['values']

/** An error response (RFC 6749 section 5.2). */
interface Refusal {
  readonly error: string
  readonly error_description: string
}

type Redeemed = Approval | Refusal

/** The token endpoint (RFC 6749 section 3.2) and the revocation endpoint (RFC 7009). */
export function tokenEndpoint({ tokens, clientSecret }: TokenEndpointOptions): Hono {
  /** The parameters of a request by the authenticated client, or the error response. */
  async function authenticated(c: Context): Promise<Values | Response> {
    const parameters = readParameters(new URLSearchParams(await c.req.text()))
    const header = c.req.header('authorization')
    const outcome = authenticateClient(header, parameters, clientSecret)
    if (parameters.repeated !== undefined || outcome === 'both-methods')
      return c.json(refusal('invalid_request', 'A parameter, or the client secret, is sent twice.'), 400)
    if (outcome === 'authenticated') return parameters.values
    if (header !== undefined) c.header('www-authenticate', 'Basic realm="sandbox"')
    return c.json(refusal('invalid_client', 'The client id or secret is wrong.'), 401)
  }

  /** Redeems an authorization code (RFC 6749 section 4.1.3, RFC 7636 section 4.6). */
  async function redeemCode({ code, redirect_uri, code_verifier }: Values): Promise<Redeemed> {
    if (code === undefined) return refusal('invalid_request', 'code is missing.')
    const claims = await tokens.read('code', code)
    if (!claims) return refusal('invalid_grant', 'The code is unknown, expired or revoked.')
    if (claims.redirect_uri !== redirect_uri)
      return refusal('invalid_grant', 'The redirect_uri is not that of the authorization request.')
    const challenge = createHash('sha256')
      .update(code_verifier ?? '')
      .digest('base64url')
    if (claims.code_challenge !== challenge)
      return refusal('invalid_grant', 'The code_verifier does not fit the code_challenge.')
    return tokens.spend(claims) ? claims : refusal('invalid_grant', 'The code was used before.')
  }

  /** Redeems a refresh token (RFC 6749 section 6). The requested scopes may narrow those of this access token only. */
  async function redeemRefreshToken({
    refresh_token,
    scope,
  }: Values): Promise<Redeemed & { narrowed?: string }> {
    if (refresh_token === undefined) return refusal('invalid_request', 'refresh_token is missing.')
    const claims = await tokens.read('refresh', refresh_token)
    if (!claims) return refusal('invalid_grant', 'The refresh token is unknown, expired or revoked.')
    const narrowed = scope === undefined ? claims.scope : splitScope(scope).join(' ')
    if (!splitScope(narrowed).every((wanted) => splitScope(claims.scope).includes(wanted)))
      return refusal('invalid_scope', 'The request asks for more scopes than were granted.')
    return tokens.spend(claims)
      ? { ...claims, narrowed }
      : refusal('invalid_grant', 'The refresh token was used before.')
  }

  async function redeem(values: Values): Promise<Redeemed & { narrowed?: string }> {
    switch (values.grant_type) {
      case 'authorization_code':
        return redeemCode(values)
      case 'refresh_token':
        return redeemRefreshToken(values)
      case undefined:
        return refusal('invalid_request', 'grant_type is missing.')
      default:
        return refusal('unsupported_grant_type', 'grant_type has to be authorization_code or refresh_token.')
    }
  }

  return new Hono()
    .post('/token', async (c) => {
      c.header('cache-control', 'no-store')
      const values = await authenticated(c)
      if (values instanceof Response) return values
      const redeemed = await redeem(values)
      if ('error' in redeemed) return c.json(redeemed, 400)
      const { sub, grant, scope, narrowed = scope } = redeemed
      return c.json({
        access_token: await tokens.issue('access', { sub, grant, scope: narrowed }),
        token_type: 'Bearer',
        expires_in: LIFETIME.access,
        refresh_token: await tokens.issue('refresh', { sub, grant, scope }),
        scope: narrowed,
        // some real providers put the account into the token response too
        ...findAccount(sub),
      })
    })
    .post('/revoke', async (c) => {
      const values = await authenticated(c)
      if (values instanceof Response) return values
      const { token } = values
      if (token === undefined) return c.json(refusal('invalid_request', 'token is missing.'), 400)
      for (const kind of ['access', 'refresh'] as const) {
        const claims = await tokens.read(kind, token)
        if (claims) tokens.revoke(kind, claims)
      }
      return c.body(null, 200) // also for unknown tokens (RFC 7009 section 2.2)
    })
}

function refusal(error: string, error_description: string): Refusal {
  return { error, error_description }
}
