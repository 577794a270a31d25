import type { Broker } from '../../broker.ts'
import type { AuditEvent } from '../../domain/audit.ts'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import { sha256 } from '../../domain/ids.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import {
  NO_NEEDS,
  needsNothing,
  needsOf,
  unacceptedNeeds,
  unionOfNeeds,
  type WorkerNeeds,
} from '../../domain/worker-needs.ts'
import { changeRow } from '../../services/change-row.ts'
import type { AuditEntries } from '../../store/audit-entries.ts'
import { findWorkerByUid } from './known-tools.ts'

// Which providers, scopes and secrets the tools of a worker may use. Those that the catalogue names when an administrator
// registers the worker are accepted; those that it names later wait until an administrator accepts them.

/** The providers, scopes and secrets that a worker's tools name: those that were accepted, and those that wait. */
export interface Acceptance {
  readonly accepted: WorkerNeeds
  readonly waiting: WorkerNeeds
  /** A digest of `waiting`, by which an administrator accepts exactly the needs that were shown. */
  readonly digest?: string
}

/** Whether no acceptance is needed: for modules, which are the operator's own files, and in development. */
export function needsNoAcceptance(broker: Broker, { type }: Pick<Worker, 'type'>): boolean {
  return type === 'module' || broker.settings.development
}

/** The requirements of the worker's tools, divided into accepted and waiting ones. */
export async function acceptanceOf(broker: Broker, worker: Worker): Promise<Acceptance> {
  const named = needsOf(await ownTools(broker, worker))
  if (needsNoAcceptance(broker, worker)) return { accepted: named, waiting: NO_NEEDS }
  // a worker that was registered by a release without acceptance keeps what its tools name
  const accepted = worker.accepted ?? named
  const waiting = unacceptedNeeds(named, accepted)
  return { accepted, waiting, ...(!needsNothing(waiting) && { digest: digestOf(waiting) }) }
}

/**
 * Accepts everything that waits. With `digest`, only if the same still waits: throws `invalid_request` if not. Repeats when
 * another request has accepted something meanwhile. Throws `not_found` when the worker was deleted.
 */
export async function acceptWaiting(
  broker: Broker,
  worker: Worker,
  { digest }: { readonly digest?: string } = {},
): Promise<Acceptance> {
  const { uid, id } = worker
  const readAgain = async () => {
    const current = await broker.store.workers.findByUid(uid)
    if (current === undefined) throw new BrokerError('not_found', `The worker "${id}" was deleted.`)
    return current
  }
  return changeRow(`The worker "${id}"`, worker, readAgain, async (current) => {
    const { accepted, waiting, digest: currentDigest } = await acceptanceOf(broker, current)
    if (digest !== undefined && digest !== currentDigest)
      throw invalidMember(
        'digest',
        'conflict',
        `What waits at the worker "${id}" has changed: look at GET /v1/workers/${id} again.`,
      )
    const all = unionOfNeeds(accepted, waiting)
    if (!needsNothing(waiting)) {
      const audit = auditOf(broker, worker, 'worker.accepted', waiting)
      if (!(await broker.store.workers.accept(current, { uid, accepted: all }, audit))) return undefined
    }
    return { accepted: all, waiting: NO_NEEDS }
  })
}

/**
 * Accepts everything that the catalogue names when the worker is registered. If an administrator has accepted something
 * already, only that is accepted, and the rest waits.
 */
export async function acceptAtRegistration(broker: Broker, worker: Worker): Promise<void> {
  const named = needsOf(await ownTools(broker, worker))
  if (needsNothing(named)) return
  await broker.store.workers.accept(
    worker,
    { uid: worker.uid, accepted: named },
    auditOf(broker, worker, 'worker.accepted', named),
  )
}

/**
 * Called before a worker's tools are replaced. For a worker that was registered by a release without acceptance, it
 * accepts everything that the worker's tools name so far.
 */
export async function acceptOlderWorker(
  broker: Broker,
  worker: Worker,
  known: readonly Tool[],
): Promise<Worker> {
  if (worker.accepted !== undefined) return worker
  const accepted = needsOf(known)
  const audit = needsNothing(accepted) ? undefined : auditOf(broker, worker, 'worker.accepted', accepted)
  if (await broker.store.workers.accept(worker, { uid: worker.uid, accepted }, audit))
    return { ...worker, accepted }
  // another sync has accepted what was known before it stored new tools, which may be among `known`
  const current = await broker.store.workers.findByUid(worker.uid)
  return { ...worker, accepted: current?.accepted ?? accepted }
}

/** A tool with the providers, scopes and secrets that it names. */
type NamingTool = Pick<Tool, 'requirements'>

/** The audit entries for requirements that begin to wait; `undefined` where there are none. */
export function auditOfWaiting(
  broker: Broker,
  worker: Worker,
  { before, after }: { readonly before: readonly NamingTool[]; readonly after: readonly NamingTool[] },
): AuditEntries | undefined {
  if (needsNoAcceptance(broker, worker) || worker.accepted === undefined) return undefined
  const fresh = unacceptedNeeds(unacceptedNeeds(needsOf(after), worker.accepted), needsOf(before))
  if (needsNothing(fresh)) return undefined
  broker.log.warn(
    { worker: worker.id, providers: Object.keys(fresh.providers), secrets: fresh.secrets },
    'a worker names more than was accepted: POST /v1/workers/{id}/accept',
  )
  return auditOf(broker, worker, 'worker.waiting', fresh)
}

/** The needs of each tool, cached because every call reads them. */
const knownNeeds = new WeakMap<Tool, WorkerNeeds>()

/** Why the tool may not run yet; `undefined` when everything that it names was accepted. */
export async function findUnacceptedReason(broker: Broker, tool: Tool): Promise<string | undefined> {
  if (tool.source.kind !== 'worker') return undefined
  return unacceptedReason(broker, await findWorkerByUid(broker, tool.source.workerUid), tool)
}

/** `findUnacceptedReason` with the tool's worker, which the caller has already read. */
export function unacceptedReason(broker: Broker, worker: Worker | undefined, tool: Tool): string | undefined {
  if (worker?.accepted === undefined || needsNoAcceptance(broker, worker)) return undefined
  const needs = knownNeeds.get(tool) ?? needsOf([tool])
  knownNeeds.set(tool, needs)
  const waiting = unacceptedNeeds(needs, worker.accepted)
  if (needsNothing(waiting)) return undefined
  return `The tool "${tool.title}" names ${describeNeeds(waiting)}, which the worker "${worker.id}" did not name when it was accepted. An administrator looks at it with GET /v1/workers/${worker.id} and accepts it with POST /v1/workers/${worker.id}/accept.`
}

/** Throws `not_accepted` for a tool whose needs no administrator has accepted, so that no user is asked for consent. */
export async function checkAccepted(broker: Broker, tool: Tool): Promise<void> {
  const why = await findUnacceptedReason(broker, tool)
  if (why !== undefined) throw new BrokerError('not_accepted', why)
}

/** The ids of the project's enabled workers that have a tool which waits for acceptance. */
export async function workersThatWait(broker: Broker, projectId: string): Promise<string[]> {
  const workers = await broker.store.workers.list(projectId)
  const candidates = workers.filter(
    (one) => one.enabled && one.accepted !== undefined && !needsNoAcceptance(broker, one),
  )
  if (candidates.length === 0) return []
  const byUid = new Map(candidates.map((worker) => [worker.uid, worker]))
  const waiting = new Set<Worker>()
  for (const tool of await broker.cache.catalogue.of(projectId)) {
    const worker = tool.source.kind === 'worker' ? byUid.get(tool.source.workerUid) : undefined
    if (worker === undefined || waiting.has(worker)) continue
    if (unacceptedReason(broker, worker, tool) !== undefined) waiting.add(worker)
  }
  return candidates.filter((worker) => waiting.has(worker)).map(({ id }) => id)
}

/** The ids of the worker's tools that wait for acceptance. */
export async function waitingTools(
  broker: Broker,
  worker: Worker,
  { waiting }: Acceptance,
): Promise<string[]> {
  if (needsNothing(waiting)) return []
  const { accepted = NO_NEEDS } = worker
  return (await ownTools(broker, worker))
    .filter((tool) => !needsNothing(unacceptedNeeds(needsOf([tool]), accepted)))
    .map(toolId)
}

async function ownTools(broker: Broker, { uid, projectId }: Worker): Promise<readonly Tool[]> {
  return (await broker.cache.catalogue.of(projectId)).filter(
    ({ source }) => source.kind === 'worker' && source.workerUid === uid,
  )
}

function auditOf(
  broker: Broker,
  { projectId, id: subject }: Worker,
  action: 'worker.accepted' | 'worker.waiting',
  { providers, secrets }: WorkerNeeds,
): AuditEntries {
  const events: AuditEvent[] = [
    ...Object.entries(providers).map(([providerId, scopes]) => ({ action, subject, providerId, scopes })),
    ...secrets.map((key) => ({ action, subject, reason: `secret ${key}` })),
  ]
  const entries = events.map((event) => broker.audit.of(projectId, event))
  return {
    ...broker.audit.of(projectId, { action, subject }),
    lines: entries.flatMap(({ lines }) => lines),
  }
}

function digestOf(waiting: WorkerNeeds): string {
  return sha256(JSON.stringify(waiting)).slice(0, 16)
}

function describeNeeds({ providers, secrets }: WorkerNeeds): string {
  return [
    ...Object.entries(providers).map(
      ([name, scopes]) =>
        `the provider "${name}"${scopes.length > 0 ? ` with the scopes ${scopes.map((one) => `"${one}"`).join(', ')}` : ''}`,
    ),
    ...secrets.map((key) => `the secret "${key}"`),
  ].join(' and ')
}
