import { generateKeyPairSync, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Adapter, AdapterPayload, ClientAuthMethod, Configuration, JWK } from 'oidc-provider'
import { answer, escapeHtml, listen, record } from './loopback.ts'

const { Provider, interactionPolicy } = await quietly(() => import('oidc-provider'))

export interface OidcAccount {
  sub: string
  name: string
  email: string
  [claim: string]: unknown
}

/** May be changed while the server runs. */
export interface OidcSettings {
  /** Who logs in. A browser with another account's session logs in again. */
  account: OidcAccount
  /** `auto` approves at once; `form` shows a login form and a consent form, each with Continue and Cancel. */
  interaction: 'auto' | 'form'
  /** Seconds. */
  accessTokenLifetime: number
  rotateRefreshToken: boolean
  /** Scopes that the user leaves out. */
  refusedScopes: readonly string[]
}

export interface OidcProviderOptions extends Partial<OidcSettings> {
  redirectUris: readonly string[] | (() => readonly string[])
  /** `none` makes the client public. */
  clientAuth?: ClientAuthMethod
  clientId?: string
  clientSecret?: string
  pkceRequired?: boolean
  /** The public key of `private_key_jwt`; authorization requests must be signed with it too (RFC 9101). */
  clientKey?: JWK
  /** Authorization requests must be pushed (RFC 9126). */
  pushRequired?: boolean
  /** Further grants of the client, which a test registers (`oidc-grants.ts`). */
  grantTypes?: readonly string[]
  /** Beyond openid, profile, email and offline_access. */
  scopes?: readonly string[]
  /** When refresh tokens are issued: always (default), or only for offline_access with prompt=consent, as OpenID says. */
  refreshTokens?: 'always' | 'offline_access'
  /** The client's tokens are bound to keys (RFC 9449), and proofs need a nonce. `optional`: bearer tokens are issued too. */
  dpop?: 'required' | 'optional'
  /** Users may enter a code at `/device` (RFC 8628). */
  deviceFlow?: boolean
  /** Scopes of any resource that a client names (RFC 8707); its access tokens are then JWTs (RFC 9068). */
  resourceScopes?: string
}

export type OidcProvider = Awaited<ReturnType<typeof startOidcProvider>>

/**
 * The certified `oidc-provider` on a loopback port with one client. A browser gets through consent without a click, or by
 * two plain HTML forms; a fetch-based user agent likewise.
 */
export async function startOidcProvider(options: OidcProviderOptions) {
  const { clientAuth = 'client_secret_basic', clientId = 'oidc-client', scopes = [] } = options
  const clientSecret = options.clientSecret ?? `oidc-secret-${randomBytes(16).toString('hex')}`
  const redirectUris = () =>
    typeof options.redirectUris === 'function' ? options.redirectUris() : options.redirectUris
  const settings: OidcSettings = {
    account: options.account ?? { sub: 'oidc-1', name: 'Grace Hopper', email: 'grace@example.test' },
    interaction: options.interaction ?? 'auto',
    accessTokenLifetime: options.accessTokenLifetime ?? 3600,
    rotateRefreshToken: options.rotateRefreshToken ?? true,
    refusedScopes: options.refusedScopes ?? [],
  }
  const accounts = new Map<string, OidcAccount>()
  const tokenRequests: Readonly<Record<string, unknown>>[] = []
  const proofs: ReceivedProof[] = []
  const failures: Error[] = []

  let handle: (req: IncomingMessage, res: ServerResponse) => unknown = () => undefined
  const loopback = await listen((req, res) => handle(req, res))
  const issuer = loopback.url
  const { port } = new URL(issuer)

  const policy = interactionPolicy.base()
  policy.get('login')?.checks.add(
    new interactionPolicy.Check('other_account', 'another account logs in', (ctx) => {
      const present = ctx.oidc.session?.accountId
      return present !== undefined && present !== settings.account.sub
    }),
  )

  const configuration: Configuration = {
    adapter: inMemory(),
    clients: [
      {
        client_id: clientId,
        ...(clientAuth !== 'none' && { client_secret: clientSecret }),
        ...(options.dpop === 'required' && { dpop_bound_access_tokens: true }),
        ...(options.clientKey && { jwks: { keys: [options.clientKey] } }),
        token_endpoint_auth_method: clientAuth,
        grant_types: [
          'authorization_code',
          'refresh_token',
          ...(options.grantTypes ?? []),
          ...(options.deviceFlow ? [DEVICE_CODE] : []),
        ],
        response_types: ['code'],
        redirect_uris: ['http://127.0.0.1/replaced-below'],
      },
    ],
    jwks: { keys: [signingKey()] },
    scopes: ['openid', 'offline_access', 'profile', 'email', ...scopes],
    claims: {
      openid: ['sub'],
      profile: ['name', 'preferred_username', 'groups'],
      email: ['email', 'email_verified'],
    },
    // Browsers share cookies between ports, so every server has its own names.
    cookies: {
      keys: [randomBytes(16).toString('hex')],
      names: { session: `_s${port}`, interaction: `_i${port}`, resume: `_r${port}` },
    },
    pkce: { required: () => options.pkceRequired ?? clientAuth === 'none' },
    features: {
      devInteractions: { enabled: false },
      revocation: { enabled: true, allowedPolicy: (_, client, token) => token.clientId === client.clientId },
      introspection: { enabled: true, allowedPolicy: () => true },
      userinfo: { enabled: true },
      dPoP: {
        enabled: options.dpop !== undefined,
        nonceSecret: randomBytes(32),
        requireNonce: () => options.dpop !== undefined,
      },
      deviceFlow: {
        enabled: options.deviceFlow ?? false,
        userCodeInputSource: (ctx, form) => void Object.assign(ctx, { body: form }),
        userCodeConfirmSource: (ctx, form) => void Object.assign(ctx, { body: form }),
        successSource: (ctx) => void Object.assign(ctx, { body: 'Approved' }),
      },
      requestObjects: {
        enabled: options.clientKey !== undefined,
        requireSignedRequestObject: options.clientKey !== undefined,
      },
      pushedAuthorizationRequests: {
        enabled: true,
        requirePushedAuthorizationRequests: options.pushRequired ?? false,
      },
      resourceIndicators: {
        enabled: options.resourceScopes !== undefined,
        getResourceServerInfo: (_, audience) => ({
          scope: options.resourceScopes ?? '',
          audience,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    interactions: { url: (_, { uid }) => `/interaction/${uid}`, policy },
    findAccount: (_, id) => {
      const account = accounts.get(id)
      return account && { accountId: id, claims: () => account }
    },
    issueRefreshToken: (_, client, code) =>
      client.grantTypeAllowed('refresh_token') &&
      (options.refreshTokens !== 'offline_access' || code.scopes.has('offline_access')),
    expiresWithSession: () => false,
    rotateRefreshToken: () => settings.rotateRefreshToken,
    renderError: (ctx, { error, error_description = '' }) => {
      ctx.type = 'html'
      ctx.body = `<!doctype html><title>Error</title><h1>${escapeHtml(error)}</h1><p>${escapeHtml(error_description)}</p>`
    },
    clientBasedCORS: () => false,
    ttl: {
      AccessToken: () => settings.accessTokenLifetime,
      AuthorizationCode: 60,
      DeviceCode: 600,
      Grant: 86_400,
      IdToken: 3600,
      Interaction: 600,
      RefreshToken: 86_400,
      Session: 86_400,
    },
  }
  const provider = new Provider(issuer, configuration)
  provider.Client.prototype.redirectUriAllowed = (uri) => redirectUris().includes(uri)
  provider.on('server_error', (_, error) => failures.push(error))
  provider.use(async (ctx, next) => {
    await next()
    if (ctx.path === '/token') tokenRequests.push({ ...ctx.oidc?.params, client_secret: undefined })
  })
  const callback = provider.callback()
  handle = (req, res) => {
    const { dpop, authorization } = req.headers
    if (typeof dpop === 'string')
      res.on('finish', () =>
        proofs.push(readProof(dpop, { path: req.url ?? '', status: res.statusCode, authorization })),
      )
    return route(req, res)
  }
  const route = (req: IncomingMessage, res: ServerResponse) =>
    req.url?.startsWith('/interaction/') ? interact(req, res) : callback(req, res)

  async function interact(req: IncomingMessage, res: ServerResponse) {
    const { method, params: sent } = await record(req)
    const { prompt, params, session, grantId } = await provider.interactionDetails(req, res)
    if (settings.interaction === 'form' && method !== 'POST')
      return answer(res, 200, 'text/html; charset=utf-8', page(prompt.name, params, settings.account))
    if (sent.decision === 'cancel')
      return provider.interactionFinished(
        req,
        res,
        { error: 'access_denied', error_description: 'The user said no.' },
        { mergeWithLastSubmission: false },
      )
    if (prompt.name === 'login') {
      const { account } = settings
      accounts.set(account.sub, account)
      return provider.interactionFinished(
        req,
        res,
        { login: { accountId: account.sub } },
        { mergeWithLastSubmission: false },
      )
    }
    const grant =
      (grantId && (await provider.Grant.find(grantId))) ||
      new provider.Grant({ accountId: session?.accountId ?? '', clientId: String(params.client_id) })
    const {
      missingOIDCScope = [],
      missingOIDCClaims = [],
      missingResourceScopes = {},
    } = prompt.details as {
      missingOIDCScope?: string[]
      missingOIDCClaims?: string[]
      missingResourceScopes?: Record<string, string[]>
    } // by prompt `consent` in oidc-provider's own documentation
    for (const scope of missingOIDCScope)
      if (settings.refusedScopes.includes(scope)) grant.rejectOIDCScope(scope)
      else grant.addOIDCScope(scope)
    if (missingOIDCClaims.length > 0) grant.addOIDCClaims(missingOIDCClaims)
    for (const [resource, scopes] of Object.entries(missingResourceScopes))
      grant.addResourceScope(resource, scopes.join(' '))
    const consent = { grantId: await grant.save() }
    return provider.interactionFinished(req, res, { consent }, { mergeWithLastSubmission: true })
  }

  return {
    ...loopback,
    issuer,
    authorizationUrl: `${issuer}/auth`,
    tokenUrl: `${issuer}/token`,
    userInfoUrl: `${issuer}/me`,
    revocationUrl: `${issuer}/token/revocation`,
    introspectionUrl: `${issuer}/token/introspection`,
    discoveryUrl: `${issuer}/.well-known/openid-configuration`,
    clientId,
    clientSecret: clientAuth === 'none' ? undefined : clientSecret,
    settings,
    /** Parameters of each token request, without the secret. */
    tokenRequests,
    /** The proofs of requests that were answered, in their order. */
    proofs,
    /** Errors inside the server; a test expects none. */
    failures,
    isLive: async (accessToken: string) => (await provider.AccessToken.find(accessToken))?.isValid === true,
    isRefreshTokenLive: async (refreshToken: string) =>
      (await provider.RefreshToken.find(refreshToken))?.isValid === true,
    provider,
  }
}

/** A proof of possession (RFC 9449) as a request carried it. */
export interface ReceivedProof {
  readonly path: string
  /** Of the answer. */
  readonly status: number
  readonly authorization: string | undefined
  readonly header: Readonly<Record<string, unknown>>
  readonly payload: Readonly<Record<string, unknown>>
}

function readProof(
  proof: string,
  request: Pick<ReceivedProof, 'path' | 'status' | 'authorization'>,
): ReceivedProof {
  const [header, payload] = proof
    .split('.', 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()))
  return { ...request, header, payload }
}

const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code'

let generated: JWK | undefined

/** One per process: an RSA key takes longer to make than everything else here. */
function signingKey(): JWK {
  generated ??= newSigningKey()
  return generated
}

function newSigningKey(): JWK {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { ...privateKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig', alg: 'RS256' }
}

function page(prompt: string, params: Record<string, unknown>, account: OidcAccount): string {
  const question =
    prompt === 'login'
      ? `Log in as ${escapeHtml(account.name)}`
      : `Allow ${escapeHtml(String(params.scope ?? ''))}`
  return `<!doctype html><html lang="en"><title>OIDC ${escapeHtml(prompt)}</title><h1>${question}?</h1>
<form method="post"><input type="hidden" name="prompt" value="${escapeHtml(prompt)}">
<button name="decision" value="continue">Continue</button> <button name="decision" value="cancel">Cancel</button></form>`
}

/** oidc-provider's own in-memory adapter warns on the console; this one keeps the same in a Map per server. */
function inMemory(): new (model: string) => Adapter {
  const rows = new Map<string, { payload: AdapterPayload; expiresAt: number }>()
  return class implements Adapter {
    readonly #model: string
    constructor(model: string) {
      this.#model = model
    }
    async upsert(id: string, payload: AdapterPayload, expiresIn: number) {
      const expiresAt = expiresIn ? Date.now() + expiresIn * 1000 : Infinity
      rows.set(this.#key(id), { payload: structuredClone(payload), expiresAt })
    }
    async find(id: string) {
      return this.#live(rows.get(this.#key(id)))
    }
    async findByUid(uid: string) {
      return this.#first((payload) => payload.uid === uid)
    }
    async findByUserCode(userCode: string) {
      return this.#first((payload) => payload.userCode === userCode)
    }
    async consume(id: string) {
      const row = rows.get(this.#key(id))
      if (row) row.payload.consumed = Math.floor(Date.now() / 1000)
    }
    async destroy(id: string) {
      rows.delete(this.#key(id))
    }
    async revokeByGrantId(grantId: string) {
      for (const [key, { payload }] of rows) if (payload.grantId === grantId) rows.delete(key)
    }
    #key(id: string) {
      return `${this.#model}:${id}`
    }
    #live(row: { payload: AdapterPayload; expiresAt: number } | undefined) {
      return row && row.expiresAt > Date.now() ? structuredClone(row.payload) : undefined
    }
    #first(matches: (payload: AdapterPayload) => boolean) {
      for (const [key, row] of rows)
        if (key.startsWith(`${this.#model}:`) && matches(row.payload)) return this.#live(row)
      return undefined
    }
  }
}

/** On import, `oidc-provider` warns of every version of Node.js that it does not know as an LTS release. */
async function quietly<T>(run: () => Promise<T>): Promise<T> {
  const { warn } = console
  console.warn = () => undefined
  try {
    return await run()
  } finally {
    console.warn = warn
  }
}
