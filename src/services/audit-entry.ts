import type { AuditActor, AuditBlock } from '../domain/audit.ts'
import { type EpochSeconds, toTimestamp } from '../domain/clock.ts'

/** A recorded entry. Its members have the names of the API; `seq` is its number in the project's chain. */
export interface AuditEntry {
  readonly seq: number
  readonly at: EpochSeconds
  readonly action: string
  readonly actor: AuditActor
  readonly [member: string]: unknown
}

/** The entries of a block, oldest first. */
export function entriesOf({ firstSeq, text }: Pick<AuditBlock, 'firstSeq' | 'text'>): AuditEntry[] {
  return text.split('\n').map((line, i) => toEntry(firstSeq + i, line))
}

/** Parses the line of an entry in its block. */
export function toEntry(seq: number, line: string): AuditEntry {
  return { seq, ...JSON.parse(line) } as AuditEntry // audit-log.ts writes this shape
}

/** The entry's JSON in the API, in `gatepass audit` and in archives. */
export function entryToWire({ seq, at, ...entry }: AuditEntry) {
  return { seq, at: toTimestamp(at), ...entry }
}

/** Members of an entry by which the trail is searched, those with the most values first. `actor` is the id of who acted. */
export const SEARCHED_MEMBERS = [
  'user_id',
  'connection_id',
  'subject',
  'tool',
  'action',
  'provider_id',
  'actor',
] as const
export type SearchedMember = (typeof SEARCHED_MEMBERS)[number]

/** The parsed line of an entry. */
export interface AuditLine {
  readonly actor?: { readonly id?: string | undefined }
  readonly [member: string]: unknown
}

/** The entry's value of a searched member. */
export function searchedValue(line: AuditLine, member: SearchedMember): unknown {
  return member === 'actor' ? line.actor?.id : line[member]
}
