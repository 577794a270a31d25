import { createHash } from 'node:crypto'
import { matchingText } from '../../providers/matching-text.ts'
import { keptIn } from './answers.ts'
import {
  checkClient,
  checkParameters,
  type Expected,
  parametersOf,
  RequestFault,
  withParams,
} from './check-request.ts'
import type { SimulatedClient, SimulatedOAuth2, SimulatedRequest } from './definition.ts'
import type { SimulatedEndpoints } from './simulated-endpoints.ts'
import { namesIn, type Values } from './template.ts'

/** How the server answers the next requests. The members may be changed between requests. */
export interface Play {
  /** The user's answer to the consent request. */
  consent: 'approve' | 'deny'
  /** Whether refresh requests (RFC 6749 section 5.2) and renewals are refused. */
  refusesRefresh: boolean
  /** The scopes that the broker was asked for. */
  scopes: readonly string[]
  /** How many tenants the user has. */
  tenants: number
}

/** An issued code that is not redeemed yet. */
interface Code {
  readonly challenge?: string
  readonly scopes: readonly string[]
  readonly nonce?: string
  /** The thumbprint of the key that its tokens are bound to. */
  readonly jkt?: string
}

/** The simulated authorization endpoint (RFC 6749 section 3.1). */
export class AuthorizationEndpoint {
  /** By the code. */
  readonly codes = new Map<string, Code>()
  /** The parameters of pushed requests, by their reference. */
  readonly #pushed = new Map<string, ReadonlyMap<string, string>>()
  readonly #oauth2: SimulatedOAuth2
  readonly #client: SimulatedClient
  readonly #endpoints: SimulatedEndpoints
  readonly #newCode: () => string

  constructor(
    oauth2: SimulatedOAuth2,
    client: SimulatedClient,
    endpoints: SimulatedEndpoints,
    newCode: () => string,
  ) {
    this.#oauth2 = oauth2
    this.#client = client
    this.#endpoints = endpoints
    this.#newCode = newCode
  }

  /** Takes the parameters of an authorization request (RFC 9126 section 2). Throws `RequestFault`. */
  push(request: SimulatedRequest, id: string): { readonly request_uri: string; readonly expires_in: number } {
    const { pushed_authorization_request: block, token_request: token } = this.#oauth2
    if (block === undefined) throw new RequestFault('is not in the definition')
    if (request.method !== 'POST') throw new RequestFault(`is a ${request.method} instead of a POST`)
    const params = parametersOf(request, block, this.#endpoints.of(block))
    const client = checkClient(request, token, this.#client)
    checkParameters(new Map([...params].filter(([name]) => client.has(name))), client)
    for (const name of client.keys()) if (name !== 'client_id') params.delete(name)
    const reference = `urn:ietf:params:oauth:request_uri:${id}`
    this.#pushed.set(reference, params)
    return { request_uri: reference, expires_in: 60 }
  }

  /** The authorization request with the parameters that were pushed; each reference works once. */
  #whole(url: URL): URL {
    const { authorize_request: block, pushed_authorization_request: isPushed } = this.#oauth2
    if (isPushed === undefined || block === undefined) return url
    const whole = this.#endpoints.of(block)
    whole.hash = url.hash
    const own = [...url.searchParams].filter(([name]) => !whole.searchParams.has(name))
    const names = block.parameter_names ?? {}
    const {
      [names.client_id ?? 'client_id']: clientId,
      request_uri: reference,
      ...others
    } = Object.fromEntries(own)
    const params = this.#pushed.get(reference ?? '')
    if (clientId !== this.#client.clientId || params === undefined || Object.keys(others).length > 0)
      throw new RequestFault('does not consist of the client id and a reference to a pushed request')
    this.#pushed.delete(reference ?? '')
    for (const [name, value] of params) whole.searchParams.set(name, value)
    return whole
  }

  /** The authorization request with the parameters of its signed JWT (RFC 9101). */
  #unsigned(url: URL): URL {
    const { authorize_request: block, request_object: isSigned } = this.#oauth2
    if (isSigned === undefined || block === undefined) return url
    const { searchParams } = url
    const jwt = searchParams.get('request') ?? ''
    if (this.#client.verifies?.(jwt) !== true)
      throw new RequestFault('is not signed with the key of the client')
    const { iss, aud, iat, exp, jti, ...params } = JSON.parse(
      Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString(),
    ) as Record<string, string>
    if (iss !== this.#client.clientId || [aud, iat, exp, jti].includes(undefined))
      throw new RequestFault('has a signed JWT without iss, aud, iat, exp or jti')
    const whole = this.#endpoints.of(block)
    whole.hash = url.hash
    for (const [name, value] of searchParams)
      if (name !== 'request' && !whole.searchParams.has(name) && params[name] !== value)
        throw new RequestFault(`has the parameter ${name} outside of the signed JWT with another value`)
    for (const [name, value] of Object.entries(params)) whole.searchParams.set(name, value)
    return whole
  }

  /** Checks the authorization request and returns the URL of its response. Throws `RequestFault`. */
  answer(received: URL, { scopes, consent }: Play, client: Values): URL {
    const { authorize_request: block, pkce, scope_delimiter: separator, issuer, dpop } = this.#oauth2
    if (block === undefined) throw new RequestFault('is not in the definition')
    const endpoint = this.#endpoints.of(block)
    const url = this.#unsigned(this.#whole(received))
    if (url.origin !== endpoint.origin || url.pathname !== endpoint.pathname)
      throw new RequestFault(`goes to ${url.origin}${url.pathname}`)
    if (url.hash !== (block.fragment === undefined ? '' : `#${block.fragment}`))
      throw new RequestFault('has another fragment than the definition says')
    const values = { ...client, scopes, existing_scopes: [] }
    const paramsHaveScopes = Object.values(block.params ?? {}).some((param) =>
      namesIn(param).some((name) => name === 'scopes' || name === 'existing_scopes'),
    )
    const isNotEmpty = (value: string) => value !== ''
    const standard = new Map<string, Expected>([
      ['response_type', endpoint.searchParams.get('response_type') ?? 'code'],
      ['client_id', this.#client.clientId],
      ['redirect_uri', this.#client.redirectUri],
      ['state', isNotEmpty],
      ...(paramsHaveScopes || scopes.length === 0 ? [] : [['scope', scopes.join(separator)] as const]),
      ...(dpop === undefined ? [] : [['dpop_jkt', isNotEmpty] as const]),
      ...(scopes.includes('openid') ? [['nonce', isNotEmpty] as const] : []),
      ...(pkce.enabled
        ? ([
            ['code_challenge', isNotEmpty],
            ['code_challenge_method', pkce.code_challenge_method],
          ] as const)
        : []),
    ])
    const expected = withParams(standard, block, values, separator)
    const fixed = [...endpoint.searchParams].filter(([name]) => !expected.has(name))
    for (const [name, value] of fixed) expected.set(name, value)
    const actual = new Map<string, string>()
    for (const [name, value] of url.searchParams) {
      if (actual.has(name)) throw new RequestFault(`has the parameter ${name} twice`)
      actual.set(name, value)
    }
    checkParameters(actual, expected, block.parameter_names)

    const back = new URL(this.#client.redirectUri)
    const state = actual.get('state') ?? ''
    back.searchParams.set('state', state)
    if (issuer !== undefined) back.searchParams.set('iss', issuer)
    if (consent === 'deny') {
      back.searchParams.set('error', 'access_denied')
      return back
    }
    const challenge = actual.get(block.parameter_names?.code_challenge ?? 'code_challenge')
    const nonce = actual.get('nonce')
    const jkt = actual.get('dpop_jkt')
    const code = this.#newCode()
    this.codes.set(code, {
      scopes,
      ...(challenge !== undefined && { challenge }),
      ...(nonce !== undefined && { nonce }),
      ...(jkt !== undefined && { jkt }),
    })
    back.searchParams.set(this.#oauth2.code_parameter ?? 'code', code)
    for (const [name, value] of Object.entries(this.#callbackValues())) back.searchParams.set(name, value)
    if (this.#oauth2.callback_tells_scopes === true) back.searchParams.set('scope', scopes.join(separator))
    return back
  }

  /** The standard parameters of a token request with the code (RFC 6749 section 4.1.3, RFC 7636 section 4.5). */
  redemption(code: Code | undefined): readonly (readonly [string, Expected])[] {
    return [
      ['grant_type', 'authorization_code'],
      ['code', () => code !== undefined],
      ['redirect_uri', this.#client.redirectUri],
      ...(this.#oauth2.pkce.enabled
        ? [['code_verifier', (value: string) => this.fits(value, code?.challenge)] as const]
        : []),
    ]
  }

  /** The parameters that the definition expects in the authorization response besides the standard ones. */
  #callbackValues(): Record<string, string> {
    const { callback_members: members = {} } = this.#oauth2
    const declared = Object.fromEntries(
      Object.entries(members).flatMap(([name, pattern]) => {
        const text = matchingText(pattern)
        return text === undefined ? [] : [[name, text]]
      }),
    )
    return { ...declared, ...keptIn(this.#oauth2, 'authorization_response') }
  }

  /** Whether the code verifier matches the code challenge (RFC 7636 section 4.6). */
  fits(verifier: string, challenge: string | undefined): boolean {
    const { code_challenge_method: method, code_challenge_encoding: encoding } = this.#oauth2.pkce
    if (method === 'plain') return verifier === challenge
    const digest = createHash('sha256').update(verifier)
    return digest.digest(encoding === 'hex' ? 'hex' : 'base64url') === challenge
  }
}
