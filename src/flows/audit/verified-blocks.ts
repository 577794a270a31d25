import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Broker } from '../../broker.ts'
import type { AuditBlock, AuditHead } from '../../domain/audit.ts'
import { BrokerError } from '../../domain/errors.ts'
import { readBlocks } from './read-blocks.ts'

/** How many entries are hashed before the event loop gets a turn. */
const ENTRIES_PER_TURN = 250

/** A block of the audit trail does not match what was recorded. */
export class TrailFault extends BrokerError {
  constructor(message: string) {
    super('store_unavailable', message)
    this.name = 'TrailFault'
  }
}

/**
 * The blocks of a project after an entry. Before a block is yielded, this checks that it follows the previous one and has
 * the right hash under the installation's key. Throws `TrailFault` for the first block that does not.
 */
export async function* verifiedBlocks(
  broker: Broker,
  projectId: string,
  after: AuditHead,
  to: number,
): AsyncGenerator<AuditBlock> {
  let end = after
  let sinceTurn = 0
  for await (const block of readBlocks(broker, projectId, { from: after.lastSeq + 1, to }, 'oldest first')) {
    const { hash, ...content } = block
    const lastSeq = block.firstSeq + block.count - 1
    const isNext = block.firstSeq === end.lastSeq + 1 && block.previous === end.hash
    if (!isNext || block.text.split('\n').length !== block.count || broker.audit.link(content) !== hash)
      throw new TrailFault(
        `The audit trail does not match what was recorded from entry ${end.lastSeq + 1} on: \`gatepass audit verify\` says more. Nothing of it is archived.`,
      )
    end = { lastSeq, hash }
    yield block
    sinceTurn += block.count
    if (sinceTurn < ENTRIES_PER_TURN) continue
    sinceTurn = 0
    await nextTurn()
  }
}
