import type { Broker } from '../../broker.ts'
import { firstSeqOf, SEGMENT } from '../../services/audit-index/segment.ts'
import { indexProject, makeSegmentIndex } from './index-trail.ts'

/**
 * Compares the search index of a project with its trail. Returns sentences for an operator, none when a search finds
 * all that the trail has. Rows that name too much are not looked for, since a search compares what they name.
 */
export async function verifyIndex(broker: Broker, projectId: string): Promise<readonly string[]> {
  const { audit, auditIndex } = broker.store
  const progress = await auditIndex.progress(projectId)
  if (progress === undefined) return []
  const faults: string[] = []
  const head = await audit.head(projectId)
  const last = head?.lastSeq ?? 0
  // an index of nothing may begin with a segment that is not there yet, where the one before is archived in part
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
 * Makes the search index of a project again from its trail. Searches are slower until it is done, and find the same.
 * Returns `false` where a server that runs was at work on the index, and goes on with it.
 */
export async function remakeIndex(broker: Broker, projectId: string): Promise<boolean> {
  await broker.store.auditIndex.restart(projectId, 0)
  return indexProject(broker, projectId)
}
