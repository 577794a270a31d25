import { matchingText } from '../../providers/matching-text.ts'
import { ACCOUNT, json } from './answers.ts'
import type { SimulatedBlock, SimulatedRequest, SimulatedResponse } from './definition.ts'
import { place } from './place-members.ts'
import type { Playing } from './simulated-outgoing.ts'
import type { SimulatedFault } from './simulator.ts'
import { render, type Values } from './template.ts'

// A service whose users type keys, as one definition describes it. It checks each request strictly.

/** `credentials` as the admin API answers it. */
export interface SimulatedCredentials {
  readonly variables?: Readonly<Record<string, { readonly value?: string }>>
  readonly fields: Readonly<Record<string, SimulatedField>>
  readonly place: {
    readonly bearer?: string
    readonly basic?: { readonly username: string; readonly password: string }
    readonly headers?: Readonly<Record<string, string>>
    readonly query?: Readonly<Record<string, string>>
    readonly path?: string
  }
  readonly test_request?: KeyBlock
  readonly token_request?: KeyBlock
  readonly unchecked?: true
  readonly account?: { readonly id?: readonly string[]; readonly name?: readonly string[] }
  readonly api: { readonly base_url?: string; readonly headers?: Readonly<Record<string, string>> }
}

export interface SimulatedField {
  readonly secret?: boolean
  readonly example?: string
  readonly one_of?: readonly string[]
  readonly pattern?: string
}

interface KeyBlock extends SimulatedBlock {
  readonly error_response?: SimulatedBlock['error_response'] & { readonly success?: readonly string[] }
}

const SESSION = 'simulated-session-1'

export class KeyService implements Playing {
  readonly faults: SimulatedFault[] = []
  /** How many requests had the right credential. */
  accepted = 0
  /** From now on the API refuses the key, as after its deletion at the service. */
  isRevoked = false
  readonly #credentials: SimulatedCredentials
  readonly #values: Values

  /** `typed`: what the user types, the right secrets among it. */
  constructor(credentials: SimulatedCredentials, typed: Readonly<Record<string, string>>) {
    this.#credentials = credentials
    const own = Object.entries(credentials.variables ?? {}).map(([name, { value }]) => [name, value])
    this.#values = { ...Object.fromEntries(own), ...typed, access_token: SESSION }
  }

  knows(url: URL): boolean {
    const { api, test_request: test, token_request: login } = this.#credentials
    const known = [api.base_url, test?.endpoint, login?.endpoint].filter((one) => one !== undefined)
    return known.some((one) => new URL(this.#filled(one)).origin === url.origin)
  }

  answer(sent: SimulatedRequest): SimulatedResponse {
    const before = this.#filled(this.#credentials.place.path ?? '')
    if (!`${sent.url.pathname}/`.startsWith(`${before}/`)) return json(401, {})
    const url = new URL(sent.url)
    url.pathname = url.pathname.slice(before.length)
    const request = { ...sent, url }
    const { test_request: test, token_request: login, account = {} } = this.#credentials
    if (login !== undefined && this.#isAt(request.url, login)) return this.#logIn(request, login)
    const isTest = test !== undefined && this.#isAt(request.url, test)
    if (!this.#hasCredential(request) || this.isRevoked) return isTest ? refusalOf(test) : json(401, {})
    this.accepted++
    this.#checkFixed(request, isTest ? test : undefined)
    const body: Record<string, unknown> = isTest ? {} : { simulated: true }
    if (isTest) {
      for (const part of ['id', 'name'] as const) {
        const [at] = account[part] ?? []
        if (at !== undefined) place(body, at, ACCOUNT[part])
      }
      const { at, success: [good] = [] } = test.error_response ?? {}
      if (at !== undefined) place(body, at, typedValue(good))
    }
    return json(200, body)
  }

  /** Whether the URL is that of the block, with exactly its parameters, those of the place aside. */
  #isAt(url: URL, block: KeyBlock): boolean {
    const expected = new URL(this.#filled(block.endpoint))
    return url.origin === expected.origin && url.pathname === expected.pathname
  }

  #logIn({ body, headers, method }: SimulatedRequest, login: KeyBlock): SimulatedResponse {
    const isJson = headers['content-type']?.startsWith('application/json') === true
    const sent: Record<string, string> = isJson
      ? JSON.parse(body)
      : Object.fromEntries(new URLSearchParams(body))
    const expected = Object.entries(login.params ?? {}).map(([name, text]) => [name, this.#filled(text)])
    this.#expect('login', method === (login.method ?? 'POST'), `is sent as ${method}`)
    const unknown = Object.keys(sent).find((name) => !Object.hasOwn(login.params ?? {}, name))
    this.#expect('login', unknown === undefined, `has the unknown parameter ${unknown}`)
    if (expected.some(([name = '', text]) => String(sent[name]) !== text)) return json(401, {})
    const answer: Record<string, unknown> = {}
    const { access_token = '$.access_token', expires_in = '$.expires_in' } = login.response_map ?? {}
    place(answer, access_token, SESSION)
    place(answer, expires_in, 600)
    return json(200, answer)
  }

  #hasCredential({ url, headers }: SimulatedRequest): boolean {
    const { bearer, basic, headers: named = {}, query = {} } = this.#credentials.place
    const { authorization } = headers
    if (bearer !== undefined) return authorization === `Bearer ${this.#filled(bearer)}`
    if (basic !== undefined) {
      const pair = `${this.#filled(basic.username)}:${this.#filled(basic.password)}`
      return authorization === `Basic ${Buffer.from(pair).toString('base64')}`
    }
    const hasHeaders = Object.entries(named).every(
      ([name, text]) => headers[name.toLowerCase()] === this.#filled(text),
    )
    const hasQuery = Object.entries(query).every(
      ([name, text]) => url.searchParams.getAll(name).join() === this.#filled(text),
    )
    return hasHeaders && hasQuery
  }

  /** What a request has beside the credential: the fixed headers of the API, and the parameters of the test request. */
  #checkFixed({ method, url, headers }: SimulatedRequest, test: KeyBlock | undefined): void {
    const { api, place: where } = this.#credentials
    const request = test === undefined ? 'call' : 'test request'
    if (test !== undefined) {
      this.#expect(request, method === (test.method ?? 'GET'), `is sent as ${method}`)
      const expected = new Map([
        ...new URL(this.#filled(test.endpoint)).searchParams,
        ...Object.entries(test.params ?? {}).map(([name, text]) => [name, this.#filled(text)] as const),
      ])
      for (const [name, text] of expected)
        this.#expect(request, url.searchParams.get(name) === text, `has not the parameter ${name}`)
      for (const name of url.searchParams.keys())
        this.#expect(
          request,
          expected.has(name) || Object.hasOwn(where.query ?? {}, name),
          `has the unknown parameter ${name}`,
        )
    }
    for (const [name, text] of Object.entries({ ...api.headers, ...test?.headers }))
      this.#expect(request, headers[name.toLowerCase()] === this.#filled(text), `has not the header ${name}`)
  }

  #expect(request: string, isRight: boolean, fault: string): void {
    if (!isRight) this.faults.push({ request, fault })
  }

  #filled(template: string): string {
    return render(template, this.#values)
  }
}

/** Services that report errors in members answer 200 and another value than a good one. */
function refusalOf({ error_response: errors }: KeyBlock): SimulatedResponse {
  if (errors === undefined) return json(401, {})
  const body: Record<string, unknown> = {}
  place(body, errors.at, 'simulated refusal')
  return json(200, body)
}

function typedValue(text: string | undefined): unknown {
  return text === 'true' ? true : text !== undefined && /^\d+$/.test(text) ? Number(text) : text
}

/** What a user types: values that the definition accepts. */
export function typedFor(fields: Readonly<Record<string, SimulatedField>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, valueFor(name, field)]))
}

function valueFor(name: string, { secret, example, one_of: options, pattern }: SimulatedField): string {
  if (secret) return (pattern && matchingText(pattern)) || `simulated-${name.replaceAll('_', '-')}-1234567890`
  return (
    example ?? options?.[0] ?? (pattern && matchingText(pattern)) ?? `simulated-${name.replaceAll('_', '-')}`
  )
}
