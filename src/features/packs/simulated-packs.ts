import type {
  SimulatedOAuth2,
  SimulatedRequest,
  SimulatedResponse,
} from '../../dev-provider/simulator/definition.ts'
import { KeyService, type SimulatedCredentials, typedFor } from '../../dev-provider/simulator/key-service.ts'
import { SimulatedConsents } from '../../dev-provider/simulator/simulated-consents.ts'
import type { Playing } from '../../dev-provider/simulator/simulated-outgoing.ts'
import { isRecord } from '../../parsing/json-record.ts'
import { type ScopesOfToken, SimulatedService } from './simulated-service.ts'
import type { Pack } from './wire-format.ts'

/** A provider entry as the admin API answers it. */
export interface AnsweredEntry {
  readonly id: string
  readonly oauth2?: object
  readonly credentials?: object
}

/** The client that the simulated authorization servers know. */
export const SIMULATED_CLIENT = { client_id: 'simulated-client', client_secret: 'simulated-secret' } as const

interface SimulatedProvider {
  readonly consents?: SimulatedConsents
  readonly keys?: KeyService
  /** What users type. */
  readonly typed?: Readonly<Record<string, string>>
  readonly scopesOf: (request: SimulatedRequest) => ScopesOfToken
}

/** A request that a tool sent to a simulated service, and its answer. */
export interface ServedRequest {
  readonly request: SimulatedRequest
  readonly response: SimulatedResponse
}

/** The services of packs and their authorization servers, in place of the real ones. */
export class SimulatedPacks implements Playing {
  /** Called after each request to a service. */
  onServed: (served: ServedRequest) => void = () => {}
  readonly #now: () => number
  /** By the id of the entry, which is that of the provider in the catalogue. */
  readonly #providers = new Map<string, SimulatedProvider>()
  readonly #services: SimulatedService[] = []

  constructor(now: () => number) {
    this.#now = now
  }

  /** Simulates the pack, whose tools use connections of the entries. */
  async add(pack: Pack, entries: readonly AnsweredEntry[]): Promise<void> {
    for (const entry of entries)
      if (!this.#providers.has(entry.id)) this.#providers.set(entry.id, simulatedProvider(entry, this.#now))
    this.#services.push(await SimulatedService.of(pack))
  }

  /** The authorization server of the entry, which has a page; `undefined`: it has none. */
  consentsOf(providerId: string): SimulatedConsents | undefined {
    return this.#providers.get(providerId)?.consents
  }

  /** What users type at an entry that has no authorization server. */
  typedAt(providerId: string): Readonly<Record<string, string>> {
    return this.#providers.get(providerId)?.typed ?? {}
  }

  knows(url: URL): boolean {
    const providers = [...this.#providers.values()]
    return (
      providers.some(({ consents, keys }) => consents?.knows(url) || keys?.knows(url)) ||
      this.#services.some((service) => service.knows(url))
    )
  }

  answer(request: SimulatedRequest): SimulatedResponse {
    for (const { consents } of this.#providers.values()) {
      const kind = consents?.kindOf(request)
      if (consents === undefined || kind === undefined || kind === 'api') continue
      if (kind !== 'userInfo') return consents.answer(request)
      const aboutUser = consents.answer(request)
      if (aboutUser.status === 200) return this.#withTool(request, aboutUser)
    }
    const ofTool = this.#serve(request)
    if (ofTool?.status === 200 || ofTool?.status === 204) return ofTool
    return this.#testedKey(request) ?? ofTool ?? this.#unknown(request)
  }

  /** A tool and the login may send the same request: the answer has the members of both. */
  #withTool(request: SimulatedRequest, ofLogin: SimulatedResponse): SimulatedResponse {
    const ofTool = this.#serve(request)
    if (ofTool?.status !== 200) return ofLogin
    return { ...ofTool, body: JSON.stringify(merged(JSON.parse(ofLogin.body), JSON.parse(ofTool.body))) }
  }

  /** The answer to the request by which a key is tested that a user typed. */
  #testedKey(request: SimulatedRequest): SimulatedResponse | undefined {
    for (const { keys } of this.#providers.values()) {
      const answer = keys?.knows(request.url) ? keys.answer(request) : undefined
      if (answer?.status === 200) return answer
    }
    return undefined
  }

  /** The answer of a tool's service; `undefined`: no tool sends such requests. */
  #serve(request: SimulatedRequest): SimulatedResponse | undefined {
    for (const service of this.#services) {
      const response = service.answer(request, (id) => this.#providers.get(id)?.scopesOf(request))
      if (response !== undefined) return this.#served(request, response)
    }
    return undefined
  }

  #unknown(request: SimulatedRequest): SimulatedResponse {
    const near = this.#services.find((service) => service.knows(request.url)) ?? this.#services[0]
    return this.#served(request, near?.unknown(request) ?? { status: 404, headers: {}, body: '' })
  }

  #served(request: SimulatedRequest, response: SimulatedResponse): SimulatedResponse {
    this.onServed({ request, response })
    return response
  }
}

function merged(before: unknown, more: unknown): unknown {
  if (!isRecord(before) || !isRecord(more)) return more
  const both = Object.entries(more).map(([name, value]) => [name, merged(before[name], value)])
  return { ...before, ...Object.fromEntries(both) }
}

function simulatedProvider({ oauth2, credentials, id }: AnsweredEntry, now: () => number): SimulatedProvider {
  if (credentials !== undefined) {
    const answered = credentials as SimulatedCredentials // the wire's contract
    const typed = typedFor(answered.fields)
    const keys = new KeyService(answered, typed)
    return { keys, typed, scopesOf: (request) => (keys.answer(request).status === 401 ? undefined : 'all') }
  }
  if (oauth2 === undefined)
    throw new Error(`The provider ${id} has neither an authorization server nor keys.`)
  const answered = oauth2 as SimulatedOAuth2 & { readonly redirect_uri: string } // the wire's contract
  const { client_id: clientId, client_secret: clientSecret } = SIMULATED_CLIENT
  const client = { clientId, clientSecret, redirectUri: answered.redirect_uri }
  const consents = new SimulatedConsents(answered, client, now)
  return { consents, scopesOf: (request) => consents.scopesOf(request) }
}
