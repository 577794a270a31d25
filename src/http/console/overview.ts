import { html } from 'hono/html'
import type { Broker } from '../../broker.ts'
import { loadFeatures } from '../../features/load-features.ts'
import { type Attention, needsAttention } from '../../flows/console/attention.ts'
import { figuresSince } from '../../flows/console/figures.ts'
import type { CounterName, HourCount } from '../../store/counters.ts'
import { workersThatWait } from '../../tools/catalogue/held-tools.ts'
import { type Html, name } from '../pages/layout.ts'
import { barChart, type ChartOptions } from './chart.ts'
import { badge, emptyState, link, section } from './elements.ts'
import { figuresView } from './figures-view.ts'
import { MENU } from './menu.ts'
import { urlWith } from './pager.ts'
import type { ConsoleRoutes, OnPage } from './routes.ts'
import { addTour, type Sandbox } from './tour.ts'

const SPANS = {
  '24h': { label: '24 hours', columns: 24, hoursEach: 1, tickHours: 6 },
  '7d': { label: '7 days', columns: 28, hoursEach: 6, tickHours: 24 },
  '30d': { label: '30 days', columns: 30, hoursEach: 24, tickHours: 5 * 24 },
} as const
type Span = keyof typeof SPANS

interface ChartOf {
  readonly counter: CounterName
  readonly title: string
  /** Shown instead of a chart without figures. */
  readonly empty: string
  readonly order?: readonly string[]
}

const CHARTS: readonly ChartOf[] = [
  {
    counter: 'consents',
    title: 'Consents by outcome',
    empty:
      'No consent has ended in this time. One begins when a user opens a link that your application asked for.',
  },
  {
    counter: 'fetches',
    title: 'Requests for tokens',
    empty: 'No token was asked for in this time, by a tool, a proxied request or an application.',
  },
  {
    counter: 'refreshes',
    title: 'Refreshes',
    empty: 'No token had to be refreshed in this time. Gatepass refreshes tokens before they expire.',
  },
  {
    counter: 'runs',
    title: 'Tool runs by outcome',
    empty: 'No tool was run in this time.',
  },
  {
    counter: 'latency',
    title: 'API responses by duration',
    empty: 'The API was not called in this time.',
    order: ['up to 10 ms', 'up to 50 ms', 'up to 250 ms', 'up to 1000 ms', 'longer'],
  },
]
/** How many items the list of what needs attention shows; the others are only counted. */
const MOST_SHOWN = 20

/** What needs attention, then how much Gatepass is used. */
export function addOverview(routes: ConsoleRoutes, sandbox?: Sandbox): void {
  const tour = sandbox && addTour(routes, sandbox)
  routes.page('', async (on) => {
    const toured = await tour?.(on)
    if (toured?.isUnderWay) return on.show('Welcome to Gatepass', toured.view)
    const { broker, projectId } = on
    const span = spanOf(on)
    const { label, columns, hoursEach } = SPANS[span]
    const now = broker.now()
    // columns begin at full hours of the day, or at days, in UTC
    const from = now - (now % (hoursEach * 3600)) - (columns - 1) * hoursEach * 3600
    const [attention, counts, figures] = await Promise.all([
      needsAttention(broker, projectId, await foundOutside(broker, projectId)),
      broker.store.counters.since(projectId, from),
      figuresSince(broker, projectId, from),
    ])
    const body = html`${section('Needs attention', attentionList(attention))}
<div class="head"><h2>The last ${label} <span class="muted small">times in UTC</span></h2><nav class="actions" aria-label="Span of the charts">${(
      Object.keys(SPANS) as Span[]
    ).map(
      (choice) =>
        html`<a class="button secondary" href="${urlWith(on, { span: choice })}"${choice === span ? html` aria-current="true"` : ''}>${SPANS[choice].label}</a>`,
    )}</nav></div>
${figuresView(figures, label)}
<div class="charts">${CHARTS.map((chart) => section(chart.title, chartOf(counts, chart, { ...SPANS[span], from })))}</div>`
    return on.show('Overview', body, { ...(toured && { actions: toured.view }) })
  })
}

const ofFeatures = await loadFeatures('attention')

/** What the flows of the console do not know: what features and workers need. */
async function foundOutside(broker: Broker, projectId: string): Promise<Attention[]> {
  const found = ofFeatures.map((find) => find(broker, projectId))
  return (await Promise.all([...found, waitingWorkers(broker, projectId)])).flat()
}

/** Workers with tools that do not run until an administrator has accepted their new requirements. */
async function waitingWorkers(broker: Broker, projectId: string): Promise<Attention[]> {
  return (await workersThatWait(broker, projectId)).map((id) => ({
    tone: 'bad',
    title: `The worker ${id} asks for more than was accepted.`,
    toDo: 'Look at what it asks for, and accept it: until then its tools with new requirements do not run, and its tools with new names are in no list.',
    path: `/workers/${encodeURIComponent(id)}`,
  }))
}

function spanOf(on: OnPage): Span {
  const requested = on.query('span')
  return (Object.keys(SPANS) as Span[]).find((key) => key === requested) ?? '24h'
}

function chartOf(
  counts: readonly HourCount[],
  { counter, title, empty, order }: ChartOf,
  { from, columns, hoursEach, tickHours }: Omit<ChartOptions, 'id' | 'title' | 'order'>,
): Html {
  const own = counts.filter((count) => count.name === counter)
  if (own.length === 0) return emptyState(empty)
  const id = `chart-${counter}`
  return barChart(own, { id, title, from, columns, hoursEach, tickHours, ...(order && { order }) })
}

function attentionList(all: readonly Attention[]): Html {
  if (all.length === 0)
    return html`<p>${badge('all is well', 'good')} <span class="muted">Nothing that Gatepass checks needs your attention.</span></p>`
  return html`<ul class="attention">${all
    .slice(0, MOST_SHOWN)
    .map(
      ({ tone, title, toDo, path }) =>
        html`<li>${badge(tone === 'bad' ? 'not working' : 'for users', tone)}<div><strong>${
          path !== undefined && isServed(path)
            ? link(path, name(title, { longest: 300 }))
            : name(title, { longest: 300 })
        }</strong><br><span class="muted">${name(toDo, { longest: 400 })}</span></div></li>`,
    )}</ul>${all.length > MOST_SHOWN && html`<p class="muted">And ${all.length - MOST_SHOWN} more.</p>`}`
}

/** Whether the console has a page of that path. */
function isServed(path: string): boolean {
  return MENU.some(({ items }) =>
    items.some(
      (item) =>
        item.path !== '' &&
        (path === item.path || ['/', '?', '#'].some((next) => path.startsWith(`${item.path}${next}`))),
    ),
  )
}
