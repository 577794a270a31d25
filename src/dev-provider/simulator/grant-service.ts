import { introspectionAnswer, json, tokenAnswer, userInfoAnswer } from './answers.ts'
import { AssertionCheck } from './assertion-check.ts'
import {
  BOUND_FORMAT,
  checkBearer,
  checkClient,
  checkHeaders,
  checkParameters,
  type Expected,
  parametersOf,
  RequestFault,
  withParams,
} from './check-request.ts'
import type { SimulatedClient, SimulatedOAuth2, SimulatedRequest, SimulatedResponse } from './definition.ts'
import { SimulatedEndpoints } from './simulated-endpoints.ts'
import type { Playing } from './simulated-outgoing.ts'
import { LIFETIME_SECONDS, type SimulatedFault } from './simulator.ts'
import { namesIn, type Values } from './template.ts'

// An authorization server that gives tokens to a client without a user, and its API, as one definition describes them.

/** What tokens are asked for. */
export interface GrantNeed {
  readonly scopes: readonly string[]
  /** The user in whose name they are, where the definition impersonates. */
  readonly userId: string
}

const GRANTS: Readonly<Record<string, string>> = {
  jwt_bearer: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
  token_exchange: 'urn:ietf:params:oauth:grant-type:token-exchange',
}
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
/** The token that is exchanged. */
export const SUBJECT_TOKEN = 'simulated-subject-token'

const EXCHANGED: readonly (readonly [string, Expected])[] = [
  ['subject_token', SUBJECT_TOKEN],
  ['subject_token_type', ACCESS_TOKEN],
  ['requested_token_type', ACCESS_TOKEN],
]

export class GrantService implements Playing {
  readonly faults: SimulatedFault[] = []
  /** How many tokens were issued. */
  issued = 0
  /** The client is refused, as after its secret was changed at the server. */
  refusesClient = false
  readonly #oauth2: SimulatedOAuth2
  readonly #client: SimulatedClient
  readonly #need: GrantNeed
  readonly #now: () => number
  readonly #endpoints: SimulatedEndpoints
  readonly #assertions: AssertionCheck
  #token = ''

  constructor(oauth2: SimulatedOAuth2, client: SimulatedClient, need: GrantNeed, now: () => number) {
    this.#oauth2 = oauth2
    this.#client = client
    this.#need = need
    this.#now = now
    this.#endpoints = new SimulatedEndpoints(oauth2, client)
    this.#assertions = new AssertionCheck(oauth2, client, now)
  }

  knows(url: URL): boolean {
    return this.#endpoints.knows(url)
  }

  answer(request: SimulatedRequest): SimulatedResponse {
    const kind = this.#endpoints.kindOf(request, { codes: [], grant: undefined })
    try {
      if (kind === 'token') return this.#issue(request)
      if (kind === 'api') return this.#call(request)
      const { user_info_request: userInfo, token_introspection_request: introspection } = this.#oauth2
      if (kind === 'userInfo' && userInfo) return json(200, userInfoAnswer(this.#oauth2, userInfo))
      if (kind === 'introspection' && introspection)
        return json(200, introspectionAnswer(this.#oauth2, introspection, this.#grant, this.#now()))
      throw new RequestFault(`goes to ${request.url.origin}${request.url.pathname}, which has no use here`)
    } catch (error) {
      if (!(error instanceof RequestFault)) throw error
      this.faults.push({ request: kind ?? 'request', fault: error.message })
      return json(400, { error: 'invalid_request', error_description: error.message })
    }
  }

  #issue(request: SimulatedRequest): SimulatedResponse {
    if (this.refusesClient) return json(401, { error: 'invalid_client' })
    const { token_request: block, scope_delimiter: separator, grant } = this.#oauth2
    const type = grant?.type ?? ''
    const isAsserted = type === 'jwt_bearer'
    const isExchanged = type === 'token_exchange'
    if (request.method !== 'POST') throw new RequestFault(`is a ${request.method} instead of a POST`)
    checkHeaders(request, block, this.#values)
    const named = checkClient(request, block, this.#client)
    const { scopes } = this.#need
    const standard = new Map<string, Expected>([
      // an assertion names the client
      ...(isAsserted && block.auth_method === 'none' ? [] : named),
      ['grant_type', GRANTS[type] ?? type],
      ...(scopes.length > 0 && !this.#placesScopes() ? [['scope', isList(scopes, separator)] as const] : []),
      ...(isExchanged ? EXCHANGED : []),
      ...(isAsserted
        ? [['assertion', (jwt: string) => this.#assertions.takes(jwt, this.#values)] as const]
        : []),
    ])
    const actual = parametersOf(request, block, this.#endpoints.of(block))
    checkParameters(actual, withParams(standard, block, this.#values, separator), block.parameter_names)
    this.issued += 1
    this.#token = `simulated-access-${this.issued}`
    const about = { now: this.#now(), clientId: this.#client.clientId }
    const { response, accessToken } = tokenAnswer(this.#oauth2, block, this.#grant, about)
    this.#token = accessToken
    if (!isExchanged) return response
    const issued = block.params?.requested_token_type ?? ACCESS_TOKEN
    return json(200, { ...JSON.parse(String(response.body)), issued_token_type: issued })
  }

  #call(request: SimulatedRequest): SimulatedResponse {
    const { api, dpop } = this.#oauth2
    const values = { ...this.#values, access_token: this.#token }
    checkHeaders(request, { endpoint: '', headers: api?.headers ?? {} }, values)
    const isInHeader = Object.values(api?.headers ?? {}).some((header) =>
      namesIn(header).includes('access_token'),
    )
    const format = dpop === undefined ? api?.auth_header_value_format : BOUND_FORMAT
    if (!isInHeader) checkBearer(request, format, (token) => token === this.#token)
    return json(200, { simulated: true })
  }

  #placesScopes(): boolean {
    const { token_request: block, assertion } = this.#oauth2
    const templates = [...Object.values(block.params ?? {}), ...Object.values(assertion?.claims ?? {})]
    return templates.some((text) => typeof text === 'string' && namesIn(text).includes('scopes'))
  }

  get #grant() {
    const { scopes } = this.#need
    const expiresAt = this.#now() + LIFETIME_SECONDS
    return { accessToken: this.#token, scopes, expiresAt, isFirst: false, isRefreshed: false }
  }

  get #values(): Values {
    const { clientId, clientSecret, redirectUri } = this.#client
    const { variables = {} } = this.#oauth2
    const own = Object.entries(variables).map(([name, { value }]) => [name, value] as const)
    const { scopes, userId } = this.#need
    return {
      ...Object.fromEntries(own),
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uri: redirectUri,
      user_id: userId,
      scopes: [...scopes].sort(),
    }
  }
}

/** Whether a text has exactly the scopes, in any order. */
function isList(scopes: readonly string[], separator: string) {
  return (text: string) => text.split(separator).sort().join() === [...scopes].sort().join()
}
