import { decodeJwt } from 'jose'
import type { SimulatedClient, SimulatedOAuth2 } from './definition.ts'
import { SimulatedEndpoints } from './simulated-endpoints.ts'
import { render, type Values } from './template.ts'

/** Checks the JWTs of the grants `jwt_bearer` (RFC 7523 section 3) and `installation`. */
export class AssertionCheck {
  readonly #oauth2: SimulatedOAuth2
  readonly #client: SimulatedClient
  readonly #now: () => number
  readonly #usual: string
  readonly #ids = new Set<string>()

  constructor(oauth2: SimulatedOAuth2, client: SimulatedClient, now: () => number) {
    this.#oauth2 = oauth2
    this.#client = client
    this.#now = now
    this.#usual = oauth2.issuer ?? new SimulatedEndpoints(oauth2, client).of(oauth2.token_request).href
  }

  /** Whether the assertion is signed, new, for this endpoint, and says what the definition says. */
  takes(jwt: string, values: Values): boolean {
    if (this.#client.verifies?.(jwt) !== true) return false
    const { assertion = {}, scope_delimiter: separator } = this.#oauth2
    const { iss, sub, aud, iat = Infinity, exp = 0, jti = '', nbf: _, ...claims } = decodeJwt(jwt)
    const filled = (template: string) => render(template, values, separator)
    const expected = Object.entries(assertion.claims ?? {}).flatMap(([name, value]) => {
      const claim = typeof value === 'string' ? filled(value) : value
      return claim === '' ? [] : [[name, claim] as const]
    })
    const isNew = jti !== '' && !this.#ids.has(jti)
    this.#ids.add(jti)
    return (
      isNew &&
      iat <= this.#now() &&
      exp - iat === (assertion.lifetime ?? 300) &&
      iss === filled(assertion.issuer ?? '{{client_id}}') &&
      (sub ?? '') === filled(assertion.subject ?? '{{client_id}}') &&
      (aud ?? '') === filled(assertion.audience ?? this.#usual) &&
      Object.keys(claims).length === expected.length &&
      expected.every(([name, value]) => claims[name] === value)
    )
  }
}
