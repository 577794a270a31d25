import type { Broker } from '../../broker.ts'
import { firstSeqOf, SEGMENT } from './segment.ts'
import { indexProject, makeSegmentIndex } from './write-index.ts'

/**
 * Compares the search index of a project with its trail. Returns up to 20 faults as sentences for an operator; an empty
 * list means that searches find every entry. Superfluous rows of the index are not reported, since a search compares each
 * entry that the index names.
 */
export async function verifyIndex(broker: Broker, projectId: string): Promise<readonly string[]> {
  const { audit, auditIndex } = broker.store
  const progress = await auditIndex.progress(projectId)
  if (progress === undefined) return []
  const faults: string[] = []
  const head = await audit.head(projectId)
  const last = head?.lastSeq ?? 0
  // an empty index may begin after the end of the trail, if the last segment was archived in part
  if (progress.indexedTo > progress.indexedFrom && firstSeqOf(progress.indexedTo) - 1 > last)
    faults.push(`the search index says that it has more entries than the trail (${last})`)
  for (let segment = progress.indexedFrom; segment < progress.indexedTo && faults.length < 20; segment++) {
    const { buckets, sinceAt, untilAt } = await makeSegmentIndex(broker, projectId, segment)
    const [times] = await auditIndex.segments(projectId, {
      from: segment,
      to: segment,
      order: 'oldest first',
      limit: 1,
    })
    const isDated = times !== undefined && times.sinceAt <= sinceAt && times.untilAt >= untilAt
    const found = await auditIndex.bucketsOf(projectId, segment)
    if (isDated && [...buckets].every(([bucket, terms]) => found.get(bucket) === terms)) continue
    const first = firstSeqOf(segment)
    faults.push(`the search index does not have all of the entries ${first} to ${first + SEGMENT - 1}`)
  }
  return faults
}

/**
 * Rebuilds the search index of a project from its trail. Until that is done, searches find the same but are slower.
 * Returns `false` if a running server was indexing the project: then the server continues.
 */
export async function rebuildIndex(broker: Broker, projectId: string): Promise<boolean> {
  await broker.store.auditIndex.restart(projectId, 0)
  return indexProject(broker, projectId)
}
