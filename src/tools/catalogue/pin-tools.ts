import type { Broker } from '../../broker.ts'
import type { AuditEvent } from '../../domain/audit.ts'
import { isWaiting, type PinnedTool } from '../../domain/pinned-tool.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import type { Worker } from '../../domain/worker.ts'
import { needsOf } from '../../domain/worker-needs.ts'
import type { ChangedDefinitions } from '../../store/change-hook.ts'
import type { PinnedKey } from '../../store/pinned-tools.ts'
import type { CatalogueItem } from '../backend.ts'
import { definitionDigest } from '../definition.ts'
import { createTimeBudget } from '../slices.ts'
import { itemSummary } from './item-summary.ts'
import { pinningOf } from './pinning.ts'

// Pinned tools: what a reading of a worker's list changes, and what waits until an administrator has looked at it.
//
//   listed --other definition--> held --accept--> listed
//      ^                           |
//      |                       not listed
//   as accepted                    v
//      `------------------------- gone        a new tool waits without being listed

export type ReadItem = Extract<CatalogueItem, { readonly outcome: 'read' }>

/** A listed tool that becomes one of the project's tools. `unchanged`: the stored tool, if it is the same. */
export type TakenTool = Pick<Tool, 'namespace' | 'name' | 'requirements'> &
  (
    | { readonly unchanged: Tool }
    | {
        readonly unchanged?: undefined
        readonly item: ReadItem
        readonly same: Tool | undefined
      }
  )

/** A definition that was changed, added or removed. */
interface DefinitionChange {
  readonly kind: 'changed' | 'added' | 'removed'
  /** The id of the tool. */
  readonly tool: string
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** A catalogue, divided into what is stored and what waits. */
export interface PinnedCatalogue {
  /** The tools that are stored, by their ids. */
  readonly taken: ReadonlyMap<string, TakenTool>
  /** Stored tools that stay as they are, although the worker lists another definition. */
  readonly kept: ReadonlySet<Tool>
  /** Those of them that are held from now on. */
  readonly holds: readonly { readonly tool: Tool; readonly held: string }[]
  readonly put: readonly PinnedTool[]
  readonly removed: readonly PinnedKey[]
  readonly changes: readonly DefinitionChange[]
  readonly isHeld: boolean
  /** Whether more waits than is kept of it; the rest is kept once what was kept is accepted. */
  readonly isFull: boolean
}

interface Listing {
  readonly taken: ReadonlyMap<string, TakenTool>
  /** The stored tools of the worker. */
  readonly own: readonly Tool[]
  /** Whether an administrator has just changed the settings of the worker, which may name what its tools require. */
  readonly isChangedHere: boolean
}

/** Divides what the worker lists, by its pinning. */
export async function pinCatalogue(
  broker: Broker,
  worker: Worker,
  listing: Listing,
): Promise<PinnedCatalogue> {
  const pins = await broker.store.pinnedTools.ofWorker(worker.uid)
  const pinning = pinningOf(broker, worker)
  if (pinning === 'hold' && worker.accepted?.isFirstUse !== true)
    return holdChanges(worker, listing, pins, broker.now())
  const isRecorded = pinning === 'record' && worker.accepted?.isFirstUse !== true
  return {
    taken: listing.taken,
    kept: new Set(),
    holds: [],
    put: [],
    removed: pins,
    changes: isRecorded ? await changesOf(listing) : [],
    isHeld: false,
    isFull: false,
  }
}

async function changesOf({ taken, own }: Listing): Promise<DefinitionChange[]> {
  const budget = createTimeBudget()
  const changes: DefinitionChange[] = []
  const listed = new Set<Tool>()
  for (const tool of taken.values()) {
    await budget.pause()
    const { same } = tool.unchanged === undefined ? tool : { same: tool.unchanged }
    if (same !== undefined) listed.add(same)
    if (tool.unchanged !== undefined) continue
    const from = same && definitionDigest(same)
    const { named, definition: to } = itemSummary(tool.item)
    if (from !== to) changes.push({ kind: same === undefined ? 'added' : 'changed', tool: named, from, to })
  }
  for (const tool of own) if (!listed.has(tool)) changes.push({ kind: 'removed', tool: toolId(tool) })
  return changes
}

/** How much of what waits is kept of one worker: a person reads it. */
const MAX_WAITING = 200
const MAX_CHARACTERS = 2 * 1024 * 1024

async function holdChanges(
  { uid: workerUid, projectId }: Worker,
  { taken, own, isChangedHere }: Listing,
  rows: readonly PinnedTool[],
  now: number,
): Promise<PinnedCatalogue> {
  const budget = createTimeBudget()
  const pins = new Map(rows.map((row) => [row.tool.toLowerCase(), row]))
  const stored = await storedTools(own, taken)
  const result = {
    taken: new Map<string, TakenTool>(),
    kept: new Set<Tool>(),
    holds: [] as { tool: Tool; held: string }[],
    put: [] as PinnedTool[],
    removed: [] as PinnedKey[],
    changes: [] as DefinitionChange[],
    isHeld: true,
    isFull: false,
  }
  const open: {
    item: ReadItem
    about: TakenTool
    id: string
    same: Tool | undefined
    pin: PinnedTool | undefined
  }[] = []
  let [count, characters] = [0, 0]
  for (const [id, tool] of taken) {
    await budget.pause()
    if (tool.unchanged !== undefined) {
      result.taken.set(id, tool)
      continue // a row that was left over by a crash is removed below
    }
    const { item } = tool
    const same = tool.same ?? stored.takeSpare(item)
    const key = (same === undefined ? id : toolId(same)).toLowerCase()
    const pin = pins.get(key)
    pins.delete(key)
    const { digest, size } = itemSummary(item)
    if (pin !== undefined && isWaiting(pin) && pin.listed === digest && isHeldOrNew(same)) {
      if (same !== undefined) result.kept.add(same)
      count++
      characters += size
    } else open.push({ item, about: tool, id, same, pin })
  }
  for (const { item, about, id, same, pin } of open) {
    await budget.pause()
    const { digest, definition: to, size, named, tags, requirements } = itemSummary(item)
    const from = same === undefined ? pin?.accepted : definitionDigest(same)
    const isAccepted =
      same === undefined
        ? pin?.waiting === undefined && pin?.isUnstable !== true && from === to
        : same.held === undefined && (from === to || (isChangedHere && differsByNeedsOnly(same, item)))
    if (isAccepted) {
      const { namespace, name } = about
      result.taken.set(id, { requirements, namespace, name, item, same })
      if (pin !== undefined) result.removed.push(pin)
      continue
    }
    if (same !== undefined) {
      result.kept.add(same)
      if (same.held === undefined) result.holds.push({ tool: same, held: digest })
    }
    const tool = same === undefined ? named : toolId(same)
    const isKept = count === 0 || (count < MAX_WAITING && characters + size <= MAX_CHARACTERS)
    if (isKept) {
      count++
      characters += size
      result.put.push({
        ...{ workerUid, projectId, tool, waiting: to, listed: digest, since: now },
        ...(from !== undefined && { accepted: from }),
        needs: needsOf([{ requirements }]),
        isUnstable: pin?.isUnstable === true || from === to,
        definition: JSON.stringify({ ...item.tool, tags }),
      })
    } else {
      result.isFull = true
      if (pin !== undefined && isWaiting(pin)) result.removed.push(pin)
    }
    const isNews = isKept ? pin?.waiting !== to : same !== undefined && same.held === undefined
    if (isNews) result.changes.push({ kind: same === undefined ? 'added' : 'changed', tool, from, to })
  }
  await rememberGone()
  return result

  /** Keeps the digests of what the worker no longer lists, by which an accepted tool returns. */
  async function rememberGone(): Promise<void> {
    const listed = new Set(result.kept)
    for (const tool of result.taken.values()) {
      const same = tool.unchanged ?? (tool as { readonly same?: Tool }).same
      if (same !== undefined) listed.add(same)
    }
    for (const tool of own) {
      await budget.pause()
      const id = toolId(tool)
      const pin = pins.get(id.toLowerCase())
      pins.delete(id.toLowerCase())
      if (listed.has(tool)) {
        if (pin !== undefined) result.removed.push(pin)
        continue
      }
      const isUnstable = tool.held !== undefined || pin?.isUnstable === true
      const accepted = definitionDigest(tool)
      result.put.push({ workerUid, projectId, tool: id, accepted, isUnstable, since: now })
      result.changes.push({ kind: 'removed', tool: id })
    }
    for (const pin of pins.values()) {
      if (!isWaiting(pin)) continue
      const { tool, accepted, isUnstable } = pin
      if (accepted === undefined) result.removed.push(pin)
      else result.put.push({ workerUid, projectId, tool, accepted, isUnstable, since: now })
    }
  }
}

function isHeldOrNew(same: Tool | undefined): boolean {
  return same === undefined || same.held !== undefined
}

/** Finds the stored tool of a listed one whose id has another toolkit or version: these are no part of the definition. */
async function storedTools(own: readonly Tool[], taken: ReadonlyMap<string, TakenTool>) {
  const budget = createTimeBudget()
  const spare = new Map<string, Tool[]>()
  for (const tool of own) {
    await budget.pause()
    if (taken.has(toolId(tool).toLowerCase())) continue
    const name = tool.name.toLowerCase()
    spare.set(name, [...(spare.get(name) ?? []), tool])
  }
  return {
    takeSpare(item: ReadItem): Tool | undefined {
      const { name, definition: digest } = itemSummary(item)
      const tools = spare.get(name.toLowerCase())
      if (tools === undefined) return undefined
      const found = tools.find((tool) => definitionDigest(tool) === digest) ?? tools.at(-1)
      spare.set(
        name.toLowerCase(),
        tools.filter((tool) => tool !== found),
      )
      return found
    },
  }
}

function differsByNeedsOnly(same: Tool, item: ReadItem): boolean {
  const { requirements, definition } = itemSummary(item)
  return definitionDigest({ ...same, requirements }) === definition
}

/** The most changes of one catalogue that get audit entries of their own. */
const MAX_NAMED = 50

/** The audit entries for these changes: what waits, or what has applied. */
export function changeEvents(
  { id: subject }: Worker,
  { changes, isHeld }: Pick<PinnedCatalogue, 'changes' | 'isHeld'>,
): AuditEvent[] {
  const events = changes.slice(0, MAX_NAMED).map(({ kind, tool, from, to }): AuditEvent => {
    const action = isHeld && kind !== 'removed' ? 'worker.waiting' : 'tool.changed'
    const digests = [
      ...(from === undefined ? [] : [`from ${from}`]),
      ...(to === undefined ? [] : [`to ${to}`]),
    ]
    return { action, subject, tool, reason: ['definition', kind, ...digests].join(' ') }
  })
  const more = changes.length - MAX_NAMED
  const action = isHeld ? 'worker.waiting' : 'tool.changed'
  return more > 0 ? [...events, { action, subject, reason: `${more} more definitions` }] : events
}

/** The changes as features report them; `undefined` for none. */
export function changedDefinitions(
  { uid, id }: Worker,
  { changes, isHeld }: Pick<PinnedCatalogue, 'changes' | 'isHeld'>,
): ChangedDefinitions | undefined {
  if (changes.length === 0) return undefined
  const count = (kind: DefinitionChange['kind']) => changes.filter((change) => change.kind === kind).length
  return { uid, id, changed: count('changed'), added: count('added'), removed: count('removed'), isHeld }
}
