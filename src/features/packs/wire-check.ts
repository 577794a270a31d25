import { requestDescription, toRequestSettings } from '../../operations/worker-types/openapi-request.ts'
import { isCoveredHost } from '../../providers/api-host.ts'
import { builtIn } from '../../providers/catalogue/registry.ts'
import type { CatalogueTool } from '../../tools/backend.ts'
import { checkNow, checkValue } from '../../tools/check-value.ts'
import { prepareConversions } from '../../tools/openapi/answers/convert-answer.ts'
import { valuesAt } from '../../tools/openapi/answers/member-path.ts'
import { shortenTexts } from '../../tools/openapi/answers/shape-answer.ts'
import { buildRequest } from '../../tools/openapi/build-request.ts'
import { readRequestDescription } from '../../tools/openapi/read-request-description.ts'
import { readApiAnswer } from '../../tools/openapi/read-response.ts'
import { planOf, type RequestPlan } from '../../tools/openapi/request-plan.ts'
import type { Pack, PackTool } from './wire-format.ts'
import { workerOfPack } from './wire-worker.ts'

export interface PackCheck {
  readonly examples: number
  /** What keeps the pack, or a tool of it, from being used. */
  readonly faults: readonly string[]
  /** What an author should look at. */
  readonly remarks: readonly string[]
}

type Example = NonNullable<PackTool['examples']>[number]

/** Runs each tool and its examples through its own definition, without a request. */
export async function checkPack(pack: Pack): Promise<PackCheck> {
  const faults: string[] = []
  const remarks = providerRemarks(pack)
  let examples = 0
  for (const tool of pack.tools) {
    const file = `${pack.id}/${tool.name}.json`
    try {
      const read = readTool(pack, tool)
      const usable = checkNow(read.inputSchema)
      if (usable.outcome !== 'valid') throw new Error(`input_schema cannot be used: ${sentenceOf(usable)}`)
      const unseen = new Set(planOf(read.document).answer?.members ?? [])
      for (const [at, example] of (tool.examples ?? []).entries()) {
        examples++
        await checkExample(read, example, unseen).catch((error: unknown) => {
          throw new Error(`examples.${at}: ${messageOf(error)}`)
        })
      }
      if (tool.examples !== undefined && unseen.size > 0)
        faults.push(`${file}: answer.members names ${[...unseen].join(', ')}, which no example has.`)
      remarks.push(...toolRemarks(tool).map((remark) => `${file}: ${remark}`))
    } catch (error) {
      faults.push(`${file}: ${messageOf(error)}`)
    }
  }
  return { examples, faults, remarks }
}

function readTool(pack: Pack, { name }: PackTool): CatalogueTool {
  const { openapi } = workerOfPack(pack, { tools: [name] })
  const [request] = openapi.requests
  return readRequestDescription(toRequestSettings(requestDescription.parse(request)), openapi)
}

/** Throws if the input, the request or the answer of the example is not as the tool describes it. */
async function checkExample(
  tool: CatalogueTool,
  { input, answer }: Example,
  unseen: Set<string>,
): Promise<void> {
  const checked = await checkValue(tool.inputSchema, input, '')
  if (checked.outcome !== 'valid') throw new Error(`input: ${sentenceOf(checked)}`)
  const plan = planOf(tool.document)
  await buildRequest(plan, input, { ofConnection: connectionOf(plan), callId: 'call' })
  await prepareConversions(Object.values(plan.answer?.convert ?? {}))
  const isText = typeof answer === 'string'
  const body = answer == null ? '' : isText ? answer : JSON.stringify(answer)
  const headers = { 'content-type': isText ? 'text/plain' : 'application/json' }
  const response = { status: 200, headers, body: Buffer.from(body) }
  const place = { id: 'file_1', url: 'https://gatepass.example.com/v1/files/file_1', expiresAt: 1 }
  const shaped = readApiAnswer({ response, isSafe: true, plan: plan.answer, input, place })
  if (shaped.outcome !== 'value') throw new Error(`answer: ${JSON.stringify(shaped)}`)
  if (plan.answer?.longTexts) shortenTexts(plan.answer.longTexts, shaped.value, input)
  for (const path of unseen) if (valuesAt(answer, path).length > 0) unseen.delete(path)
}

/** A value for each `{{name}}` of the connection. */
function connectionOf({ url }: RequestPlan): Record<string, string> {
  const names = [...url.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = '']) => name)
  return Object.fromEntries(
    names.map((name) => [name, name.endsWith('url') ? 'https://api.example.com' : 'example']),
  )
}

/** The provider may be one that the operator defines, so that it is not known here. */
function providerRemarks(pack: Pack): string[] {
  const known = builtIn(pack.provider)?.provider
  if (known === undefined)
    return [`${pack.id}/pack.json: provider "${pack.provider}" is not in the catalogue.`]
  const hosts = known.api?.hosts ?? []
  const urls = workerOfPack(pack).openapi.requests.map(({ url }) => url)
  const named = new Set(urls.flatMap((url) => /^https?:\/\/([^/{]+)(?=\/|$)/.exec(url)?.[1] ?? []))
  const others = [...named].filter((host) => !hosts.some((pattern) => isCoveredHost(pattern, host)))
  return others.length === 0
    ? []
    : [
        `${pack.id}/pack.json: tokens of ${pack.provider} are not sent to ${others.join(', ')}: its definition names ${hosts.join(', ') || 'no host'}.`,
      ]
}

function toolRemarks({ name, method, url, description, examples = [] }: PackTool): string[] {
  return [
    ...(description === unwritten(method, url) || name === description
      ? ['its description is not written yet.']
      : []),
    ...(examples.length === 0 ? ['it has no example.'] : []),
  ]
}

/** The description of a tool about which its author has not written anything yet. */
export function unwritten(method: string, url: string): string {
  return `${method} ${url}`
}

function sentenceOf(checked: object): string {
  return 'message' in checked ? String(checked.message) : JSON.stringify(checked)
}

function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return /[.!?]$/.test(text) ? text : `${text}.`
}
