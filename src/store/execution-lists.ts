import { and, eq, getTableColumns, ne } from 'drizzle-orm'
import { EXECUTION_STATUSES, type ExecutionRecord, type ExecutionStatus } from '../domain/execution.ts'
import { type Browsed, createBrowse, type PlaceInList } from './browse.ts'
import type { Database } from './database.ts'
import { createPages, type Page, type PageRequest } from './page.ts'
import { type OfProject, variantsOf } from './statement.ts'

export interface ExecutionFilter {
  readonly userId?: string
  readonly toolId?: string
  readonly type?: ExecutionRecord['type']
  readonly status?: ExecutionStatus
}

/** A run as lists show it: nothing sealed is read. */
export type ListedExecution = Omit<ExecutionRecord, 'request' | 'result'>

/** At most one of them: each has an index that gives its runs in the order of time. */
export type ExecutionIndex =
  | { readonly userId: string }
  | { readonly toolId: string }
  | { readonly type: 'scheduled' }
  | { readonly status: Exclude<ExecutionStatus, 'completed'> }
  | Record<never, never>

/** The part of `Executions` that lists runs. */
export interface ExecutionLists {
  /** Newest first. */
  list(projectId: string, filter: ExecutionFilter, page: PageRequest): Promise<Page<ListedExecution>>
  /** As `list`, by one index alone, in both directions, and nothing is counted. */
  browse(
    projectId: string,
    by: ExecutionIndex,
    place: PlaceInList,
    limit: number,
  ): Promise<Browsed<ListedExecution>>
}

export function createExecutionLists(database: Database): ExecutionLists {
  const {
    tables: { executions },
    query,
  } = database
  const { leaseOwner: _, leaseUntil: __, request: ___, result: ____, ...listed } = getTableColumns(executions)
  // beside another status too: SQLite takes the index of those that have not completed only where the text says so
  const hasNotCompleted = ne(executions.status, 'completed')

  /** The statements of each combination of filters. `scheduled` and the status are in the text, for partial indexes. */
  const filtered = variantsOf((shape: string) => {
    const given = shape.split(' ')
    const status = EXECUTION_STATUSES.find((one) => given.includes(one))
    const matching = (p: { projectId: string } & Required<Omit<ExecutionFilter, 'status'>>) =>
      and(
        eq(executions.projectId, p.projectId),
        given.includes('userId') ? eq(executions.userId, p.userId) : undefined,
        given.includes('toolId') ? eq(executions.toolId, p.toolId) : undefined,
        given.includes('putOff') ? eq(executions.type, 'scheduled') : undefined,
        given.includes('type') ? eq(executions.type, p.type) : undefined,
        status === undefined ? undefined : eq(executions.status, status),
        status === undefined || status === 'completed' ? undefined : hasNotCompleted,
      )
    return createPages(database, {
      table: executions,
      key: executions.id,
      order: 'descending',
      matching,
      select: (where, order) => query.select(listed).from(executions).where(where).orderBy(order),
      keyOf: ({ id }) => id,
    })
  })
  const browsed = variantsOf((by: 'all' | 'user' | 'tool' | 'scheduled' | 'status') =>
    createBrowse(database, {
      key: executions.id,
      matching: (p: OfProject & { userId: string; toolId: string; status: ExecutionStatus }) =>
        and(
          eq(executions.projectId, p.projectId),
          by === 'user' ? eq(executions.userId, p.userId) : undefined,
          by === 'tool' ? eq(executions.toolId, p.toolId) : undefined,
          by === 'scheduled' ? eq(executions.type, 'scheduled') : undefined,
          by === 'status' ? and(eq(executions.status, p.status), hasNotCompleted) : undefined,
        ),
      select: (where, order) => query.select(listed).from(executions).where(where).orderBy(order),
      keyOf: ({ id }) => id,
    }),
  )

  return {
    async list(projectId, { userId = '', toolId = '', type, status }, page) {
      const pageOf = filtered(
        [
          userId !== '' && 'userId',
          toolId !== '' && 'toolId',
          type !== undefined && (type === 'scheduled' ? 'putOff' : 'type'),
          status !== undefined && status,
        ]
          .filter(Boolean)
          .join(' '),
      )
      const values = {
        projectId,
        userId,
        toolId,
        type: type ?? 'scheduled',
      } as const
      return pageOf(values, page)
    },
    async browse(projectId, by, place, limit) {
      const userId = 'userId' in by ? by.userId : ''
      const toolId = 'toolId' in by ? by.toolId : ''
      const status = 'status' in by ? by.status : 'scheduled'
      const index =
        'userId' in by
          ? 'user'
          : 'toolId' in by
            ? 'tool'
            : 'type' in by
              ? 'scheduled'
              : 'status' in by
                ? 'status'
                : 'all'
      return browsed(index)({ projectId, userId, toolId, status }, place, limit)
    },
  }
}
