import { randomUUID } from 'node:crypto'
import { refusal } from './answers.ts'
import { checkBearer, RequestFault } from './check-request.ts'
import type { SimulatedClient, SimulatedOAuth2, SimulatedRequest, SimulatedResponse } from './definition.ts'
import { SimulatedEndpoints } from './simulated-endpoints.ts'
import { Simulator } from './simulator.ts'
import { namesIn } from './template.ts'

/**
 * An authorization server for several users, as one definition describes it. A `Simulator` plays one consent from its begin to
 * its end, so each authorization request gets one of its own, and a later request belongs to the one that issued its secret.
 */
export class SimulatedConsents {
  readonly #oauth2: SimulatedOAuth2
  readonly #client: SimulatedClient
  readonly #endpoints: SimulatedEndpoints
  readonly #now: () => number
  readonly #consents: Simulator[] = []

  constructor(oauth2: SimulatedOAuth2, client: SimulatedClient, now: () => number) {
    this.#oauth2 = oauth2
    this.#client = client
    this.#endpoints = new SimulatedEndpoints(oauth2, client)
    this.#now = now
  }

  /** Whether the host is one of the definition's, besides that of the consent page, which Gatepass itself serves. */
  knows(url: URL): boolean {
    const { authorize_request: page } = this.#oauth2
    return (page === undefined || this.#endpoints.of(page).host !== url.host) && this.#endpoints.knows(url)
  }

  /** The scopes that the authorization request asks for. */
  scopesAskedBy({ searchParams }: URL): readonly string[] {
    const { authorize_request: block, scope_delimiter: separator } = this.#oauth2
    const { params = {}, parameter_names: names = {} } = block ?? {}
    const [own] = Object.entries(params).find(([, template]) => namesIn(template).includes('scopes')) ?? []
    const text = searchParams.get(own ?? names.scope ?? 'scope') ?? ''
    return text.split(separator).filter((scope) => scope !== '')
  }

  /** The URL of the authorization response. Throws `RequestFault` for a request that the definition does not describe. */
  authorize(url: URL, consent: 'approve' | 'deny' = 'approve'): URL {
    const consents = this.#begin()
    Object.assign(consents.play, { consent, scopes: this.scopesAskedBy(url) })
    return consents.authorize(url)
  }

  /** What the request is to the authorization server; `api`: its API has the answer; `undefined`: it goes elsewhere. */
  kindOf(request: SimulatedRequest) {
    return this.#endpoints.kindOf(request, { codes: [], grant: undefined })
  }

  answer(request: SimulatedRequest): SimulatedResponse {
    const known = this.#consents.findLast((consent) => consent.knowsSecretOf(request))
    if (known !== undefined) return known.answer(request)
    // as after a restart: the user is asked again
    return refusal(this.#oauth2.refresh_request ?? this.#oauth2.token_request)
  }

  /** The scopes of the valid access token in the request, with those that they include; `undefined`: there is none. */
  scopesOf(request: SimulatedRequest): readonly string[] | undefined {
    const { api, scope_implies: implies = {} } = this.#oauth2
    const grants = this.#consents.flatMap(({ latest }) => latest ?? [])
    let found: (typeof grants)[number] | undefined
    try {
      checkBearer(request, api?.auth_header_value_format, (token) => {
        found = grants.find(({ accessToken }) => accessToken === token)
        return found !== undefined
      })
    } catch (error) {
      if (!(error instanceof RequestFault)) throw error
    }
    if (found === undefined || found.expiresAt <= this.#now()) return undefined
    const scopes = new Set(found.scopes)
    for (const scope of scopes) for (const included of implies[scope] ?? []) scopes.add(included)
    return [...scopes]
  }

  #begin(): Simulator {
    const consent = new Simulator(this.#oauth2, this.#client, this.#now, randomUUID())
    this.#consents.push(consent)
    return consent
  }
}
