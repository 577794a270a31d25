import type { SimulatedRequest, SimulatedResponse } from '../../dev-provider/simulator/definition.ts'
import { place } from '../../dev-provider/simulator/place-members.ts'
import { requestDescription, toRequestSettings } from '../../operations/worker-types/openapi-request.ts'
import { isRecord } from '../../parsing/json-record.ts'
import type { PagesPlan } from '../../tools/openapi/answers/answer-plan.ts'
import { PAGE } from '../../tools/openapi/answers/pages.ts'
import { buildRequest } from '../../tools/openapi/build-request.ts'
import { readRequestDescription } from '../../tools/openapi/read-request-description.ts'
import { planOf, type RequestPlan } from '../../tools/openapi/request-plan.ts'
import { escaped, type Fit, fitOf, partsOf } from './simulated-request.ts'
import type { Pack, PackTool } from './wire-format.ts'
import { workerOfPack } from './wire-worker.ts'

/** The scopes of the token in a request: `all` where tokens have none; `undefined`: no valid token was sent. */
export type ScopesOfToken = readonly string[] | 'all' | undefined

interface SimulatedTool {
  readonly tool: PackTool
  readonly plan: RequestPlan
  readonly examples: readonly Example[]
}

interface Example {
  readonly input: Readonly<Record<string, unknown>>
  readonly answer: unknown
  /** Of the request that the input makes. */
  readonly parts: ReadonlySet<string>
}

interface Candidate extends Fit {
  readonly of: SimulatedTool
  readonly example: Example
  /** How much of the request of the example is in this one, from 0 to 1. */
  readonly likeness: number
}

/**
 * The service of a pack, made of the pack's own tools: it finds the tool whose description can have made a request, checks the
 * scopes of the token, and answers the tool's example. It keeps nothing: what a call created, another one does not find.
 */
export class SimulatedService {
  readonly #pack: Pack
  readonly #tools: readonly SimulatedTool[]

  private constructor(pack: Pack, tools: readonly SimulatedTool[]) {
    this.#pack = pack
    this.#tools = tools
  }

  static async of(pack: Pack): Promise<SimulatedService> {
    return new SimulatedService(pack, await toolsOf(pack))
  }

  /** Whether a tool of the pack sends requests to the host. */
  knows({ host }: URL): boolean {
    return this.#tools.some(({ plan }) => hostPattern(plan.url).test(host))
  }

  /**
   * Answers the request; `undefined`: no tool of the pack makes such requests. `scopesAt`: of the token in the request, at a
   * provider.
   */
  answer(
    request: SimulatedRequest,
    scopesAt: (providerId: string) => ScopesOfToken,
  ): SimulatedResponse | undefined {
    const candidates = this.#candidatesFor(request)
    const [first] = candidates
    if (first === undefined) return undefined
    const scopesFor = ({ of: { tool } }: Candidate) => scopesAt(tool.provider ?? this.#pack.provider)
    const chosen = candidates.find((candidate) => mayUse(candidate.of.tool, scopesFor(candidate)))
    if (chosen !== undefined) return respond(chosen, request)
    return scopesFor(first) === undefined
      ? this.#refusal(401, 'The access token is missing, unknown or expired.')
      : this.#refusal(403, `The access token lacks a scope: ${first.of.tool.scopes.join(' ')}.`)
  }

  /** The answer to a request that fits no tool. */
  unknown({ method, url }: SimulatedRequest): SimulatedResponse {
    const known = this.#tools.map(({ tool }) => `${tool.name}: ${tool.method} ${tool.url}`).join('; ')
    return this.#refusal(
      404,
      `The simulated ${this.#pack.name} knows the requests of its tools alone, and not ${method} ${url.pathname}. ${known}`,
    )
  }

  /** The tools that fit, the best first. */
  #candidatesFor(request: SimulatedRequest): readonly Candidate[] {
    const parts = partsOf(request)
    return this.#tools
      .flatMap((of) => {
        const fit = plansOf(of.plan).flatMap((plan) => fitOf(plan, request) ?? [])[0]
        const examples = of.examples
          .map((example) => ({ example, likeness: likeness(parts, example.parts) }))
          .sort((a, b) => b.likeness - a.likeness)
        const [best] = examples
        return fit === undefined || best === undefined ? [] : [{ ...fit, ...best, of }]
      })
      .sort(
        (a, b) =>
          Number(b.likeness === 1) - Number(a.likeness === 1) ||
          b.constants - a.constants ||
          b.likeness - a.likeness,
      )
  }

  /** A refusal in the form of the pack's errors. */
  #refusal(status: 401 | 403 | 404, message: string): SimulatedResponse {
    const {
      code: codes = [],
      message: messages = [],
      failed_if: failures = [],
      kinds = {},
    } = this.#pack.errors ?? {}
    const kind = { 401: 'bad_token', 403: 'forbidden', 404: 'not_found' }[status]
    const named = Object.entries(kinds).find(([code, of]) => of === kind && !code.endsWith('*'))?.[0]
    const document: Record<string, unknown> = {}
    const put = (path: string | undefined, value: unknown) => {
      if (path === undefined || /[*=$\\]/.test(path)) return
      place(document, `$.root${path.startsWith('[') ? '' : '.'}${path.replaceAll('[]', '[0]')}`, value)
    }
    for (const failure of failures)
      if ('at' in failure && 'is' in failure && failure.is !== undefined) put(failure.at, failure.is)
    put(codes[0], named ?? kind)
    if (messages[0] !== codes[0]) put(messages[0], message)
    return json(status, document.root ?? { message })
  }
}

async function toolsOf(pack: Pack): Promise<readonly SimulatedTool[]> {
  const { openapi } = workerOfPack(pack)
  return Promise.all(
    pack.tools.map(async (tool, index) => {
      const description = toRequestSettings(requestDescription.parse(openapi.requests[index]))
      const { document } = readRequestDescription(description, {
        namespace: openapi.namespace,
        ...(openapi.headers && { headers: openapi.headers }),
      })
      const plan = planOf(document)
      const examples = await Promise.all(
        (tool.examples ?? []).map(async ({ input, answer }) => ({
          input,
          answer,
          parts: await partsOfExample(plan, input),
        })),
      )
      return { tool, plan, examples }
    }),
  )
}

async function partsOfExample(plan: RequestPlan, input: Example['input']): Promise<ReadonlySet<string>> {
  const names = [...plan.url.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name)
  const values = names.map((name) => [name, plan.url.startsWith('{{') ? 'https://simulated.example' : name])
  const built = await buildRequest(plan, input, { ofConnection: Object.fromEntries(values), callId: '' })
  return partsOf({ method: plan.method, url: built.url, body: built.body ?? '' })
}

function likeness(parts: ReadonlySet<string>, others: ReadonlySet<string>): number {
  const shared = [...parts].filter((part) => others.has(part)).length
  return shared / (parts.size + others.size - shared)
}

/** The requests of the first page and of later ones. */
function plansOf(plan: RequestPlan): readonly RequestPlan[] {
  const { answer, nextPages } = plan
  return nextPages === undefined ? [plan] : [plan, { ...nextPages, ...(answer && { answer }) }]
}

function hostPattern(url: string): RegExp {
  const host = /^https:\/\/([^/]+)/.exec(url)?.[1]
  if (host === undefined) return /(?!)/ // a value of the connection, whose host the provider has among its own
  const pattern = host.split(/\{\{\w+\}\}/).map(escaped)
  return new RegExp(`^${pattern.join('[^/]+')}$`)
}

function mayUse({ scopes, alternatives = [] }: PackTool, granted: ScopesOfToken): boolean {
  if (granted === undefined || granted === 'all') return granted === 'all'
  return [scopes, ...alternatives].some((all) => all.every((scope) => granted.includes(scope)))
}

function respond({ example, input, of: { plan } }: Candidate, { url }: SimulatedRequest): SimulatedResponse {
  const answer = echoed(example, input)
  const pages = plan.answer?.pages
  const isLater =
    pages !== undefined &&
    (input[PAGE] !== undefined || (pages.parameters ?? []).some((name) => url.searchParams.has(name)))
  if (answer === null || answer === undefined) return { status: 204, headers: {}, body: '' }
  if (typeof answer === 'string')
    return { status: 200, headers: { 'content-type': 'text/plain' }, body: answer }
  return json(200, isLater && example.input[PAGE] === undefined ? withoutNext(answer, pages) : answer)
}

/** The example's answer, with the values of this request in place of those of the example's input. */
function echoed({ input: usual, answer }: Example, input: Fit['input']): unknown {
  const others = new Map<unknown, unknown>()
  for (const [name, value] of Object.entries(usual))
    if (typeof value === 'string' && value !== '' && typeof input[name] === 'string')
      others.set(value, input[name])
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk)
    if (isRecord(value))
      return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, walk(part)]))
    return others.get(value) ?? value
  }
  return walk(answer)
}

/** A list ends after its second page. */
function withoutNext(answer: unknown, { at, more }: PagesPlan): unknown {
  const ends = [at, more !== undefined && 'at' in more ? more.at : undefined]
  return ends.reduce<unknown>(
    (value, path) => (path === undefined ? value : without(value, path.split('.'))),
    answer,
  )
}

function without(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (!isRecord(value) || name === undefined || !Object.hasOwn(value, name)) return value
  const { [name]: part, ...others } = value
  return rest.length === 0
    ? Array.isArray(part)
      ? value
      : others
    : { ...others, [name]: without(part, rest) }
}

function json(status: number, body: unknown): SimulatedResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}
