import { html } from 'hono/html'
import type { Figure, Figures } from '../../flows/console/figures.ts'
import { MOST_COUNTED } from '../../store/page.ts'
import type { Html } from '../pages/layout.ts'
import { formatted } from './chart.ts'
import { link } from './elements.ts'

const FIGURES: readonly (readonly [figure: keyof Figures, label: string, path: string])[] = [
  ['connections', 'Connections', '/connections'],
  ['users', 'Users', '/users'],
  ['consents', 'Consents that succeeded', '/authorizations?status=completed'],
  ['calls', 'Tool runs', '/runs'],
]

/** The figures of the overview, each with its change. `span`: how long the time is, such as `24 hours`. */
export function figuresView(figures: Figures, span: string): Html {
  return html`<dl class="figures">${FIGURES.map(([figure, label, path]) => {
    const { now, total, isMinimum } = figures[figure]
    return html`<div><dt>${link(path, label)}</dt><dd>${total === undefined ? formatted(now) : counted(total)}</dd><dd class="change">${total !== undefined && html`<strong>${isMinimum ? counted(now) : formatted(now)} new</strong>, `}${change(figures[figure], span)}</dd></div>`
  })}</dl>`
}

function counted(number: number): string {
  return number > MOST_COUNTED ? `over ${formatted(MOST_COUNTED)}` : formatted(number)
}

function change({ now, before, isMinimum }: Figure, span: string): Html | string {
  if (isMinimum) return 'too many to compare'
  const time = `the ${span} before`
  if (before === 0) return now === 0 ? `none in ${time} either` : `none in ${time}`
  if (now === before) return `as many as in ${time}`
  const [more, fewer] = [now / before, (before - now) / before]
  if (more >= 3) return html`<span class="up">${Math.floor(more)} times</span> as many as in ${time}`
  const percent = Math.max(1, Math.round(Math.abs(fewer) * 100))
  return now > before
    ? html`<span class="up">${percent}% more</span> than in ${time}`
    : html`<span class="down">${percent}% fewer</span> than in ${time}`
}
