import { html } from 'hono/html'
import type { TestedPoint } from '../../../flows/test-provider.ts'
import { type Html, name } from '../../pages/layout.ts'
import { badge, section, type Tone, table } from '../elements.ts'

const SHOWN: Readonly<Record<TestedPoint['outcome'], readonly [text: string, tone: Tone]>> = {
  ok: ['passed', 'good'],
  warning: ['warning', 'wait'],
  failed: ['failed', 'bad'],
  unknown: ['not known', 'plain'],
}

/** The result of the test of a provider, point by point. */
export function testedView(points: readonly TestedPoint[]): Html {
  const rows = points.map(({ point, outcome, message }) => [
    html`<strong>${name(point, { longest: 200 })}</strong>`,
    badge(...SHOWN[outcome]),
    name(message, { longest: 1000 }),
  ])
  const isGood = points.every(({ outcome }) => outcome === 'ok' || outcome === 'unknown')
  return section(
    'Tested just now',
    html`<p class="note ${isGood ? 'good' : 'bad'}" role="status">${isGood ? 'Nothing wrong was found.' : 'Something is not right.'}</p>${table('Points of the test', ['What', 'Result', 'Found'], rows, '')}`,
  )
}
