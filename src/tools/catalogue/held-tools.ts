import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import { hasOwnName } from '../../domain/tool-name.ts'
import type { Worker } from '../../domain/worker.ts'
import {
  NO_NEEDS,
  needsNothing,
  needsOf,
  unacceptedNeeds,
  type WorkerNeeds,
} from '../../domain/worker-needs.ts'
import { type Acceptance, describeNeeds, needsNoAcceptance, ownTools } from './acceptance.ts'
import { findWorkerByUid } from './known-tools.ts'

// Tools that must not run before an administrator has accepted what they name.

/** The needs of each tool, cached because every call reads them. */
const knownNeeds = new WeakMap<Tool, WorkerNeeds>()

/** Why the tool may not run yet; `undefined` when everything that it names was accepted. */
export async function findUnacceptedReason(broker: Broker, tool: Tool): Promise<string | undefined> {
  if (tool.source.kind !== 'worker') return undefined
  return unacceptedReason(broker, await findWorkerByUid(broker, tool.source.workerUid), tool)
}

/** `findUnacceptedReason` with the tool's worker, which the caller has already read. */
export function unacceptedReason(broker: Broker, worker: Worker | undefined, tool: Tool): string | undefined {
  const held = worker && heldReason(worker, tool)
  if (held !== undefined) return held
  if (worker?.accepted === undefined || needsNoAcceptance(broker, worker)) return undefined
  const needs = knownNeeds.get(tool) ?? needsOf([tool])
  knownNeeds.set(tool, needs)
  const waiting = unacceptedNeeds(needs, worker.accepted)
  if (needsNothing(waiting)) return undefined
  return `The tool "${tool.title}" names ${describeNeeds(waiting)}, which the worker "${worker.id}" did not name when it was accepted. ${howToAccept(worker)}`
}

function heldReason(worker: Worker, tool: Tool): string | undefined {
  if (tool.held === undefined) return undefined
  return `The tool "${tool.title}" has changed at the worker "${worker.id}" since it was accepted, so it does not run. ${howToAccept(worker)}`
}

/** Throws `not_accepted` for a tool of the worker that is held, also where an imported tool is bound to it. */
export function checkNotHeld(worker: Worker, tool: Tool): void {
  const why = heldReason(worker, tool)
  if (why !== undefined) throw new BrokerError('not_accepted', why)
}

function howToAccept({ id }: Worker): string {
  return `An administrator looks at it with GET /v1/workers/${id} and accepts it with POST /v1/workers/${id}/accept.`
}

/** Throws `not_accepted` for a tool whose needs no administrator has accepted, so that no user is asked for consent. */
export async function checkAccepted(broker: Broker, tool: Tool): Promise<void> {
  const why = await findUnacceptedReason(broker, tool)
  if (why !== undefined) throw new BrokerError('not_accepted', why)
}

/** The ids of the project's enabled workers that have a tool which waits for acceptance. */
export async function workersThatWait(broker: Broker, projectId: string): Promise<string[]> {
  const workers = await broker.store.workers.list(projectId)
  const candidates = workers.filter((worker) => worker.enabled)
  if (candidates.length === 0) return []
  const byUid = new Map(candidates.map((worker) => [worker.uid, worker]))
  const pinned = await broker.store.pinnedTools.waiting(projectId)
  const waiting = new Set(pinned.flatMap(({ workerUid }) => byUid.get(workerUid) ?? []))
  for (const tool of await broker.cache.catalogue.of(projectId)) {
    const worker = tool.source.kind === 'worker' ? byUid.get(tool.source.workerUid) : undefined
    if (worker === undefined || waiting.has(worker)) continue
    if (!hasOwnName(tool) || unacceptedReason(broker, worker, tool) !== undefined) waiting.add(worker)
  }
  return candidates.filter((worker) => waiting.has(worker)).map(({ id }) => id)
}

/** The ids of the worker's tools that wait for acceptance. */
export async function waitingTools(
  broker: Broker,
  worker: Worker,
  { waiting, definitions }: Acceptance,
): Promise<string[]> {
  if (needsNothing(waiting)) return []
  const { accepted = NO_NEEDS } = worker
  const isUnaccepted = (needs: WorkerNeeds) => !needsNothing(unacceptedNeeds(needs, accepted))
  const stored = (await ownTools(broker, worker)).filter((tool) => isUnaccepted(needsOf([tool])))
  const pinned = definitions.filter(({ needs }) => isUnaccepted(needs))
  return [...new Set([...stored.map(toolId), ...pinned.map(({ tool }) => tool)])]
}
