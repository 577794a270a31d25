import type { z } from '@hono/zod-openapi'
import { html } from 'hono/html'
import type { Broker } from '../../broker.ts'
import { acceptWaiting } from '../../tools/catalogue/acceptance.ts'
import { getWorker, updateWorker } from '../../tools/worker.ts'
import { type Html, name } from '../pages/layout.ts'
import type { acceptanceSchema } from '../workers/worker-acceptance.ts'
import { deleteWorker, workerToWire } from '../workers/workers.ts'
import { asCurl, badge, buttonLink, code, facts, link, section, type Tone, table, time } from './elements.ts'
import { hidden, submit } from './form-fields.ts'
import type { ConsoleRoutes, OnPage } from './routes.ts'

const ABOVE = [['Workers', '/workers']] as const

/** The workers: whether each answers, and what its tools ask for and may use. */
export function addWorkerPages(routes: ConsoleRoutes, broker: Broker): void {
  routes.page('/workers', async (on) => {
    const workers = await broker.store.workers.list(on.projectId)
    const wires = await Promise.all(workers.map((one) => workerToWire(broker, one)))
    const now = broker.now()
    const rows = wires.map(({ id, type, status, acceptance }, i) => [
      link(pathOf(id), html`${name(id)}`),
      html`<code>${type}</code>`,
      html`${statusBadge(status)}${acceptance.waiting !== undefined && html` ${badge('asks for more', 'wait')}`}`,
      workers[i]?.syncedAt === undefined ? undefined : time(workers[i].syncedAt, now),
    ])
    const empty = html`No workers yet. <code>gatepass workers add</code> registers one: a server that lists tools and runs them.`
    return on.show(
      'Workers',
      html`${table('Workers', ['Id', 'Type', 'Status', 'Tools read'], rows, empty)}${asCurl(on, '/v1/workers')}`,
      {
        lead: 'The servers that list tools and run them.',
      },
    )
  })

  routes.page('/workers/:id', async (on) => {
    const worker = await getWorker(broker, on.projectId, idOf(on))
    const wire = await workerToWire(broker, worker)
    const { id, type, status, enabled, managed, acceptance, sync_error: trouble, requirements } = wire
    const settings = (wire as Readonly<Record<string, unknown>>)[type] // the block has the name of the type
    const body = html`${trouble !== undefined && html`<p class="note bad">${name(trouble, { longest: 1000 })}</p>`}
${acceptance.waiting !== undefined && waitingSection(on, id, acceptance.waiting)}
${section(
  'Worker',
  facts([
    ['Status', statusBadge(status)],
    ['Why', requirements.status_reason],
    ['Type', html`<code>${type}</code>`],
    ['Address', worker.uri === '' ? undefined : html`<code><bdi>${worker.uri}</bdi></code>`],
    ['Tools read', worker.syncedAt === undefined ? 'never' : time(worker.syncedAt, broker.now())],
    ['Comes from', managed ? 'the settings (GATEPASS_TOOLS)' : undefined],
  ]),
)}
${section(
  'What its tools may use',
  html`${acceptance.automatic === true && html`<p class="muted">All that its catalogue names is accepted without being asked.</p>`}${needsView('Accepted', acceptance.accepted)}`,
)}
${settings !== undefined && section('Settings', html`<pre tabindex="0"><code>${JSON.stringify(settings, null, 2)}</code></pre>`)}
${on.mayChange && !managed && changeSection(on, id, enabled)}
${asCurl(on, `/v1/workers/${encodeURIComponent(id)}`)}`
    return on.show(id, body, {
      above: ABOVE,
      actions: buttonLink(`/tools?worker=${encodeURIComponent(id)}`, 'Its tools'),
    })
  })

  routes.form(
    '/workers/:id/accept',
    async (on, form) => {
      const worker = await getWorker(broker, on.projectId, idOf(on))
      const digest = form.get('digest') ?? ''
      await acceptWaiting(broker, worker, { digest })
      return on.go(pathOf(worker.id), 'It is accepted: the tools that waited run again.')
    },
    { recent: true },
  )

  const switchesOn = (form: URLSearchParams) => form.get('enabled') === 'true'
  routes.form(
    '/workers/:id/enabled',
    async (on, form) => {
      const worker = await getWorker(broker, on.projectId, idOf(on))
      const enabled = switchesOn(form)
      await updateWorker(broker, worker, { enabled })
      return on.go(
        pathOf(worker.id),
        enabled ? 'It is switched on.' : 'It is switched off: its tools do not run.',
      )
    },
    { recent: switchesOn },
  )

  routes.form(
    '/workers/:id/delete',
    async (on) => {
      const id = idOf(on)
      await deleteWorker(broker, on.projectId, id)
      return on.go('/workers', `The worker ${id} was deleted with its tools.`)
    },
    { recent: true },
  )
}

type Acceptance = z.infer<typeof acceptanceSchema>
type Needs = Acceptance['accepted']

const idOf = ({ c }: OnPage) => c.req.param('id') ?? ''
const pathOf = (id: string) => `/workers/${encodeURIComponent(id)}`

const TONES: Readonly<Record<string, Tone>> = {
  active: 'good',
  inactive: 'plain',
  unreachable: 'bad',
  unauthorized: 'wait',
}
const STATUS_WORDS: Readonly<Record<string, string>> = {
  active: 'answers',
  inactive: 'switched off',
  unreachable: 'cannot be reached',
  unauthorized: 'a user must open it',
}

function statusBadge(status: string): Html {
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
  return table(caption, ['What', 'Scopes'], rows, 'Nothing: its tools get no token and no secret.')
}

function waitingSection(on: OnPage, id: string, waiting: NonNullable<Acceptance['waiting']>): Html {
  const { tools, digest } = waiting
  return section(
    'It asks for more',
    html`<p>Since it was registered, its catalogue names what nobody has accepted. Users are not asked for it, and these tools do not run until you accept: ${tools.slice(0, 20).map((tool) => html`${code(tool)} `)}${tools.length > 20 && `and ${tools.length - 20} more`}</p>
${needsView('Waits', waiting)}
${on.form(`${pathOf(id)}/accept`, html`${hidden('digest', digest)}${submit('Accept all of it')}`, { recent: true })}`,
  )
}

function changeSection(on: OnPage, id: string, enabled: boolean): Html {
  return section(
    'Switch off, delete',
    html`${on.form(`${pathOf(id)}/enabled`, html`${hidden('enabled', String(!enabled))}${submit(enabled ? 'Switch off' : 'Switch on', 'secondary')}`, { recent: !enabled })}
<details><summary>Delete this worker</summary><p>Its tools go with it. Imported tools that it ran stay, and nothing runs them.</p>
${on.form(`${pathOf(id)}/delete`, submit(`Delete ${id} and its tools`, 'danger'), { recent: true })}</details>`,
  )
}
