import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import { newestAnchor } from '../../services/audit-anchors.ts'
import type { AuditEntry } from '../../services/audit-entry.ts'
import { type AuditFilter, readAudit } from './read-audit.ts'

export interface AuditExport {
  /** Oldest first. Throws `entries_archived` when entries were archived before the export reached them. */
  readonly entries: AsyncGenerator<AuditEntry>
  /** The number of the last archived entry. */
  readonly archivedThrough?: number | undefined
}

/** Exports the selected entries. Throws `entries_archived` if the entry after `filter.after` is archived. */
export async function exportAudit(
  broker: Broker,
  projectId: string,
  filter: AuditFilter,
): Promise<AuditExport> {
  const anchor = await newestAnchor(broker, projectId)
  // otherwise a program that continues its last export would miss entries without noticing
  if (anchor !== undefined && filter.after !== undefined && filter.after < anchor.lastSeq)
    throw new BrokerError(
      'entries_archived',
      `The entries up to ${anchor.lastSeq} were archived: the files of \`gatepass audit archive\` have them. Go on with after=${anchor.lastSeq}.`,
    )
  return { entries: exportedEntries(broker, projectId, filter), archivedThrough: anchor?.lastSeq }
}

/**
 * Throws `entries_archived` when entries were archived before the export reached them. Then the connection breaks off,
 * because an export that ends normally would seem complete. An export with a filter cannot notice this, because the
 * numbers of its entries have gaps anyway.
 */
async function* exportedEntries(
  broker: Broker,
  projectId: string,
  filter: AuditFilter,
): AsyncGenerator<AuditEntry> {
  const isUnfiltered = Object.keys(filter).every((name) => name === 'after')
  let last = filter.after
  for await (const entry of readAudit(broker, projectId, filter, 'oldest first')) {
    if (isUnfiltered && last !== undefined && entry.seq > last + 1)
      await refuseArchived(broker, projectId, last)
    last = entry.seq
    yield entry
  }
}

/** Throws `entries_archived` when the entry after `seq` is archived. */
async function refuseArchived(broker: Broker, projectId: string, seq: number): Promise<void> {
  const anchor = await newestAnchor(broker, projectId)
  if (anchor === undefined || anchor.lastSeq <= seq) return
  broker.log.warn({ seq, archivedThrough: anchor.lastSeq }, 'entries were archived while they were exported')
  throw new BrokerError('entries_archived', `The entries up to ${anchor.lastSeq} were archived meanwhile.`)
}
