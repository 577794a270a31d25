import { html } from 'hono/html'
import type { Broker } from '../../broker.ts'
import { EXECUTION_STATUSES, type ExecutionRecord } from '../../domain/execution.ts'
import { omitted } from '../../operations/omitted.ts'
import { executionSchema, toExecution, toExecutionDetail } from '../../operations/tools/executions.ts'
import { jsonText, LargeJson } from '../../tools/large-json.ts'
import { getExecution } from '../../tools/run/get-execution.ts'
import { type Html, name, webUrl } from '../pages/layout.ts'
import { asCurl, badge, buttonLink, code, facts, link, numeric, section } from './elements.ts'
import { pagesOfFeatures } from './menu.ts'
import { outcomeWords } from './outcome-words.ts'
import { outputView } from './output-view.ts'
import type { ConsoleRoutes, OnPage } from './routes.ts'
import { type Run, showRuns, statusBadge, userLink } from './run-list.ts'

/** Characters of an input or an output that a page shows. */
const LONGEST_TEXT = 20_000

const tookText = ({ duration }: Run) =>
  duration === undefined ? undefined : numeric(`${duration.toLocaleString('en')} ms`)

const FACTS = outputView(executionSchema, {
  tool_id: ['Tool', ({ tool_id: id }) => link(`/tools/${encodeURIComponent(id)}`, html`${name(id)}`)],
  execution_status: ['Status', statusBadge],
  user_id: ['User', ({ user_id: id }) => id && userLink(id, { longest: 200 })],
  entry_point: ['Requested by', ({ entry_point: entry }) => html`<code>${entry}</code>`],
  run_at: 'Begins',
  created_at: 'Requested',
  started_at: 'Began',
  finished_at: 'Ended',
  duration: ['Took', tookText],
  // only administrators see keys
  ...omitted('id', 'tool_name', 'toolkit_name', 'toolkit_version', 'execution_type', 'outcome'),
  ...omitted('error_kind', 'updated_at', 'api_key_id'),
})

/** The history of runs. */
export function addRunPages(routes: ConsoleRoutes, broker: Broker): void {
  const additionsOf = (on: OnPage, run: ExecutionRecord) =>
    pagesOfFeatures.map(({ ofRun }) => ofRun?.(on, run)).find((additions) => additions !== undefined)

  routes.page('/runs', (on) =>
    showRuns(on, {
      path: '/runs',
      api: '/v1/executions',
      title: 'Runs',
      lead: 'What ran in the last 30 days, newest first.',
      empty: {
        title: 'Nothing has run in the last 30 days',
        text: 'Each call of a tool is listed here with its outcome and how long it took, for 30 days.',
        next: buttonLink('/tools', 'Choose a tool', { secondary: false }),
      },
      statuses: EXECUTION_STATUSES.filter(
        (status) => !['scheduled', 'waiting_for_approval'].includes(status),
      ),
      columns: { duration: [numeric('Took'), tookText], run_at: false },
    }),
  )
  routes.page('/runs/:id', async (on) => {
    const record = await getExecution(broker, on.projectId, on.c.req.param('id') ?? '')
    const { list = ['Runs', '/runs'], controls = '' } = additionsOf(on, record) ?? {}
    return on.show(record.toolId, runPage(on, record, controls), {
      above: [list],
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
}

function runPage(on: OnPage, record: ExecutionRecord, controls: Html | ''): Html {
  const { broker } = on
  const { apiKeyId, attempts } = record
  const keyLink =
    apiKeyId !== undefined &&
    (on.mayChange ? link(`/keys/${apiKeyId}`, html`<code>…${apiKeyId.slice(-8)}</code>`) : code(apiKeyId))
  return html`${section(
    'Run',
    facts([
      ...FACTS.facts(toExecution(record), broker.now()),
      ['With the key', keyLink || undefined],
      ['Attempts', attempts > 1 ? String(attempts) : undefined],
    ]),
    controls,
  )}
${on.mayChange ? contentView(broker, record) : section('Input and output', html`<p class="muted">Only administrators can see them. Your role is readonly.</p>`)}
${asCurl(on, `/v1/executions/${record.id}`)}`
}

/** The input and the outputs that history kept. In the API, keys of the role readonly do not read them either. */
function contentView(broker: Broker, record: ExecutionRecord): Html {
  const detail = toExecutionDetail(broker, record)
  const outputs = (detail.attempts ?? []) as readonly ShownAttempt[] // `toExecutionDetail` makes them
  return html`${section('Input', detail.input === undefined ? html`<p class="muted">${detail.unreadable?.includes('input') ? UNREADABLE : NOT_KEPT}</p>` : jsonView(detail.input))}
${
  outputs.length === 0
    ? section(
        'Output',
        html`<p class="muted">${detail.unreadable?.includes('attempts') ? UNREADABLE : record.startedAt === undefined ? NOT_BEGUN : NOT_KEPT}</p>`,
      )
    : outputs.map((output, i) =>
        section(outputs.length > 1 ? `Attempt ${i + 1}` : 'Output', attemptView(output)),
      )
}`
}

const NOT_KEPT =
  'It was not kept. Only runs with keep_content, scheduled runs, and runs from this console keep input and output.'
const NOT_BEGUN = 'There is none yet: the run has not started.'
const UNREADABLE = 'It was altered in the database, so it cannot be read.'

interface ShownAttempt {
  readonly output?: unknown
  readonly system_error_message?: string
}

function attemptView({ output, system_error_message: message }: ShownAttempt): Html {
  // the history keeps outputs in the form of `ShownOutput`
  const shown = output instanceof LargeJson ? undefined : (output as ShownOutput | undefined)
  const { authorization, error } = shown ?? {}
  if (authorization !== undefined) return consentView(authorization)
  if (error !== undefined)
    return html`<p>${badge(outcomeWords(error.kind), 'bad')} ${name(error.message, { longest: 2000 })}</p>${jsonView(error)}`
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
${text.length > LONGEST_TEXT && html`<p class="muted small">The rest is cut off here: the API has all ${text.length} characters.</p>`}`
}
