import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerTokens, formOf, type TokenFormat, type TokenMembers } from './fake-token-answers.ts'
import { answer, answerJson, bearerOf, escapeHtml, listen, type RecordedRequest, record } from './loopback.ts'

/** Who approves. Members beyond these are answered by /userinfo and /api/me unchanged. */
export interface Account {
  sub: string
  name: string
  email: string
  login: string
  [member: string]: unknown
}

/** Why a token request fails although its content is right. */
export type Fault =
  | 'refuse' // 400 invalid_grant: the only one that means the grant is gone
  | 'refuse-403' // Atlassian: 403 invalid_grant
  | 'invalid_client'
  | 'invalid_request' // Hydra: "please retry"
  | '503'
  | '503-later' // the same
  | '429' // with Retry-After: `behaviour.retryAfter`
  | 'html-500'
  | 'hang'
  | 'drop' // carried out, then the connection dies before the answer

/**
 * `static` gives the same refresh token back. `rotate` gives a new one and refuses the old one; `rotate-strict`
 * also revokes the whole family when an old one comes back; `rotate-grace` still takes the old one.
 */
export type RefreshMode = 'static' | 'rotate' | 'rotate-strict' | 'rotate-grace'

export type Consent =
  | 'approve'
  | 'partial' // grants all but the last scope, or `behaviour.grantedScopes`
  | 'page' // an HTML form with an Approve and a Deny button
  | 'deny' // error=access_denied
  | 'server_error'
  | 'temporarily_unavailable'
  | 'invalid_scope'
  | 'unauthorized_client'
  | 'wrong-state'
  | 'no-state'
  | 'no-code'
  | 'repeated-code'
  | 'code-and-error'
  | 'dead-end' // a page without a link, as when the user gives up

/** How the server behaves from the next request on; set members at any time. */
export interface Behaviour {
  /** `none` checks a challenge that was sent; `ignore` does not know PKCE at all. */
  requirePkce: 'S256' | 'plain' | 'none' | 'ignore'
  /**
   * `refuse-both` takes either place but not both at once; `public` expects no secret; `refuse` refuses every client.
   * `as-registered` is the MCP SDK for Python: `client_id` in the body of every request, and the secret in the place
   * that the client registered (its `server/auth/middleware/client_auth.py`).
   */
  clientAuth: 'either' | 'basic-only' | 'post-only' | 'refuse-both' | 'public' | 'refuse' | 'as-registered'
  /** In place of `clientAuth`: returns why the client is refused, if it is. */
  checkClient: ((request: RecordedRequest) => string | undefined) | undefined
  /** What is done to the id and the secret of Basic: RFC 6749's form decoding, percent decoding, or nothing (RFC 7617). */
  basicDecoding: 'form' | 'percent' | 'none'
  consent: Consent
  /** What is granted instead of what was asked. */
  grantedScopes: readonly string[] | undefined
  /** `iss` in the authorization response: the server's own (`true`), others, or several. */
  issParameter: boolean | string | readonly string[]
  /** Further parameters of the authorization response, such as QuickBooks' `realmId`. */
  callbackExtras: Record<string, string>
  /** The server's own names of standard parameters. */
  parameterNames: Readonly<Record<string, string>>
  tokenMethod: 'POST' | 'GET'
  tokenFormat: TokenFormat
  /** Merged over the token response: other members, or wrong ones. `undefined` removes one. */
  tokenMembers: TokenMembers
  /** Replaces the whole token response. */
  rawTokenAnswer:
    | {
        status?: number
        type?: string
        body: string | ((members: TokenMembers) => string)
        headers?: Record<string, string>
      }
    | undefined
  errorsWith200: boolean
  /** Instead of the server's own `error_description`, at both endpoints. */
  errorDescription: string | undefined
  exchange: 'normal' | Fault
  refresh: RefreshMode | Fault
  exchangeDelayMs: number
  refreshDelayMs: number
  /** Called for every redemption of a code, and awaited before its answer. */
  onExchange: (() => Promise<unknown>) | undefined
  /** Called for every refresh request, and awaited: before it is carried out, and between that and the answer. */
  onRefresh:
    | ((moment: 'arrived' | 'carried out', refreshToken: string) => Promise<unknown> | undefined)
    | undefined
  retryAfter: string
  /** Seconds. */
  accessTokenLifetime: number
  /** Of the tokens of /exchange. */
  longLifetime: number
  omitRefreshToken: boolean
  omitRefreshTokenOnRefresh: boolean
  /** Airtable: a refresh invalidates the earlier access tokens. */
  refreshKillsAccessTokens: boolean
  /** What a refresh grants instead of the scopes of the grant. */
  scopesOnRefresh: readonly string[] | undefined
  userInfo: 'ok' | '401' | '500' | 'html' | 'hang'
  /** Called for every request of the user info, before its answer. */
  onUserInfo: (() => void) | undefined
  /** Further members of the user info, which may repeat the access token of the request. */
  userInfoMembers: ((accessToken: string) => Readonly<Record<string, unknown>>) | undefined
  /** With a body: that one, with status 200, and nothing is revoked. */
  revocation: 'ok' | '503' | 'unsupported' | 'hang' | { readonly body: string }
  /**
   * RFC 7591: registers public clients, clients with a secret for Basic, or none. `as-asked` keeps the client's
   * authentication method, and gives a secret unless that is `none`.
   */
  registration: 'public' | 'secret' | 'as-asked' | 'refuse'
  /** `client_secret_expires_at` of registrations. */
  clientSecretExpiresAt: number
  /** Client ids that are https URLs are taken, as by a server that reads client ID metadata documents. */
  clientIdUrls: boolean
  /** Merged over the metadata; `undefined` removes a member. */
  metadata: Readonly<Record<string, unknown>>
}

const WELL_BEHAVED: Behaviour = {
  requirePkce: 'none',
  clientAuth: 'either',
  checkClient: undefined,
  basicDecoding: 'form',
  consent: 'approve',
  grantedScopes: undefined,
  issParameter: false,
  callbackExtras: {},
  parameterNames: {},
  tokenMethod: 'POST',
  tokenFormat: 'json',
  tokenMembers: {},
  rawTokenAnswer: undefined,
  errorsWith200: false,
  errorDescription: undefined,
  exchange: 'normal',
  refresh: 'static',
  exchangeDelayMs: 0,
  refreshDelayMs: 0,
  onExchange: undefined,
  onRefresh: undefined,
  retryAfter: '7',
  accessTokenLifetime: 3600,
  longLifetime: 60 * 86_400,
  omitRefreshToken: false,
  omitRefreshTokenOnRefresh: false,
  refreshKillsAccessTokens: false,
  scopesOnRefresh: undefined,
  userInfo: 'ok',
  onUserInfo: undefined,
  userInfoMembers: undefined,
  revocation: 'ok',
  registration: 'refuse',
  clientSecretExpiresAt: 0,
  clientIdUrls: false,
  metadata: {},
}

export interface FakeAuthorizationServerOptions extends Partial<Behaviour> {
  clientId?: string
  clientSecret?: string
  account?: Account
  /** Exact redirect URIs; without them any is taken. */
  redirectUris?: readonly string[]
  /** Milliseconds, for the lifetime of access tokens. */
  now?: () => number
}

interface Grant {
  readonly account: Account
  readonly scopes: readonly string[]
  /** RFC 8707, as the authorization request had it. */
  readonly resource: string | undefined
  readonly refreshTokens: Map<string, 'current' | 'used'>
  revoked: boolean
}

interface Code {
  readonly grant: Grant
  readonly redirectUri: string
  readonly challenge: string | undefined
  readonly method: string
  used: boolean
}

interface AccessToken {
  readonly grant: Grant
  readonly scopes: readonly string[]
  readonly expiresAt: number
  dead: boolean
}

export type FakeAuthorizationServer = Awaited<ReturnType<typeof startFakeAuthorizationServer>>

/**
 * An authorization server and its API on real HTTP. /authorize redirects at once, as for a user who approves;
 * `behaviour` makes it misbehave, and `requests` has every request it received.
 */
export async function startFakeAuthorizationServer(options: FakeAuthorizationServerOptions = {}) {
  const {
    clientId = 'fake-client',
    clientSecret = `fake-secret-${randomBytes(12).toString('hex')}`,
    account = { sub: 'u-1', name: 'Ada Lovelace', email: 'ada@example.test', login: 'ada' },
    redirectUris,
    now = Date.now,
    ...overrides
  } = options
  const behaviour: Behaviour = { ...WELL_BEHAVED, ...overrides }
  const requests: RecordedRequest[] = []
  const codes = new Map<string, Code>()
  /** Registered ones too, with their secrets. */
  const clients = new Map<string, string | undefined>([[clientId, clientSecret]])
  /** The authentication methods of registered clients. */
  const methods = new Map<string, string>()
  const accessTokens = new Map<string, AccessToken>()
  const grants: Grant[] = []
  const refreshReuses: string[] = []
  const refreshed: { readonly used: string; readonly accessToken: string }[] = []
  let familyRevoked = false

  const routes: Record<string, (res: ServerResponse, request: RecordedRequest) => unknown> = {
    '/.well-known/oauth-authorization-server': (res) => answerJson(res, 200, metadata()),
    '/authorize': authorize,
    '/token': token,
    '/elsewhere': (res) => answerJson(res, 200, issue(newGrant(['elsewhere', 'read']), { refreshed: false })),
    '/userinfo': resource,
    '/api/me': resource,
    '/exchange': exchange,
    '/revoke': revoke,
    '/introspect': introspect,
    '/register': register,
  }
  const loopback = await listen(async (req, res) => {
    const request = withStandardNames(await record(req))
    requests.push(request)
    const route = routes[request.path]
    return route ? route(res, request) : answerJson(res, 404, { error: 'not_found' })
  })
  const { url } = loopback

  /** The request with `params` under the standard's names. A renamed parameter under its standard name is ignored. */
  function withStandardNames(request: RecordedRequest): RecordedRequest {
    const params: Record<string, string> = { ...request.params }
    for (const [standard, name] of Object.entries(behaviour.parameterNames)) {
      delete params[standard]
      const value = request.params[name]
      if (value !== undefined) params[standard] = value
    }
    return { ...request, params }
  }

  function metadata() {
    return {
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      userinfo_endpoint: `${url}/userinfo`,
      revocation_endpoint: `${url}/revoke`,
      introspection_endpoint: `${url}/introspect`,
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: behaviour.requirePkce === 'plain' ? ['plain'] : ['S256', 'plain'],
      ...(behaviour.registration !== 'refuse' && { registration_endpoint: `${url}/register` }),
      ...(behaviour.clientIdUrls && { client_id_metadata_document_supported: true }),
      ...behaviour.metadata,
    }
  }

  function register(res: ServerResponse, { json }: RecordedRequest) {
    if (behaviour.registration === 'refuse') return answerJson(res, 403, { error: 'access_denied' })
    const id = secret('client')
    const asked = json as { readonly token_endpoint_auth_method?: string }
    const method = {
      public: 'none',
      secret: 'client_secret_basic',
      'as-asked': asked.token_endpoint_auth_method ?? 'client_secret_post',
    }[behaviour.registration]
    const own = method === 'none' ? undefined : secret('client-secret')
    clients.set(id, own)
    methods.set(id, method)
    return answerJson(res, 201, {
      ...asked, // RFC 7591 section 3.2.1: all that was registered
      client_id: id,
      token_endpoint_auth_method: method,
      ...(own !== undefined && {
        client_secret: own,
        client_secret_expires_at: behaviour.clientSecretExpiresAt,
      }),
    })
  }

  function isClient(id: string | undefined): boolean {
    return clients.has(id ?? '') || (behaviour.clientIdUrls && /^https:\/\//.test(id ?? ''))
  }

  function authorize(res: ServerResponse, { method, params }: RecordedRequest) {
    const page = (status: number, body: string) => answer(res, status, 'text/html; charset=utf-8', body)
    const redirectUri = params.redirect_uri
    if (!isClient(params.client_id)) return page(400, '<h1>Unknown client</h1>')
    if (!redirectUri || (redirectUris && !redirectUris.includes(redirectUri)))
      return page(400, '<h1>Unregistered redirect_uri</h1>')

    const respond = (members: Record<string, string | undefined>, more: [string, string][] = []) => {
      const to = new URL(redirectUri)
      const state: Record<string, string> = params.state ? { state: params.state } : {}
      for (const [name, value] of Object.entries({ ...state, ...behaviour.callbackExtras, ...members }))
        if (value !== undefined) to.searchParams.append(name, value)
      for (const [name, value] of more) to.searchParams.append(name, value)
      for (const iss of issuers()) to.searchParams.append('iss', iss)
      if (params.response_mode === 'form_post') return page(200, formPost(redirectUri, to.searchParams))
      res.writeHead(method === 'POST' ? 303 : 302, { location: to.href, 'cache-control': 'no-store' }).end()
    }
    const refuse = (error: string, description: string) =>
      respond({ error, error_description: behaviour.errorDescription ?? description })

    if (params.response_type !== 'code') return refuse('unsupported_response_type', 'Only code is supported.')
    const challenge = behaviour.requirePkce === 'ignore' ? undefined : params.code_challenge
    const challengeMethod = params.code_challenge_method ?? 'plain' // RFC 7636 section 4.3
    if (behaviour.requirePkce === 'S256' || behaviour.requirePkce === 'plain') {
      if (!challenge) return refuse('invalid_request', 'code_challenge is required.')
      if (challengeMethod !== behaviour.requirePkce)
        return refuse('invalid_request', `code_challenge_method must be ${behaviour.requirePkce}.`)
    }

    const asked = (params.scope ?? params.user_scope ?? '').split(/[\s,+]+/).filter(Boolean)
    const newCode = () => {
      const partial = behaviour.consent === 'partial' ? asked.slice(0, -1) : asked
      const grant = newGrant(behaviour.grantedScopes ?? partial, params.resource)
      const code = secret('code')
      codes.set(code, { grant, redirectUri, challenge, method: challengeMethod, used: false })
      return code
    }
    switch (behaviour.consent) {
      case 'approve':
      case 'partial':
        return respond({ code: newCode() })
      case 'page': {
        if (method !== 'POST') return page(200, consentPage(params, asked, state.account))
        if (params.decision === 'approve') return respond({ code: newCode() })
        return refuse('access_denied', 'The user said no.')
      }
      case 'deny':
        return refuse('access_denied', 'The user said no.')
      case 'wrong-state':
        return respond({ code: newCode(), state: secret('state') })
      case 'no-state':
        return respond({ code: newCode(), state: undefined })
      case 'no-code':
        return respond({})
      case 'repeated-code':
        return respond({ code: newCode() }, [['code', newCode()]])
      case 'code-and-error':
        return respond({ code: newCode(), error: 'access_denied' })
      case 'dead-end':
        return page(200, '<h1>Please install our app</h1>')
      default:
        return refuse(behaviour.consent, 'The server cannot do this now.')
    }
  }

  async function token(res: ServerResponse, request: RecordedRequest) {
    const { params } = request
    const refuse = (status: number, error: string, description: string) => {
      const members = { error, error_description: behaviour.errorDescription ?? description }
      const actual = behaviour.errorsWith200 ? 200 : status
      if (behaviour.tokenFormat === 'form')
        return answer(res, actual, 'application/x-www-form-urlencoded', formOf(members))
      return answerJson(res, actual, members, status === 401 ? { 'www-authenticate': 'Basic' } : {})
    }
    if (request.method !== behaviour.tokenMethod) return refuse(405, 'invalid_request', 'Wrong method.')
    const unknownClient = clientRefusal(request)
    if (unknownClient) return refuse(401, 'invalid_client', unknownClient)

    // RFC 6749 section 4.4: the client asks for a token by itself
    if (params.grant_type === 'client_credentials')
      return answerJson(res, 200, { access_token: randomUUID(), token_type: 'Bearer', expires_in: 3600 })

    const refreshing = params.grant_type === 'refresh_token'
    if (!refreshing && params.grant_type !== 'authorization_code')
      return refuse(400, 'unsupported_grant_type', 'Only authorization_code and refresh_token.')
    const mode = refreshing ? behaviour.refresh : behaviour.exchange
    const delayMs = refreshing ? behaviour.refreshDelayMs : behaviour.exchangeDelayMs

    // The server carries a refresh out when it arrives and answers after the delay, so that a second request in between
    // meets the new state.
    const carryOut = () => {
      const grant = refreshing ? useRefreshToken(params.refresh_token ?? '') : useCode(params)
      return typeof grant === 'string'
        ? grant
        : issue(grant, { refreshed: refreshing, used: params.refresh_token })
    }
    const held = (moment: 'arrived' | 'carried out') =>
      refreshing ? behaviour.onRefresh?.(moment, params.refresh_token ?? '') : undefined
    const waitsOnArrival = held('arrived')
    if (waitsOnArrival) await waitsOnArrival
    const early = earlyFault(mode)
    const outcome = early ? '' : carryOut()
    await held('carried out')
    if (!refreshing) await behaviour.onExchange?.()
    if (delayMs > 0) await sleep(delayMs, undefined, { ref: false })
    if (early) return early(res, refuse)
    if (typeof outcome === 'string') return refuse(400, 'invalid_grant', outcome)
    if (mode === 'drop') return res.destroy()
    const raw = behaviour.rawTokenAnswer
    if (!raw) return answerTokens(res, behaviour.tokenFormat, outcome)
    const body = typeof raw.body === 'string' ? raw.body : raw.body(outcome)
    return answer(res, raw.status ?? 200, raw.type ?? 'application/json', body, raw.headers)
  }

  type Refuse = (status: number, error: string, description: string) => void

  function earlyFault(
    mode: Behaviour['exchange'] | Behaviour['refresh'],
  ): ((res: ServerResponse, refuse: Refuse) => unknown) | undefined {
    switch (mode) {
      case 'refuse':
        return (_, refuse) => refuse(400, 'invalid_grant', 'The grant is revoked or expired.')
      case 'refuse-403':
        return (_, refuse) => refuse(403, 'invalid_grant', 'Unknown or invalid refresh token.')
      case 'invalid_client':
        return (_, refuse) => refuse(401, 'invalid_client', 'Client authentication failed.')
      case 'invalid_request':
        return (_, refuse) => refuse(400, 'invalid_request', 'Concurrent requests; please retry.')
      case '503':
        return (res) => answer(res, 503, 'text/plain', 'Service unavailable')
      case '503-later':
        return (res) => answer(res, 503, 'text/plain', 'Back soon', { 'retry-after': behaviour.retryAfter })
      case '429':
        return (res) =>
          answerJson(res, 429, { error: 'rate_limited' }, { 'retry-after': behaviour.retryAfter })
      case 'html-500':
        return (res) => answer(res, 500, 'text/html', '<!doctype html><h1>Internal Server Error</h1>')
      case 'hang':
        return () => undefined
      default:
        return undefined
    }
  }

  /** Why the client is refused (RFC 6749 section 2.3.1), or nothing. */
  function clientRefusal(request: RecordedRequest): string | undefined {
    if (behaviour.checkClient !== undefined) return behaviour.checkClient(request)
    const { headers, params, search } = request
    const basic = basicOf(headers.authorization, behaviour.basicDecoding)
    const posted = params.client_secret
    const rule = behaviour.clientAuth
    if (rule === 'refuse') return 'Client authentication failed.'
    if (rule === 'as-registered') {
      const { client_id: id = '' } = params
      if (!clients.has(id)) return id === '' ? 'Missing client_id' : 'Invalid client_id'
      const isBasic = methods.get(id) === 'client_secret_basic'
      if (isBasic && basic?.id !== id)
        return 'Missing or invalid Basic authentication in Authorization header'
      return (isBasic ? basic?.secret : posted) === clients.get(id) ? undefined : 'Invalid client_secret'
    }
    if (behaviour.tokenMethod === 'POST' && search.includes('client_secret='))
      return 'The secret must not be in the URL.'
    if (rule === 'public') {
      if (headers.authorization || posted) return 'This client has no secret.'
      return isClient(params.client_id) ? undefined : 'Unknown client.'
    }
    const isPublic = clients.get(params.client_id ?? '') === undefined && isClient(params.client_id)
    if (isPublic && !headers.authorization && !posted) return undefined
    if (rule === 'basic-only' && posted) return 'The secret must not be in the body.'
    if (rule === 'post-only' && headers.authorization) return 'HTTP Basic is not supported.'
    if (rule === 'refuse-both' && headers.authorization && posted) return 'Use one method only.'
    if (!basic && !posted) return 'Client authentication is missing.'
    if (basic && (!clients.has(basic.id) || basic.secret !== clients.get(basic.id)))
      return 'Wrong client or secret.'
    if (posted && posted !== clients.get(params.client_id ?? '')) return 'Wrong client or secret.'
    return undefined
  }

  function useCode(params: RecordedRequest['params']): Grant | string {
    const code = codes.get(params.code ?? '')
    if (!code) return 'Unknown code.'
    if (code.used) {
      revokeFamily(code.grant) // RFC 6749 section 4.1.2
      return 'The code was used before.'
    }
    code.used = true
    if (code.redirectUri !== params.redirect_uri) return 'redirect_uri differs.'
    if (behaviour.requirePkce === 'ignore') return code.grant
    const verifier = params.code_verifier
    if (!code.challenge) return verifier ? 'code_verifier without code_challenge.' : code.grant
    if (!verifier || !/^[A-Za-z0-9\-._~]{43,128}$/.test(verifier)) return 'Bad code_verifier.'
    const computed =
      code.method === 'S256' ? createHash('sha256').update(verifier).digest('base64url') : verifier
    return computed === code.challenge ? code.grant : 'code_verifier does not match.'
  }

  function useRefreshToken(value: string): Grant | string {
    const grant = grants.find(({ refreshTokens }) => refreshTokens.has(value))
    if (!grant || grant.revoked) return 'Unknown or revoked refresh token.'
    if (grant.refreshTokens.get(value) === 'used') {
      refreshReuses.push(value)
      if (behaviour.refresh === 'rotate-strict') revokeFamily(grant)
      if (behaviour.refresh !== 'rotate-grace') return 'The refresh token was used before.'
    }
    return grant
  }

  function revokeFamily(grant: Grant) {
    grant.revoked = true
    familyRevoked = true
  }

  function newGrant(scopes: readonly string[], resource?: string): Grant {
    const grant = { account: state.account, scopes, resource, refreshTokens: new Map(), revoked: false }
    grants.push(grant)
    return grant
  }

  function issue(
    grant: Grant,
    { refreshed: isRefreshed, used }: { refreshed: boolean; used?: string | undefined },
  ): TokenMembers {
    if (isRefreshed && behaviour.refreshKillsAccessTokens) killAccessTokens(grant)
    const scopes = (isRefreshed && behaviour.scopesOnRefresh) || grant.scopes
    const accessToken = secret('at')
    const expiresAt = now() + behaviour.accessTokenLifetime * 1000
    accessTokens.set(accessToken, { grant, scopes, expiresAt, dead: false })
    if (isRefreshed) refreshed.push({ used: used ?? '', accessToken })
    const refreshToken = nextRefreshToken(grant, isRefreshed ? used : undefined)
    return {
      access_token: accessToken,
      token_type: 'Bearer',
      expires_in: behaviour.accessTokenLifetime,
      ...(refreshToken && { refresh_token: refreshToken }),
      scope: scopes.join(' '),
      ...behaviour.tokenMembers,
    }
  }

  function nextRefreshToken(grant: Grant, used: string | undefined): string | undefined {
    if (behaviour.omitRefreshToken || (used && behaviour.omitRefreshTokenOnRefresh)) return undefined
    if (used && !behaviour.refresh.startsWith('rotate') && behaviour.refresh !== 'drop') return used
    if (used) grant.refreshTokens.set(used, 'used')
    const refreshToken = secret('rt')
    grant.refreshTokens.set(refreshToken, 'current')
    return refreshToken
  }

  function resource(res: ServerResponse, { path, headers }: RecordedRequest) {
    if (path === '/userinfo') behaviour.onUserInfo?.()
    if (path === '/userinfo' && behaviour.userInfo === 'hang') return
    if (path === '/userinfo' && behaviour.userInfo === '500') return answer(res, 500, 'text/plain', 'Oops')
    if (path === '/userinfo' && behaviour.userInfo === 'html')
      return answer(res, 200, 'text/html', '<h1>Hello</h1>')
    const found = live(bearerOf(headers))
    if (!found || (path === '/userinfo' && behaviour.userInfo === '401')) {
      const challenge = { 'www-authenticate': 'Bearer error="invalid_token"' }
      return answerJson(res, 401, { error: 'invalid_token' }, challenge)
    }
    const more = path === '/userinfo' ? behaviour.userInfoMembers?.(bearerOf(headers) ?? '') : undefined
    return answerJson(res, 200, { ...found.grant.account, ...more })
  }

  /** Instagram: exchanges a live token for one with a longer lifetime. */
  function exchange(res: ServerResponse, { params }: RecordedRequest) {
    const found = live(params.access_token)
    if (!found || (params.client_secret !== undefined && params.client_secret !== clientSecret))
      return answerJson(res, 400, { error: { message: 'It has expired', type: 'OAuthException', code: 190 } })
    const accessToken = secret('at')
    const expiresAt = now() + behaviour.longLifetime * 1000
    accessTokens.set(accessToken, { ...found, expiresAt, dead: false })
    return answerJson(res, 200, {
      access_token: accessToken,
      token_type: 'bearer',
      expires_in: behaviour.longLifetime,
    })
  }

  /** RFC 7009: revoking a refresh token revokes its grant; revoking an access token revokes that token alone. */
  function revoke(res: ServerResponse, request: RecordedRequest) {
    if (behaviour.revocation === 'hang') return
    if (typeof behaviour.revocation === 'object')
      return answer(res, 200, 'application/json', behaviour.revocation.body)
    if (behaviour.revocation === '503') return answer(res, 503, 'text/plain', 'Service unavailable')
    if (behaviour.revocation === 'unsupported') return answerJson(res, 404, { error: 'not_found' })
    const unknownClient = clientRefusal(request)
    if (unknownClient) return answerJson(res, 401, { error: 'invalid_client' })
    const value = request.params.token ?? ''
    const accessToken = accessTokens.get(value)
    if (accessToken) accessToken.dead = true
    const grant = grants.find(({ refreshTokens }) => refreshTokens.has(value))
    if (grant) grant.revoked = true
    return res.writeHead(200).end()
  }

  function introspect(res: ServerResponse, request: RecordedRequest) {
    const byBearer = live(bearerOf(request.headers))
    if (!byBearer && clientRefusal(request)) return answerJson(res, 401, { error: 'invalid_client' })
    const found = live(request.params.token)
    if (!found) return answerJson(res, 200, { active: false })
    const exp = Math.floor(found.expiresAt / 1000)
    const { sub } = found.grant.account
    return answerJson(res, 200, {
      active: true,
      scope: found.scopes.join(' '),
      client_id: clientId,
      exp,
      sub,
    })
  }

  function live(value: string | undefined): AccessToken | undefined {
    const found = accessTokens.get(value ?? '')
    return found && !found.dead && !found.grant.revoked && now() < found.expiresAt ? found : undefined
  }

  function killAccessTokens(grant?: Grant) {
    for (const accessToken of accessTokens.values())
      if (!grant || accessToken.grant === grant) accessToken.dead = true
  }

  function issuers(): readonly string[] {
    const { issParameter } = behaviour
    if (typeof issParameter === 'boolean') return issParameter ? [url] : []
    return typeof issParameter === 'string' ? [issParameter] : issParameter
  }

  const state = {
    ...loopback,
    authorizationUrl: `${url}/authorize`,
    tokenUrl: `${url}/token`,
    userInfoUrl: `${url}/userinfo`,
    revocationUrl: `${url}/revoke`,
    introspectionUrl: `${url}/introspect`,
    exchangeUrl: `${url}/exchange`,
    clientId,
    clientSecret,
    behaviour,
    /** The account that approves from now on; earlier grants keep theirs. */
    account,
    requests,
    requestsTo: (path: string) => requests.filter((request) => request.path === path),
    tokenRequests: (grantType?: 'authorization_code' | 'refresh_token') =>
      requests.filter(
        ({ path, params }) => path === '/token' && (!grantType || params.grant_type === grantType),
      ),
    isLive: (accessToken: string) => live(accessToken) !== undefined,
    /** The account that an access token acts for, live or not. */
    accountOf: (accessToken: string) => accessTokens.get(accessToken)?.grant.account,
    /** The resource (RFC 8707) and the scopes of an access token. */
    grantOf: (accessToken: string) => {
      const found = accessTokens.get(accessToken)
      return found && { resource: found.grant.resource, scopes: found.scopes }
    },
    /** Whether some grant was revoked because a used refresh token or code came again. */
    get familyRevoked() {
      return familyRevoked
    },
    /** Used refresh tokens that came again, in order. */
    refreshReuses,
    /** Of each refresh that was carried out, the refresh token it used and the access token it issued. */
    refreshed,
    /** Makes the API refuse every access token issued so far, as if it had expired. */
    expireAccessTokens: () => killAccessTokens(),
    /** Revokes every grant, as a user does at the provider. */
    revokeGrants: () => {
      for (const grant of grants) grant.revoked = true
    },
    /** Every code, token and verifier so far, and the client secrets: tests look for them where none may be. */
    secrets: (): string[] => [
      ...[...clients.values()].filter((one) => one !== undefined),
      ...codes.keys(),
      ...accessTokens.keys(),
      ...grants.flatMap(({ refreshTokens }) => [...refreshTokens.keys()]),
      ...requests.flatMap(({ params }) => params.code_verifier ?? []),
    ],
  }
  return state
}

function secret(kind: string): string {
  // one of 200 random ones has no digit, and looks less like a secret than all others
  return `${kind}_1${randomBytes(24).toString('base64url')}`
}

const DECODERS: Record<Behaviour['basicDecoding'], (text: string) => string> = {
  form: (text) => new URLSearchParams(`v=${text.replaceAll('&', '%26')}`).get('v') ?? '',
  percent: decodeURIComponent,
  none: (text) => text,
}

function basicOf(
  header: string | undefined,
  decoding: Behaviour['basicDecoding'],
): { id: string; secret: string } | undefined {
  const encoded = /^Basic (\S+)$/i.exec(header ?? '')?.[1]
  if (!encoded) return undefined
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  const decode = DECODERS[decoding]
  try {
    return { id: decode(pair.slice(0, colon)), secret: decode(pair.slice(colon + 1)) }
  } catch {
    return { id: '', secret: '' } // a stray % in what is not encoded
  }
}

/** OAuth 2.0 Form Post Response Mode. */
function formPost(redirectUri: string, response: URLSearchParams): string {
  const fields = [...response].map(
    ([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`,
  )
  return `<!doctype html><html lang="en"><title>Going on</title>
<form method="post" action="${escapeHtml(redirectUri)}">${fields.join('')}</form>
<script>document.forms[0].submit()</script>`
}

function consentPage(params: RecordedRequest['params'], scopes: readonly string[], who: Account): string {
  const hidden = Object.entries(params)
    .map(([name, value]) => `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`)
    .join('')
  return `<!doctype html><html lang="en"><title>Fake authorization server</title>
<h1>Allow access as ${escapeHtml(who.name)}?</h1><ul>${scopes.map((s) => `<li>${escapeHtml(s)}</li>`).join('')}</ul>
<form method="post" action="/authorize">${hidden}
<button name="decision" value="approve">Approve</button> <button name="decision" value="deny">Deny</button></form>`
}
