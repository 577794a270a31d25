import { and, eq, getTableColumns, ne, type SQL } from 'drizzle-orm'
import { EXECUTION_STATUSES, type ExecutionRecord, type ExecutionStatus } from '../domain/execution.ts'
import { type Browsed, createBrowse, type ListPosition } from './browse.ts'
import type { Database } from './database.ts'
import { createPages, type Page, type PageRequest } from './page.ts'
import type { Tables } from './schema.ts'
import { type ById, type OfProject, type OfUser, variantsOf } from './statement.ts'

export interface ExecutionFilter {
  readonly userId?: string
  readonly toolId?: string
  readonly type?: ExecutionRecord['type']
  readonly status?: ExecutionStatus
}

/** A run as lists show it, without its sealed request and result. */
export type ListedExecution = Omit<ExecutionRecord, 'request' | 'result'>

/** At most one filter: each has an index that gives its runs in the order of time. */
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
  /** A page of the runs before or after a key, newest first, by one index alone and without a count. */
  browse(
    projectId: string,
    by: ExecutionIndex,
    place: ListPosition,
    limit: number,
  ): Promise<Browsed<ListedExecution>>
}

/**
 * The condition of the partial index of runs that have not completed. A statement for one such status needs it too,
 * since SQLite uses the index only if the text of the statement has its condition.
 */
export function hasNotCompleted(executions: Tables['executions']): SQL {
  return ne(executions.status, 'completed')
}

export function createExecutionLists(database: Database): ExecutionLists {
  const {
    tables: { executions },
    query,
  } = database
  const { leaseOwner: _, leaseUntil: __, request: ___, result: ____, ...listed } = getTableColumns(executions)
  const isOpen = hasNotCompleted(executions)
  const listOf = <Values>(matching: (p: Values) => SQL | undefined) => ({
    key: executions.id,
    matching,
    select: (where: SQL | undefined, order: SQL) =>
      query.select(listed).from(executions).where(where).orderBy(order),
    keyOf: ({ id }: ById) => id,
  })

  /** The statements of each combination of filters. `scheduled` and the status are in the text, for partial indexes. */
  const filtered = variantsOf((shape: string) => {
    const given = shape.split(' ')
    const status = EXECUTION_STATUSES.find((known) => given.includes(known))
    const matching = (p: OfProject & Required<Omit<ExecutionFilter, 'status'>>) =>
      and(
        eq(executions.projectId, p.projectId),
        given.includes('userId') ? eq(executions.userId, p.userId) : undefined,
        given.includes('toolId') ? eq(executions.toolId, p.toolId) : undefined,
        given.includes('typeScheduled') ? eq(executions.type, 'scheduled') : undefined,
        given.includes('type') ? eq(executions.type, p.type) : undefined,
        status === undefined ? undefined : eq(executions.status, status),
        status === undefined || status === 'completed' ? undefined : isOpen,
      )
    return createPages(database, { ...listOf(matching), table: executions, order: 'descending' })
  })
  const browsed = variantsOf((by: 'all' | 'user' | 'tool' | 'scheduled' | 'status') =>
    createBrowse(
      database,
      listOf((p: OfUser & { toolId: string; status: ExecutionStatus }) =>
        and(
          eq(executions.projectId, p.projectId),
          by === 'user' ? eq(executions.userId, p.userId) : undefined,
          by === 'tool' ? eq(executions.toolId, p.toolId) : undefined,
          by === 'scheduled' ? eq(executions.type, 'scheduled') : undefined,
          by === 'status' ? and(eq(executions.status, p.status), isOpen) : undefined,
        ),
      ),
    ),
  )

  return {
    async list(projectId, { userId = '', toolId = '', type, status }, page) {
      const pageOf = filtered(
        [
          userId !== '' && 'userId',
          toolId !== '' && 'toolId',
          type !== undefined && (type === 'scheduled' ? 'typeScheduled' : 'type'),
          status,
        ]
          .filter(Boolean)
          .join(' '),
      )
      return pageOf({ projectId, userId, toolId, type: type ?? 'scheduled' }, page)
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
