import type { Broker } from '../../broker.ts'
import type { AuditAnchor, AuditHead } from '../../domain/audit.ts'
import { anchorsOf, isGenuine } from '../../services/audit-anchors.ts'
import { ArchiveFault, type VerifiedArchive, verifyArchive } from './read-archive.ts'

/** The result of verifying one archive. */
export interface ArchiveVerdict {
  readonly file: string
  readonly project?: string
  readonly firstSeq?: number
  readonly lastSeq?: number
  /** Sentences for an operator; empty when the archive is intact and joins its neighbours. */
  readonly faults: readonly string[]
}

interface Found {
  readonly file: string
  readonly archive?: VerifiedArchive
  readonly faults: string[]
  /** Whether the archive contains `known`. */
  hasKnown: boolean
}

/**
 * Verifies each archive, then that the archives of a project follow each other, and that the project's trail has their
 * anchors. `known`, an earlier end of the chain, must be in one of them. The order of the files does not matter.
 */
export async function verifyArchives(
  broker: Broker,
  files: readonly string[],
  known?: AuditHead,
): Promise<readonly ArchiveVerdict[]> {
  const found: Found[] = []
  for (const file of files) found.push(await verifyOne(broker, file, known))
  const projects = Map.groupBy(
    found.filter(({ archive }) => archive !== undefined),
    ({ archive }) => archive?.header.projectId ?? '',
  )
  for (const [projectId, ofProject] of projects) {
    const anchors = await genuineAnchors(broker, projectId)
    const inOrder = ofProject.toSorted((one, other) => firstSeqOf(one) - firstSeqOf(other))
    for (const [i, { archive, faults }] of inOrder.entries())
      if (archive !== undefined) faults.push(...joinFaults(archive, inOrder[i - 1]?.archive, anchors))
  }
  // the names in the archives are not used, because no MAC covers them
  const names = new Map((await broker.store.projects.list()).map(({ id, name }) => [id, name]))
  const [first] = found
  if (known !== undefined && first !== undefined && !found.some(({ hasKnown }) => hasKnown))
    first.faults.push(`neither it nor another archive has the end you know (entry ${known.lastSeq})`)
  return found.map(({ file, archive, faults }) => ({
    file,
    ...(archive && {
      project: names.get(archive.header.projectId) ?? archive.header.projectId,
      firstSeq: archive.anchor.firstSeq,
      lastSeq: archive.anchor.lastSeq,
    }),
    faults,
  }))
}

async function verifyOne({ audit }: Broker, file: string, known: AuditHead | undefined): Promise<Found> {
  const found: Found = { file, faults: [], hasKnown: false }
  try {
    const archive = await verifyArchive(file, audit, ({ lastSeq, hash }) => {
      if (lastSeq === known?.lastSeq && hash === known.hash) found.hasKnown = true
    })
    return { ...found, archive, hasKnown: found.hasKnown }
  } catch (error) {
    const isReadFault = error instanceof ArchiveFault || (error instanceof Error && 'code' in error)
    if (!isReadFault) throw error
    return { ...found, faults: [error.message] }
  }
}

function joinFaults(
  { header, anchor }: VerifiedArchive,
  before: VerifiedArchive | undefined,
  anchors: ReadonlyMap<number, AuditAnchor>,
): string[] {
  const faults: string[] = []
  const { firstSeq, previous } = header
  if (before !== undefined && before.anchor.lastSeq + 1 !== firstSeq)
    faults.push(
      before.anchor.lastSeq >= firstSeq
        ? `its entries from ${firstSeq} on are in another of the archives too`
        : `the entries ${before.anchor.lastSeq + 1} to ${firstSeq - 1} are in none of the archives`,
    )
  const previousHash = firstSeq === 1 ? '' : anchors.get(firstSeq - 1)?.hash
  if (previousHash !== previous)
    faults.push(`it does not follow entry ${firstSeq - 1} of the trail's anchors`)
  if (anchors.get(anchor.lastSeq)?.hash !== anchor.hash)
    faults.push(`the audit trail has no anchor at its end (entry ${anchor.lastSeq})`)
  return faults
}

async function genuineAnchors(broker: Broker, projectId: string): Promise<Map<number, AuditAnchor>> {
  const genuine = new Map<number, AuditAnchor>()
  for await (const anchor of anchorsOf(broker, projectId))
    if (isGenuine(broker.audit, anchor)) genuine.set(anchor.lastSeq, anchor)
  return genuine
}

function firstSeqOf({ archive }: Found): number {
  return archive?.header.firstSeq ?? 0
}
