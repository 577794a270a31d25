import { expiryOf, json, listed } from './answers.ts'
import { AssertionCheck } from './assertion-check.ts'
import { AuthorizationEndpoint } from './authorization-endpoint.ts'
import {
  checkBearer,
  checkClient,
  checkHeaders,
  checkParameters,
  type Expected,
  parametersOf,
  RequestFault,
  withParams,
} from './check-request.ts'
import type {
  SimulatedBlock,
  SimulatedClient,
  SimulatedOAuth2,
  SimulatedRequest,
  SimulatedResponse,
} from './definition.ts'
import { place } from './place-members.ts'
import { SimulatedEndpoints } from './simulated-endpoints.ts'
import type { Playing } from './simulated-outgoing.ts'
import { LIFETIME_SECONDS, type SimulatedFault } from './simulator.ts'
import { namesIn, render, type Values } from './template.ts'

// A server at which clients are installed (GitHub Apps), as one definition describes it: a user's code, the list of the
// installations that the user may use, the page on which the client is installed, and tokens of one installation.

/** The parameter of the redirect after an installation, which anybody can write. */
export const FORGED_ID = '666'

export class InstallationService implements Playing {
  readonly faults: SimulatedFault[] = []
  /** The user's answer to the consent request. */
  consent: 'approve' | 'deny' = 'approve'
  /** The scopes that were asked for: every installation has them. */
  scopes: readonly string[] = []
  /** The installations of the user, by their ids. */
  readonly installed = new Map<string, string>()
  /** How many tokens of installations were issued. */
  issued = 0
  readonly #oauth2: SimulatedOAuth2
  readonly #client: SimulatedClient
  readonly #now: () => number
  readonly #endpoints: SimulatedEndpoints
  readonly #authorization: AuthorizationEndpoint
  readonly #assertions: AssertionCheck
  #codes = 0
  #userToken = ''
  #token = ''

  constructor(oauth2: SimulatedOAuth2, client: SimulatedClient, now: () => number) {
    this.#oauth2 = oauth2
    this.#client = client
    this.#now = now
    this.#endpoints = new SimulatedEndpoints(oauth2, client)
    this.#assertions = new AssertionCheck(oauth2, client, now)
    this.#authorization = new AuthorizationEndpoint(oauth2, client, this.#endpoints, () => {
      this.#codes += 1
      return `simulated-code-${this.#codes}`
    })
  }

  knows(url: URL): boolean {
    return this.#endpoints.knows(url)
  }

  /** Answers the authorization request with the URL of the response. Throws `RequestFault`. */
  authorize(url: URL): URL {
    const play = { consent: this.consent, refusesRefresh: false, scopes: this.scopes, tenants: 1 }
    return this.#authorization.answer(url, play, this.#values)
  }

  /**
   * Installs the client, as a user does at the page, and returns the URL to which the browser is sent back. Its code is bound
   * by no code challenge, so it must not be redeemed.
   */
  install(page: URL, id: string, name: string): URL {
    const { installation_uri: template = '' } = this.#oauth2
    const expected = new URL(render(template, this.#values))
    if (page.origin + page.pathname !== expected.origin + expected.pathname)
      throw new RequestFault(`goes to ${page.origin}${page.pathname}`)
    this.installed.set(id, name)
    const back = new URL(this.#client.redirectUri)
    back.searchParams.set('code', 'simulated-code-of-the-installation')
    back.searchParams.set('state', page.searchParams.get('state') ?? '')
    back.searchParams.set('installation_id', FORGED_ID)
    back.searchParams.set('setup_action', 'install')
    return back
  }

  answer(request: SimulatedRequest): SimulatedResponse {
    const installation = [...this.installed.keys(), FORGED_ID].find((id) =>
      request.url.pathname.split('/').includes(id),
    )
    if (installation === undefined && this.#isOfTokens(request)) return json(404, { message: 'Not Found' }) // removed
    this.#endpoints.installationId = installation ?? ''
    const codes = [...this.#authorization.codes.keys()]
    const kind = this.#endpoints.kindOf(request, { codes, grant: undefined })
    try {
      if (kind === 'token') return this.#redeem(request)
      if (kind === 'installations') return this.#list(request)
      if (kind === 'installationToken') return this.#issue(request)
      if (kind === 'api') return this.#call(request)
      throw new RequestFault(`goes to ${request.url.origin}${request.url.pathname}, which has no use here`)
    } catch (error) {
      if (!(error instanceof RequestFault)) throw error
      this.faults.push({ request: kind ?? 'request', fault: error.message })
      return json(400, { error: 'invalid_request', error_description: error.message })
    }
  }

  #redeem(request: SimulatedRequest): SimulatedResponse {
    const { token_request: block } = this.#oauth2
    const actual = parametersOf(request, block, this.#endpoints.of(block))
    const sent = actual.get(block.parameter_names?.code ?? 'code') ?? ''
    const code = this.#authorization.codes.get(sent)
    const standard = new Map<string, Expected>([
      ...checkClient(request, block, this.#client),
      ...this.#authorization.redemption(code),
    ])
    this.#check(request, block, actual, standard)
    this.#authorization.codes.delete(sent)
    this.#userToken = `simulated-user-${this.#codes}`
    const body: Record<string, unknown> = {}
    const { response_map: map = {} } = block
    place(body, map.access_token ?? '$.access_token', this.#userToken)
    place(body, map.token_type ?? '$.token_type', this.#oauth2.token_types?.[0] ?? 'Bearer')
    return json(200, body)
  }

  /** One installation on each page of the list (RFC 8288). */
  #list(request: SimulatedRequest): SimulatedResponse {
    const { installations_request: block } = this.#oauth2
    if (block === undefined) throw new RequestFault('is not in the definition')
    const format = block.auth_header_value_format
    checkBearer(request, format, (token) => token !== '' && token === this.#userToken)
    const actual = parametersOf(request, block, this.#endpoints.of(block))
    const page = Number(actual.get('page') ?? 1)
    actual.delete('page')
    this.#check(request, { method: 'GET', ...block }, actual, new Map())
    const shown = [...this.installed].slice(page - 1, page)
    const items = shown.map(([id, name]) => {
      const item: Record<string, unknown> = {}
      place(item, block.id, Number(id))
      place(item, block.name, name)
      if (block.scopes !== undefined) place(item, block.scopes, membersOf(this.scopes))
      return item
    })
    const body: Record<string, unknown> = {}
    place(body, block.at, items)
    const next = new URL(request.url)
    next.searchParams.set('page', String(page + 1))
    const answer = json(200, body)
    if (page >= this.installed.size) return answer
    return { ...answer, headers: { ...answer.headers, link: `<${next.href}>; rel="next"` } }
  }

  #issue(request: SimulatedRequest): SimulatedResponse {
    const { installation_token_request: block } = this.#oauth2
    if (block === undefined) throw new RequestFault('is not in the definition')
    if (!this.installed.has(this.#endpoints.installationId))
      throw new RequestFault('asks for a token of an installation that the user was not offered')
    if (request.method !== 'POST') throw new RequestFault(`is a ${request.method} instead of a POST`)
    checkHeaders(request, block, this.#values)
    checkBearer(request, undefined, (jwt) => this.#assertions.takes(jwt, this.#values))
    this.#checkNeeds(request, block)
    this.issued += 1
    this.#token = `simulated-installation-${this.issued}`
    const grant = {
      ...{ accessToken: this.#token, scopes: this.scopes, isFirst: false, isRefreshed: false },
      expiresAt: this.#now() + LIFETIME_SECONDS,
    }
    const { response_map: map = {} } = block
    const body: Record<string, unknown> = {}
    place(body, map.access_token ?? '$.access_token', this.#token)
    place(body, map.expires_in ?? '$.expires_in', expiryOf(block, grant, this.#now()))
    if (map.scope !== undefined) place(body, map.scope, membersOf(this.scopes))
    return json(201, body)
  }

  /** The body has exactly what the definition says; `{{scope_members}}` is the scopes as an object. */
  #checkNeeds({ body }: SimulatedRequest, { params = {} }: SimulatedBlock): void {
    const needed = listed(this.#oauth2, this.scopes)
    const expected: Record<string, unknown> = {}
    for (const [name, template] of Object.entries(params)) {
      const isMembers = namesIn(template).includes('scope_members')
      const text = render(template, { ...this.#values, scopes: needed }, this.#oauth2.scope_delimiter)
      if (isMembers ? needed.length > 0 : text !== '') expected[name] = isMembers ? membersOf(needed) : text
    }
    const actual = body === '' ? {} : JSON.parse(body)
    if (sorted(actual) !== sorted(expected))
      throw new RequestFault('asks for something else than the definition says')
  }

  #call(request: SimulatedRequest): SimulatedResponse {
    const { api } = this.#oauth2
    checkHeaders(request, { endpoint: '', headers: api?.headers ?? {} }, this.#values)
    checkBearer(request, api?.auth_header_value_format, (token) => token !== '' && token === this.#token)
    return json(200, { simulated: true })
  }

  #check(
    request: SimulatedRequest,
    block: SimulatedBlock,
    actual: ReadonlyMap<string, string>,
    standard: ReadonlyMap<string, Expected>,
  ): void {
    const method = block.method ?? 'POST'
    if (request.method !== method) throw new RequestFault(`is a ${request.method} instead of a ${method}`)
    checkHeaders(request, block, this.#values)
    checkParameters(actual, withParams(standard, block, this.#values), block.parameter_names)
  }

  /** Whether it asks for a token of any installation. */
  #isOfTokens({ url }: SimulatedRequest): boolean {
    const { installation_token_request: block } = this.#oauth2
    if (block === undefined) return false
    this.#endpoints.installationId = 'any'
    const parts = (one: URL) => one.pathname.split('/')
    const endpoint = this.#endpoints.of(block)
    const known = parts(endpoint)
    const sent = parts(url)
    const isSame = known.every((part, at) => part === 'any' || part === sent[at])
    return endpoint.origin === url.origin && known.length === sent.length && isSame
  }

  get #values(): Values {
    const { clientId, clientSecret, redirectUri } = this.#client
    const { variables = {} } = this.#oauth2
    const own = Object.entries(variables).map(([name, { value }]) => [name, value] as const)
    const client = { client_id: clientId, client_secret: clientSecret, redirect_uri: redirectUri }
    return { ...Object.fromEntries(own), ...client }
  }
}

/** `contents:read` as `{"contents": "read"}`. */
function membersOf(scopes: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    scopes.map((scope) => [scope.slice(0, scope.indexOf(':')), scope.slice(scope.indexOf(':') + 1)]),
  )
}

/** The JSON with the members of each object in the order of their names. */
function sorted(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
