import { startSimulated } from '../../../src/cli/start-simulated.ts'
import { simulatePacks } from '../../../src/features/packs/command-simulation.ts'
import type { ServedRequest } from '../../../src/features/packs/simulated-packs.ts'
import type { Pack, PackTool } from '../../../src/features/packs/wire-format.ts'
import { VALUE_PREFIX } from '../../../src/http/pages/connect-page.ts'
import { prepareConversions } from '../../../src/tools/openapi/answers/convert-answer.ts'
import { shortenTexts } from '../../../src/tools/openapi/answers/shape-answer.ts'
import { readApiAnswer } from '../../../src/tools/openapi/read-response.ts'
import { planOf } from '../../../src/tools/openapi/request-plan.ts'
import type { AnyJson } from '../../any-json.ts'
import { freePort } from '../../ports.ts'
import { type Page, UserAgent } from '../../user-agent.ts'
import { toolOf } from './recordings.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

export interface PacksWorld extends AsyncDisposable {
  readonly url: string
  readonly apiKey: string
  /** Requests that reached a simulated service. */
  readonly served: ServedRequest[]
  call(method: string, path: string, body?: unknown, key?: string): Promise<{ status: number; body: AnyJson }>
  /** Does what the page behind a link asks of the user: approves at the simulated authorization server, or types keys. */
  consent(url: string): Promise<void>
  /** Approves the call that an approval holds. */
  approve(url: string, user: string): Promise<void>
}

/** A Gatepass with these packs as `gatepass dev --pack` starts it, on a port of its own. */
export async function startPacksWorld(ids: readonly string[]): Promise<PacksWorld> {
  const planned = await simulatePacks(ids, undefined)
  const port = await freePort()
  const server = await startSimulated({ GATEPASS_PORT: String(port) }, planned, () => ({ log: silent }))
  const url = server.config.publicUrl.origin
  const served: ServedRequest[] = []
  planned.packs.onServed = (one) => served.push(one)
  const call: PacksWorld['call'] = async (method, path, body, key = server.apiKey) => {
    const response = await fetch(new URL(path, url), {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }
  const providers = planned.all.flatMap(({ provider, tools }) => [
    provider,
    ...tools.flatMap((tool) => tool.provider ?? []),
  ])
  const typed = Object.fromEntries(
    providers.flatMap((id) =>
      Object.entries(planned.packs.typedAt(id)).map(([name, value]) => [VALUE_PREFIX + name, value]),
    ),
  )
  const { body: approver } = await call('POST', '/v1/admin/keys', { role: 'approver' })
  return {
    url,
    apiKey: server.apiKey,
    served,
    call,
    async consent(link) {
      const browser = new UserAgent()
      let page = await browser.get(link)
      for (let step = 0; step < 5 && isForUser(page); step++) {
        const fields = Object.entries(typed).filter(([name]) => page.body.includes(`name="${name}"`))
        page = await browser.submitForm(page, Object.fromEntries(fields))
      }
      if (page.status !== 200) throw new Error(`${page.status} at ${page.url}: ${page.body.slice(0, 500)}`)
    },
    async approve(link, user) {
      const [id] = /appr_\w+/.exec(link) ?? []
      const { body } = await call('GET', `/v1/approvals/${id}`, undefined, approver.key)
      const decision = { decision: 'approve', digest: body.digest, approver: user }
      const decided = await call('POST', `/v1/approvals/${id}/decision`, decision, approver.key)
      if (decided.status !== 200) throw new Error(JSON.stringify(decided.body))
    },
    [Symbol.asyncDispose]: () => server.close(),
  }
}

/** Whether the page asks the user something: the connect page, or that of a simulated authorization server. */
function isForUser({ url, body }: Page): boolean {
  return body.includes('action="/connect/') || new URL(url).pathname.startsWith('/sandbox/simulated/')
}

export type Example = NonNullable<PackTool['examples']>[number]

/** What the tool's definition makes of the example's answer. */
export async function promisedValue(pack: Pack, name: string, { input, answer }: Example): Promise<unknown> {
  const { answer: plan } = planOf(toolOf(pack, name).document)
  await prepareConversions(Object.values(plan?.convert ?? {}))
  const isText = typeof answer === 'string'
  const body = answer == null ? '' : isText ? answer : JSON.stringify(answer)
  const headers = { 'content-type': isText ? 'text/plain' : 'application/json' }
  const response = { status: 200, headers, body: Buffer.from(body) }
  const place = { id: 'file_1', url: 'https://gatepass.example.com/v1/files/file_1', expiresAt: 1 }
  const shaped = readApiAnswer({ response, isSafe: true, plan, input, place })
  if (shaped.outcome !== 'value') throw new Error(JSON.stringify(shaped))
  return comparable(plan?.longTexts ? shortenTexts(plan.longTexts, shaped.value, input) : shaped.value)
}

/** A value without the names of files, which each call makes. */
export function comparable(value: unknown): unknown {
  const text = JSON.stringify(value ?? null)
    .replaceAll(/"https?:[^"]*\/files\/[^"]*"/g, '"the file"')
    .replaceAll(/"file_[\w-]+"/g, '"its id"')
    .replaceAll(/"expires_at":(?:"[^"]*"|\d+)/g, '"expires_at":"later"')
  return JSON.parse(text)
}
