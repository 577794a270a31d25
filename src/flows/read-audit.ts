import type { Broker } from '../broker.ts'
import type { AuditActor, AuditBlock, AuditHead } from '../domain/audit.ts'
import { type EpochSeconds, toTimestamp } from '../domain/clock.ts'

/** Blocks that are read from the store at once. */
const BLOCKS = 200

/** A recorded entry, in the names of the wire, with its number in the project's chain. */
export interface AuditEntry {
  readonly seq: number
  readonly at: EpochSeconds
  readonly action: string
  readonly actor: AuditActor
  readonly [member: string]: unknown
}

/** Selects entries; all given members must match. */
export interface AuditFilter {
  readonly userId?: string
  readonly providerId?: string
  readonly connectionId?: string
  readonly action?: string
  readonly tool?: string
  /** The id of an API key. */
  readonly actorId?: string
  readonly since?: EpochSeconds
  readonly until?: EpochSeconds
  /** Only entries with a smaller, or greater, number. */
  readonly before?: number
  readonly after?: number
}

/** The selected entries, one at a time, so that a long trail is never held in memory. */
export async function* readAudit(
  broker: Broker,
  projectId: string,
  filter: AuditFilter,
  order: 'oldest first' | 'newest first',
): AsyncGenerator<AuditEntry> {
  const { since, until } = filter
  let { before, after } = filter
  for (;;) {
    const blocks = await broker.store.audit.blocks(projectId, {
      order,
      limit: BLOCKS,
      containing: partsOf(filter),
      ...(since !== undefined && { since }),
      ...(until !== undefined && { until }),
      ...(after !== undefined && { fromSeq: after + 1 }),
      ...(before !== undefined && { toSeq: before - 1 }),
    })
    for (const block of blocks) {
      const entries = entriesOf(block)
      for (const entry of order === 'oldest first' ? entries : entries.reverse())
        if (isMeant(entry, filter)) yield entry
    }
    const last = blocks.at(-1)
    if (last === undefined || blocks.length < BLOCKS) return
    if (order === 'oldest first') after = last.firstSeq + last.count - 1
    else before = last.firstSeq
  }
}

/** Texts that the line of every selected entry contains, so that the store can filter roughly. */
function partsOf({ userId, providerId, connectionId, action, tool, actorId }: AuditFilter): string[] {
  const members = {
    user_id: userId,
    provider_id: providerId,
    connection_id: connectionId,
    action,
    tool,
    id: actorId,
  }
  return Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `"${name}":${JSON.stringify(value)}`)
}

function isMeant(entry: AuditEntry, filter: AuditFilter): boolean {
  const wanted: [unknown, unknown][] = [
    [filter.userId, entry.user_id],
    [filter.providerId, entry.provider_id],
    [filter.connectionId, entry.connection_id],
    [filter.action, entry.action],
    [filter.tool, entry.tool],
    [filter.actorId, entry.actor.id],
  ]
  const { before = Number.POSITIVE_INFINITY, after = 0 } = filter
  return (
    wanted.every(([value, actual]) => value === undefined || value === actual) &&
    entry.seq > after &&
    entry.seq < before
  )
}

function entriesOf({ firstSeq, text }: AuditBlock): AuditEntry[] {
  return text.split('\n').map((line, i) => ({ seq: firstSeq + i, ...JSON.parse(line) }) as AuditEntry) // audit-log.ts writes this shape
}

/** The entry's JSON in the API and in `gatepass audit`. */
export function entryToWire({ seq, at, ...entry }: AuditEntry) {
  return { seq, at: toTimestamp(at), ...entry }
}

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
  let end: AuditHead | undefined
  let knownIsThere = known === undefined
  for (;;) {
    const blocks = await broker.store.audit.blocks(projectId, {
      order: 'oldest first',
      limit: BLOCKS,
      ...(end !== undefined && { fromSeq: end.lastSeq + 1 }),
    })
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
      end = { lastSeq, hash }
      if (faults.length >= 20) return { entries: end.lastSeq, head: end, faults }
    }
    if (blocks.length < BLOCKS) break
  }
  const head = await broker.store.audit.head(projectId)
  if (head !== undefined && head.lastSeq > (end?.lastSeq ?? 0))
    faults.push(`the entries after ${end?.lastSeq ?? 0} were cut off: the chain went on to ${head.lastSeq}`)
  if (!knownIsThere)
    faults.push(
      `the chain does not contain the end you know (entry ${known?.lastSeq}): it was cut or made anew`,
    )
  return { entries: end?.lastSeq ?? 0, ...(end && { head: end }), faults }
}
