import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Broker } from '../../broker.ts'
import { readBlocks } from '../../flows/audit/read-blocks.ts'
import { leaseTrail } from '../../flows/audit/trail-lease.ts'
import type { AuditLine } from '../../services/audit-entry.ts'
import { addTerm } from './buckets.ts'
import { firstSeqOf, SEGMENT, segmentOf } from './segment.ts'
import type { SegmentTimes } from './store-index.ts'
import { createTerms, type TermsOf } from './terms.ts'

/** How many buckets one transaction writes. */
const AT_ONCE = 64

/** What indexing needs of a broker. */
export type IndexParts = Pick<Broker, 'store' | 'now'>

/** The index of one segment, made from its blocks. */
export interface SegmentIndex extends SegmentTimes {
  readonly buckets: ReadonlyMap<number, string>
}

/**
 * Indexes the full segments of every project. Only one process at a time indexes a project. If one project's trail cannot
 * be indexed, the others still are.
 */
export async function indexAudit(broker: Broker): Promise<void> {
  for (const { id, name } of await broker.store.projects.list()) {
    try {
      await indexProject(broker, id)
    } catch (error) {
      broker.log.error({ project: name, error }, 'the audit trail cannot be indexed')
    }
    await nextTurn()
  }
}

/**
 * Indexes the full segments of a project. Returns `false` if another process is doing so, and may not have finished.
 */
export async function indexProject(broker: IndexParts, projectId: string): Promise<boolean> {
  const { audit, auditIndex } = broker.store
  const head = await audit.head(projectId)
  if (head === undefined || head.lastSeq < SEGMENT) return true
  const isFull = (segment: number) => head.lastSeq >= firstSeqOf(segment + 1) - 1
  const known = await auditIndex.progress(projectId)
  if (known !== undefined && !isFull(known.indexedTo)) return true
  await using lease = await leaseTrail(broker, projectId)
  if (lease === undefined) return false
  let next = await firstToIndex(broker, projectId)
  while (isFull(next)) {
    await indexSegment(broker, projectId, next)
    next++
    if (!(await lease.prolong())) return false
  }
  return true
}

/** The segment that is indexed next. An empty index begins with the first segment that is still complete in the trail. */
async function firstToIndex({ store }: IndexParts, projectId: string): Promise<number> {
  const progress = await store.auditIndex.progress(projectId)
  const { indexedFrom = 0, indexedTo = 0 } = progress ?? {}
  if (indexedTo > indexedFrom) return indexedTo
  const [oldest] = await store.audit.blocks(projectId, { order: 'oldest first', limit: 1 })
  const first = Math.ceil(((oldest?.firstSeq ?? 1) - 1) / SEGMENT)
  if (first > indexedTo) await store.auditIndex.restart(projectId, first)
  return Math.max(first, indexedTo)
}

async function indexSegment(broker: IndexParts, projectId: string, segment: number): Promise<void> {
  const { auditIndex } = broker.store
  const { buckets, ...times } = await makeSegmentIndex(broker, projectId, segment)
  const all = [...buckets]
  for (let i = 0; i < all.length; i += AT_ONCE) {
    await auditIndex.putTerms(projectId, segment, new Map(all.slice(i, i + AT_ONCE)))
    await nextTurn()
  }
  await auditIndex.finish(projectId, times)
}

/** Makes the index of a segment from its blocks, without writing it. */
export async function makeSegmentIndex(
  broker: Pick<Broker, 'store'>,
  projectId: string,
  segment: number,
): Promise<SegmentIndex> {
  const from = firstSeqOf(segment)
  const places = new Map<number, number[]>()
  const turns = takingTurns(500)
  const termsOf = createTerms(projectId)
  let [sinceAt, untilAt] = [Number.MAX_SAFE_INTEGER, 0]
  const range = { from, to: from + SEGMENT - 1 }
  for await (const { firstSeq, count, at, text } of readBlocks(broker, projectId, range, 'oldest first')) {
    if (turns.isDue(count)) await nextTurn()
    sinceAt = Math.min(sinceAt, at)
    untilAt = Math.max(untilAt, at)
    for (const [i, line] of text.split('\n').entries()) {
      const seq = firstSeq + i
      if (segmentOf(seq) !== segment) continue
      for (const term of termsOfLine(termsOf, line)) {
        const known = places.get(term)
        if (known === undefined) places.set(term, [seq - from])
        else if (known.at(-1) !== seq - from) known.push(seq - from)
      }
    }
  }
  // the same blocks always give the same texts: the terms are in the order in which they first occur
  const buckets = new Map<number, string>()
  for (const [term, ofTerm] of places) {
    addTerm(buckets, term, ofTerm)
    if (turns.isDue(1)) await nextTurn()
  }
  return { segment, sinceAt, untilAt, buckets }
}

/** The terms of a line. An altered line that no longer parses has none: verifying the chain reports it. */
function termsOfLine(termsOf: TermsOf, line: string): readonly number[] {
  try {
    return termsOf(JSON.parse(line) as AuditLine)
  } catch {
    return []
  }
}

/** Says when the event loop gets a turn: after every `items` items. */
function takingTurns(items: number) {
  let done = 0
  return {
    isDue(more: number): boolean {
      done += more
      if (done < items) return false
      done = 0
      return true
    },
  }
}
