import type { Configuration, KoaContextWithOIDC, Provider } from 'oidc-provider'
import type { Broker } from '../../broker.ts'
import { newId } from '../../domain/ids.ts'
import { MCP_SCOPES } from '../callers/principal.ts'
import { documentFetch, isFetchable } from './client-documents.ts'
import { isRegisteredRedirectUri } from './client-metadata.ts'
import { AUTH_METHODS, CLIENT_ALGORITHMS } from './metadata.ts'
import { CONSENT_PATH, PATHS } from './paths.ts'
import { recordAdapter } from './record-adapter.ts'
import { resourceOf } from './resources.ts'
import { servedRequest } from './served-request.ts'
import type { SigningKey } from './signing-keys.ts'

const ACCESS_TOKEN_SECONDS = 3600
const CODE_SECONDS = 60
/** The longest time from one refresh to the next. */
const REFRESH_TOKEN_SECONDS = 30 * 24 * 3600
/** After this time the user must approve the client again. */
const GRANT_SECONDS = 365 * 24 * 3600
/** How long a user may take to log in and to approve. */
const INTERACTION_SECONDS = 900
const DOCUMENT_CACHED_SECONDS = { min: 60, max: 24 * 3600 }

export interface ProviderOptions {
  readonly keys: readonly [SigningKey, ...SigningKey[]]
  /** Called when a client has received an access token. */
  readonly onTokens: (issued: { readonly clientId: string; readonly grantId: string }) => Promise<void>
  /** Ends a grant: its client has revoked a token, or a code or refresh token was used again. */
  readonly endGrant: (grantId: string, reason: 'client' | 'token_reused') => Promise<void>
}

/**
 * oidc-provider, configured for MCP clients: authorization codes with PKCE S256, public clients and `private_key_jwt`,
 * one audience for each token, JWT access tokens, refresh tokens that rotate. The library is imported with the first
 * request.
 */
export async function createProvider(broker: Broker, options: ProviderOptions): Promise<Provider> {
  const { Provider, errors, interactionPolicy } = await importQuietly()
  const { store, sealer, now, settings, log } = broker
  const { publicUrl } = settings
  const isHttps = publicUrl.protocol === 'https:'
  const { Check, Prompt } = interactionPolicy
  const cookieName = (name: string) => `${isHttps ? '__Secure-' : ''}gatepass-mcp-${name}`

  // each request has one interaction, whose page logs the user in and decides whether to ask for an approval
  const policy = interactionPolicy.base()
  policy.clear()
  policy.add(
    new Prompt(
      { name: 'consent', requestable: true },
      new Check(
        'consent',
        'The user must log in and approve the client.',
        (ctx) => ctx.oidc.result === undefined,
      ),
    ),
  )
  policy.add(new Prompt({ name: 'login', requestable: true }))

  const configuration: Configuration = {
    adapter: (model) =>
      recordAdapter(
        {
          store,
          sealer,
          now,
          settings,
          tooLong: () => new errors.InvalidRequest('The authorization request is too long.'),
          alreadyUsed: () => new errors.InvalidGrant('authorization code already consumed'),
          endGrant: (grantId) =>
            options.endGrant(grantId, Provider.ctx?.oidc.route === 'revocation' ? 'client' : 'token_reused'),
        },
        model,
      ),
    jwks: { keys: options.keys.map(({ jwk }) => ({ ...jwk })) },
    routes: {
      authorization: PATHS.authorization,
      token: PATHS.token,
      registration: PATHS.registration,
      revocation: PATHS.revocation,
      jwks: PATHS.jwks,
    },
    responseTypes: ['code'],
    scopes: [],
    clientAuthMethods: [...AUTH_METHODS],
    enabledJWA: { clientAuthSigningAlgValues: [...CLIENT_ALGORITHMS] },
    clientDefaults: {
      grant_types: ['authorization_code'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: 'ES256',
    },
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
      revocation: { enabled: true, allowedPolicy: (_, client, token) => token.clientId === client.clientId },
      registration: {
        enabled: true,
        issueRegistrationAccessToken: false,
        idFactory: () => newId('mcpcl'),
      },
      clientIdMetadataDocument: {
        enabled: settings.mcp.clientDocuments === 'on',
        ack: 'draft-02',
        allowFetch: (_, clientId) => isFetchable(broker, clientId),
        cacheDuration: DOCUMENT_CACHED_SECONDS,
      },
      resourceIndicators: {
        enabled: true,
        // clients of MCP 2025-03-26 name no resource
        defaultResource: () => `${publicUrl.origin}/mcp`,
        useGrantedResource: () => true,
        getResourceServerInfo(ctx, indicator) {
          const audience = resourceOf(publicUrl, indicator)
          const { resource } = ctx.oidc.params ?? {}
          if (audience === undefined || (Array.isArray(resource) && resource.length > 1))
            throw new errors.InvalidTarget()
          return {
            audience,
            scope: MCP_SCOPES.join(' '),
            accessTokenFormat: 'jwt',
            accessTokenTTL: ACCESS_TOKEN_SECONDS,
            jwt: { sign: { alg: 'ES256', kid: options.keys[0].jwk.kid } },
          }
        },
      },
    },
    ttl: {
      AccessToken: ACCESS_TOKEN_SECONDS,
      AuthorizationCode: CODE_SECONDS,
      Grant: GRANT_SECONDS,
      IdToken: ACCESS_TOKEN_SECONDS,
      Interaction: INTERACTION_SECONDS,
      RefreshToken: REFRESH_TOKEN_SECONDS,
      Session: INTERACTION_SECONDS,
    },
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    expiresWithSession: () => false,
    revokeGrantPolicy: () => true,
    extraTokenClaims: (_, token) => ({ grant_id: 'grantId' in token ? token.grantId : undefined }),
    findAccount: (_, userId) => ({ accountId: userId, claims: () => ({ sub: userId }) }),
    loadExistingGrant: (ctx) => {
      const grantId = ctx.oidc.result?.consent?.grantId
      return grantId === undefined ? undefined : ctx.oidc.provider.Grant.find(grantId)
    },
    interactions: { policy, url: (_, { uid }) => `${CONSENT_PATH}/${uid}` },
    cookies: {
      names: {
        interaction: cookieName('interaction'),
        resume: cookieName('resume'),
        session: cookieName('session'),
      },
      short: { httpOnly: true, sameSite: 'lax', secure: isHttps, signed: false },
      long: { httpOnly: true, sameSite: 'lax', secure: isHttps, signed: false },
    },
    clientBasedCORS: () => true,
    renderError: (ctx, out) => {
      ctx.type = 'json'
      ctx.body = JSON.stringify(out)
    },
    fetch: documentFetch(broker),
  }

  const provider = new Provider(publicUrl.origin, configuration)
  provider.proxy = true // trusts the `x-forwarded-` headers, which node-request.ts sets
  provider.Client.prototype.redirectUriAllowed = function (uri) {
    return isRegisteredRedirectUri(uri, this.redirectUris ?? [])
  }
  // a method of all models, which the types do not have
  const models = provider.RefreshToken.prototype as unknown as { generateTokenId(): string }
  const { generateTokenId } = models
  models.generateTokenId = function () {
    return servedRequest()?.successor ?? generateTokenId.call(this)
  }
  // oidc-provider's session ends with the response: a cookie of Gatepass' own keeps the login
  const endSession = (ctx: KoaContextWithOIDC) => {
    if (ctx.oidc.session !== undefined) Object.assign(ctx.oidc.session, { destroyed: true })
  }
  provider.on('authorization.success', endSession)
  provider.on('authorization.error', endSession)
  const logFailure = (error: Error) =>
    // without the message, which may quote what the client sent
    log.error(
      { error: error.name, at: error.stack?.split('\n').slice(1, 6) },
      'the authorization server failed',
    )
  provider.on('server_error', (_, error) => logFailure(error))
  Object.assign(provider, { onerror: logFailure }) // Koa's own handler writes to standard error
  provider.use(async (ctx, next) => {
    await next()
    const { Grant, Client, AccessToken } = ctx.oidc?.entities ?? {}
    if (ctx.status !== 200 || AccessToken === undefined || Grant?.jti === undefined || Client === undefined)
      return
    await servedRequest()?.keepAssertion?.()
    await options.onTokens({ clientId: Client.clientId, grantId: Grant.jti })
  })
  return provider
}

/** Imports oidc-provider without its warning about versions of Node that it does not know. */
async function importQuietly(): Promise<typeof import('oidc-provider')> {
  const { warn } = console
  console.warn = () => undefined
  try {
    return await import('oidc-provider')
  } finally {
    console.warn = warn
  }
}
