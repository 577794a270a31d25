import type { Broker } from '../../broker.ts'
import type { AuditEvent } from '../../domain/audit.ts'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import { sha256 } from '../../domain/ids.ts'
import { isWaiting, type WaitingDefinition } from '../../domain/pinned-tool.ts'
import type { Tool } from '../../domain/tool.ts'
import { toolIdentity } from '../../domain/tool-name.ts'
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
import { acceptDefinitions, changedMeanwhile } from './accept-definitions.ts'
import { type NameRights, namesToAccept, ownerNameOf, type WaitingName, waitingNames } from './name-claims.ts'
import { pinningOf } from './pinning.ts'

// Which providers, scopes and secrets the tools of a worker may use, and which names they have. Those that the catalogue
// names when an administrator registers the worker are accepted, except for names of another source; those that it names
// later wait until an administrator accepts them.

/** The providers, scopes and secrets that a worker's tools name: those that were accepted, and those that wait. */
export interface Acceptance {
  readonly accepted: WorkerNeeds
  readonly waiting: WorkerNeeds
  /** Names of its tools that do not belong to it: these tools are found by their full ids alone. */
  readonly names: readonly WaitingName[]
  /** Definitions that wait, with what they require in `waiting`. */
  readonly definitions: readonly WaitingDefinition[]
  /** A digest of what waits, by which an administrator accepts exactly what was shown. */
  readonly digest?: string
}

/** Whether no acceptance is needed: for the operator's own code, and in development. */
export function needsNoAcceptance(broker: Broker, worker: Pick<Worker, 'type'>): boolean {
  return broker.settings.development || broker.backends.of(worker).isInProcess === true
}

/** The requirements of the worker's tools, divided into accepted and waiting ones. */
export async function acceptanceOf(broker: Broker, worker: Worker): Promise<Acceptance> {
  const tools = await ownTools(broker, worker)
  const named = needsOf(tools)
  const names = waitingNames(tools)
  const definitions = (await broker.store.pinnedTools.ofWorker(worker.uid)).filter(isWaiting)
  if (needsNoAcceptance(broker, worker))
    return withDigest({ accepted: named, waiting: NO_NEEDS, names, definitions })
  // a worker that was registered by a release without acceptance keeps what its tools name
  const accepted = worker.accepted ?? named
  const all = definitions.reduce((sum, { needs }) => unionOfNeeds(sum, needs), named)
  return withDigest({ accepted, waiting: unacceptedNeeds(all, accepted), names, definitions })
}

/** What an administrator accepts: all that waits and was shown, some definitions, or everything but definitions. */
export interface Accepting {
  /** The digest of what was shown. */
  readonly digest?: string | undefined
  /** The digests of single definitions that were shown. */
  readonly tools?: readonly { readonly tool: string; readonly to: string }[] | undefined
}

/**
 * Accepts what was shown: requirements, names, which the worker has from now on, also those that another source had, and
 * definitions. Throws `not_accepted` if something else waits by now, `invalid_request` for definitions without a digest, and
 * `not_found` when the worker was deleted.
 */
export async function acceptWaiting(
  broker: Broker,
  worker: Worker,
  { digest, tools }: Accepting = {},
): Promise<void> {
  const { uid, id } = worker
  const shown = await acceptanceOf(broker, worker)
  if (digest !== undefined && digest !== shown.digest) throw changedMeanwhile(worker)
  if (digest === undefined && tools === undefined && shown.definitions.length > 0)
    throw invalidMember(
      'digest',
      'missing',
      `Definitions of tools wait at the worker "${id}". Look at them with GET /v1/workers/${id}, and send the digest of \`acceptance.waiting\`, so that exactly these are accepted.`,
    )
  const definitions =
    tools?.map((asked) => shownDefinition(worker, shown, asked)) ??
    (digest === undefined ? [] : shown.definitions)
  await acceptDefinitions(broker, worker, await ownTools(broker, worker), definitions)

  const names = tools === undefined ? shown.names : []
  const named = definitions.reduce((sum, { needs }) => unionOfNeeds(sum, needs), NO_NEEDS)
  const needs = tools === undefined ? shown.waiting : unacceptedNeeds(named, shown.accepted)
  if (needsNothing(needs) && names.length === 0) return
  const audit = entriesOf(broker, worker, [
    ...needEvents(worker, 'worker.accepted', needs),
    ...(await nameEvents(broker, worker, 'worker.accepted', names)),
  ])
  const readAgain = async () => {
    const current = await broker.store.workers.findByUid(uid)
    if (current === undefined) throw new BrokerError('not_found', `The worker "${id}" was deleted.`)
    return current
  }
  await changeRow(`The worker "${id}"`, await readAgain(), readAgain, async (current) => {
    const to = {
      uid,
      // automatic acceptance is not stored
      accepted: needsNoAcceptance(broker, worker)
        ? (current.accepted ?? NO_NEEDS)
        : unionOfNeeds(current.accepted ?? shown.accepted, needs),
      names: await namesToAccept(broker, worker, names),
    }
    return (await broker.store.workers.accept(current, to, audit)) || undefined
  })
}

function shownDefinition(
  worker: Worker,
  { definitions }: Acceptance,
  { tool, to }: { readonly tool: string; readonly to: string },
): WaitingDefinition {
  const found = definitions.find((waiting) => waiting.tool.toLowerCase() === tool.toLowerCase())
  if (found?.waiting !== to) throw changedMeanwhile(worker)
  return found
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
    entriesOf(broker, worker, needEvents(worker, 'worker.accepted', named)),
  )
}

/**
 * Ends the first use of a worker, whose definitions count as accepted: called once its catalogue has been read and stored.
 */
export async function endFirstUse(broker: Broker, worker: Worker): Promise<void> {
  if (worker.accepted?.isFirstUse !== true) return
  const { isFirstUse: _, ...accepted } = worker.accepted
  const { uid, projectId, id: subject } = worker
  const digests = (await ownTools(broker, worker)).map(({ digest }) => digest).sort()
  const reason = `definitions of ${digests.length} tools, ${sha256(digests.join())}`
  const isPinned = pinningOf(broker, worker) === 'hold' && digests.length > 0
  const audit = isPinned
    ? broker.audit.of(projectId, { action: 'worker.accepted', subject, reason })
    : undefined
  await broker.store.workers.accept(worker, { uid, accepted }, audit)
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
  const audit = needsNothing(accepted)
    ? undefined
    : entriesOf(broker, worker, needEvents(worker, 'worker.accepted', accepted))
  if (await broker.store.workers.accept(worker, { uid: worker.uid, accepted }, audit))
    return { ...worker, accepted }
  // another sync has accepted what was known before it stored new tools, which may be among `known`
  const current = await broker.store.workers.findByUid(worker.uid)
  return { ...worker, accepted: current?.accepted ?? accepted }
}

/** A tool with its name, and the providers, scopes and secrets that it names. */
type NamingTool = Pick<Tool, 'namespace' | 'name' | 'requirements'>

/** The audit entries for requirements and names that begin to wait. */
export function auditOfWaiting(
  broker: Broker,
  worker: Worker,
  { before, after }: { readonly before: readonly NamingTool[]; readonly after: readonly NamingTool[] },
  rights: NameRights,
): readonly AuditEntries[] {
  const known = new Set(before.map(toolIdentity))
  const names = new Set(
    after.filter((tool) => !known.has(toolIdentity(tool)) && !rights.mayHave(tool)).map(toolIdentity),
  )
  const fresh =
    needsNoAcceptance(broker, worker) || worker.accepted === undefined
      ? NO_NEEDS
      : unacceptedNeeds(unacceptedNeeds(needsOf(after), worker.accepted), needsOf(before))
  if (needsNothing(fresh) && names.size === 0) return []
  broker.log.warn(
    {
      worker: worker.id,
      providers: Object.keys(fresh.providers),
      secrets: fresh.secrets,
      names: [...names].slice(0, MAX_NAMED),
    },
    'a worker names more than was accepted: POST /v1/workers/{id}/accept',
  )
  return [...needEvents(worker, 'worker.waiting', fresh), ...waitEvents(worker, [...names])].map((event) =>
    broker.audit.of(worker.projectId, event),
  )
}

/** The most names for which one catalogue gets audit entries of their own. */
const MAX_NAMED = 50

function waitEvents({ id: subject }: Worker, names: readonly string[]): AuditEvent[] {
  const more = names.length - MAX_NAMED
  return [
    ...names.slice(0, MAX_NAMED).map((name) => `name ${name}`),
    ...(more > 0 ? [`${more} more names`] : []),
  ].map((reason) => ({ action: 'worker.waiting', subject, reason }))
}

/** One entry for each name, which says whose it was. */
async function nameEvents(
  broker: Broker,
  { id: subject }: Worker,
  action: 'worker.accepted',
  names: readonly WaitingName[],
): Promise<AuditEvent[]> {
  const events: AuditEvent[] = []
  for (const { identity, owner } of names.slice(0, MAX_NAMED)) {
    const before = owner === undefined ? '' : `, which was of ${await ownerNameOf(broker, owner)}`
    events.push({ action, subject, reason: `name ${identity}${before}` })
  }
  const more = names.length - MAX_NAMED
  return more > 0 ? [...events, { action, subject, reason: `${more} more names` }] : events
}

export async function ownTools(broker: Broker, { uid, projectId }: Worker): Promise<readonly Tool[]> {
  return (await broker.cache.catalogue.of(projectId)).filter(
    ({ source }) => source.kind === 'worker' && source.workerUid === uid,
  )
}

function needEvents(
  { id: subject }: Worker,
  action: 'worker.accepted' | 'worker.waiting',
  { providers, secrets }: WorkerNeeds,
): AuditEvent[] {
  return [
    ...Object.entries(providers).map(([providerId, scopes]) => ({ action, subject, providerId, scopes })),
    ...secrets.map((key) => ({ action, subject, reason: `secret ${key}` })),
  ]
}

function entriesOf(
  broker: Broker,
  { projectId, id: subject }: Worker,
  events: readonly AuditEvent[],
): AuditEntries {
  const entries = events.map((event) => broker.audit.of(projectId, event))
  return {
    ...broker.audit.of(projectId, { action: 'worker.accepted', subject }),
    lines: entries.flatMap(({ lines }) => lines),
  }
}

/** Adds the digest of what waits; none where nothing waits. A worker chooses what it covers, so it is not cut short. */
function withDigest(acceptance: Omit<Acceptance, 'digest'>): Acceptance {
  const { waiting, names, definitions } = acceptance
  if (needsNothing(waiting) && names.length + definitions.length === 0) return acceptance
  const shown = definitions.map((row) => [row.tool, row.accepted, row.waiting, row.isUnstable])
  return { ...acceptance, digest: sha256(JSON.stringify([waiting, names, shown.sort()])) }
}

export function describeNeeds({ providers, secrets }: WorkerNeeds): string {
  return [
    ...Object.entries(providers).map(
      ([name, scopes]) =>
        `the provider "${name}"${scopes.length > 0 ? ` with the scopes ${scopes.map((scope) => `"${scope}"`).join(', ')}` : ''}`,
    ),
    ...secrets.map((key) => `the secret "${key}"`),
  ].join(' and ')
}
