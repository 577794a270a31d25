import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { answer, type Loopback, listen, type RecordedRequest, record } from './loopback.ts'

// A server whose API needs a tenant, as Atlassian's and Xero's: a code, the list of the user's tenants, an API for each.

export interface ListedTenant {
  readonly id: string
  readonly name: string
  readonly url: string
}

export const CLOUD = (digit: number) => `${String(digit).repeat(8)}-0000-4000-8000-000000000000`

export async function startTenantServer() {
  const state = {
    /** Who is logged in at the server's pages; empty: it does not say. */
    user: 'ada',
    tenants: [] as ListedTenant[],
    /** The status of the list. */
    listStatus: 200,
    /** The names in the list have the token. */
    echoes: false,
    perPage: 100,
    codes: new Set<string>(),
    /** Tokens that work, with their grant. */
    live: new Map<string, number>(),
    redeemed: [] as RecordedRequest[],
    listed: [] as RecordedRequest[],
    revoked: [] as string[],
    called: [] as RecordedRequest[],
    refreshed: 0,
    grants: 0,
  }
  const json = (res: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) => {
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
    answer(res, status, 'application/json', JSON.stringify(body))
  }
  const bearer = ({ headers }: RecordedRequest) =>
    /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? ''

  function issue(grant: number) {
    const [access, refresh] = [`access-${grant}-${randomUUID()}`, `refresh-${grant}-${randomUUID()}`]
    state.live.set(access, grant)
    state.live.set(refresh, grant)
    return { access_token: access, refresh_token: refresh, token_type: 'Bearer', expires_in: 3600 }
  }

  function token(request: RecordedRequest, res: ServerResponse) {
    const { grant_type: type, code = '', refresh_token: refresh = '' } = request.params
    if (type === 'refresh_token') {
      const grant = state.live.get(refresh)
      if (grant === undefined) return json(res, 400, { error: 'invalid_grant' })
      state.refreshed += 1
      for (const [text, of] of state.live) if (of === grant) state.live.delete(text)
      return json(res, 200, issue(grant))
    }
    state.redeemed.push(request)
    if (!state.codes.delete(code)) return json(res, 400, { error: 'invalid_grant' })
    state.grants += 1
    return json(res, 200, issue(state.grants))
  }

  function list(request: RecordedRequest, res: ServerResponse) {
    state.listed.push(request)
    if (!state.live.has(bearer(request))) return json(res, 401, {})
    if (state.listStatus !== 200) return json(res, state.listStatus, { message: 'not now' })
    const page = Number(request.query.page ?? 1)
    const shown = state.tenants.slice((page - 1) * state.perPage, page * state.perPage)
    const named = shown.map((one) => (state.echoes ? { ...one, name: `of ${bearer(request)}` } : one))
    const next = `<${server.url}/tenants?page=${page + 1}>; rel="next"`
    return json(res, 200, named, page * state.perPage < state.tenants.length ? { link: next } : {})
  }

  const server: Loopback = await listen(async (req, res) => {
    const request = await record(req)
    const { path, query } = request
    if (path === '/authorize') {
      const code = randomUUID()
      state.codes.add(code)
      const url = new URL(query.redirect_uri ?? '')
      url.searchParams.set('code', code)
      url.searchParams.set('region', 'eu')
      url.searchParams.set('state', query.state ?? '')
      return res.writeHead(302, { location: url.href }).end()
    }
    if (path === '/token') return token(request, res)
    if (path === '/me')
      return json(res, 200, state.user === '' ? {} : { id: state.user, email: `${state.user}@p.example` })
    if (path === '/tenants') return list(request, res)
    if (path === '/revoke') {
      const grant = state.live.get(request.params.token ?? '')
      state.revoked.push(request.params.token ?? '')
      for (const [text, of] of state.live) if (of === grant) state.live.delete(text)
      return json(res, 200, {})
    }
    state.called.push(request)
    return json(res, state.live.has(bearer(request)) ? 200 : 401, {})
  })

  const entry = (oauth2: object = {}) => ({
    client_id: 'c',
    client_secret: 'the-client-secret',
    authorize_request: { endpoint: `${server.url}/authorize` },
    token_request: { endpoint: `${server.url}/token` },
    refresh_request: { endpoint: `${server.url}/token` },
    revocation_request: { endpoint: `${server.url}/revoke` },
    user_info_request: {
      endpoint: `${server.url}/me`,
      triggers: { on_token_grant: true, on_token_refresh: true },
    },
    account: { id: ['$.id'], name: ['$.email'] },
    choices_request: { endpoint: `${server.url}/tenants`, detail: '$.url' },
    kept_values: {
      cloud_id: { from: 'choice', at: '$.id', pattern: '[0-9a-f-]{36}' },
      region: { from: 'authorization_response', pattern: '[a-z]{2}' },
    },
    api: { base_url: `${server.url}/ex/{{cloud_id}}`, headers: { 'x-region': '{{region}}' } },
    ...oauth2,
  })
  return Object.assign(state, { server, entry })
}

export type TenantServer = Awaited<ReturnType<typeof startTenantServer>>
