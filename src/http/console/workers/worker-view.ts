import type { z } from '@hono/zod-openapi'
import { html } from 'hono/html'
import { fromTimestamp } from '../../../domain/clock.ts'
import type { Worker } from '../../../domain/worker.ts'
import { omitted } from '../../../operations/omitted.ts'
import type { acceptanceSchema } from '../../../operations/workers/worker-acceptance.ts'
import { getWorker, workerToWire } from '../../../operations/workers/workers.ts'
import { type Html, name } from '../../pages/layout.ts'
import { asCurl, badge, buttonLink, code, facts, section, type Tone, table, time } from '../elements.ts'
import { hidden, submit } from '../form-fields.ts'
import { outputView } from '../output-view.ts'
import type { OnPage, ShowOptions } from '../routes.ts'
import { definitionsView, lookAlikesView } from './definitions-view.ts'

const FACTS = outputView(getWorker.output, {
  status: ['Status', ({ status }) => statusBadge(status)],
  'requirements.status_reason': [
    'Why',
    (worker) => (worker.sync_error === undefined ? worker.requirements.status_reason : undefined),
  ],
  type: ['Type', ({ type }) => html`<code>${type}</code>`],
  synced_at: [
    'Tools read',
    ({ synced_at: at }, now) => (at === undefined ? 'never' : time(fromTimestamp(at), now)),
  ],
  managed: ['Comes from', ({ managed }) => (managed ? 'the settings (GATEPASS_TOOLS)' : undefined)],
  // the title; above
  ...omitted('id', 'enabled', 'sync_error'),
})

/** The path of a worker's page, below `/dashboard`. */
export const workerPath = (id: string) => `/workers/${encodeURIComponent(id)}`

export interface WorkerPageParts extends Pick<ShowOptions, 'problem' | 'status'> {
  /** The form that authorizes an MCP server, or the link that the form has made. */
  readonly link?: Html
  /** The form that changes the worker's settings. */
  readonly change?: Html
}

/** Answers with the page of a worker: first what is wrong, then what the worker's tools may use. */
export async function showWorker(
  on: OnPage,
  worker: Worker,
  { link, change, ...options }: WorkerPageParts = {},
): Promise<Response> {
  const { broker } = on
  const wire = await workerToWire(broker, worker)
  const { id, type, enabled, managed, acceptance, sync_error: trouble } = wire
  const settings = (wire as Readonly<Record<string, unknown>>)[type] // the block has the name of the type
  const body = html`${trouble !== undefined && html`<p class="note bad">${name(trouble, { longest: 1000 })}</p>`}
${link}
${acceptance.waiting !== undefined && waitingSection(on, id, acceptance)}
${acceptance.look_alikes !== undefined && section('Names', lookAlikesView(acceptance.look_alikes))}
${section(
  'Worker',
  facts([
    ...FACTS.facts(wire, broker.now()),
    ['Address', worker.uri === '' ? undefined : html`<code><bdi>${worker.uri}</bdi></code>`],
  ]),
)}
${section(
  'What its tools may use',
  html`${acceptance.automatic === true && html`<p class="muted">Everything that its catalogue names is accepted automatically.</p>`}${needsView('Accepted', acceptance.accepted)}`,
)}
${settings !== undefined && section('Settings', html`<pre tabindex="0"><code>${JSON.stringify(settings, null, 2)}</code></pre>`)}
${change}
${on.mayChange && !managed && changeSection(on, id, enabled)}
${asCurl(on, `/v1/workers/${encodeURIComponent(id)}`)}`
  return on.show(id, body, {
    above: [['Workers', '/workers']],
    ...options,
    actions: html`${buttonLink(`/tools?worker=${encodeURIComponent(id)}`, 'Its tools')}${enabled && !managed && on.form(`${workerPath(id)}/sync`, submit('Read tools now', 'secondary'), { className: 'inline' })}`,
  })
}

type Acceptance = z.infer<typeof acceptanceSchema>
type Needs = Acceptance['accepted']

const TONES: Readonly<Record<string, Tone>> = {
  active: 'good',
  inactive: 'plain',
  unreachable: 'bad',
  unauthorized: 'wait',
}
const STATUS_WORDS: Readonly<Record<string, string>> = {
  active: 'answers',
  inactive: 'disabled',
  unreachable: 'cannot be reached',
  unauthorized: 'a user must authorize it',
}

export function statusBadge(status: string): Html {
  return badge(STATUS_WORDS[status] ?? status, TONES[status] ?? 'plain')
}

function needsView(caption: string, { providers, secrets }: Needs): Html {
  const rows = [
    ...providers.map(({ id, scopes }) => [
      html`Provider ${code(id)}`,
      scopes.length === 0
        ? html`<span class="muted">no scopes</span>`
        : html`${scopes.map((scope) => html`${code(scope)} `)}`,
    ]),
    ...secrets.map((key) => [html`Secret ${code(key)}`, undefined]),
  ]
  return table(caption, ['What', 'Scopes'], rows, 'Nothing: its tools get no tokens or secrets.')
}

function waitingSection(on: OnPage, id: string, { waiting, changed = [] }: Acceptance): Html | '' {
  if (waiting === undefined) return ''
  const { tools, names, digest } = waiting
  return section(
    changed.length > 0 ? 'Its tools have changed' : 'It asks for more',
    html`${changed.length > 0 && definitionsView(changed)}${
      tools.length > 0 &&
      html`<p>Since it was registered, its catalogue has named requirements that are not accepted. Users are not asked for them, and these tools do not run until you accept: ${tools.slice(0, 20).map((tool) => html`${code(tool)} `)}${tools.length > 20 && `and ${tools.length - 20} more`}</p>
${needsView('Waits', waiting)}`
    }
${names.length > 0 && namesView(names)}
${on.form(`${workerPath(id)}/accept`, html`${hidden('digest', digest)}${submit('Accept all of it')}`, { recent: true })}`,
  )
}

const MAX_SHOWN_NAMES = 50

function namesView(names: NonNullable<Acceptance['waiting']>['names']): Html {
  const rows = names
    .slice(0, MAX_SHOWN_NAMES)
    .map((owned) => [
      code(owned.name),
      owned.owner === undefined ? 'no source yet' : html`${code(owned.owner)}`,
    ])
  return html`<p>These names do not belong to this worker. Until you accept, its tools with these names are in no list, and run only by their full ids. When you accept, the names are this worker’s: the tools of their former sources are then in no list, and run only by their full ids.</p>
${table('Names', ['Name', 'Belongs to'], rows, 'None.')}${names.length > MAX_SHOWN_NAMES && html`<p>and ${names.length - MAX_SHOWN_NAMES} more</p>`}`
}

function changeSection(on: OnPage, id: string, enabled: boolean): Html {
  return section(
    'Disable or delete',
    html`${on.form(`${workerPath(id)}/enabled`, html`${hidden('enabled', String(!enabled))}${submit(enabled ? 'Disable' : 'Enable', 'secondary')}`, { recent: !enabled })}
<details><summary>Delete this worker</summary><p>Its tools are deleted too. Imported tools that it ran are kept, without a worker.</p>
${on.form(`${workerPath(id)}/delete`, submit(`Delete ${id} and its tools`, 'danger'), { recent: true })}</details>`,
  )
}
