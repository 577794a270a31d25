import { html } from 'hono/html'
import type { Broker } from '../../broker.ts'
import { EXECUTION_STATUSES, type ExecutionRecord, type ExecutionStatus } from '../../domain/execution.ts'
import { type Searched, searchList } from '../../flows/console/search-list.ts'
import { toDetail } from '../../operations/tools/executions.ts'
import type { PlaceInList } from '../../store/browse.ts'
import type { ExecutionIndex, ListedExecution } from '../../store/execution-lists.ts'
import { jsonText, LargeJson } from '../../tools/large-json.ts'
import { cancelScheduled, getExecution, historyToolId } from '../../tools/run/executions.ts'
import { type Html, name, webUrl } from '../pages/layout.ts'
import {
  asCurl,
  badge,
  buttonLink,
  code,
  exactTime,
  facts,
  link,
  numeric,
  section,
  table,
  time,
} from './elements.ts'
import { field, filters, select, submit } from './form-fields.ts'
import { PAGE_ROWS, searchPager } from './lists.ts'
import { placeInList } from './pager.ts'
import type { ConsoleRoutes, OnPage } from './routes.ts'

/** Characters of an input or an output that a page shows. */
const LONGEST_TEXT = 20_000

/** The history of runs, and scheduled runs. */
export function addRunPages(routes: ConsoleRoutes, broker: Broker): void {
  async function list(on: OnPage, isScheduled: boolean) {
    // so that the list has runs that have just ended; if the flush fails, only these are missing
    await broker.history.flush().catch(() => {})
    const [userId, tool] = [on.query('user'), on.query('tool')]
    const status = EXECUTION_STATUSES.find((one) => one === on.query('status'))
    const found = await findRuns(on, {
      userId,
      toolId: tool === undefined ? undefined : await historyToolId(broker, on.projectId, tool),
      type: isScheduled ? 'scheduled' : undefined,
      status,
    })
    const path = isScheduled ? '/scheduled' : '/runs'
    const now = broker.now()
    const rows = found.rows.map((run) => [
      link(`/runs/${run.id}`, html`${name(run.toolId)}`),
      statusBadge(run),
      run.userId === undefined
        ? undefined
        : link(`/connections?user=${encodeURIComponent(run.userId)}`, html`${name(run.userId)}`),
      isScheduled
        ? (run.runAt !== undefined && exactTime(run.runAt)) || undefined
        : run.durationMs === undefined
          ? undefined
          : numeric(`${run.durationMs.toLocaleString('en')} ms`),
      html`<code>${run.entryPoint}</code>`,
      time(run.finishedAt ?? run.startedAt ?? run.createdAt, now),
    ])
    const statuses = EXECUTION_STATUSES.filter((one) => isScheduled || one !== 'scheduled')
    const isFiltered = [userId, tool, status, on.query('date')].some((one) => one !== undefined)
    const body = html`${filters(
      path,
      html`${field('User', 'user', { value: userId })}${field('Tool', 'tool', { value: tool })}${select('Status', 'status', [['', 'Any'], ...statuses.map((one) => [one, one] as const)], { value: status })}
${field('On or before', 'date', { value: on.query('date'), type: 'date' })}`,
      { isFiltered },
    )}
${table(isScheduled ? 'Scheduled runs' : 'Runs', ['Tool', 'Status', 'User', isScheduled ? 'Begins' : numeric('Took'), 'By', 'When'], rows, isFiltered ? 'No run matches.' : isScheduled ? 'Nothing is scheduled.' : 'Nothing has run in the last 30 days.')}
${searchPager(on, found)}
${asCurl(on, isScheduled ? '/v1/scheduled_tools' : '/v1/executions')}`
    return on.show(isScheduled ? 'Scheduled runs' : 'Runs', body, {
      lead: isScheduled
        ? 'Runs that will begin later, and those that have begun.'
        : 'What was run in the last 30 days, newest first.',
    })
  }

  routes.page('/runs', (on) => list(on, false))
  routes.page('/scheduled', (on) => list(on, true))
  routes.page('/runs/:id', async (on) => {
    const record = await getExecution(broker, on.projectId, on.c.req.param('id') ?? '')
    return on.show(record.toolId, runPage(on, record), {
      above: record.type === 'scheduled' ? [['Scheduled runs', '/scheduled']] : [['Runs', '/runs']],
      lead: html`Run <code>${record.id}</code>`,
      ...(on.mayChange &&
        record.request !== undefined && {
          actions: buttonLink(
            `/tools/${encodeURIComponent(record.toolId)}/try?run=${record.id}`,
            'Try again',
          ),
        }),
    })
  })

  routes.form('/runs/:id/cancel', async (on) => {
    const { id, status } = await getExecution(broker, on.projectId, on.c.req.param('id') ?? '')
    if (status === 'cancelled') return on.go(`/runs/${id}`, 'It was cancelled already.')
    await cancelScheduled(broker, on.projectId, id)
    return on.go(`/runs/${id}`, 'It is cancelled.')
  })
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
  const read = (place: PlaceInList, limit: number) =>
    on.broker.store.executions.browse(on.projectId, by, place, limit)
  const place = placeInList(on, 'exec')
  const given = [userId, toolId, type, status].filter((one) => one !== undefined)
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

type Listed = Pick<ExecutionRecord, 'status' | 'outcome' | 'errorKind'>

function statusBadge({ status, outcome, errorKind }: Listed): Html {
  if (outcome === 'requires_authorization') return badge('needs consent', 'wait')
  if (status === 'completed') return badge('completed', 'good')
  if (status === 'failed')
    return html`${badge('failed', 'bad')}${errorKind !== undefined && html` <code class="small">${errorKind}</code>`}`
  return badge(status, status === 'cancelled' ? 'plain' : 'wait')
}

function runPage(on: OnPage, record: ExecutionRecord): Html {
  const { broker } = on
  const { userId, apiKeyId, status, runAt, createdAt, startedAt, finishedAt, durationMs, attempts } = record
  return html`${section(
    'Run',
    facts([
      ['Tool', link(`/tools/${encodeURIComponent(record.toolId)}`, html`${name(record.toolId)}`)],
      ['Status', statusBadge(record)],
      [
        'User',
        userId === undefined
          ? undefined
          : link(`/connections?user=${encodeURIComponent(userId)}`, html`${name(userId, { longest: 200 })}`),
      ],
      [
        'Asked for by',
        html`<code>${record.entryPoint}</code>${apiKeyId !== undefined && html` with the key ${on.mayChange ? link(`/keys/${apiKeyId}`, html`<code>…${apiKeyId.slice(-8)}</code>`) : code(apiKeyId)}`}`,
      ],
      ['Begins', runAt === undefined ? undefined : exactTime(runAt)],
      ['Asked for', exactTime(createdAt)],
      ['Began', startedAt === undefined ? undefined : exactTime(startedAt)],
      ['Ended', finishedAt === undefined ? undefined : exactTime(finishedAt)],
      ['Took', durationMs === undefined ? undefined : `${durationMs} ms`],
      ['Attempts', attempts > 1 ? String(attempts) : undefined],
    ]),
    status === 'scheduled' ? on.form(`/runs/${record.id}/cancel`, submit('Cancel this run', 'danger')) : '',
  )}
${on.mayChange ? contentView(broker, record) : section('Input and output', html`<p class="muted">They are shown to administrators: your role is readonly.</p>`)}
${asCurl(on, `/v1/executions/${record.id}`)}`
}

/** The input and the outputs that history kept. In the API, keys of the role readonly do not read them either. */
function contentView(broker: Broker, record: ExecutionRecord): Html {
  const detail = toDetail(broker, record)
  const outputs = (detail.attempts ?? []) as readonly ShownAttempt[] // `toDetail` makes them
  return html`${section('Input', detail.input === undefined ? html`<p class="muted">${detail.unreadable?.includes('input') ? UNREADABLE : NOT_KEPT}</p>` : jsonView(detail.input))}
${
  outputs.length === 0
    ? section(
        'Output',
        html`<p class="muted">${detail.unreadable?.includes('attempts') ? UNREADABLE : record.startedAt === undefined ? NOT_BEGUN : NOT_KEPT}</p>`,
      )
    : outputs.map((one, i) => section(outputs.length > 1 ? `Attempt ${i + 1}` : 'Output', outputView(one)))
}`
}

const NOT_KEPT =
  'It was not kept. Only runs with keep_content, scheduled runs and runs from this console keep input and output.'
const NOT_BEGUN = 'There is none: the run has not begun.'
const UNREADABLE = 'It was altered in the database, so it cannot be read.'

interface ShownAttempt {
  readonly output?: unknown
  readonly system_error_message?: string
}

function outputView({ output, system_error_message: message }: ShownAttempt): Html {
  // the history keeps outputs in the form of `ShownOutput`
  const shown = output instanceof LargeJson ? undefined : (output as ShownOutput | undefined)
  const { authorization, error } = shown ?? {}
  if (authorization !== undefined) return consentView(authorization)
  if (error !== undefined)
    return html`<p>${badge(error.kind, 'bad')} ${name(error.message, { longest: 2000 })}</p>${jsonView(error)}`
  if (output === undefined)
    return html`<p class="muted">${message === undefined ? NOT_KEPT : name(message, { longest: 500 })}</p>`
  return jsonView(shown !== undefined && 'value' in shown ? shown.value : output)
}

interface ShownOutput {
  readonly value?: unknown
  readonly error?: { readonly kind: string; readonly message: string }
  readonly authorization?: {
    readonly id: string
    readonly url: string
    readonly user_id: string
    readonly scopes: readonly string[]
  }
}

/** The tool did not run: its user must approve first. */
function consentView({ id, url, user_id: userId, scopes }: NonNullable<ShownOutput['authorization']>): Html {
  const page = webUrl(url)
  return html`<p>${badge('needs consent', 'wait')} The tool was not run: <strong>${name(userId, { longest: 200 })}</strong> must approve first. Give them this link, then try again.</p>
<p><code class="copy">${url}</code></p>
${scopes.length > 0 && html`<p>It asks for ${scopes.map((scope) => html`${code(scope)} `)}</p>`}
<p>${page !== undefined && html`<a class="button secondary" href="${page.href}" rel="noreferrer noopener">Open the link</a> `}${buttonLink(`/authorizations/${id}`, 'To the authorization')}</p>`
}

function jsonView(value: unknown): Html {
  const text = value instanceof LargeJson ? jsonText(value) : (JSON.stringify(value, null, 2) ?? 'null')
  return html`<pre tabindex="0"><code>${text.slice(0, LONGEST_TEXT)}</code></pre>
${text.length > LONGEST_TEXT && html`<p class="muted small">It goes on: the API has all ${text.length} characters.</p>`}`
}
