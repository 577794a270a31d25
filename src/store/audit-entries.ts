import type { AuditBlock, AuditHead } from '../domain/audit.ts'
import type { EpochSeconds } from '../domain/clock.ts'

/**
 * What a write leaves in the audit trail. The entries are appended in the transaction of the write, if it changes
 * anything; when they cannot be appended, nothing is written.
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

/** The block of these entries that follows the end of their chain. */
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
