import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { newestAnchor } from '../../services/audit-anchors.ts'
import {
  type AuditEntry,
  entriesOf,
  type SearchedMember,
  searchedValue,
  toEntry,
} from '../../services/audit-entry.ts'
import type { SeqRange, Wanted } from '../../services/trail-index.ts'
import { type Order, readBlocks } from './read-blocks.ts'

/** How many entries found by the index are read from their blocks at once: few for a page, then more for a long search. */
const FIRST_ENTRIES = 32
const MOST_ENTRIES = 128

/** Selects entries; all given members must match. */
export interface AuditFilter {
  readonly userId?: string
  readonly providerId?: string
  readonly connectionId?: string
  readonly action?: string
  readonly tool?: string
  readonly subject?: string
  /** The id of an API key. */
  readonly actorId?: string
  readonly since?: EpochSeconds
  readonly until?: EpochSeconds
  /** Only entries with a smaller, or greater, number. */
  readonly before?: number
  readonly after?: number
}

/**
 * The selected entries, one at a time, so that a long trail is never held in memory. The indexed part of the trail is
 * searched by the index, which only says where to look: each entry is read from its block and compared with the filter. The
 * rest, mainly the newest entries, is searched directly.
 */
export async function* readAudit(
  broker: Broker,
  projectId: string,
  filter: AuditFilter,
  order: Order,
): AsyncGenerator<AuditEntry> {
  const { audit } = broker.store
  const [head, [oldest], anchor] = await Promise.all([
    audit.head(projectId),
    audit.blocks(projectId, { order: 'oldest first', limit: 1 }),
    newestAnchor(broker, projectId),
  ])
  if (head === undefined || oldest === undefined) return
  const { after = 0, before = Number.POSITIVE_INFINITY } = filter
  // blocks that are archived may still be there, since they are removed in slices
  const from = Math.max(after + 1, oldest.firstSeq, (anchor?.lastSeq ?? 0) + 1)
  const to = Math.min(before - 1, head.lastSeq)
  const covered = isSearch(filter) ? await broker.trailIndex.covered(projectId) : undefined
  const { from: begin, to: end } = covered ?? { from: 1, to: 0 }
  const parts = [
    { search: searchTrail, from, to: Math.min(to, begin - 1) },
    { search: searchIndex, from: Math.max(from, begin), to: Math.min(to, end) },
    { search: searchTrail, from: Math.max(from, begin, end + 1), to },
  ]
  for (const { search, ...range } of order === 'oldest first' ? parts : parts.reverse())
    if (range.from <= range.to) yield* search(broker, projectId, filter, range, order)
}

type Search = (
  broker: Broker,
  projectId: string,
  filter: AuditFilter,
  range: SeqRange,
  order: Order,
) => AsyncGenerator<AuditEntry>

const searchTrail: Search = async function* (broker, projectId, filter, range, order) {
  const { since, until } = filter
  const wanted = wantedBy(filter)
  const blocks = readBlocks(broker, projectId, range, order, {
    containing: partsOf(wanted),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  })
  for await (const block of blocks) {
    const entries = entriesOf(block).filter((entry) => isIn(range, entry.seq) && matches(entry, wanted))
    yield* order === 'oldest first' ? entries : entries.reverse()
  }
}

const searchIndex: Search = async function* (broker, projectId, filter, range, order) {
  const wanted = wantedBy(filter)
  const { since, until } = filter
  const found = broker.trailIndex.find(projectId, { wanted, since, until, ...range, order })
  let seqs: number[] = []
  let size = FIRST_ENTRIES
  const entriesAt = (some: readonly number[]) => namedEntries(broker, projectId, some, filter, wanted)
  for await (const part of found) {
    if ('from' in part) {
      yield* entriesAt(seqs.splice(0))
      yield* searchTrail(broker, projectId, filter, part, order)
      continue
    }
    seqs.push(...part.seqs)
    while (seqs.length >= size) {
      yield* entriesAt(seqs.slice(0, size))
      seqs = seqs.slice(size)
      size = Math.min(2 * size, MOST_ENTRIES)
    }
  }
  yield* entriesAt(seqs)
}

/** The entries with these numbers that the filter selects, in the order of the numbers. */
async function* namedEntries(
  broker: Broker,
  projectId: string,
  seqs: readonly number[],
  { since = 0, until = Number.POSITIVE_INFINITY }: AuditFilter,
  wanted: readonly Wanted[],
): AsyncGenerator<AuditEntry> {
  if (seqs.length === 0) return
  const blocks = await broker.store.audit.blocksOf(projectId, seqs)
  await nextTurn()
  const lines = new Map<number, string>()
  for (const { firstSeq, at, text } of blocks)
    if (at >= since && at <= until)
      for (const [i, line] of text.split('\n').entries()) lines.set(firstSeq + i, line)
  for (const seq of seqs) {
    const line = lines.get(seq)
    if (line === undefined) continue
    const entry = toEntry(seq, line)
    if (matches(entry, wanted)) yield entry
  }
}

function isSearch(filter: AuditFilter): boolean {
  return filter.since !== undefined || filter.until !== undefined || wantedBy(filter).length > 0
}

function wantedBy(filter: AuditFilter): readonly Wanted[] {
  const members: readonly (readonly [SearchedMember, string | undefined])[] = [
    ['user_id', filter.userId],
    ['provider_id', filter.providerId],
    ['connection_id', filter.connectionId],
    ['action', filter.action],
    ['tool', filter.tool],
    ['subject', filter.subject],
    ['actor', filter.actorId],
  ]
  return members.flatMap(([member, value]) => (value === undefined ? [] : [[member, value] as const]))
}

/** Texts that the line of every selected entry contains, so that the store can filter roughly. */
function partsOf(wanted: readonly Wanted[]): string[] {
  return wanted.map(([member, value]) => `"${member === 'actor' ? 'id' : member}":${JSON.stringify(value)}`)
}

function matches(entry: AuditEntry, wanted: readonly Wanted[]): boolean {
  return wanted.every(([member, value]) => searchedValue(entry, member) === value)
}

function isIn({ from, to }: SeqRange, seq: number): boolean {
  return seq >= from && seq <= to
}
