import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Broker } from '../../broker.ts'
import type { AuditBlock } from '../../domain/audit.ts'
import type { SeqRange } from '../../services/trail-index.ts'
import type { BlockRange } from '../../store/audit-trail.ts'

/** The most blocks, and the widest range of entry numbers, in one read, so that it blocks the event loop only briefly. */
const BLOCKS = 64
const ENTRIES = 128

export type Order = BlockRange['order']

/**
 * Reads the blocks that have entries in the range and match the filter, in slices. The event loop gets a turn between two
 * reads, and each read covers a bounded part of the trail even if nothing matches.
 */
export async function* readBlocks(
  { store }: Pick<Broker, 'store'>,
  projectId: string,
  { from, to }: SeqRange,
  order: Order,
  filter: Pick<BlockRange, 'since' | 'until' | 'containing'> = {},
): AsyncGenerator<AuditBlock> {
  const isUp = order === 'oldest first'
  for (let [low, high] = [from, to]; low <= high; ) {
    const [fromSeq, toSeq] = isUp
      ? [low, Math.min(high, low + ENTRIES - 1)]
      : [Math.max(low, high - ENTRIES + 1), high]
    const blocks = await store.audit.blocks(projectId, { ...filter, fromSeq, toSeq, order, limit: BLOCKS })
    yield* blocks
    const last = blocks.at(-1)
    const isWhole = blocks.length < BLOCKS
    if (isUp) low = Math.max(isWhole ? toSeq + 1 : 0, last === undefined ? 0 : last.firstSeq + last.count)
    else high = Math.min(isWhole ? fromSeq - 1 : high, last === undefined ? high : last.firstSeq - 1)
    await nextTurn()
  }
}
