import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Broker } from '../../broker.ts'
import type { AuditHead } from '../../domain/audit.ts'

/** Blocks that are read from the store at once. */
const BLOCKS = 200

/** The result of verifying a chain. */
export interface AuditVerdict {
  readonly entries: number
  /** The end of the chain, for an operator to keep elsewhere; absent for an empty chain. */
  readonly head?: AuditHead
  /** Sentences for an operator; empty when the chain is intact. */
  readonly faults: readonly string[]
}

/**
 * Verifies the chain of a project from its first entry: every block must have the right number and the right hash under
 * the installation's key. `known`, an earlier end of the chain, shows whether entries were cut off or replaced since.
 */
export async function verifyAudit(
  broker: Broker,
  projectId: string,
  known?: AuditHead,
): Promise<AuditVerdict> {
  const faults: string[] = []
  // read first, since entries are appended meanwhile
  const head = await broker.store.audit.head(projectId)
  let end: AuditHead | undefined
  let last: number | undefined
  let knownIsThere = known === undefined
  for (;;) {
    const blocks = await broker.store.audit.blocks(projectId, {
      order: 'oldest first',
      limit: BLOCKS,
      ...(last !== undefined && { beyond: last }),
    })
    last = blocks.at(-1)?.firstSeq
    for (const block of blocks) {
      const { hash, ...content } = block
      const expected = (end?.lastSeq ?? 0) + 1
      const lastSeq = block.firstSeq + block.count - 1
      if (block.firstSeq !== expected)
        faults.push(`entry ${expected} is missing: the next block begins with ${block.firstSeq}`)
      else if (block.previous !== (end?.hash ?? ''))
        faults.push(`entries ${block.firstSeq} to ${lastSeq} do not follow what is before them`)
      if (block.text.split('\n').length !== block.count || broker.audit.link(content) !== hash)
        faults.push(`entries ${block.firstSeq} to ${lastSeq} were altered`)
      if (known !== undefined && known.lastSeq === lastSeq) knownIsThere = known.hash === hash
      if (head?.lastSeq === lastSeq && head.hash !== hash)
        faults.push(`entries ${block.firstSeq} to ${lastSeq} are not those that the chain's end was made of`)
      end = { lastSeq, hash }
      if (faults.length >= 20) return { entries: end.lastSeq, head: end, faults }
    }
    if (blocks.length < BLOCKS) break
    await nextTurn()
  }
  if (head !== undefined && head.lastSeq > (end?.lastSeq ?? 0))
    faults.push(`the entries after ${end?.lastSeq ?? 0} were cut off: the chain went on to ${head.lastSeq}`)
  if (!knownIsThere)
    faults.push(
      `the chain does not contain the end you know (entry ${known?.lastSeq}): it was cut or made anew`,
    )
  return { entries: end?.lastSeq ?? 0, ...(end && { head: end }), faults }
}
