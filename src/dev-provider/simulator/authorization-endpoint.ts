import { createHash } from 'node:crypto'
import { matchingText } from '../../providers/matching-text.ts'
import { keptIn } from './answers.ts'
import { checkParameters, type Expected, RequestFault, withParams } from './check-request.ts'
import type { SimulatedClient, SimulatedOAuth2 } from './definition.ts'
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
}

/** An issued code that is not redeemed yet. */
interface Code {
  readonly challenge?: string
  readonly scopes: readonly string[]
  readonly nonce?: string
}

/** The simulated authorization endpoint (RFC 6749 section 3.1). */
export class AuthorizationEndpoint {
  /** By the code. */
  readonly codes = new Map<string, Code>()
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

  /** Checks the authorization request and returns the URL of its response. Throws `RequestFault`. */
  answer(url: URL, { scopes, consent }: Play, client: Values): URL {
    const { authorize_request: block, pkce, scope_delimiter: separator, issuer } = this.#oauth2
    const endpoint = this.#endpoints.of(block)
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
    const code = this.#newCode()
    const challenge = actual.get(block.parameter_names?.code_challenge ?? 'code_challenge')
    const nonce = actual.get('nonce')
    this.codes.set(code, {
      scopes,
      ...(challenge !== undefined && { challenge }),
      ...(nonce !== undefined && { nonce }),
    })
    back.searchParams.set(this.#oauth2.code_parameter ?? 'code', code)
    for (const [name, value] of Object.entries(this.#callbackValues())) back.searchParams.set(name, value)
    if (this.#oauth2.callback_tells_scopes === true) back.searchParams.set('scope', scopes.join(separator))
    return back
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
