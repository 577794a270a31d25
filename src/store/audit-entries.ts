import type { AuditBlock, AuditHead } from '../domain/audit.ts'
import type { EpochSeconds } from '../domain/clock.ts'

/**
 * The audit entries of a write. They are appended in the transaction of the write, if it changes anything. If they cannot
 * be appended, the write fails.
 */
export interface AuditEntries {
  readonly projectId: string
  readonly at: EpochSeconds
  /** One JSON object each. */
  readonly lines: readonly string[]
  readonly link: AuditLink
}

/** Computes the hash of a block, which the next block of the chain refers to. */
export type AuditLink = (block: Omit<AuditBlock, 'hash'>) => string

/** The block with these entries that follows the given end of the chain. */
export function blockAfter(
  { lastSeq, hash: previous }: AuditHead,
  { projectId, at, lines, link }: AuditEntries,
): AuditBlock {
  const block = {
    projectId,
    firstSeq: lastSeq + 1,
    count: lines.length,
    at,
    text: lines.join('\n'),
    previous,
  }
  return { ...block, hash: link(block) }
}
