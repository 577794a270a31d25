import { type JWK, type JWTVerifyOptions, jwtVerify } from 'jose'
import type { AccountClaims, KoaContextWithOIDC } from 'oidc-provider'
import type { OidcProvider } from './oidc-provider.ts'

const { errors } = await import('oidc-provider')

// Grants that oidc-provider leaves to its users to register, written from their RFCs.

export const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
export const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
export const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'

export interface ExchangeRules {
  /** Whose access tokens are accepted as subject tokens. */
  readonly subjects: OidcProvider
  /** The values of `audience` and `resource` for which tokens are issued. */
  readonly targets: readonly string[]
  /** Changes the answer, to misbehave. */
  change: (answer: Record<string, unknown>) => Record<string, unknown>
}

/** Token exchange (RFC 8693 section 2): access tokens of another server for those of this one. */
export function registerExchange(oidc: OidcProvider, rules: ExchangeRules): void {
  const params = [
    'subject_token',
    'subject_token_type',
    'requested_token_type',
    'audience',
    'resource',
    'scope',
  ]
  oidc.provider.registerGrantType(
    EXCHANGE,
    async (ctx) => {
      const sent: Readonly<Record<string, unknown>> = ctx.oidc.params ?? {}
      const { subject_token: subjectToken, subject_token_type: type, requested_token_type: requested } = sent
      if (typeof subjectToken !== 'string' || type !== ACCESS_TOKEN)
        throw new errors.InvalidRequest('subject_token of the type access_token is required')
      if (requested !== undefined && requested !== ACCESS_TOKEN)
        throw new errors.InvalidRequest('only access tokens are issued')
      const subject = await rules.subjects.provider.AccessToken.find(subjectToken)
      if (subject?.isValid !== true) throw new errors.InvalidRequest('subject_token is not valid')
      for (const target of [sent.audience, sent.resource])
        if (target !== undefined && !rules.targets.includes(String(target)))
          throw new errors.InvalidTarget('no token is issued for that target')
      const issued = await issue(oidc, ctx, subject.accountId)
      ctx.body = rules.change({ ...issued, issued_token_type: ACCESS_TOKEN, refresh_token: 'not-to-be-kept' })
    },
    params,
  )
}

export interface AssertionRules {
  /** The client's public key. */
  key: JWK
  checks: JWTVerifyOptions
}

/** The JWT bearer grant (RFC 7523 sections 2.1 and 3), each assertion once. */
export function registerJwtBearer(oidc: OidcProvider, rules: AssertionRules): void {
  const seen = new Set<unknown>()
  oidc.provider.registerGrantType(
    JWT_BEARER,
    async (ctx) => {
      const assertion = String(ctx.oidc.params?.assertion)
      const verified = await jwtVerify<AccountClaims>(assertion, rules.key, {
        requiredClaims: ['iss', 'sub', 'aud', 'exp', 'jti'],
        ...rules.checks,
      }).catch((error: Error) => {
        throw new errors.InvalidGrant(error.message)
      })
      const { sub, jti } = verified.payload
      if (seen.has(jti)) throw new errors.InvalidGrant('the assertion was used before')
      seen.add(jti)
      ctx.body = await issue(oidc, ctx, String(sub))
    },
    ['assertion', 'scope'],
  )
}

/** A token response (RFC 6749 section 5.1) with an access token of the account. */
async function issue({ provider }: OidcProvider, ctx: KoaContextWithOIDC, accountId: string) {
  const { client, params } = ctx.oidc
  if (client === undefined) throw new errors.InvalidClient('the client has to authenticate')
  const grant = new provider.Grant({ accountId, clientId: client.clientId })
  const scope = typeof params?.scope === 'string' ? params.scope : undefined
  const token = new provider.AccessToken({
    accountId,
    client,
    grantId: await grant.save(),
    gty: 'extension',
    ...(scope !== undefined && { scope }),
  })
  return {
    access_token: await token.save(),
    token_type: token.tokenType,
    expires_in: token.expiration,
    ...(scope !== undefined && { scope }),
  }
}
