import { createHash } from 'node:crypto'
import {
  type Issued,
  introspectionAnswer,
  json,
  keptIn,
  refusal,
  tokenAnswer,
  userInfoAnswer,
} from './answers.ts'
import { AuthorizationEndpoint, type Play } from './authorization-endpoint.ts'
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
import type {
  SimulatedBlock,
  SimulatedClient,
  SimulatedOAuth2,
  SimulatedRequest,
  SimulatedResponse,
} from './definition.ts'
import { DEVICE_CODE, DeviceEndpoint } from './device-endpoint.ts'
import { ProofCheck } from './proof-check.ts'
import { holds, SimulatedEndpoints } from './simulated-endpoints.ts'
import { namesIn, type Values } from './template.ts'
import { tenantsAnswer } from './tenants.ts'

/** A difference between a request of the broker and the definition. */
export interface SimulatedFault {
  readonly request: string
  readonly fault: string
}

type RequestKind = Exclude<ReturnType<SimulatedEndpoints['kindOf']>, OtherKind>
/** Requests that `InstallationService` answers, and those that are not in the definition. */
type OtherKind = 'installations' | 'installationToken' | undefined

/** Of issued access tokens. */
export const LIFETIME_SECONDS = 3600

/**
 * An authorization server and its API, as one definition describes them. It checks each request strictly and answers
 * in the declared form: renamed and nested members, formats of expiry, unusual token types, values that match
 * patterns, scopes as the server lists them.
 */
export class Simulator {
  readonly faults: SimulatedFault[] = []
  readonly play: Play = { consent: 'approve', refusesRefresh: false, scopes: [], tenants: 1 }
  /** How many requests of each kind had no fault. */
  readonly counts: Record<string, number> = {}
  readonly #oauth2: SimulatedOAuth2
  readonly #client: SimulatedClient
  readonly #endpoints: SimulatedEndpoints
  readonly #now: () => number
  readonly #authorization: AuthorizationEndpoint
  readonly #proofs: ProofCheck | undefined
  readonly #devices: DeviceEndpoint | undefined
  readonly #grants: Issued[] = []
  /** The thumbprint of the key that the latest tokens are bound to. */
  #boundTo: string | undefined
  readonly #series: string
  readonly #secrets: string[] = []

  /** `series`: sets what this one issues apart from what other simulators of the same client issue. */
  constructor(oauth2: SimulatedOAuth2, client: SimulatedClient, now: () => number, series = '') {
    this.#oauth2 = oauth2
    this.#client = client
    this.#series = series
    this.#endpoints = new SimulatedEndpoints(oauth2, client)
    this.#authorization = new AuthorizationEndpoint(oauth2, client, this.#endpoints, () =>
      this.#secret('code'),
    )
    this.#devices =
      oauth2.device_authorization_request && new DeviceEndpoint(oauth2, client, this.#endpoints, now)
    this.#now = now
    this.#proofs = oauth2.dpop && new ProofCheck(oauth2.dpop.algorithm, now)
  }

  /** The grant that was issued last. */
  get latest(): Issued | undefined {
    return this.#grants.at(-1)
  }

  /** The codes that users enter, and the page where they do. Throws `RequestFault` if the definition has none. */
  get devices(): DeviceEndpoint {
    if (this.#devices === undefined) throw new RequestFault('is not in the definition')
    return this.#devices
  }

  /** Whether the request carries a code, a token or a reference that was issued here. */
  knowsSecretOf(request: SimulatedRequest): boolean {
    const tokens = this.#grants.map(({ accessToken }) => accessToken)
    return [...this.#secrets, ...tokens].some((secret) => holds(request, secret))
  }

  /** Whether the host is one of the definition's: of its endpoints or its API. */
  knows(url: URL): boolean {
    return this.#endpoints.knows(url)
  }

  /** Answers the authorization request (RFC 6749 section 4.1.1) with the URL of the response. Throws `RequestFault`. */
  authorize(url: URL): URL {
    try {
      const back = this.#authorization.answer(url, this.play, this.#values())
      this.#count('authorization')
      return back
    } catch (error) {
      throw this.#recorded('the authorization request', error)
    }
  }

  /** Answers any other request. A fault is recorded, and answered with `invalid_request`. */
  answer(request: SimulatedRequest): SimulatedResponse {
    const kind = this.#endpoints.kindOf(request, {
      codes: [...this.#authorization.codes.keys(), ...(this.#devices?.codes.keys() ?? [])],
      grant: this.latest,
    })
    try {
      if (kind === undefined || kind === 'installations' || kind === 'installationToken')
        throw new RequestFault(
          `goes to ${request.url.origin}${request.url.pathname}, which the definition does not name`,
        )
      const demand = this.#proofDemand(kind, request)
      if (demand !== undefined) return demand
      const response = this[kind](request)
      this.#count(kind)
      return response
    } catch (error) {
      const fault = this.#recorded(kind ?? 'a request', error)
      return json(400, { error: 'invalid_request', error_description: fault.message })
    }
  }

  /** The demand for a nonce in the request's proof. Throws `RequestFault` if a proof is missing or wrong. */
  #proofDemand(kind: RequestKind, request: SimulatedRequest): SimulatedResponse | undefined {
    if (this.#proofs === undefined) return undefined
    if (kind === 'pushedAuthorization') return this.#proofs.demand(request, { thumbprint: undefined })
    if (kind === 'token') {
      const sent = [...this.#authorization.codes].find(([code]) => request.body.includes(code))
      return this.#proofs.demand(request, { thumbprint: sent?.[1].jkt })
    }
    const thumbprint = this.#boundTo
    if (kind === 'refresh') return this.#proofs.demand(request, { thumbprint })
    const accessToken = this.latest?.accessToken ?? ''
    const carriesToken = kind === 'api' || request.headers.authorization?.startsWith('DPoP ') === true
    return carriesToken ? this.#proofs.demand(request, { thumbprint, accessToken }) : undefined
  }

  /** The format of a token in `Authorization`. */
  #format(declared: string | undefined): string | undefined {
    return this.#proofs === undefined ? declared : BOUND_FORMAT
  }

  pushedAuthorization(request: SimulatedRequest): SimulatedResponse {
    return json(201, this.#authorization.push(request, this.#secret('request')))
  }

  token(request: SimulatedRequest): SimulatedResponse {
    const { token_request: block } = this.#oauth2
    if (this.#devices !== undefined) return this.#redeemDevice(request, this.#devices)
    const actual = this.#parameters(request, block)
    const names = block.parameter_names ?? {}
    const code = this.#authorization.codes.get(actual.get(names.code ?? 'code') ?? '')
    const standard = new Map<string, Expected>([
      ...checkClient(request, block, this.#client),
      ...this.#authorization.redemption(code),
    ])
    this.#check(request, block, actual, standard, this.#values())
    this.#authorization.codes.delete(actual.get(names.code ?? 'code') ?? '')
    if (code === undefined) throw new RequestFault('has no code')
    this.#boundTo = code.jkt
    return this.#issue(block, {
      scopes: code.scopes,
      ...(code.nonce !== undefined && { idToken: { nonce: code.nonce } }),
    })
  }

  deviceAuthorization(request: SimulatedRequest): SimulatedResponse {
    if (this.#devices === undefined) throw new RequestFault('is not in the definition')
    return this.#devices.issue(request, this.play.scopes, this.#values())
  }

  /** Answers the token request with a device code (RFC 8628 sections 3.4 and 3.5). */
  #redeemDevice(request: SimulatedRequest, devices: DeviceEndpoint): SimulatedResponse {
    const { token_request: block } = this.#oauth2
    const actual = this.#parameters(request, block)
    const code = actual.get('device_code') ?? ''
    const standard = new Map<string, Expected>([
      ...checkClient(request, block, this.#client),
      ['grant_type', DEVICE_CODE],
      ['device_code', (value) => devices.codes.has(value)],
    ])
    this.#check(request, block, actual, standard, this.#values())
    const answer = devices.redeem(code)
    if (typeof answer === 'string') return refusal(block, answer)
    this.#boundTo = this.#proofs?.thumbprint
    return this.#issue(block, {
      scopes: answer.scopes,
      ...(answer.scopes.includes('openid') && { idToken: {} }),
    })
  }

  refresh(request: SimulatedRequest): SimulatedResponse {
    const { refresh_request: block } = this.#oauth2
    const grant = this.latest
    if (block === undefined || grant?.refreshToken === undefined)
      throw new RequestFault('is not in the definition')
    if (this.play.refusesRefresh) return refusal(block)
    const actual = this.#parameters(request, block)
    const { auth_method: method, auth_header_value_format: format } = block
    const client = checkClient(request, block, this.#client)
    if (method === 'bearer_access_token') checkBearer(request, format, (token) => token === grant.accessToken)
    const values = {
      ...this.#values(),
      refresh_token: grant.refreshToken,
      access_token: grant.accessToken,
      ...this.#keptValues(),
    }
    const standard = new Map<string, Expected>([
      ...client,
      ['grant_type', 'refresh_token'],
      ['refresh_token', grant.refreshToken],
    ])
    this.#check(request, block, actual, standard, values)
    return this.#issue(block, { scopes: grant.scopes, before: grant })
  }

  /** Replaces the access token that was issued for the code. */
  exchange(request: SimulatedRequest): SimulatedResponse {
    return this.#replace(request, this.#oauth2.exchange_request)
  }

  /** Replaces an access token that is renewed without a refresh token. */
  renewal(request: SimulatedRequest): SimulatedResponse {
    const { renewal_request: block } = this.#oauth2
    if (block !== undefined && this.play.refusesRefresh) return refusal(block)
    return this.#replace(request, block, this.latest)
  }

  userInfo(request: SimulatedRequest): SimulatedResponse {
    const { user_info_request: block } = this.#oauth2
    if (block === undefined) throw new RequestFault('is not in the definition')
    const format = this.#format(block.auth_header_value_format)
    checkBearer(request, format, (token) => token === this.latest?.accessToken)
    const values = { ...this.#values(), access_token: this.latest?.accessToken }
    this.#check(request, block, this.#parameters(request, block), new Map(), values)
    return json(200, userInfoAnswer(this.#oauth2, block))
  }

  choices(request: SimulatedRequest): SimulatedResponse {
    const { choices_request: block } = this.#oauth2
    if (block === undefined) throw new RequestFault('is not in the definition')
    const format = this.#format(block.auth_header_value_format)
    checkBearer(request, format, (token) => token === this.latest?.accessToken)
    const values = { ...this.#values(), access_token: this.latest?.accessToken }
    this.#check(request, block, this.#parameters(request, block), new Map(), values)
    return tenantsAnswer(this.#oauth2, this.play.tenants)
  }

  introspection(request: SimulatedRequest): SimulatedResponse {
    const { token_introspection_request: block } = this.#oauth2
    const grant = this.latest
    if (block === undefined || grant === undefined) throw new RequestFault('is not in the definition')
    const isBearer = block.auth_method === 'bearer_access_token'
    const format = this.#format(block.auth_header_value_format)
    if (isBearer) checkBearer(request, format, (token) => token === grant.accessToken)
    const client = isBearer ? new Map<string, Expected>() : checkClient(request, block, this.#client)
    const values = { ...this.#values(), access_token: grant.accessToken }
    this.#check(request, block, this.#parameters(request, block), client, values)
    return json(200, introspectionAnswer(this.#oauth2, block, grant, this.#now()))
  }

  revocation(request: SimulatedRequest): SimulatedResponse {
    const { revocation_request: block } = this.#oauth2
    const grant = this.latest
    if (block === undefined || grant === undefined) throw new RequestFault('is not in the definition')
    const { auth_method: method, token_parameter: name, revokes } = block
    const tokens = [grant.accessToken, ...(grant.refreshToken === undefined ? [] : [grant.refreshToken])]
    if (method === 'bearer_access_token')
      checkBearer(request, this.#format(block.auth_header_value_format), (token) => tokens.includes(token))
    const asClient = method !== 'none' && method !== 'bearer_access_token'
    const actual = this.#parameters(request, block)
    const isToken = (value: string) =>
      revokes === 'access_token' ? value === grant.accessToken : tokens.includes(value)
    const standard = new Map<string, Expected>([
      ...(asClient
        ? checkClient(request, block, this.#client)
        : name === undefined
          ? [['client_id', this.#client.clientId] as const]
          : []),
      ...(name === undefined
        ? ([
            ['token', isToken],
            ['token_type_hint', (value: string) => value === 'access_token' || value === 'refresh_token'],
          ] as const)
        : name === ''
          ? []
          : [[name, isToken] as const]),
    ])
    const values = { ...this.#values(), access_token: grant.accessToken, refresh_token: grant.refreshToken }
    this.#check(request, block, actual, standard, values)
    return { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' }
  }

  api(request: SimulatedRequest): SimulatedResponse {
    const { api } = this.#oauth2
    const token = this.latest?.accessToken ?? ''
    const values = { ...this.#values(), access_token: token, ...this.#keptValues() }
    checkHeaders(request, { endpoint: '', headers: api?.headers ?? {} }, values)
    const isInHeader = Object.values(api?.headers ?? {}).some((header) =>
      namesIn(header).includes('access_token'),
    )
    const format = this.#format(api?.auth_header_value_format)
    if (!isInHeader) checkBearer(request, format, (given) => given === token)
    return json(200, { simulated: true })
  }

  /** Issues an access token in place of the latest one. `before`: the grant, if this is a renewal. */
  #replace(request: SimulatedRequest, block?: SimulatedBlock, before?: Issued): SimulatedResponse {
    const grant = this.latest
    if (block === undefined || grant === undefined) throw new RequestFault('is not in the definition')
    const { auth_method: method, auth_header_value_format: format } = block
    if (method === 'bearer_access_token') checkBearer(request, format, (token) => token === grant.accessToken)
    const asClient = method !== 'none' && method !== 'bearer_access_token'
    const client = asClient ? checkClient(request, block, this.#client) : new Map<string, Expected>()
    const values = { ...this.#values(), access_token: grant.accessToken }
    this.#check(request, block, this.#parameters(request, block), client, values)
    return this.#issue(block, { scopes: grant.scopes, ...(before && { before }) })
  }

  #check(
    request: SimulatedRequest,
    block: SimulatedBlock,
    actual: ReadonlyMap<string, string>,
    standard: ReadonlyMap<string, Expected>,
    values: Values,
  ): void {
    const method = block.method ?? 'POST'
    if (request.method !== method) throw new RequestFault(`is a ${request.method} instead of a ${method}`)
    checkHeaders(request, block, values)
    const separator = this.#oauth2.scope_delimiter
    checkParameters(actual, withParams(standard, block, values, separator), block.parameter_names)
  }

  #issue(
    block: SimulatedBlock,
    {
      scopes,
      idToken,
      before,
    }: { scopes: readonly string[]; idToken?: { readonly nonce?: string }; before?: Issued },
  ): SimulatedResponse {
    const { refresh_request: refresh, strict_rotation: isStrict, rotation } = this.#oauth2
    const rotates = isStrict === true || rotation?.kind === 'single_use' || rotation?.kind === 'grace'
    const isNew = before?.refreshToken === undefined || rotates
    const grant: Issued = {
      accessToken: this.#secret('access'),
      ...(refresh !== undefined && {
        refreshToken: isNew ? this.#secret('refresh') : (before?.refreshToken ?? ''),
      }),
      scopes,
      // so that the token is still valid at the age from which it may be renewed
      expiresAt: this.#now() + LIFETIME_SECONDS + (this.#oauth2.renewal_request?.least_age ?? 0),
      isFirst: block === this.#oauth2.token_request,
      isRefreshed: before !== undefined,
    }
    const { clientId } = this.#client
    const answered = tokenAnswer(this.#oauth2, block, grant, { now: this.#now(), clientId, idToken })
    this.#grants.push({ ...grant, accessToken: answered.accessToken })
    return answered.response
  }

  #parameters(request: SimulatedRequest, block: SimulatedBlock): Map<string, string> {
    return parametersOf(request, block, this.#endpoints.of(block))
  }

  #values(): Values {
    const { clientId, clientSecret, redirectUri } = this.#client
    return { client_id: clientId, client_secret: clientSecret, redirect_uri: redirectUri }
  }

  #keptValues(): Record<string, string> {
    return Object.assign(
      {},
      // the connection that calls the API is for the first tenant
      ...['authorization_response', 'token_response', 'user_info', 'choice'].map((from) =>
        keptIn(this.#oauth2, from, 'names'),
      ),
    )
  }

  #secret(kind: string): string {
    const number = this.#secrets.length + 1
    const digest = createHash('sha256').update(`${this.#client.clientId} ${this.#series}${number}`)
    const secret = `simulated-${kind}-${number}-${digest.digest('hex').slice(0, 12)}`
    this.#secrets.push(secret)
    return secret
  }

  #count(kind: string): void {
    this.counts[kind] = (this.counts[kind] ?? 0) + 1
  }

  /** Records a `RequestFault` and returns it. Rethrows any other error. */
  #recorded(request: string, error: unknown): Error {
    if (!(error instanceof RequestFault)) throw error
    this.faults.push({ request, fault: error.message })
    return error
  }
}
