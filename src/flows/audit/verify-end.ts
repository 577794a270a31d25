import type { Broker } from '../../broker.ts'
import { TrailFault, verifiedBlocks } from './verified-blocks.ts'
import { verifyDespiteArchiving } from './verify-audit.ts'

/** How many entries at the end of a trail are verified: few enough for a page whose reader waits. */
const ENTRIES = 10_000

/** The result of verifying the last entries of a trail. */
export interface EndVerdict {
  /** The numbers of the first and the last verified entry; both are 0 for an empty trail. */
  readonly from: number
  readonly to: number
  /** The hash of the last entry, for an operator to keep elsewhere. */
  readonly hash?: string
  /** A sentence about the first fault; absent: the entries are intact. */
  readonly fault?: string
}

/** Verifies the last entries of a project: each block must follow the previous one and have the right keyed hash. */
export async function verifyEnd(broker: Broker, projectId: string): Promise<EndVerdict> {
  return verifyDespiteArchiving(broker, projectId, {
    verify: () => verifyLastEntries(broker, projectId),
    isIntact: ({ fault }) => fault === undefined,
  })
}

async function verifyLastEntries(broker: Broker, projectId: string): Promise<EndVerdict> {
  const { audit } = broker.store
  const head = await audit.head(projectId)
  if (head === undefined) return { from: 0, to: 0 }
  const range = { fromSeq: Math.max(1, head.lastSeq - ENTRIES), toSeq: head.lastSeq }
  const [first] = await audit.blocks(projectId, { ...range, order: 'oldest first', limit: 1 })
  if (first === undefined) return { from: 0, to: 0 }
  const before = { lastSeq: first.firstSeq - 1, hash: first.previous }
  let hash = ''
  let to = before.lastSeq
  try {
    for await (const block of verifiedBlocks(broker, projectId, before, head.lastSeq)) {
      hash = block.hash
      to = block.firstSeq + block.count - 1
    }
  } catch (error) {
    if (!(error instanceof TrailFault)) throw error
    return { from: first.firstSeq, to, fault: `After entry ${to} the trail is not what was recorded.` }
  }
  if (to < head.lastSeq)
    return {
      from: first.firstSeq,
      to,
      fault: `The entries after ${to} are missing: the trail went on to ${head.lastSeq}.`,
    }
  return { from: first.firstSeq, to, hash }
}
