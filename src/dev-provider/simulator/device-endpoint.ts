import { json } from './answers.ts'
import {
  checkClient,
  checkHeaders,
  checkParameters,
  type Expected,
  parametersOf,
  RequestFault,
  withParams,
} from './check-request.ts'
import type { SimulatedClient, SimulatedOAuth2, SimulatedRequest, SimulatedResponse } from './definition.ts'
import { place } from './place-members.ts'
import type { SimulatedEndpoints } from './simulated-endpoints.ts'
import { namesIn, type Values } from './template.ts'

export const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code'

/** Seconds between two token requests, and what `slow_down` adds (RFC 8628 section 3.5). */
export const INTERVAL = 5
export const CODE_LIFETIME_SECONDS = 600
/** In the link that has the code in it, which users are not to be shown. */
export const COMPLETE_MARK = 'simulated-complete'

/** A code that was issued, as users see it. */
export interface ShownCode {
  readonly userCode: string
  readonly verificationUri: string
}

interface IssuedCode extends ShownCode {
  readonly scopes: readonly string[]
  readonly expiresAt: number
  answer?: 'approve' | 'deny'
  /** How often tokens were asked for. */
  asked: number
  interval: number
  /** Before this time no token request may come. */
  notBefore: number
}

/** The simulated device authorization endpoint (RFC 8628), and the page on which users enter its codes. */
export class DeviceEndpoint {
  /** By the device code. */
  readonly codes = new Map<string, IssuedCode>()
  readonly #oauth2: SimulatedOAuth2
  readonly #client: SimulatedClient
  readonly #endpoints: SimulatedEndpoints
  readonly #now: () => number

  constructor(
    oauth2: SimulatedOAuth2,
    client: SimulatedClient,
    endpoints: SimulatedEndpoints,
    now: () => number,
  ) {
    this.#oauth2 = oauth2
    this.#client = client
    this.#endpoints = endpoints
    this.#now = now
  }

  /** The code that was issued last. */
  get latest(): IssuedCode | undefined {
    return [...this.codes.values()].at(-1)
  }

  /** Issues a code (RFC 8628 section 3.2). Throws `RequestFault`. */
  issue(request: SimulatedRequest, scopes: readonly string[], client: Values): SimulatedResponse {
    const { device_authorization_request: block, scope_delimiter: separator } = this.#oauth2
    if (block === undefined) throw new RequestFault('is not in the definition')
    if (request.method !== 'POST') throw new RequestFault(`is a ${request.method} instead of a POST`)
    const values = { ...client, scopes }
    checkHeaders(request, block, values)
    const placesScopes = Object.values(block.params ?? {}).some((param) => namesIn(param).includes('scopes'))
    const standard = new Map<string, Expected>([
      ['client_id', this.#client.clientId],
      ...checkClient(request, block, this.#client),
      ...(placesScopes || scopes.length === 0 ? [] : [['scope', scopes.join(separator)] as const]),
    ])
    const actual = parametersOf(request, block, this.#endpoints.of(block))
    checkParameters(actual, withParams(standard, block, values, separator), block.parameter_names)

    const number = this.codes.size + 1
    const deviceCode = `simulated-device-code-${number}`
    const userCode = `WDJB-${String(number).padStart(4, '0')}`
    const verificationUri = this.#page().href
    this.codes.set(deviceCode, {
      ...{ userCode, verificationUri, scopes, asked: 0, interval: INTERVAL },
      expiresAt: this.#now() + CODE_LIFETIME_SECONDS,
      notBefore: this.#now() + INTERVAL,
    })
    const members = {
      device_code: deviceCode,
      user_code: userCode,
      verification_uri: verificationUri,
      verification_uri_complete: `${verificationUri}?${COMPLETE_MARK}=${userCode}`,
      expires_in: CODE_LIFETIME_SECONDS,
      interval: INTERVAL,
    }
    const body: Record<string, unknown> = {}
    for (const [name, value] of Object.entries(members))
      place(body, block.response_map?.[name] ?? `$['${name}']`, value)
    return json(200, body)
  }

  /** What a user does at the page: enters the code and answers. Throws `RequestFault` for another page or code. */
  enter({ userCode, verificationUri }: ShownCode, answer: 'approve' | 'deny'): void {
    const code = [...this.codes.values()].find((one) => one.userCode === userCode)
    if (code === undefined || verificationUri !== code.verificationUri)
      throw new RequestFault('is for a code that was not issued')
    code.answer = answer
  }

  /**
   * The answer to a token request: what was approved, or an error of RFC 8628 section 3.5. The second answer is
   * `slow_down`. Throws `RequestFault` for a request that comes too early.
   */
  redeem(deviceCode: string): { readonly scopes: readonly string[] } | string {
    const code = this.codes.get(deviceCode)
    if (code === undefined) return 'invalid_grant'
    const now = this.#now()
    if (now < code.notBefore)
      throw new RequestFault(`comes ${code.notBefore - now} s before the interval is over`)
    code.asked += 1
    if (now >= code.expiresAt) return 'expired_token'
    if (code.answer === 'deny') return 'access_denied'
    if (code.answer === 'approve') {
      this.codes.delete(deviceCode)
      return { scopes: code.scopes }
    }
    const isTooOften = code.asked === 2
    if (isTooOften) code.interval += INTERVAL
    code.notBefore = now + code.interval
    return isTooOften ? 'slow_down' : 'authorization_pending'
  }

  /** On the first host that the definition allows; without any, on that of the token endpoint. */
  #page(): URL {
    const [host = this.#endpoints.of(this.#oauth2.token_request).host] = this.#oauth2.verification_hosts ?? []
    return new URL(`https://${host.replace(/^\*\./, 'simulated.')}/simulated-device`)
  }
}
