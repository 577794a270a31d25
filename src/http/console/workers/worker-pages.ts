import { html } from 'hono/html'
import type { Broker } from '../../../broker.ts'
import { omitted } from '../../../operations/omitted.ts'
import { findWorkerType } from '../../../operations/worker-types/registry.ts'
import {
  acceptWorkerRequirements,
  deleteWorker,
  getWorker as getWorkerOperation,
  updateWorker,
  workerToWire,
} from '../../../operations/workers/workers.ts'
import { getWorker } from '../../../tools/worker.ts'
import { name } from '../../pages/layout.ts'
import { asCurl, badge, buttonLink, link, table } from '../elements.ts'
import { endOnce } from '../end-once.ts'
import { hidden } from '../form-fields.ts'
import { outputView } from '../output-view.ts'
import { perform } from '../perform.ts'
import type { ConsoleRoutes, OnPage } from '../routes.ts'
import { ACTIONS, returnTo, rowButton } from '../row-actions.ts'
import { addWorkerChanges, authorizeForm, changeForm } from './worker-changes.ts'
import { addWorkerRegistration } from './worker-registration.ts'
import { showWorker, statusBadge, workerPath } from './worker-view.ts'

function switchAction(on: OnPage, { id, enabled }: { readonly id: string; readonly enabled: boolean }) {
  return rowButton(on, {
    action: `${workerPath(id)}/enabled`,
    text: enabled ? 'Disable' : 'Enable',
    of: id,
    fields: hidden('enabled', String(!enabled)),
    recent: !enabled,
  })
}

const idOf = ({ c }: OnPage) => c.req.param('id') ?? ''

const ROWS = outputView(getWorkerOperation.output, {
  id: ['ID', ({ id }) => link(workerPath(id), html`${name(id)}`)],
  type: ['Type', ({ type }) => html`<code>${type}</code>`],
  status: [
    'Status',
    ({ status, acceptance: { waiting, changed } }) =>
      html`${statusBadge(status)}${waiting !== undefined && html` ${badge(changed === undefined ? 'asks for more' : 'has changed', 'wait')}`}`,
  ],
  synced_at: 'Tools read',
  // in the status
  ...omitted('enabled', 'sync_error', 'managed'),
})

/** The workers: whether each answers, and which providers, scopes and secrets its tools may use. */
export function addWorkerPages(routes: ConsoleRoutes, broker: Broker): void {
  addWorkerRegistration(routes)
  addWorkerChanges(routes, broker)

  routes.page('/workers', async (on) => {
    const workers = await broker.store.workers.list(on.projectId)
    const wires = await Promise.all(workers.map((worker) => workerToWire(broker, worker)))
    const rows = wires.map((worker) => [
      ...ROWS.cells(worker, broker.now()),
      ...(on.mayChange ? [worker.managed ? '' : switchAction(on, worker)] : []),
    ])
    const heads = [...ROWS.heads, ...(on.mayChange ? [ACTIONS] : [])]
    const empty = {
      title: 'No workers yet',
      text: 'A worker is a server that lists tools and runs them: an HTTP worker, an MCP server, or an API with an OpenAPI document.',
      next: on.mayChange && buttonLink('/worker/new', 'Register a worker', { secondary: false }),
    }
    return on.show('Workers', html`${table('Workers', heads, rows, empty)}${asCurl(on, '/v1/workers')}`, {
      lead: 'The servers that list tools and run them.',
      ...(on.mayChange && {
        actions: buttonLink('/worker/new', 'Register a worker', { secondary: false }),
      }),
    })
  })

  routes.page('/workers/:id', async (on) => {
    const worker = await getWorker(broker, on.projectId, idOf(on))
    const isAuthorized = findWorkerType(worker.type)?.isAuthorized?.(worker)
    return showWorker(on, worker, {
      ...(isAuthorized === false && on.mayChange && { link: authorizeForm(on, worker) }),
      ...(on.mayChange && findWorkerType(worker.type) !== undefined && { change: changeForm(on, worker) }),
    })
  })

  routes.form(
    '/workers/:id/accept',
    async (on, form) => {
      const body = { digest: form.get('digest') ?? '' }
      const { id } = await perform(on, acceptWorkerRequirements, { params: { id: idOf(on) }, body })
      return on.go(workerPath(id), 'Accepted: the tools that were waiting can now run under their names.')
    },
    { recent: true },
  )

  const switchesOn = (form: URLSearchParams) => form.get('enabled') === 'true'
  routes.form(
    '/workers/:id/enabled',
    async (on, form) => {
      const enabled = switchesOn(form)
      const { id } = await perform(on, updateWorker, { params: { id: idOf(on) }, body: { enabled } })
      return on.go(
        returnTo(form, '/workers', workerPath(id)),
        enabled ? `${id} was enabled.` : `${id} was disabled: its tools do not run.`,
      )
    },
    { recent: switchesOn },
  )

  routes.form(
    '/workers/:id/delete',
    endOnce(
      (on) => ({
        entry: { action: 'worker.deleted', subject: idOf(on) },
        list: '/workers',
        already: `The worker ${idOf(on)} had already been deleted.`,
      }),
      async (on) => {
        const id = idOf(on)
        await perform(on, deleteWorker, { params: { id } })
        return on.go('/workers', `The worker ${id} was deleted with its tools.`)
      },
    ),
    { recent: true },
  )
}
