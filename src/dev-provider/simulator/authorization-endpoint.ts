import { createHash } from 'node:crypto'
import { matchingText } from '../../providers/matching-text.ts'
import { keptIn } from './answers.ts'
import { checkParameters, type Expected, RequestFault, withParams } from './check-request.ts'
import type { SimulatedClient, SimulatedOAuth2 } from './definition.ts'
import type { SimulatedEndpoints } from './simulated-endpoints.ts'
import { namesIn, type Values } from './template.ts'

/** How the server behaves from the next request on; the members can be set at any time. */
export interface Play {
  /** The user's answer at the consent. */
  consent: 'approve' | 'deny'
  /** Refresh tokens are refused (RFC 6749 section 5.2), and so are renewals. */
  refusesRefresh: boolean
  /** The scopes that the broker was asked for. */
  scopes: readonly string[]
}

/** What a code was given for, until it is redeemed. */
interface Code {
  readonly challenge?: string
  readonly scopes: readonly string[]
  readonly nonce?: string
}

/** The simulated authorization endpoint (RFC 6749 section 3.1). */
export class AuthorizationEndpoint {
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

  /** Checks the browser's request and gives the URL to which the browser is sent back. */
  answer(url: URL, { scopes, consent }: Play, client: Values): URL {
    const { authorize_request: block, pkce, scope_delimiter: separator, issuer } = this.#oauth2
    const endpoint = this.#endpoints.of(block)
    if (url.origin !== endpoint.origin || url.pathname !== endpoint.pathname)
      throw new RequestFault(`goes to ${url.origin}${url.pathname}`)
    if (url.hash !== (block.fragment === undefined ? '' : `#${block.fragment}`))
      throw new RequestFault('has another fragment than the definition says')
    const values = { ...client, scopes, existing_scopes: [] }
    const isPlaced = Object.values(block.params ?? {}).some((one) =>
      namesIn(one).some((name) => name === 'scopes' || name === 'existing_scopes'),
    )
    const isText = (value: string) => value !== ''
    const standard = new Map<string, Expected>([
      ['response_type', endpoint.searchParams.get('response_type') ?? 'code'],
      ['client_id', this.#client.clientId],
      ['redirect_uri', this.#client.redirectUri],
      ['state', isText],
      ...(isPlaced || scopes.length === 0 ? [] : [['scope', scopes.join(separator)] as const]),
      ...(scopes.includes('openid') ? [['nonce', isText] as const] : []),
      ...(pkce.enabled
        ? ([
            ['code_challenge', isText],
            ['code_challenge_method', pkce.code_challenge_method],
          ] as const)
        : []),
    ])
    const expected = withParams(standard, block, values, separator)
    const own = [...endpoint.searchParams].filter(([name]) => !expected.has(name))
    for (const [name, value] of own) expected.set(name, value)
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

  #callbackValues(): Record<string, string> {
    const { callback_members: members = {} } = this.#oauth2
    const told = Object.fromEntries(
      Object.entries(members).flatMap(([name, pattern]) => {
        const text = matchingText(pattern)
        return text === undefined ? [] : [[name, text]]
      }),
    )
    return { ...told, ...keptIn(this.#oauth2, 'authorization_response') }
  }

  /** Whether the verifier is that of the challenge (RFC 7636 section 4.6). */
  fits(verifier: string, challenge: string | undefined): boolean {
    const { code_challenge_method: method, code_challenge_encoding: encoding } = this.#oauth2.pkce
    if (method === 'plain') return verifier === challenge
    const digest = createHash('sha256').update(verifier)
    return digest.digest(encoding === 'hex' ? 'hex' : 'base64url') === challenge
  }
}
