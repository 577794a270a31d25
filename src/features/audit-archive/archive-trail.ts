import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Broker } from '../../broker.ts'
import type { AuditAnchor, AuditBlock, AuditHead } from '../../domain/audit.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { Project } from '../../domain/project.ts'
import { leaseTrail, type TrailLease } from '../../flows/audit/trail-lease.ts'
import { verifiedBlocks } from '../../flows/audit/verified-blocks.ts'
import { newestAnchor } from '../../services/audit-anchors.ts'
import { parseArchiveName } from './format.ts'
import { ArchiveFault, type VerifiedArchive, verifyArchive } from './read-archive.ts'
import { type ArchiveWriter, createArchiveWriter, syncFolder } from './write-archive.ts'

/** The most entries in one file: about 500 MB. After a crash a file is written again from its beginning. */
const ENTRIES_PER_FILE = 1_000_000

export interface ArchiveRequest {
  /** Entries that were committed before this time are archived. */
  readonly before: EpochSeconds
  /** Where the files are written; absent: the entries are deleted without a file. */
  readonly folder?: string | undefined
  readonly entriesPerFile?: number
}

/** A range of entries that has left the trail. */
export interface Archived {
  readonly file?: string | undefined
  readonly firstSeq: number
  readonly lastSeq: number
}

/**
 * Archives the entries of a project that are older than `before`, file by file, and removes them from the trail. A
 * file is made durable and read back before its anchor is written, and the anchor is written before any block is
 * removed. So a crash loses nothing, and the next run continues from there. Only entries that existed when the run
 * began are archived, so the entries about the archives themselves stay. Returns the archived ranges, or `undefined`
 * while another process indexes or archives this trail. Throws `store_unavailable` when the trail does not verify.
 */
export async function archiveTrail(
  broker: Broker,
  project: Project,
  request: ArchiveRequest,
): Promise<readonly Archived[] | undefined> {
  // entries are indexed first: the index is made from blocks, and archived blocks are gone
  await broker.trailIndex.complete(project.id)
  await using lease = await leaseTrail(broker, project.id)
  if (lease === undefined) return undefined
  // read before the first archive: archiving appends entries too
  const head = await broker.store.audit.head(project.id)
  const done: Archived[] = []
  for (;;) {
    const anchor = await newestAnchor(broker, project.id)
    if (anchor !== undefined) await removeArchived(broker, anchor, lease)
    const start = { lastSeq: anchor?.lastSeq ?? 0, hash: anchor?.hash ?? '' }
    const unarchived = { start, newest: head?.lastSeq ?? 0, lease }
    const archived = await archiveNext(broker, project, unarchived, request)
    if (archived === undefined) return done
    done.push(archived)
  }
}

/** The part of the trail that is not archived yet. */
interface Unarchived {
  /** The end of the entries that are archived already. */
  readonly start: AuditHead
  /** The number of the newest entry when archiving began. */
  readonly newest: number
  readonly lease: TrailLease
}

/** Writes one archive and its anchor. Returns `undefined` when nothing after `start` is old enough. */
async function archiveNext(
  broker: Broker,
  project: Project,
  unarchived: Unarchived,
  { before, folder, entriesPerFile = ENTRIES_PER_FILE }: ArchiveRequest,
): Promise<Archived | undefined> {
  const { start } = unarchived
  const blocks = () => oldBlocks(broker, project.id, unarchived, before)
  const leftover = folder === undefined ? undefined : await findLeftover(broker, project.id, start, folder)
  if (folder !== undefined && leftover !== undefined && (await includesEnd(blocks(), leftover.anchor))) {
    await syncFolder(folder) // the earlier run may have ended before it did this
    return settle(broker, leftover.anchor, leftover.file)
  }

  let writer: ArchiveWriter | undefined
  let end = start
  try {
    for await (const block of blocks()) {
      if (folder !== undefined) {
        writer ??= await createArchiveWriter(folder, {
          projectId: project.id,
          project: project.name,
          firstSeq: start.lastSeq + 1,
          previous: start.hash,
        })
        await writer.add(block)
      }
      end = endOf(block)
      if (end.lastSeq - start.lastSeq >= entriesPerFile) break
    }
    if (end === start) return undefined
    const anchor = signed(broker, {
      projectId: project.id,
      firstSeq: start.lastSeq + 1,
      ...end,
      at: Math.floor(broker.now()),
    })
    if (writer === undefined) return await settle(broker, anchor)
    await writer.end(anchor)
    await readBack(broker, writer.path, anchor)
    return await settle(broker, anchor, await writer.giveName(anchor))
  } catch (error) {
    await writer?.discard()
    throw error
  }
}

/**
 * The verified blocks that may be archived: all before the first one that is too new. A single block is not archived: in a
 * project without activity, each run would otherwise archive only the entry that the run before it wrote.
 */
async function* oldBlocks(
  broker: Broker,
  projectId: string,
  { start, newest, lease }: Unarchived,
  before: EpochSeconds,
): AsyncGenerator<AuditBlock> {
  for await (const block of verifiedBlocks(broker, projectId, start, newest)) {
    const isOnly = block.firstSeq === start.lastSeq + 1 && endOf(block).lastSeq >= newest
    if (block.at >= before || isOnly) return
    yield block
    await lease.keep()
  }
}

/** Finds a complete file of an earlier run that ended before it wrote the anchor. */
async function findLeftover(
  { audit }: Broker,
  projectId: string,
  start: AuditHead,
  folder: string,
): Promise<(VerifiedArchive & { readonly file: string }) | undefined> {
  for (const file of await readdir(folder)) {
    const named = parseArchiveName(file)
    if (named?.projectId !== projectId || named.firstSeq !== start.lastSeq + 1) continue
    try {
      const archive = await verifyArchive(join(folder, file), audit)
      if (archive.header.projectId === projectId && archive.header.previous === start.hash)
        return { ...archive, file }
    } catch (error) {
      if (!(error instanceof ArchiveFault)) throw error
    }
  }
  return undefined
}

/** Whether one of the blocks ends exactly at the anchor. */
async function includesEnd(
  blocks: AsyncGenerator<AuditBlock>,
  { lastSeq, hash }: AuditAnchor,
): Promise<boolean> {
  for await (const block of blocks) {
    const end = endOf(block)
    if (end.lastSeq >= lastSeq) return end.lastSeq === lastSeq && end.hash === hash
  }
  return false
}

async function readBack({ audit }: Broker, path: string, { mac }: AuditAnchor): Promise<void> {
  try {
    const { anchor } = await verifyArchive(path, audit)
    if (anchor.mac === mac) return
  } catch (error) {
    if (!(error instanceof ArchiveFault)) throw error
  }
  throw new BrokerError(
    'store_unavailable',
    `The archive that was written at ${path} reads back as something else. Check the disk; nothing was removed from the audit trail.`,
  )
}

/** Writes the anchor. From then on the entries count as archived. */
async function settle(broker: Broker, anchor: AuditAnchor, file?: string): Promise<Archived> {
  const { projectId, firstSeq, lastSeq } = anchor
  const entries = broker.audit.of(projectId, {
    action: 'audit.archived',
    ...(file === undefined ? { reason: 'deleted_without_file' } : { subject: file }),
    detail: `entries ${firstSeq} to ${lastSeq}`,
  })
  if (!(await broker.store.auditArchives.add(anchor, entries)))
    throw new BrokerError(
      'store_unavailable',
      `There is an anchor already at or after entry ${firstSeq}: \`gatepass audit verify\` says whether it is genuine. Nothing was removed from the audit trail.`,
    )
  return { file, firstSeq, lastSeq }
}

/**
 * Removes the entries of an anchor from the index and the trail, if they are still there. Throws `store_unavailable` when
 * the trail has other entries in their place: then an anchor from an older state of the database was put back.
 */
async function removeArchived(
  { store, trailIndex }: Broker,
  { projectId, lastSeq, hash }: AuditAnchor,
  lease: TrailLease,
): Promise<void> {
  const atEnd = { fromSeq: lastSeq, toSeq: lastSeq, order: 'oldest first', limit: 1 } as const
  const [block] = await store.audit.blocks(projectId, atEnd)
  if (block !== undefined && (endOf(block).lastSeq !== lastSeq || block.hash !== hash))
    throw new BrokerError(
      'store_unavailable',
      `The anchor at entry ${lastSeq} does not belong to the entries there: see \`gatepass audit verify\`. Nothing was removed from the audit trail.`,
    )
  await trailIndex.forget(projectId, lastSeq, () => lease.keep())
  await store.auditArchives.removeBlocks(projectId, lastSeq)
}

function endOf({ firstSeq, count, hash }: AuditBlock): AuditHead {
  return { lastSeq: firstSeq + count - 1, hash }
}

function signed({ audit }: Broker, anchor: Omit<AuditAnchor, 'mac'>): AuditAnchor {
  return { ...anchor, mac: audit.anchorMac(anchor) }
}
