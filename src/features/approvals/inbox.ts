import type { Broker } from '../../broker.ts'
import { type Searched, searchList } from '../../flows/console/search-list.ts'
import type { ListPosition } from '../../store/browse.ts'
import type { Page, PageRequest } from '../../store/page.ts'
import { type Approval, approvalAt, concerns } from './domain.ts'
import type { ApprovalFilter } from './store-approvals.ts'

/** Whose questions are listed: of the whole project, or of some groups of approvers. */
export interface Inbox {
  readonly projectId: string
  readonly groups: readonly string[] | undefined
}

/** The questions that wait for an answer, the newest first. */
export function waitingIn(
  { store, now }: Broker,
  { projectId, groups }: Inbox,
  limit: number,
): Promise<Searched<Approval>> {
  return searchList(
    (place, rows) => store.approvals.browse(projectId, 'pending', place, rows),
    (one) => concerns(one, groups) && approvalAt(one, now()).status === 'pending',
    {},
    limit,
  )
}

/** A page of the questions that wait no longer, the newest first. */
export function endedIn(
  { store, now }: Broker,
  { projectId, groups }: Inbox,
  position: ListPosition,
  limit: number,
): Promise<Searched<Approval>> {
  return searchList(
    (place, rows) => store.approvals.browse(projectId, undefined, place, rows),
    (one) => concerns(one, groups) && approvalAt(one, now()).status !== 'pending',
    position,
    limit,
  )
}

/**
 * A page of the questions to some groups, as `store.approvals.page` gives those of the project. It has fewer items than the
 * limit, and a next page, where a search without an index ends before it is full.
 */
export async function pageOfGroups(
  { store }: Pick<Broker, 'store'>,
  { projectId, groups, status, userId }: Inbox & ApprovalFilter,
  { offset, limit, after }: PageRequest,
): Promise<Page<Approval>> {
  // an offset beside a key only counts the items before it
  const skipped = after === undefined ? offset : 0
  const { rows, older } = await searchList(
    (place, most) => store.approvals.browse(projectId, status, place, most),
    (one) => concerns(one, groups) && (userId === undefined || one.userId === userId),
    after === undefined ? {} : { before: after },
    skipped + limit,
  )
  const items = rows.slice(skipped)
  const total = offset + items.length
  return {
    items,
    total,
    ...(older !== undefined && { total: total + 1, isMinimum: true as const, next: older }),
  }
}

/** The names of the project's keys, which are the agents of most calls. */
export async function agentNames({ store }: Broker, projectId: string): Promise<ReadonlyMap<string, string>> {
  const keys = await store.apiKeys.list(projectId)
  return new Map(keys.map((key) => [key.id, key.name || key.id]))
}
