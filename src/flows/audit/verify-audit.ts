import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Broker } from '../../broker.ts'
import type { AuditAnchor, AuditHead } from '../../domain/audit.ts'
import { anchorsOf, isGenuine, newestAnchor } from '../../services/audit-anchors.ts'

/** Blocks that are read from the store at once. */
const BLOCKS = 200
/** The most faults that are reported. */
const MAX_FAULTS = 20

/** The result of verifying a chain. */
export interface AuditVerdict {
  /** The number of the last entry, which is how many entries there are, archived ones included. */
  readonly entries: number
  /** The end of the chain, for an operator to keep elsewhere; absent for an empty chain. */
  readonly head?: AuditHead
  /** Where the chain begins: entries up to this one are archived. */
  readonly anchor?: AuditAnchor | undefined
  /** Sentences for an operator; empty when the chain is intact. */
  readonly faults: readonly string[]
}

/**
 * Verifies the chain of a project from the newest genuine anchor, or from the first entry if nothing is archived: every
 * block must have the right number and the right hash under the installation's key. `known`, an earlier end of the
 * chain, shows whether entries were cut off or replaced since.
 */
export async function verifyAudit(
  broker: Broker,
  projectId: string,
  known?: AuditHead,
): Promise<AuditVerdict> {
  return verifyDespiteArchiving(broker, projectId, {
    verify: () => verifyFromAnchor(broker, projectId, known),
    isIntact: ({ faults }) => faults.length === 0,
  })
}

/**
 * Returns the verdict of `verify`. Verifies again if it found a fault and entries were archived meanwhile: they are
 * then missing from the trail, which is no fault.
 */
export async function verifyDespiteArchiving<Verdict>(
  broker: Broker,
  projectId: string,
  { verify, isIntact }: { verify(): Promise<Verdict>; isIntact(verdict: Verdict): boolean },
): Promise<Verdict> {
  for (;;) {
    const before = await newestAnchor(broker, projectId)
    const verdict = await verify()
    if (isIntact(verdict)) return verdict
    const after = await newestAnchor(broker, projectId)
    if (before?.lastSeq === after?.lastSeq) return verdict
  }
}

async function verifyFromAnchor(
  broker: Broker,
  projectId: string,
  known: AuditHead | undefined,
): Promise<AuditVerdict> {
  const faults: string[] = []
  // the head is read first, since entries are appended meanwhile
  const head = await broker.store.audit.head(projectId)
  const anchors = await verifyAnchors(broker, projectId, faults)
  const anchor = anchors.at(0)
  let end: AuditHead | undefined = anchor
  let last = anchor?.lastSeq
  let knownIsThere = known === undefined || anchors.some((archived) => isEnd(archived, known))
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
        faults.push(
          `entries ${block.firstSeq} to ${lastSeq} do not have the hash that is recorded as the chain's end`,
        )
      end = { lastSeq, hash }
      if (faults.length >= MAX_FAULTS) return verdictOf(end, anchor, faults)
    }
    if (blocks.length < BLOCKS) break
    await nextTurn()
  }
  if (head !== undefined && head.lastSeq > (end?.lastSeq ?? 0))
    faults.push(`the entries after ${end?.lastSeq ?? 0} were cut off: the chain went on to ${head.lastSeq}`)
  // the anchor and the entry about it are written in one transaction, so at least that entry must follow
  else if (anchor !== undefined && end?.lastSeq === anchor.lastSeq)
    faults.push(`the entries after ${anchor.lastSeq}, the last one that is archived, were cut off`)
  if (!knownIsThere) faults.push(unknownEnd(known?.lastSeq ?? 0, anchor))
  return verdictOf(end, anchor, faults)
}

/** The genuine anchors, newest first. */
async function verifyAnchors(broker: Broker, projectId: string, faults: string[]): Promise<AuditAnchor[]> {
  const genuine: AuditAnchor[] = []
  const found: string[] = []
  for await (const anchor of anchorsOf(broker, projectId)) {
    if (isGenuine(broker.audit, anchor)) genuine.push(anchor)
    else if (found.length < MAX_FAULTS)
      found.push(`the anchor at entry ${anchor.lastSeq} was not made by this installation for this project`)
  }
  for (const [i, { firstSeq }] of genuine.entries())
    if (firstSeq !== (genuine[i + 1]?.lastSeq ?? 0) + 1)
      found.push(`the anchor at entry ${firstSeq - 1} is missing`)
  faults.push(...found.slice(0, MAX_FAULTS))
  return genuine
}

function verdictOf(
  end: AuditHead | undefined,
  anchor: AuditAnchor | undefined,
  faults: readonly string[],
): AuditVerdict {
  return {
    entries: end?.lastSeq ?? 0,
    ...(end && { head: { lastSeq: end.lastSeq, hash: end.hash } }),
    anchor,
    faults,
  }
}

function unknownEnd(lastSeq: number, anchor: AuditAnchor | undefined): string {
  return anchor !== undefined && lastSeq <= anchor.lastSeq
    ? `the end you know (entry ${lastSeq}) is archived: give its archive with --archive to see whether the archive contains that end`
    : `the chain does not contain the end you know (entry ${lastSeq}): it was cut or rebuilt`
}

function isEnd(head: AuditHead, { lastSeq, hash }: AuditHead): boolean {
  return head.lastSeq === lastSeq && head.hash === hash
}
