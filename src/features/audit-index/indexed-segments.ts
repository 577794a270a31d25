import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { Order } from '../../flows/audit/read-blocks.ts'
import { partOf, placesOf } from './buckets.ts'
import { placesInAll } from './segment.ts'
import type { SegmentRange } from './store-index.ts'

/** The most rows of the index, and the most segments, that one read covers. A longer read would block the event loop. */
const ROWS = 128
const SEGMENTS = 1_024

export interface IndexSearch {
  readonly terms: readonly number[]
  readonly since?: EpochSeconds | undefined
  readonly until?: EpochSeconds | undefined
  /** The first and the last segment. */
  readonly from: number
  readonly to: number
  readonly order: Order
}

export interface FoundSegment {
  readonly segment: number
  /** The places of the entries that have all terms, in ascending order; absent when no term was given. */
  readonly places?: readonly number[]
}

/**
 * The segments with entries that have all of the terms, in order. Rows of one term are skipped where another term has none.
 * `since` and `until` leave out segments that were written entirely before or after.
 */
export async function* indexedSegments(
  { store: { auditIndex } }: Pick<Broker, 'store'>,
  projectId: string,
  { terms, since = 0, until = Number.POSITIVE_INFINITY, from, to, order }: IndexSearch,
): AsyncGenerator<FoundSegment> {
  const isUp = order === 'oldest first'
  const step = isUp ? 1 : -1
  const rangeFrom = (at: number): SegmentRange => ({
    from: isUp ? at : Math.max(from, at - SEGMENTS + 1),
    to: isUp ? Math.min(to, at + SEGMENTS - 1) : at,
    order,
    limit: ROWS,
  })
  const isIn = (segment: number) => segment >= from && segment <= to
  const cursors = terms.map(partOf).map(({ bucket, part }) => ({
    part,
    rows: createCursor((range) => auditIndex.segmentsOf(projectId, { bucket, part }, range), {
      isUp,
      rangeFrom,
      isIn,
    }),
  }))
  const times = createCursor((range) => auditIndex.segments(projectId, range), {
    isUp,
    rangeFrom,
    isIn,
    isWanted: ({ sinceAt, untilAt }) => untilAt >= since && sinceAt <= until,
  })

  for (let segment = isUp ? from : to; isIn(segment); ) {
    const bitmaps: Uint8Array[] = []
    let farthest = segment
    const time = await times.seek(segment)
    if (time === undefined) return
    farthest = time.segment
    for (const { part, rows } of cursors) {
      const row = await rows.seek(farthest)
      if (row === undefined) return
      if (row.segment === segment) bitmaps.push(placesOf(row.terms, part))
      farthest = row.segment
    }
    const isInAll = farthest === segment && bitmaps.length === cursors.length
    if (isInAll && terms.length === 0) yield { segment }
    if (isInAll && terms.length > 0) yield { segment, places: placesInAll(bitmaps) }
    segment = farthest === segment ? segment + step : farthest
  }
}

/** Reads rows of the index in the order of the search, never backwards, and skips rows for which `isWanted` is false. */
interface Cursor<Row> {
  /** The first row of this segment, or of a later one in the order. */
  seek(segment: number): Promise<Row | undefined>
}

interface CursorOptions<Row> {
  readonly isUp: boolean
  readonly rangeFrom: (segment: number) => SegmentRange
  readonly isIn: (segment: number) => boolean
  readonly isWanted?: (row: Row) => boolean
}

function createCursor<Row extends { readonly segment: number }>(
  read: (range: SegmentRange) => Promise<readonly Row[]>,
  { isUp, rangeFrom, isIn, isWanted = () => true }: CursorOptions<Row>,
): Cursor<Row> {
  let rows: readonly Row[] = []
  let next = 0
  /** The first segment that no read has covered yet. */
  let unread: number | undefined
  const farther = isUp ? Math.max : Math.min

  return {
    async seek(segment) {
      for (;;) {
        for (; next < rows.length; next++) {
          const row = rows[next]
          if (row !== undefined && farther(row.segment, segment) === row.segment && isWanted(row)) return row
        }
        const at = unread === undefined ? segment : farther(segment, unread)
        if (!isIn(at)) return undefined
        const range = rangeFrom(at)
        rows = await read(range)
        next = 0
        const last = rows.length < ROWS ? undefined : rows.at(-1)
        unread = (last?.segment ?? (isUp ? range.to : range.from)) + (isUp ? 1 : -1)
        await nextTurn()
      }
    },
  }
}
