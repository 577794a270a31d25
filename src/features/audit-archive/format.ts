import type { AuditAnchor, AuditBlock } from '../../domain/audit.ts'
import { fromTimestamp, toTimestamp } from '../../domain/clock.ts'
import { entryToWire, toEntry } from '../../services/audit-entry.ts'

// An archive consists of JSON lines: a header; for each block a line `{"block": …}` and its entries as in an export; and at
// the end the anchor, whose MAC covers where the archive begins and ends. Hashes and MACs use the installation's key, so
// only the installation that wrote the file, or a restored backup of it, can verify it.

export interface ArchiveHeader {
  readonly projectId: string
  /** The project's name when the archive was written. */
  readonly project: string
  readonly firstSeq: number
  /** The hash of the block before the first one; empty at the beginning of the chain. */
  readonly previous: string
}

const VERSION = 1

/** The first line of an archive. */
export function headerLine({ projectId, project, firstSeq, previous }: ArchiveHeader): string {
  return JSON.stringify({
    gatepass_audit_archive: VERSION,
    project_id: projectId,
    project,
    first_seq: firstSeq,
    previous,
  })
}

/** The last line of an archive, with its anchor. */
export function endLine({ firstSeq, lastSeq, hash, at, mac }: AuditAnchor): string {
  const entries = lastSeq - firstSeq + 1
  return JSON.stringify({
    end: { first_seq: firstSeq, last_seq: lastSeq, entries, hash, at: toTimestamp(at), mac },
  })
}

/** The lines of a block: its boundary, then its entries. */
export function blockLines({ firstSeq, count, at, text, previous, hash }: AuditBlock): string[] {
  const entries = text.split('\n').map((line, i) => toArchived(firstSeq + i, line))
  const isExact = textOf(entries) === text
  const block = { first_seq: firstSeq, count, at: toTimestamp(at), previous, hash }
  // the block's hash covers its exact text: if the entries do not reproduce it, the block line has the text too
  return [JSON.stringify({ block: isExact ? block : { ...block, text } }), ...entries]
}

/** The text of a block, made from its entries in the archive. */
export function textOf(entries: readonly string[]): string {
  return entries.map(toLine).join('\n')
}

const LINE = /^\{"at":(\d{1,11}),"/
const ARCHIVED = /^\{"seq":\d{1,15},"at":"([\d.:TZ-]{24})","/

/** The line of an entry in an archive. It is edited as text: parsing and formatting each line would take ten times as long. */
function toArchived(seq: number, line: string): string {
  const [begin, at] = LINE.exec(line) ?? []
  if (begin === undefined) return JSON.stringify(entryToWire(toEntry(seq, line)))
  return `{"seq":${seq},"at":"${toTimestamp(Number(at))}","${line.slice(begin.length)}`
}

/** The line of an archived entry in its block. */
function toLine(archived: string): string {
  const [begin, at = ''] = ARCHIVED.exec(archived) ?? []
  return begin === undefined ? archived : `{"at":${fromTimestamp(at)},"${archived.slice(begin.length)}`
}

const NAME = /^(proj_[\w-]+)-(\d{12,})-(\d{12,})\.audit\.jsonl$/

/** Sorted by name, the archives of a project are in the order of its chain. */
export function archiveName({
  projectId,
  firstSeq,
  lastSeq,
}: Pick<AuditAnchor, 'projectId' | 'firstSeq' | 'lastSeq'>): string {
  const [first, last] = [firstSeq, lastSeq].map((seq) => String(seq).padStart(12, '0'))
  return `${projectId}-${first}-${last}.audit.jsonl`
}

/** The parts of a name that `archiveName` made; `undefined` for any other name. */
export function parseArchiveName(
  name: string,
): Pick<AuditAnchor, 'projectId' | 'firstSeq' | 'lastSeq'> | undefined {
  const [, projectId, first, last] = NAME.exec(name) ?? []
  return projectId === undefined ? undefined : { projectId, firstSeq: Number(first), lastSeq: Number(last) }
}
