import { createHash, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { jwtVerify } from 'jose'
import { answer, type Loopback, listen, type RecordedRequest, record } from './loopback.ts'

// A server that does what GitHub's documentation says of GitHub Apps: a user's code, the list of the installations that
// the user may use, and tokens of one installation by a JWT of the app.

export interface Installed {
  readonly id: number
  readonly account: string
  permissions: Record<string, string>
  /** Who sees it in the list. */
  readonly users: string[]
  suspended?: boolean
}

const pem = (key: KeyObject) => String(key.export({ type: 'pkcs1', format: 'pem' }))

export async function startGitHubApp(now: () => number) {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const state = {
    clientId: 'Iv23-app',
    clientSecret: 'app-secret-of-the-client-1',
    privateKey: pem(keys.privateKey),
    publicKey: keys.publicKey,
    /** Who is logged in at the server's pages. */
    user: 'ada',
    installations: [] as Installed[],
    /** The `installation_id` of the redirect, which anybody can write. */
    told: '99',
    perPage: 2,
    codes: new Map<string, { user: string; challenge: string | null; used: boolean }>(),
    userTokens: new Map<string, string>(),
    tokens: new Map<string, { id: number; permissions: Record<string, string> }>(),
    asked: [] as (RecordedRequest & { assertion: string })[],
    redeemed: [] as RecordedRequest[],
    listed: [] as RecordedRequest[],
    called: [] as RecordedRequest[],
    refusals: [] as string[],
    limited: false,
  }
  const json = (res: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) => {
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
    answer(res, status, 'application/json', JSON.stringify(body))
    return res
  }
  const bearer = ({ headers }: RecordedRequest) =>
    /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? ''

  function back(res: ServerResponse, to: string, given: string | undefined, challenge: string | null) {
    const code = randomUUID()
    state.codes.set(code, { user: state.user, challenge, used: false })
    const url = new URL(to)
    url.searchParams.set('code', code)
    url.searchParams.set('installation_id', state.told)
    url.searchParams.set('setup_action', 'install')
    if (given !== undefined) url.searchParams.set('state', given)
    res.writeHead(302, { location: url.href }).end()
  }

  function redeem(request: RecordedRequest, res: ServerResponse) {
    state.redeemed.push(request)
    const { client_id: id, client_secret: secret, code = '', code_verifier: verifier } = request.params
    if (id !== state.clientId || secret !== state.clientSecret)
      return json(res, 200, { error: 'incorrect_client_credentials' })
    const known = state.codes.get(code)
    const digest = verifier === undefined ? null : createHash('sha256').update(verifier).digest('base64url')
    if (known === undefined || known.used || known.challenge !== digest)
      return json(res, 200, { error: 'bad_verification_code' })
    known.used = true
    const token = `ghu_${randomUUID()}`
    state.userTokens.set(token, known.user)
    return json(res, 200, { access_token: token, token_type: 'bearer', scope: '' })
  }

  function list(request: RecordedRequest, res: ServerResponse, url: string) {
    state.listed.push(request)
    const user = state.userTokens.get(bearer(request))
    if (user === undefined) return json(res, 401, { message: 'Bad credentials' })
    const all = state.installations.filter(({ users }) => users.includes(user))
    const page = Number(request.query.page ?? 1)
    const shown = all.slice((page - 1) * state.perPage, page * state.perPage)
    const next = `<${url}/user/installations?page=${page + 1}>; rel="next", <${url}/user/installations>; rel="first"`
    return json(
      res,
      200,
      {
        total_count: all.length,
        installations: shown.map(({ id, account, permissions }) => ({
          id,
          account: { login: account, id: id * 10 },
          permissions,
        })),
      },
      page * state.perPage < all.length ? { link: next } : {},
    )
  }

  async function token(request: RecordedRequest, res: ServerResponse) {
    const assertion = bearer(request)
    state.asked.push({ ...request, assertion })
    const refuse = (status: number, message: string, headers = {}) => {
      state.refusals.push(`${status} ${message}`)
      return json(
        res,
        status,
        { message, documentation_url: 'https://docs.example', status: String(status) },
        headers,
      )
    }
    if (state.limited)
      return refuse(403, 'You have exceeded a secondary rate limit.', { 'retry-after': '30' })
    try {
      const { payload } = await jwtVerify(assertion, state.publicKey, {
        algorithms: ['RS256'],
        issuer: state.clientId,
        currentDate: new Date(now() * 1000),
        requiredClaims: ['exp', 'iat'],
      })
      if ((payload.iat ?? Number.POSITIVE_INFINITY) > now() - 60)
        return refuse(401, "'Issued at' claim is too late")
      if ((payload.exp ?? 0) > now() + 600)
        return refuse(401, "'Expiration time' claim is too far in the future")
    } catch {
      return refuse(401, `A JSON web token could not be decoded: ${assertion}`)
    }
    const id = Number(request.path.split('/').at(-2))
    const known = state.installations.find((one) => one.id === id)
    if (known === undefined) return refuse(404, 'Not Found')
    if (known.suspended) return refuse(403, 'This installation has been suspended')
    const { permissions: wanted = known.permissions } = (request.json ?? {}) as {
      permissions?: Record<string, string>
    }
    for (const [name, level] of Object.entries(wanted)) {
      const has = known.permissions[name]
      if (has === undefined || (level === 'write' && has !== 'write'))
        return refuse(422, 'The permissions requested are not granted to this installation.')
    }
    // longer than GitHub's tokens were for years
    const value = `ghs_${id}_${Buffer.from(randomUUID().repeat(12)).toString('base64url')}`
    state.tokens.set(value, { id, permissions: wanted })
    const expires_at = new Date((now() + 3600) * 1000).toISOString().replace(/\.\d+Z$/, 'Z')
    return json(res, 201, { token: value, expires_at, permissions: wanted, repository_selection: 'selected' })
  }

  const server: Loopback = await listen(async (req, res) => {
    const request = await record(req)
    const { path, query } = request
    if (path === '/login/oauth/authorize')
      return back(res, query.redirect_uri ?? '', query.state, query.code_challenge ?? null)
    if (path === '/apps/gatepass-test/installations/new') {
      state.installations.push({
        id: 77,
        account: `${state.user}-new`,
        permissions: { contents: 'read' },
        users: [state.user],
      })
      return back(res, callbackUrl.value, query.state, null)
    }
    if (path === '/login/oauth/access_token') return redeem(request, res)
    if (path === '/user/installations') return list(request, res, server.url)
    if (/^\/app\/installations\/[^/]+\/access_tokens$/.test(path)) return token(request, res)
    state.called.push(request)
    const known = state.tokens.get(bearer(request))
    return json(res, known === undefined ? 401 : 200, known ?? { message: 'Bad credentials' })
  })
  /** The registered callback, where the page of the installation leads. */
  const callbackUrl = { value: '' }

  const entry = (oauth2: object = {}) => ({
    grant: { type: 'installation' },
    client_id: state.clientId,
    client_secret: `${state.clientSecret}\n${state.privateKey}`,
    variables: { slug: { pattern: '[a-z0-9-]+', value: 'gatepass-test' } },
    authorize_request: { endpoint: `${server.url}/login/oauth/authorize` },
    token_request: { endpoint: `${server.url}/login/oauth/access_token` },
    installations_request: {
      endpoint: `${server.url}/user/installations`,
      at: '$.installations',
      id: '$.id',
      name: '$.account.login',
      scopes: '$.permissions',
    },
    installation_token_request: {
      endpoint: `${server.url}/app/installations/{{installation_id}}/access_tokens`,
      params: { permissions: '{{scope_members}}' },
      response_map: { access_token: '$.token', expires_in: '$.expires_at', scope: '$.permissions' },
      expiration_format: 'iso_8601',
    },
    installation_uri: `${server.url}/apps/{{slug}}/installations/new`,
    installation_help_uri: `${server.url}/settings/installations`,
    assertion: { algorithm: 'RS256', subject: '', audience: '' },
    scope_implies: { 'contents:write': ['contents:read'] },
    api: { base_url: `${server.url}/api` },
    ...oauth2,
  })

  return Object.assign(state, {
    server,
    entry,
    callbackUrl,
    otherKey: () => pem(generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey),
  })
}

export type GitHubAppServer = Awaited<ReturnType<typeof startGitHubApp>>
