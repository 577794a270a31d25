import { isDeepStrictEqual } from 'node:util'
import type { Broker } from '../../broker.ts'
import { skeletonOf } from '../../domain/look-alike.ts'
import type { PinnedTool } from '../../domain/pinned-tool.ts'
import { type Tool, toolId } from '../../domain/tool.ts'
import { toolIdentity } from '../../domain/tool-name.ts'
import type { Worker } from '../../domain/worker.ts'
import { isRecord, type JsonRecord } from '../../parsing/json-record.ts'
import type { CatalogueTool } from '../backend.ts'
import { definitionOf } from '../definition.ts'
import { createTimeBudget, runInSlices, type Steps } from '../slices.ts'
import { ownerNameOf } from './name-claims.ts'

// What an administrator is shown of definitions that wait: each with its difference from the accepted one, and with marks
// for what a look would miss. Marks decide nothing.

/** A member that differs; `before` or `after` is absent where there is none. */
export interface DefinitionDifference {
  /** JSON Pointer into the definition. */
  readonly at: string
  readonly before?: unknown
  readonly after?: unknown
}

export interface ChangedDefinition extends Pick<PinnedTool, 'tool' | 'accepted' | 'isUnstable' | 'since'> {
  readonly waiting: string
  readonly diff: readonly DefinitionDifference[]
  /** The id of a tool of another source whose name looks like this one's, and that source. */
  readonly looksLike?: { readonly tool: string; readonly worker: string }
  /** Where the definition addresses the model. */
  readonly addressesModel: readonly string[]
}

/** The definitions of the worker that wait. */
export async function changedDefinitionsOf(broker: Broker, worker: Worker): Promise<ChangedDefinition[]> {
  const rows = await broker.store.pinnedTools.definitions(worker.uid)
  if (rows.length === 0) return []
  const known = await broker.cache.catalogue.of(worker.projectId)
  const isOwn = ({ source }: Tool) => source.kind === 'worker' && source.workerUid === worker.uid
  const own = new Map(known.filter(isOwn).map((tool) => [toolId(tool), tool]))
  const names = await skeletonsOf(known)
  const budget = createTimeBudget()
  const changed: ChangedDefinition[] = []
  for (const { tool, accepted, waiting = '', isUnstable, since, definition = '' } of rows) {
    await budget.pause()
    const listed = JSON.parse(definition) as CatalogueTool // written by `pinCatalogue`
    const stored = own.get(tool)
    const after = plainJson(definitionOf(listed))
    const like = likeOf(names, listed, isOwn)
    changed.push({
      ...{ tool, waiting, isUnstable, since, ...(accepted !== undefined && { accepted }) },
      diff: differencesOf(stored === undefined ? {} : plainJson(definitionOf(stored)), after),
      ...(like !== undefined && {
        looksLike: { tool: toolId(like), worker: await sourceName(broker, like) },
      }),
      addressesModel: textsIn(after).flatMap(({ at, text }) => (ADDRESSES_MODEL.test(text) ? [at] : [])),
    })
  }
  return changed.sort((a, b) => (a.tool < b.tool ? -1 : 1))
}

/** A tool of another source whose name looks like that of the tool, and is another one. */
function likeOf(
  names: ReadonlyMap<string, readonly Tool[]>,
  tool: Pick<Tool, 'namespace' | 'name'>,
  isOwn: (other: Tool) => boolean,
): Tool | undefined {
  const identity = toolIdentity(tool)
  return names.get(skeletonOf(identity))?.find((other) => !isOwn(other) && toolIdentity(other) !== identity)
}

/** A tool of the worker whose name looks like that of another source's. */
export interface LookAlike {
  readonly tool: string
  readonly like: string
  readonly worker: string
}

const MAX_LOOK_ALIKES = 50

/** The worker's stored tools whose names look like those of other sources. */
export async function lookAlikesOf(broker: Broker, worker: Worker): Promise<LookAlike[]> {
  const known = await broker.cache.catalogue.of(worker.projectId)
  const isOwn = ({ source }: Tool) => source.kind === 'worker' && source.workerUid === worker.uid
  const names = await skeletonsOf(known)
  const budget = createTimeBudget()
  const found: LookAlike[] = []
  for (const tool of known) {
    if (found.length === MAX_LOOK_ALIKES) break
    await budget.pause()
    const like = isOwn(tool) ? likeOf(names, tool, isOwn) : undefined
    if (like !== undefined)
      found.push({ tool: toolId(tool), like: toolId(like), worker: await sourceName(broker, like) })
  }
  return found
}

function sourceName(broker: Broker, { source }: Tool): Promise<string> {
  return ownerNameOf(broker, source.kind === 'worker' ? source.workerUid : 'import')
}

/** The tools by the skeletons of their names, for each list of a project's tools (the cached array). */
const skeletons = new WeakMap<readonly Tool[], Promise<ReadonlyMap<string, readonly Tool[]>>>()

function skeletonsOf(tools: readonly Tool[]): Promise<ReadonlyMap<string, readonly Tool[]>> {
  const made = skeletons.get(tools) ?? runInSlices(bySkeleton(tools))
  skeletons.set(tools, made)
  return made
}

function* bySkeleton(tools: readonly Tool[]): Steps<ReadonlyMap<string, readonly Tool[]>> {
  const found = new Map<string, Tool[]>()
  for (const tool of tools) {
    const skeleton = skeletonOf(toolIdentity(tool))
    const known = found.get(skeleton)
    if (known === undefined) found.set(skeleton, [tool])
    else known.push(tool)
    yield
  }
  return found
}

/** The most differences that are shown one by one. */
const MAX_DIFFERENCES = 100

/** The members that differ, as deep as both are objects; as a whole where too many differ. */
export function differencesOf(before: JsonRecord, after: JsonRecord): DefinitionDifference[] {
  const found = deepDifferences(before, after, '', [])
  if (found.length <= MAX_DIFFERENCES) return found
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
    isEqual(before[name], after[name]) ? [] : [difference(`/${name}`, before[name], after[name])],
  )
}

function deepDifferences(
  before: JsonRecord,
  after: JsonRecord,
  at: string,
  found: DefinitionDifference[],
): DefinitionDifference[] {
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (found.length > MAX_DIFFERENCES) return found
    const [from, to] = [own(before, name), own(after, name)]
    if (isEqual(from, to)) continue
    const place = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (isRecord(from) && isRecord(to)) deepDifferences(from, to, place, found)
    else found.push(difference(place, from, to))
  }
  return found
}

function own(record: JsonRecord, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

function difference(at: string, before: unknown, after: unknown): DefinitionDifference {
  return { at, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }
}

function isEqual(one: unknown, other: unknown): boolean {
  return one === other || isDeepStrictEqual(one, other)
}

/** Without members that JSON has not. */
function plainJson(definition: JsonRecord): JsonRecord {
  return JSON.parse(JSON.stringify(definition)) as JsonRecord // the same shape
}

/**
 * Sentences that tools have been seen to carry for the model instead of for people. It finds some, and an author who knows
 * it avoids them, so nothing is decided by it.
 */
const ADDRESSES_MODEL =
  /\b(?:ignore|disregard|forget) (?:all |any |the |your )*(?:previous|prior|earlier|above|other)\b|\b(?:do not|don't|never) (?:tell|mention|inform|show|reveal|ask|notify)\b|\b(?:before|after|when|instead of) (?:using|calling|running|invoking) (?:this|any|another|other|the)\b|\byou (?:must|should|need to|have to|are required to)\b|\b(?:system prompt|the assistant|the user's (?:prompt|conversation|message)|conversation history)\b|<\/?(?:important|system|instructions?|secret)\b|\[(?:inst|system)\]/i

/** The most characters of one text that are searched. */
const MAX_SEARCHED = 64 * 1024

function textsIn(value: unknown, at = ''): { readonly at: string; readonly text: string }[] {
  if (typeof value === 'string') return [{ at, text: value.slice(0, MAX_SEARCHED) }]
  if (Array.isArray(value)) return value.flatMap((item, i) => textsIn(item, `${at}/${i}`))
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([name, member]) =>
    textsIn(member, `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  )
}
