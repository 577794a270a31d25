import { baseStringOf, type SignatureMethod, signatureOf } from '../../providers/oauth1/signature.ts'
import { ACCOUNT, json } from './answers.ts'
import type { SimulatedRequest, SimulatedResponse } from './definition.ts'
import { place } from './place-members.ts'
import type { Playing } from './simulated-outgoing.ts'
import type { SimulatedFault } from './simulator.ts'
import { render, type Values } from './template.ts'

// A server of OAuth 1.0a, as one definition describes it (RFC 5849). It checks the signature of each request.

/** `oauth1` as the admin API answers it. */
export interface SimulatedOAuth1 {
  readonly variables?: Readonly<Record<string, { readonly value?: string }>>
  readonly temporary_request: SignedBlock
  readonly authorize_request: SignedBlock
  readonly token_request: SignedBlock
  readonly user_info_request?: SignedBlock
  readonly signature_method: SignatureMethod
  readonly account?: { readonly id?: readonly string[]; readonly name?: readonly string[] }
  readonly api?: { readonly base_url?: string }
}

interface SignedBlock {
  readonly endpoint: string
  readonly method?: string
}

interface SimulatedClient {
  readonly clientId: string
  readonly clientSecret: string
}

const TEMPORARY = { token: 'simulated-temporary-1', secret: 'simulated-temporary-secret' }
const TOKEN = { token: 'simulated-token-1', secret: 'simulated-token-secret' }
const VERIFIER = 'simulated-verifier'

export class SigningService implements Playing {
  readonly faults: SimulatedFault[] = []
  /** How many requests to the API were signed with the token. */
  accepted = 0
  /** From now on the API refuses the token. */
  isRevoked = false
  /** The next user refuses. */
  denies = false
  readonly #oauth1: SimulatedOAuth1
  readonly #client: SimulatedClient
  readonly #values: Values
  readonly #nonces = new Set<string>()
  #callback = ''

  constructor(oauth1: SimulatedOAuth1, client: SimulatedClient) {
    this.#oauth1 = oauth1
    this.#client = client
    this.#values = Object.fromEntries(
      Object.entries(oauth1.variables ?? {}).map(([name, { value }]) => [name, value]),
    )
  }

  knows(url: URL): boolean {
    const { api, temporary_request, token_request, user_info_request: info } = this.#oauth1
    const known = [api?.base_url, temporary_request.endpoint, token_request.endpoint, info?.endpoint]
    return known.some((one) => one !== undefined && this.#urlOf(one).origin === url.origin)
  }

  answer(request: SimulatedRequest): SimulatedResponse {
    const { temporary_request: temporary, token_request: exchange, user_info_request: info } = this.#oauth1
    const params = protocolParameters(request.headers.authorization ?? '')
    // Evernote has one endpoint for both requests: the verifier tells them apart
    const isExchange = this.#isAt(request, exchange) && params.oauth_verifier !== undefined
    const isFirst = !isExchange && this.#isAt(request, temporary)
    const held = isFirst ? { token: undefined, secret: '' } : isExchange ? TEMPORARY : TOKEN
    const name = isFirst ? 'temporary request' : isExchange ? 'token request' : 'API request'
    this.#check(name, params.oauth_token === held.token, 'has the token of another request')
    this.#checkSignature(name, request, params, held.secret)
    if (isFirst) {
      this.#callback = params.oauth_callback ?? ''
      return form({ ...named(TEMPORARY), oauth_callback_confirmed: 'true' })
    }
    if (isExchange) {
      this.#check(name, params.oauth_verifier === VERIFIER, 'has another verifier')
      return form({ ...named(TOKEN), ...(info === undefined && this.#accountMembers()) } as Record<
        string,
        string
      >)
    }
    if (this.isRevoked) return json(401, {})
    this.accepted++
    return json(
      200,
      info !== undefined && this.#isAt(request, info) ? this.#accountMembers() : { simulated: true },
    )
  }

  /** The answer to the browser: the user approves, or refuses. */
  authorize(url: URL): URL {
    const expected = this.#urlOf(this.#oauth1.authorize_request.endpoint)
    if (url.origin !== expected.origin || url.pathname !== expected.pathname)
      throw new Error(`goes to ${url.origin}${url.pathname}`)
    if (url.searchParams.get('oauth_token') !== TEMPORARY.token) throw new Error('has no temporary token')
    const back = new URL(this.#callback)
    if (this.denies) back.searchParams.set('denied', TEMPORARY.token)
    else {
      back.searchParams.set('oauth_token', TEMPORARY.token)
      back.searchParams.set('oauth_verifier', VERIFIER)
    }
    return back
  }

  #checkSignature(
    name: string,
    { method, url, headers, body }: SimulatedRequest,
    { oauth_signature: signature, ...params }: Readonly<Record<string, string>>,
    tokenSecret: string,
  ): void {
    const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true
    const base = baseStringOf({ method, url, ...(isForm && { form: Buffer.from(body) }) }, params)
    const { signature_method: signatureMethod } = this.#oauth1
    // a signature with the client's RSA key is compared too: RSA-SHA1 has no random part
    const expected = signatureOf({ ...this.#client, signatureMethod, tokenSecret }, base)
    this.#check(name, signature === expected, 'has a wrong signature')
    this.#check(name, !this.#nonces.has(params.oauth_nonce ?? ''), 'has the nonce of another request')
    this.#nonces.add(params.oauth_nonce ?? '')
  }

  #accountMembers(): Record<string, unknown> {
    const document: Record<string, unknown> = {}
    for (const part of ['id', 'name'] as const) {
      const [at] = this.#oauth1.account?.[part] ?? []
      if (at !== undefined) place(document, at, ACCOUNT[part])
    }
    return document
  }

  #isAt({ url }: SimulatedRequest, { endpoint }: SignedBlock): boolean {
    const expected = this.#urlOf(endpoint)
    return url.origin === expected.origin && url.pathname === expected.pathname
  }

  #urlOf(template: string): URL {
    return new URL(render(template, this.#values))
  }

  #check(request: string, isMet: boolean, fault: string): void {
    if (!isMet) this.faults.push({ request, fault })
  }
}

function named({ token, secret }: typeof TOKEN): Record<string, string> {
  return { oauth_token: token, oauth_token_secret: secret }
}

function form(members: Readonly<Record<string, string>>): SimulatedResponse {
  return {
    status: 200,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(members).toString(),
  }
}

/** The parameters of the header, without `realm`. */
function protocolParameters(header: string): Record<string, string> {
  const pairs = [...header.matchAll(/(oauth_\w+)="([^"]*)"/g)]
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, decodeURIComponent(value)]))
}
