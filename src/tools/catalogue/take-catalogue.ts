import type { Broker } from '../../broker.ts'
import { newId } from '../../domain/ids.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import type { CatalogueItem } from '../backend.ts'
import { backendOf } from '../backends.ts'
import { createTurns } from '../slices.ts'
import { auditOfWaiting, settleAcceptance } from './acceptance.ts'
import { itemFacts } from './item-facts.ts'
import { storeChanges } from './store-changes.ts'
import type { ItemFacts } from './validate-tool.ts'

type ReadItem = Extract<CatalogueItem, { readonly outcome: 'read' }>

/**
 * Replaces the worker's tools by those that it lists now: it writes those that have changed. Returns a sentence for each
 * tool that was left out or taken with a remark. Throws `WorkerFault` when the catalogue cannot be read; the tools then
 * stay as they are.
 */
export async function takeCatalogue(broker: Broker, registered: Worker): Promise<readonly string[]> {
  const items = await backendOf(registered).catalogue(broker, registered)
  const known = await broker.cache.catalogue.of(registered.projectId)
  const before = takenBefore.get(items)
  if (before?.known === known && before.worker === `${registered.uid} ${place(registered)}`)
    return before.faults
  const own = known.filter((tool) => isToolOf(registered, tool))
  const worker = await settleAcceptance(broker, registered, own)
  const { taken, faults } = await compare(broker, worker, items, known)
  const tools = [...taken.values()]
  const isThere = new Set(own)
  const put = tools.filter((tool) => !isThere.has(tool))
  const kept = new Set(tools.map(({ uid }) => uid))
  const removed = own.filter(({ uid }) => !kept.has(uid)).map(({ uid }) => uid)
  if (put.length === 0 && removed.length === 0) {
    takenBefore.set(items, { known, worker: `${worker.uid} ${place(worker)}`, faults })
    return faults
  }
  // a worker that was deleted or moved during the reading gets no tools
  const mayHaveTools = async () => {
    const current = await broker.store.workers.findByUid(worker.uid)
    return current !== undefined && place(current) === place(worker) ? current : undefined
  }
  const current = await mayHaveTools()
  if (current === undefined) return faults
  const synced = broker.audit.of(worker.projectId, { action: 'worker.synced', subject: worker.id })
  const waiting = auditOfWaiting(broker, current, { before: own, after: tools })
  const audit = { ...synced, lines: [...synced.lines, ...(waiting?.lines ?? [])] }
  await storeChanges(broker, worker.projectId, { put, removed }, { audit, mayGoOn: mayHaveTools })
  return faults
}

/** The tools that the items describe, by their ids: those that have not changed are the known objects. */
async function compare(
  broker: Broker,
  worker: Worker,
  items: readonly CatalogueItem[],
  known: readonly Tool[],
): Promise<{ readonly taken: ReadonlyMap<string, Tool>; readonly faults: readonly string[] }> {
  const turns = createTurns()
  const byId = new Map<string, Tool>()
  for (const tool of known) {
    byId.set(toolId(tool).toLowerCase(), tool)
    await turns.pause()
  }
  const faults: string[] = []
  const taken = new Map<string, Tool>()
  const leaveOut = (name: string, why: string) =>
    faults.push(`The tool "${plain(name)}" was left out: ${plain(why)}`)
  for (const item of items) {
    await turns.pause()
    if (item.outcome === 'remark') {
      faults.push(plain(item.message))
      continue
    }
    if (item.outcome === 'refused') {
      leaveOut(item.name, item.reason)
      continue
    }
    const facts = itemFacts(item)
    const id = facts.named.toLowerCase()
    const same = byId.get(id)
    const { unusable, uncheckable } = faultsFor(worker, facts)
    if (same !== undefined && !isToolOf(worker, same))
      leaveOut(facts.named, 'another source brings one of the same id.')
    else if (taken.has(id)) leaveOut(facts.named, 'it is listed twice, and only the first is used.')
    else if (!facts.isText) leaveOut(facts.named, 'it holds the character U+0000 or half a character.')
    else if (unusable.length > 0) leaveOut(facts.named, unusable.join(' '))
    else {
      const isSame = same?.digest === facts.digest
      taken.set(id, isSame ? same : toTool(broker, worker, item, same))
      const remarks = [
        ...(item.remark === undefined ? [] : [item.remark]),
        ...(uncheckable.length === 0 ? [] : [`Only what runs it checks that. ${uncheckable.join(' ')}`]),
      ]
      if (remarks.length > 0)
        faults.push(`The tool "${plain(facts.named)}" was taken with a remark: ${plain(remarks.join(' '))}`)
    }
  }
  return { taken, faults }
}

/** The result for each list of a backend: an unchanged list is not processed again while no tool has changed. */
const takenBefore = new WeakMap<
  readonly CatalogueItem[],
  { readonly known: readonly Tool[]; readonly worker: string; readonly faults: readonly string[] }
>()

function isToolOf({ uid }: Worker, { source }: Tool): boolean {
  return source.kind === 'worker' && source.workerUid === uid
}

function toTool(
  broker: Broker,
  { uid: workerUid, projectId }: Worker,
  item: ReadItem,
  same: Tool | undefined,
): Tool {
  const { document, title = item.tool.name, tags: _, ...rest } = item.tool
  const { namespace: toolkit, name, version } = item.tool
  const { tags, digest } = itemFacts(item)
  const now = broker.now()
  return {
    ...rest,
    tags,
    uid: same?.uid ?? newId('tool'),
    projectId,
    title,
    source: { kind: 'worker', workerUid, document },
    binding: { workerUid, toolkit, name, ...(version !== undefined && { version }) },
    digest,
    createdAt: same?.createdAt ?? now,
    updatedAt: now,
  }
}

function faultsFor({ type }: Worker, { faults }: ItemFacts): ItemFacts['faults'] {
  if (type !== 'module') return faults
  // modules run in this process, and only the broker checks their input
  return { unusable: [...faults.unusable, ...faults.uncheckable], uncheckable: [] }
}

function plain(text: string): string {
  return text.toWellFormed().replaceAll(/\p{Cc}/gu, ' ')
}

function place({ uri, settings }: Worker): string {
  return JSON.stringify([uri, settings])
}
