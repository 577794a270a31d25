import type { z } from '@hono/zod-openapi'
import { html } from 'hono/html'
import { fromTimestamp } from '../../domain/clock.ts'
import { EXECUTION_STATUSES, type ExecutionStatus } from '../../domain/execution.ts'
import { type Searched, searchList } from '../../flows/console/search-list.ts'
import { omitted } from '../../operations/omitted.ts'
import { executionSchema, toExecution } from '../../operations/tools/executions.ts'
import type { ListPosition } from '../../store/browse.ts'
import type { ExecutionIndex, ListedExecution } from '../../store/execution-lists.ts'
import { historyToolId } from '../../tools/run/get-execution.ts'
import { type Html, name } from '../pages/layout.ts'
import { asCurl, badge, type EmptyList, link, table, time } from './elements.ts'
import { field, filters, select } from './form-fields.ts'
import { PAGE_ROWS, searchPager } from './lists.ts'
import { outcomeWords } from './outcome-words.ts'
import { type OutputLayout, outputView } from './output-view.ts'
import { listPosition } from './pager.ts'
import { providerLabels, toolsById } from './provider-label.ts'
import type { OnPage } from './routes.ts'
import { ACTIONS } from './row-actions.ts'

export type Run = z.output<typeof executionSchema>

/** Members that other columns show, or the page of a run. */
const HIDDEN = {
  ...omitted('id', 'tool_name', 'toolkit_name', 'toolkit_version', 'execution_type', 'outcome'),
  ...omitted('error_kind', 'created_at', 'updated_at', 'started_at', 'api_key_id'),
} as const

/** What a feature adds to the page of a run. */
export interface RunAdditions {
  /** The label and the path of the list that the run is in. */
  readonly list: readonly [string, string]
  readonly controls: Html | ''
}

export interface RunList {
  /** Below `/dashboard`. */
  readonly path: string
  /** The path of the list in the API. */
  readonly api: string
  readonly title: string
  readonly lead: string
  /** Shown instead of an empty list. */
  readonly empty: EmptyList
  /** What an operator can do with a run from its row. */
  readonly action?: (on: OnPage, run: Run) => Html | ''
  readonly type?: 'scheduled'
  /** The statuses of the filter. */
  readonly statuses: readonly ExecutionStatus[]
  /** How the members are shown that are not in every list. */
  readonly columns: OutputLayout<Run>
}

/** A page that lists runs, newest first, with filters. */
export async function showRuns(on: OnPage, list: RunList): Promise<Response> {
  const { broker } = on
  // so that the list has runs that have just ended; if the flush fails, only these are missing
  await broker.history.flush().catch(() => {})
  const [userId, tool] = [on.query('user'), on.query('tool')]
  const status = EXECUTION_STATUSES.find((known) => known === on.query('status'))
  const found = await findRuns(on, {
    userId,
    toolId: tool === undefined ? undefined : await historyToolId(broker, on.projectId, tool),
    type: list.type,
    status,
  })
  const [tools, labels] = await Promise.all([
    toolsById(on, new Set(found.rows.map(({ toolId }) => toolId))),
    providerLabels(on),
  ])
  const { action } = on.mayChange ? list : {}
  const view = outputView(executionSchema, {
    tool_id: [
      'Tool',
      ({ id, tool_id: tool }) =>
        html`<span class="with-logo">${labels.ofTool(tools.get(tool))}${link(`/runs/${id}`, html`${name(tool)}`)}</span>`,
    ],
    execution_status: ['Status', statusBadge],
    user_id: ['User', ({ user_id: id }) => id && userLink(id)],
    ...list.columns,
    entry_point: ['By', ({ entry_point: entry }) => html`<code>${entry}</code>`],
    finished_at: ['When', endedAgo],
    ...HIDDEN,
  })
  const now = broker.now()
  const rows = found.rows.map((row) => {
    const run = toExecution(row)
    return [...view.cells(run, now), ...(action === undefined ? [] : [action(on, run)])]
  })
  const heads = [...view.heads, ...(action === undefined ? [] : [ACTIONS])]
  const isFiltered = [userId, tool, status, on.query('date')].some((filter) => filter !== undefined)
  const body = html`${filters(
    list.path,
    html`${field('User', 'user', { value: userId })}${field('Tool', 'tool', { value: tool })}${select('Status', 'status', [['', 'Any'], ...list.statuses.map((known) => [known, known.replaceAll('_', ' ')] as const)], { value: status })}
${field('On or before', 'date', { value: on.query('date'), type: 'date' })}`,
    { isFiltered },
  )}
${table(list.title, heads, rows, isFiltered ? 'No run matches.' : list.empty)}
${searchPager(on, found)}
${asCurl(on, list.api)}`
  return on.show(list.title, body, { lead: list.lead })
}

interface Filters {
  readonly userId?: string | undefined
  readonly toolId?: string | undefined
  readonly type?: 'scheduled' | undefined
  readonly status?: ExecutionStatus | undefined
}

/**
 * Searches by the index of the narrowest filter. Further filters are compared row by row, and so is the status
 * `completed`, which nearly all runs have.
 */
function findRuns(on: OnPage, { userId, toolId, type, status }: Filters): Promise<Searched<ListedExecution>> {
  const by: ExecutionIndex =
    userId !== undefined
      ? { userId }
      : toolId !== undefined
        ? { toolId }
        : type !== undefined
          ? { type }
          : status !== undefined && status !== 'completed'
            ? { status }
            : {}
  const read = (place: ListPosition, limit: number) =>
    on.broker.store.executions.browse(on.projectId, by, place, limit)
  const place = listPosition(on, 'exec')
  const given = [userId, toolId, type, status].filter((filter) => filter !== undefined)
  if (given.length === Object.keys(by).length) return read(place, PAGE_ROWS)
  return searchList(
    read,
    (run) =>
      (toolId === undefined || run.toolId === toolId) &&
      (type === undefined || run.type === type) &&
      (status === undefined || run.status === status),
    place,
    PAGE_ROWS,
  )
}

function endedAgo(run: Run, now: number): Html | undefined {
  return time(fromTimestamp(run.finished_at ?? run.started_at ?? run.created_at), now)
}

export function userLink(id: string, options?: Parameters<typeof name>[1]): Html {
  return link(`/connections?user=${encodeURIComponent(id)}`, name(id, options))
}

export function statusBadge({ execution_status: status, outcome, error_kind: kind }: Run): Html {
  if (outcome === 'requires_authorization') return badge('needs consent', 'wait')
  if (status === 'completed') return badge('completed', 'good')
  if (status === 'failed')
    return html`${badge('failed', 'bad')}${kind !== undefined && html` <span class="small">${outcomeWords(kind)}</span>`}`
  return badge(status.replaceAll('_', ' '), status === 'cancelled' ? 'plain' : 'wait')
}
