import { z } from '@hono/zod-openapi'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { findOperation, type PerformedBy, performOperation } from '../../operations/perform-operation.ts'
import {
  requestDescription,
  toRequestSettings,
  toRequestWire,
} from '../../operations/worker-types/openapi-request.ts'
import { type DefinitionDifference, differencesOf } from '../../tools/catalogue/changed-definitions.ts'
import { openapiSettings } from '../../tools/openapi/openapi-settings.ts'
import { getWorker } from '../../tools/worker.ts'
import { absentIfNotFound } from './wire-add.ts'
import type { Pack } from './wire-format.ts'
import { approvalsOfPack, type PackChoice, workerOfPack } from './wire-worker.ts'

const workerAnswer = z.object({
  acceptance: z.object({ changed: z.array(z.object({ tool: z.string() })).optional() }),
})

export interface PackDiff {
  readonly unchanged: number
  readonly changed: readonly { readonly name: string; readonly members: readonly DefinitionDifference[] }[]
  readonly gone: readonly string[]
  readonly new: readonly string[]
  readonly waiting?: readonly string[]
}

/**
 * Gives the tools that were added from a pack its present definitions; their names and their provider entry stay as chosen.
 * Throws `not_found` where no tool of the pack was added.
 */
export async function updatePack(
  broker: Broker,
  by: PerformedBy,
  pack: Pack,
  { dryRun }: { readonly dryRun: boolean },
): Promise<PackDiff> {
  const { id } = pack
  const worker = await getWorker(broker, by.caller.projectId, id)
  const { requests = [], namespace } = worker.type === 'openapi' ? openapiSettings(worker) : {}
  if (requests.length === 0 || namespace !== pack.namespace)
    throw new BrokerError('invalid_request', `The worker "${id}" was not added from the pack "${id}".`)
  const stored = new Map(requests.map((request) => [request.name, plain(toRequestWire(request))]))
  const names = pack.tools.map(({ name }) => name)
  const kept = [...stored.keys()].filter((name) => names.includes(name))
  if (kept.length === 0)
    throw new BrokerError(
      'invalid_request',
      `The pack "${id}" has none of the tools that were added from it.`,
    )
  const choice = { tools: kept, providerId: chosenEntry(pack, requests) }
  const { openapi } = workerOfPack(pack, choice)
  const changed = openapi.requests.flatMap((request) => {
    const now = plain(toRequestWire(toRequestSettings(requestDescription.parse(request))))
    // the version of the pack alone changes nothing that a tool does
    const members = differencesOf(stored.get(request.name) ?? {}, now).filter(({ at }) => at !== '/version')
    return members.length === 0 ? [] : [{ name: request.name, members }]
  })
  const diff = {
    unchanged: kept.length - changed.length,
    changed,
    gone: [...stored.keys()].filter((name) => !names.includes(name)),
    new: names.filter((name) => !stored.has(name)),
  }
  if (dryRun) return diff
  await askAboutMore(broker, by, pack, choice)
  const change = findOperation(broker, 'updateWorker')
  if (change === undefined) throw new Error('The API has no operation for workers.')
  const changedWorker = await performOperation(broker, change, by, { params: { id }, body: { openapi } })
  const { acceptance } = workerAnswer.parse(changedWorker)
  return { ...diff, waiting: (acceptance.changed ?? []).map(({ tool }) => tool) }
}

const policyAnswer = z.object({
  effect: z.literal('approve'),
  match: z.looseObject({ tools: z.array(z.string()) }),
})

/**
 * Has the policy that came with the tools ask about those, too, that the pack wants approved since then. Where there is none,
 * the administrator wanted no approvals.
 */
async function askAboutMore(broker: Broker, by: PerformedBy, pack: Pack, choice: PackChoice): Promise<void> {
  const proposed = approvalsOfPack(pack, choice)
  const [get, change] = ['getPolicy', 'updatePolicy'].map((id) => findOperation(broker, id))
  if (proposed === undefined || get === undefined || change === undefined) return
  const params = { id: proposed.id }
  const known = policyAnswer.safeParse(await absentIfNotFound(performOperation(broker, get, by, { params })))
  if (!known.success) return
  const { match } = known.data
  const tools = [...new Set([...match.tools, ...proposed.match.tools])]
  if (tools.length > match.tools.length)
    await performOperation(broker, change, by, { params, body: { match: { ...match, tools } } })
}

/** The id of the provider entry that was chosen when the tools were added. */
function chosenEntry(
  pack: Pack,
  requests: NonNullable<ReturnType<typeof openapiSettings>['requests']>,
): string | undefined {
  const others = new Set(pack.tools.flatMap(({ name, provider }) => (provider === undefined ? [] : [name])))
  return requests
    .filter(({ name }) => !others.has(name))
    .flatMap(({ authorization = [] }) => authorization)
    .flatMap((authorized) =>
      'secret' in authorized || authorized.id === undefined ? [] : [authorized.id],
    )[0]
}

function plain(value: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value))
}
