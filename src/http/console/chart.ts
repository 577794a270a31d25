import { html } from 'hono/html'
import { type EpochSeconds, toTimestamp } from '../../domain/clock.ts'
import type { HourCount } from '../../store/counters.ts'
import type { Html } from '../pages/layout.ts'
import { outcomeWords } from './outcome-words.ts'

// Charts are SVG that the server draws: attributes for positions and sizes, classes for colours, because the content
// security policy allows no inline style. Each has a title, a description and its numbers as a table.

export interface ChartOptions {
  /** Identifies the chart on its page. */
  readonly id: string
  readonly title: string
  /** The start of the first column. */
  readonly from: EpochSeconds
  /** The number of columns. */
  readonly columns: number
  /** The hours of one column. */
  readonly hoursEach: number
  /** The hours from one time on the axis to the next; times are multiples of it since 1970, in UTC. */
  readonly tickHours: number
  /** The order of the labels from good to bad, if they have one. It determines their colours. */
  readonly order?: readonly string[]
}

const WIDTH = 480
const HEIGHT = 150
const LEFT = 34
const BOTTOM = 22
/** The most series of a chart. Where there are more labels, the last series is the sum of the rest. */
const MOST_SERIES = 6
const OTHERS = 'others'

/** Columns over time, stacked by label; the labels with the highest counts first. */
export function barChart(counts: readonly HourCount[], options: ChartOptions): Html {
  const { id, title, from, columns, hoursEach } = options
  const columnWidth = (WIDTH - LEFT) / columns
  const labels = options.order ?? labelsOf(counts)
  const cells = labels.map(() => new Array<number>(columns).fill(0))
  for (const { hour, label, count } of counts) {
    const column = Math.floor((hour - from) / (3600 * hoursEach))
    const series = labels.indexOf(label)
    const row = cells[series === -1 ? labels.length - 1 : series]
    if (row !== undefined && column >= 0 && column < columns) row[column] = (row[column] ?? 0) + count
  }
  const totals = Array.from({ length: columns }, (_, i) => cells.reduce((sum, row) => sum + (row[i] ?? 0), 0))
  const total = totals.reduce((sum, part) => sum + part, 0)
  const top = niceTop(Math.max(1, ...totals))
  const colors = options.order === undefined ? colorsOf(labels) : labels.map((_, i) => `t${i + 1}`)
  const color = (series: number) => colors[series] ?? 's6'
  const hours = columns * hoursEach
  const summary = `${formatted(total)} in the last ${hours === 24 ? '24 hours' : `${hours / 24} days`}${
    total === 0
      ? ''
      : `: ${labels.map((label, i) => `${outcomeWords(label)} ${formatted(sum(cells[i]))}`).join(', ')}`
  }.`
  return html`<figure class="chart">
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="${id}-title ${id}-desc"><title id="${id}-title">${title}</title><desc id="${id}-desc">${summary}</desc>
${[0, top / 2, top].map((value) => grid(value, top))}
${totals.map((_, column) => {
  const values = cells.map((row) => row[column] ?? 0)
  return html`<g><title>${columnText(labels, values, from + column * hoursEach * 3600)}</title><rect class="hit" x="${fixed(LEFT + column * columnWidth)}" y="8" width="${fixed(columnWidth)}" height="${HEIGHT - BOTTOM - 8}"/>${values.map((value, series) => bar({ value, column, columnWidth, top, color: color(series), below: sum(values.slice(0, series)) }))}</g>`
})}
${axis(options, columnWidth)}
</svg>
${total > 0 && html`<ul class="legend">${labels.map((label, i) => html`<li><svg viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" rx="2" class="${color(i)}"/></svg>${outcomeWords(label)} ${formatted(sum(cells[i]))}</li>`)}</ul>`}
<details class="more"><summary>As a table</summary>${dataTable(title, labels, cells, options)}</details>
</figure>`
}

function labelsOf(counts: readonly HourCount[]): readonly string[] {
  const totals = new Map<string, number>()
  for (const { label, count } of counts) totals.set(label, (totals.get(label) ?? 0) + count)
  const sorted = [...totals].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([label]) => label)
  return sorted.length <= MOST_SERIES ? sorted : [...sorted.slice(0, MOST_SERIES - 1), OTHERS]
}

const GOOD = new Set(['completed', 'ready', 'refreshed', 'value', 'artifact'])
/** Outcomes that depend on the user or on another change, not on a fault. */
const WAITS = new Set([
  ...['authorization_required', 'requires_authorization', 'access_denied', 'expired'],
  ...['superseded', 'revoked_meanwhile'],
])

/**
 * The colours that a label of each kind takes, the best first: green for success, amber for `WAITS`, red for a fault. The
 * first two take red only when no other colour is left.
 */
const COLORS = {
  good: ['s4', 's1', 's6', 's3', 's5', 's2'],
  waits: ['s5', 's6', 's1', 's3', 's4', 's2'],
  others: ['s6', 's3', 's1', 's5', 's4', 's2'],
  fault: ['s2', 's3', 's1', 's6', 's4', 's5'],
}

/** Each colour is used once. Labels of success and of `WAITS` choose before the faults. */
function colorsOf(labels: readonly string[]): readonly string[] {
  const kindOf = (label: string) =>
    GOOD.has(label) ? 'good' : WAITS.has(label) ? 'waits' : label === OTHERS ? 'others' : 'fault'
  const taken = new Map<string, string>()
  for (const label of labels.toSorted(
    (a, b) => Number(kindOf(a) === 'fault') - Number(kindOf(b) === 'fault'),
  )) {
    const used = new Set(taken.values())
    taken.set(label, COLORS[kindOf(label)].find((color) => !used.has(color)) ?? 's6')
  }
  return labels.map((label) => taken.get(label) ?? 's6')
}

interface Bar {
  readonly value: number
  readonly below: number
  readonly column: number
  readonly columnWidth: number
  readonly top: number
  readonly color: string
}

function bar({ value, below, column, columnWidth, top, color }: Bar): Html | '' {
  if (value === 0) return ''
  const scale = (HEIGHT - BOTTOM - 8) / top
  const height = value * scale
  const y = HEIGHT - BOTTOM - (below + value) * scale
  return html`<rect class="${color}" x="${fixed(LEFT + column * columnWidth + columnWidth * 0.12)}" y="${fixed(y)}" width="${fixed(columnWidth * 0.76)}" height="${fixed(Math.max(height, 0.6))}"/>`
}

function grid(value: number, top: number): Html {
  const y = HEIGHT - BOTTOM - (value / top) * (HEIGHT - BOTTOM - 8)
  return html`<line class="grid" x1="${LEFT}" x2="${WIDTH}" y1="${fixed(y)}" y2="${fixed(y)}"/><text x="${LEFT - 5}" y="${fixed(y + 4)}" text-anchor="end">${compact(value)}</text>`
}

function dataTable(
  title: string,
  labels: readonly string[],
  cells: readonly (readonly number[])[],
  { from, columns, hoursEach }: ChartOptions,
): Html {
  const rows = Array.from({ length: columns }, (_, i) => i).filter((i) =>
    cells.some((row) => (row[i] ?? 0) > 0),
  )
  if (rows.length === 0) return html`<p class="muted">No figures.</p>`
  return html`<div class="scroll" role="region" aria-label="${title}, figures" tabindex="0"><table><thead><tr><th scope="col">From (UTC)</th>${labels.map((label) => html`<th scope="col" class="number">${outcomeWords(label)}</th>`)}</tr></thead>
<tbody>${rows.map(
    (i) =>
      html`<tr><td>${toTimestamp(from + i * hoursEach * 3600)
        .slice(0, 16)
        .replace(
          'T',
          ' ',
        )}</td>${cells.map((row) => html`<td class="number">${formatted(row[i] ?? 0)}</td>`)}</tr>`,
  )}</tbody></table></div>`
}

/** A round number that is at least as large, and whose half is round too. */
function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const top = [1, 2, 4, 6, 8, 10].map((step) => step * power).find((step) => step >= value) ?? 10 * power
  return Math.max(top, 2)
}

function sum(values: readonly number[] | undefined): number {
  return (values ?? []).reduce((total, value) => total + value, 0)
}

function fixed(value: number): string {
  return value.toFixed(2)
}

const FORMAT = new Intl.NumberFormat('en')
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact' })

export function formatted(value: number): string {
  return FORMAT.format(value)
}

function compact(value: number): string {
  return COMPACT.format(value)
}

/** Ticks at full hours of the day, or at days, with their times. */
function axis({ from, columns, hoursEach, tickHours }: ChartOptions, columnWidth: number): Html {
  const y = HEIGHT - BOTTOM
  const hours = Array.from({ length: columns }, (_, column) => from / 3600 + column * hoursEach)
  return html`${hours.map((hour, column) => {
    if (hour % tickHours !== 0) return ''
    const x = LEFT + column * columnWidth
    return html`<line class="tick" x1="${fixed(x)}" x2="${fixed(x)}" y1="${y}" y2="${y + 4}"/><text x="${fixed(x)}" y="${HEIGHT - 4}" text-anchor="middle">${tickText(hour * 3600)}</text>`
  })}`
}

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** `06:00`; midnight is the day, `28 Nov`. */
function tickText(at: EpochSeconds): string {
  return at % 86_400 === 0 ? DAY.format(at * 1000) : toTimestamp(at).slice(11, 16)
}

/** The values of one column, which a browser shows beside the pointer. */
function columnText(labels: readonly string[], values: readonly number[], at: EpochSeconds): string {
  const parts = values.flatMap((value, i) =>
    value > 0 ? [`${outcomeWords(labels[i] ?? '')} ${formatted(value)}`] : [],
  )
  return `${DAY.format(at * 1000)}, ${toTimestamp(at).slice(11, 16)} UTC: ${parts.join(', ') || 'nothing'}`
}
