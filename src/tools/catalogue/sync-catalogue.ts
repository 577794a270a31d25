import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import { hasOwnName, type ToolName, toolIdentity, toolkitIdentity } from '../../domain/tool-name.ts'
import type { Worker } from '../../domain/worker.ts'
import { namesBeyond, needsOf, type WorkerNeeds } from '../../domain/worker-needs.ts'
import type { ChangedRequirements } from '../../store/change-hook.ts'
import type { Backend, CatalogueBounds, CatalogueItem } from '../backend.ts'
import { Refusal } from '../read-json.ts'
import { createTimeBudget } from '../slices.ts'
import { badOutputError } from '../tool-error.ts'
import { WorkerFault } from '../worker-fault.ts'
import { acceptOlderWorker, auditOfWaiting, needsNoAcceptance } from './acceptance.ts'
import { checkToolCount } from './catalogue-reading.ts'
import { itemSummary } from './item-summary.ts'
import { claimEvents, type NameRights, nameRightsOf } from './name-claims.ts'
import { changedDefinitions, changeEvents, pinCatalogue, type TakenTool } from './pin-tools.ts'
import { readBounded } from './read-bounded.ts'
import { storeChanges } from './store-changes.ts'
import { toTool } from './to-tool.ts'
import type { ItemSummary } from './validate-tool.ts'

/**
 * Replaces the worker's tools by those that it lists now, as far as its pinning lets their changes apply (pin-tools.ts), and writes only the changed ones. `isChangedHere`: an administrator has just changed the worker's settings. Returns a sentence for each
 * tool that was left out or taken with a remark. Throws `WorkerFault` when the catalogue cannot be read; the tools are not
 * changed then.
 */
export function syncCatalogue(
  broker: Broker,
  registered: Worker,
  options: SyncOptions = {},
): Promise<readonly string[]> {
  return readBounded(registered, (bounds) => syncWithin(broker, registered, { ...options, bounds }))
}

export interface SyncOptions {
  readonly isChangedHere?: boolean
}

/** How often a catalogue is read when another request adds one of its tools meanwhile. */
const ATTEMPTS = 3

async function syncWithin(
  broker: Broker,
  registered: Worker,
  options: SyncOptions & { readonly bounds: CatalogueBounds },
  attempt = 1,
): Promise<readonly string[]> {
  const { cache, store, audit } = broker
  const before = unchangedSince(await cache.catalogue.of(registered.projectId)).get(settingsOf(registered))
  const listed = await broker.backends.of(registered).catalogue(broker, registered, {
    ...options.bounds,
    ...(before?.digest !== undefined && { before: before.digest }),
  })
  const known = await cache.catalogue.of(registered.projectId)
  const same = unchangedSince(known).get(settingsOf(registered))
  if (listed === 'unchanged') {
    if (same !== undefined && same === before) return same.faults
    // another tool of the project was changed during the request
    return syncWithin(broker, registered, options, attempt)
  }
  const { items, digest } = listed
  if (same !== undefined && same.digest === digest) return same.faults
  checkItems(items)
  const own = known.filter((tool) => isToolOf(registered, tool))
  const worker = await acceptOlderWorker(broker, registered, own)
  const rights = await nameRightsOf(broker, worker, {
    tools: items.flatMap((item) => (item.outcome === 'read' ? [itemSummary(item)] : [])),
    own,
    // an administrator who registers a worker gives it the free names of its first catalogue
    claimsFreely: worker.syncedAt === undefined || needsNoAcceptance(broker, worker),
  })
  const compared = await compare(broker, worker, items, known, rights)
  const { isChangedHere = false } = options
  const pinned = await pinCatalogue(broker, worker, { taken: compared.taken, own, isChangedHere })
  const { taken } = pinned
  const faults = [...compared.faults, ...(pinned.isFull ? [MORE_WAITS] : [])]
  const displaced = compared.displaced.filter((tool) => taken.has(toolId(tool).toLowerCase()))
  const kept = new Set([...pinned.kept].map(({ uid }) => uid))
  const changed: Exclude<TakenTool, { readonly unchanged: Tool }>[] = []
  for (const tool of taken.values())
    if (tool.unchanged === undefined) {
      changed.push(tool)
      if (tool.same !== undefined) kept.add(tool.same.uid)
    } else kept.add(tool.unchanged.uid)
  const removed = [...own.filter(({ uid }) => !kept.has(uid)), ...displaced].map(({ uid }) => uid)
  const claims = claimsFor(rights.claims, taken.values())
  const isPinned = pinned.holds.length + pinned.put.length + pinned.removed.length > 0
  if (changed.length === 0 && removed.length === 0 && claims.length === 0 && !isPinned) {
    if (digest !== undefined) unchangedSince(known).set(settingsOf(worker), { digest, faults })
    return faults
  }
  // a worker that was deleted or moved during the reading gets no tools
  const mayHaveTools = async () => {
    const current = await store.workers.findByUid(worker.uid)
    return current !== undefined && rightsOf(current) === rightsOf(worker) ? current : undefined
  }
  const current = await mayHaveTools()
  if (current === undefined) return faults
  const synced = audit.of(worker.projectId, { action: 'worker.synced', subject: worker.id })
  const after = [...taken.values(), ...pinned.kept]
  const waiting = auditOfWaiting(broker, current, { before: own, after }, rights)
  const events = [...claimEvents(current, claims), ...changeEvents(current, pinned)]
  const others = events.map((event) => audit.of(worker.projectId, event))
  const changes = {
    put: changed.map(({ item, same }) => ({
      characters: itemSummary(item).size,
      toTool: () => toTool(broker, worker, { ...itemSummary(item), tool: item.tool }, same),
    })),
    removed,
    names: claims,
    requirements: changedRequirements(current, needsOf(own), needsOf(after)),
    pins: pinned,
    definitions: changedDefinitions(current, pinned),
  }
  try {
    await storeChanges(broker, worker.projectId, changes, {
      audit: { ...synced, lines: [synced, ...others, ...waiting].flatMap(({ lines }) => lines) },
      mayContinue: mayHaveTools,
    })
  } catch (error) {
    // another sync of the worker (a second node, a PATCH) or an import has just added one of the tools
    const isRaced = error instanceof BrokerError && error.code === 'already_exists'
    if (!isRaced || attempt === ATTEMPTS) throw error
    return syncWithin(broker, worker, options, attempt + 1)
  }
  return faults
}

/** `undefined` if nothing has changed, and for the first catalogue of a worker, which the administrator sees on registration. */
function changedRequirements(
  { uid, id, syncedAt }: Worker,
  before: WorkerNeeds,
  after: WorkerNeeds,
): ChangedRequirements | undefined {
  if (syncedAt === undefined) return undefined
  const added = namesBeyond(after, before)
  const removed = namesBeyond(before, after)
  return added.length + removed.length === 0 ? undefined : { uid, id, added, removed }
}

/** A catalogue that was compared with the tools of its project without finding a change. */
interface UnchangedCatalogue {
  readonly digest: string
  readonly faults: readonly string[]
}

/** The unchanged catalogues by the settings of their workers, for each list of a project's tools (the cached array). */
const unchanged = new WeakMap<readonly Tool[], Map<string, UnchangedCatalogue>>()

function unchangedSince(known: readonly Tool[]): Map<string, UnchangedCatalogue> {
  const found = unchanged.get(known) ?? new Map<string, UnchangedCatalogue>()
  unchanged.set(known, found)
  return found
}

/** The settings of a worker that affect its catalogue. `secret` is sealed, and changes when the secret is replaced. */
function settingsOf(worker: Worker): string {
  return `${worker.uid} ${worker.secret} ${rightsOf(worker)}`
}

function checkItems(items: readonly CatalogueItem[]): void {
  try {
    checkToolCount(items.length)
  } catch (error) {
    throw error instanceof Refusal ? new WorkerFault(badOutputError(error.message)) : error
  }
}

interface Compared {
  /** The tools to take, by id. */
  readonly taken: ReadonlyMap<string, TakenTool>
  readonly faults: readonly string[]
  /** Tools of other workers that had the id of one of the worker's tools without the right to its name. */
  readonly displaced: readonly Tool[]
}

/** Compares the items with the project's tools. */
async function compare(
  broker: Broker,
  worker: Worker,
  items: readonly CatalogueItem[],
  known: readonly Tool[],
  rights: NameRights,
): Promise<Compared> {
  const budget = createTimeBudget()
  const byId = new Map<string, Tool>()
  for (const tool of known) {
    byId.set(toolId(tool).toLowerCase(), tool)
    await budget.pause()
  }
  const faults: string[] = []
  const taken = new Map<string, TakenTool>()
  const displaced: Tool[] = []
  const leaveOut = (name: string, why: string) =>
    faults.push(`The tool "${plain(name)}" was left out: ${plain(why)}`)
  for (const item of items) {
    await budget.pause()
    if (item.outcome === 'remark') {
      faults.push(plain(item.message))
      continue
    }
    if (item.outcome === 'refused') {
      leaveOut(item.name, item.reason)
      continue
    }
    const summary = itemSummary(item)
    const { requirements, namespace, name } = summary
    const id = summary.named.toLowerCase()
    const stored = byId.get(id)
    const isDisplaced =
      stored?.source.kind === 'worker' &&
      !isToolOf(worker, stored) &&
      !hasOwnName(stored) &&
      rights.mayHave(summary)
    const same = isDisplaced ? undefined : stored
    const { unusable, uncheckable } = faultsFor(broker.backends.of(worker), summary)
    if (same !== undefined && !isToolOf(worker, same))
      leaveOut(summary.named, 'another source brings one of the same id.')
    else if (taken.has(id)) leaveOut(summary.named, 'it is listed twice, and only the first is used.')
    else if (!summary.isText) leaveOut(summary.named, 'it holds the character U+0000 or half a character.')
    else if (unusable.length > 0) leaveOut(summary.named, unusable.join(' '))
    else {
      if (isDisplaced) displaced.push(stored)
      const isSame = same?.digest === summary.digest && same.held === undefined
      const about = { requirements, namespace, name }
      taken.set(id, isSame ? { ...about, unchanged: same } : { ...about, item, same })
      const remarks = [
        ...(item.remark === undefined ? [] : [item.remark]),
        ...(uncheckable.length === 0 ? [] : [`Only what runs it checks that. ${uncheckable.join(' ')}`]),
      ]
      if (remarks.length > 0)
        faults.push(`The tool "${plain(summary.named)}" was taken with a remark: ${plain(remarks.join(' '))}`)
    }
  }
  return { taken, faults, displaced }
}

function isToolOf({ uid }: Worker, { source }: Tool): boolean {
  return source.kind === 'worker' && source.workerUid === uid
}

function faultsFor({ isInProcess }: Backend, { faults }: ItemSummary): ItemSummary['faults'] {
  if (!isInProcess) return faults
  return { unusable: [...faults.unusable, ...faults.uncheckable], uncheckable: [] }
}

function plain(text: string): string {
  return text.toWellFormed().replaceAll(/\p{Cc}/gu, ' ')
}

/** Tools that were read under other settings, or as those of the first reading, are not stored. */
function rightsOf({ uri, settings, pinning, accepted }: Worker): string {
  return JSON.stringify([uri, settings, pinning, accepted?.isFirstUse])
}

/** What `sync_error` says when more waits than is kept of it. */
const MORE_WAITS =
  'More definitions have changed than are kept at once: the others are shown once those that wait are accepted.'

/** The claims of tools that are stored, with those of their toolkits. A tool that waits gets no name. */
function claimsFor(
  claims: readonly ToolName[],
  tools: Iterable<Pick<Tool, 'namespace' | 'name'>>,
): ToolName[] {
  if (claims.length === 0) return []
  const named = new Set([...tools].flatMap((tool) => [toolIdentity(tool), toolkitIdentity(tool.namespace)]))
  return claims.filter(({ identity }) => named.has(identity))
}
