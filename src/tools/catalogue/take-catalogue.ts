import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Broker } from '../../broker.ts'
import { newId, sha256 } from '../../domain/ids.ts'
import { normalizeTags } from '../../domain/tags.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import type { CatalogueItem, CatalogueTool } from '../backend.ts'
import { backendOf } from '../backends.ts'
import { auditOfWaiting, settleAcceptance } from './acceptance.ts'
import { type ListedFaults, listedFaults } from './validate-tool.ts'

/** The time that descriptions are checked before other requests get a turn. */
const TURN_MS = 4

type ReadItem = Extract<CatalogueItem, { readonly outcome: 'read' }>

/**
 * Replaces the worker's tools by those that it lists now. Returns a sentence for each tool that was left out or taken with
 * a remark. Throws `WorkerFault` when the catalogue cannot be read; the tools then stay as they are.
 */
export async function takeCatalogue(broker: Broker, registered: Worker): Promise<string[]> {
  const items = await backendOf(registered).catalogue(broker, registered)
  const mark = await markOf(broker, registered.projectId)
  const same = takenBefore.get(items)
  if (same?.mark === mark && same.worker === `${registered.uid} ${place(registered)}`) return same.faults
  const known = await broker.store.tools.list(registered.projectId)
  const before = known.filter((tool) => isToolOf(registered, tool))
  const worker = await settleAcceptance(broker, registered, before)
  const isOwn = (tool: Tool) => isToolOf(worker, tool)
  const byId = new Map(known.map((tool) => [toolId(tool).toLowerCase(), tool]))
  const faults: string[] = []
  const taken = new Map<string, Tool>()
  let turn = performance.now()
  for (const item of items) {
    if (performance.now() - turn > TURN_MS) {
      await nextTurn()
      turn = performance.now()
    }
    if (item.outcome === 'remark') {
      faults.push(plain(item.message))
      continue
    }
    const leaveOut = (name: string, why: string) =>
      faults.push(`The tool "${plain(name)}" was left out: ${plain(why)}`)
    if (item.outcome === 'refused') {
      leaveOut(item.name, item.reason)
      continue
    }
    const named = toolId(item.tool)
    const id = named.toLowerCase()
    const same = byId.get(id)
    const tags = normalizeTags(item.tool.tags ?? [])
    const { unusable, uncheckable } = faultsOf(item, tags, worker)
    if (same !== undefined && !isOwn(same)) leaveOut(named, 'another source brings one of the same id.')
    else if (taken.has(id)) leaveOut(named, 'it is listed twice, and only the first is used.')
    else if (!isText(item.tool)) leaveOut(named, 'it holds the character U+0000 or half a character.')
    else if (unusable.length > 0) leaveOut(named, unusable.join(' '))
    else {
      taken.set(id, toTool(broker, worker, { ...item.tool, tags }, same))
      const remarks = [
        ...(item.remark === undefined ? [] : [item.remark]),
        ...(uncheckable.length === 0 ? [] : [`Only what runs it checks that. ${uncheckable.join(' ')}`]),
      ]
      if (remarks.length > 0)
        faults.push(`The tool "${plain(named)}" was taken with a remark: ${plain(remarks.join(' '))}`)
    }
  }
  const tools = [...taken.values()]
  if (print(known.filter(isOwn)) === print(tools)) {
    takenBefore.set(items, { mark, worker: `${worker.uid} ${place(worker)}`, faults })
    return faults
  }
  // a worker that was deleted or moved during the reading gets no tools
  const current = await broker.store.workers.findByUid(worker.uid)
  if (current !== undefined && place(current) === place(worker)) {
    const synced = broker.audit.of(worker.projectId, { action: 'worker.synced', subject: worker.id })
    const waiting = auditOfWaiting(broker, current, { before, after: tools })
    const audit = { ...synced, lines: [...synced.lines, ...(waiting?.lines ?? [])] }
    await broker.store.tools.replaceOfWorker(worker.projectId, worker.uid, tools, audit)
  }
  return faults
}

/** The result for each list of a backend: an unchanged list is not processed again while no tool has changed. */
const takenBefore = new WeakMap<
  readonly CatalogueItem[],
  { readonly mark: object; readonly worker: string; readonly faults: string[] }
>()

/**
 * Returns the same object until a tool of any source changes, because the cache drops all its entries for tools then. No
 * tool has this key as its name.
 */
async function markOf(broker: Broker, projectId: string): Promise<object> {
  const mark = () => broker.cache.tools.get(`${projectId} \u0000mark`, async () => [])
  await mark() // of concurrent calls the cache keeps one object, which the second call returns
  return mark()
}

function isToolOf({ uid }: Worker, { source }: Tool): boolean {
  return source.kind === 'worker' && source.workerUid === uid
}

function toTool(
  broker: Broker,
  { uid: workerUid, projectId }: Worker,
  listed: CatalogueTool & Pick<Tool, 'tags'>,
  same: Tool | undefined,
): Tool {
  const { document, title = listed.name, ...rest } = listed
  const { namespace: toolkit, name, version } = listed
  const now = broker.now()
  const digest = sha256(JSON.stringify(listed))
  return {
    ...rest,
    uid: same?.uid ?? newId('tool'),
    projectId,
    title,
    source: { kind: 'worker', workerUid, document },
    binding: { workerUid, toolkit, name, ...(version !== undefined && { version }) },
    digest,
    createdAt: same?.createdAt ?? now,
    updatedAt: same?.digest === digest ? same.updatedAt : now,
  }
}

/** The faults of each description: an unchanged description is not checked again. */
const lookedAt = new WeakMap<CatalogueTool, ListedFaults>()

function faultsOf(
  { tool, faults: known = lookedAt.get(tool) }: ReadItem,
  tags: readonly string[],
  { type }: Worker,
): ListedFaults {
  const found = known ?? listedFaults({ ...tool, tags })
  lookedAt.set(tool, found)
  if (type !== 'module') return found
  // modules run in this process, and only the broker checks their input
  return { unusable: [...found.unusable, ...found.uncheckable], uncheckable: [] }
}

/** Whether every database can store the description. JSON escapes the characters that PostgreSQL refuses. */
function isText(tool: CatalogueTool): boolean {
  const escapes = JSON.stringify(tool).replaceAll('\\\\', '')
  return !/\\u(?:0000|d[89a-f][\da-f]{2})/i.test(escapes)
}

function plain(text: string): string {
  return text.toWellFormed().replaceAll(/\p{Cc}/gu, ' ')
}

function print(tools: readonly Tool[]): string {
  return tools
    .map((tool) => `${tool.uid} ${tool.digest}`)
    .sort()
    .join()
}

function place({ uri, settings }: Worker): string {
  return JSON.stringify([uri, settings])
}
