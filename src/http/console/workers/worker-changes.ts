import { html } from 'hono/html'
import type { Broker } from '../../../broker.ts'
import type { Worker } from '../../../domain/worker.ts'
import { connectUrl } from '../../../flows/acquire-tokens.ts'
import { updateWorker } from '../../../operations/workers/workers.ts'
import { getWorker, syncWorker } from '../../../tools/worker.ts'
import type { Html } from '../../pages/layout.ts'
import { section } from '../elements.ts'
import { field, submit } from '../form-fields.ts'
import { attempt, given } from '../form-outcome.ts'
import type { SentBody } from '../operation-form.ts'
import { perform } from '../perform.ts'
import type { ConsoleRoutes, OnPage } from '../routes.ts'
import { workerBody, workerFields, workerForm } from './worker-form.ts'
import { showWorker, workerPath } from './worker-view.ts'

/** The forms that read a worker's tools now, change its settings, and authorize Gatepass at an MCP server. */
export function addWorkerChanges(routes: ConsoleRoutes, broker: Broker): void {
  const workerOf = (on: OnPage) => getWorker(broker, on.projectId, on.c.req.param('id') ?? '')

  routes.form('/workers/:id/sync', async (on) => {
    return showRead(on, await syncWorker(broker, await workerOf(on)), 'Its tools were read just now.')
  })

  routes.form(
    '/workers/:id/settings',
    async (on, form) => {
      const worker = await workerOf(on)
      const kind = workerForm(worker.type)
      const done = await attempt(async () => {
        const body = workerBody(form, kind, 'change')
        const { enabled } = await perform(on, updateWorker, { params: { id: worker.id }, body })
        return { enabled, worker: await workerOf(on) }
      })
      if (done.outcome === 'refused')
        return showWorker(on, worker, {
          change: changeForm(on, worker, { values: form, refused: done }),
          problem: done.message,
          status: done.status,
        })
      if (!done.result.enabled) return on.go(workerPath(worker.id), 'The changes were saved.')
      return showRead(
        on,
        done.result.worker,
        'The worker was changed, and its tools were read.',
        'The changes were saved.',
      )
    },
    { recent: true },
  )

  /** Makes the link by which one user lets Gatepass list the tools of an MCP server with that user's connection. */
  routes.form(
    '/workers/:id/authorize',
    async (on, form) => {
      const worker = await workerOf(on)
      const { authorizeMcpServer } = await import('../../../tools/mcp/authorize-server.ts')
      const acquired = await attempt(() =>
        authorizeMcpServer(broker, worker, { userId: given(form, 'user') ?? '' }),
      )
      if (acquired.outcome === 'refused')
        return showWorker(on, worker, { problem: acquired.message, status: acquired.status })
      if (acquired.result.outcome === 'ready')
        return showRead(
          on,
          await workerOf(on),
          'It was already authorized. Its tools were read.',
          'It was already authorized.',
        )
      const { authorization } = acquired.result
      const { id } = authorization
      const url = connectUrl(broker, authorization)
      return showWorker(on, worker, {
        link: section(
          'The link for that user',
          html`<p>Its tools are listed once this user has approved. The link works for the user alone.</p><p><code class="copy">${url}</code></p>
  <p><a class="button" href="${url}">Open it here</a> <a class="button secondary" href="/dashboard/authorizations/${id}">Follow it</a></p>`,
        ),
      })
    },
    { recent: true },
  )
}

/** Redirects to the page of a worker after its tools were read. The page itself shows why a reading failed. */
function showRead(on: OnPage, { id, syncError }: Worker, message: string, failedMessage?: string) {
  return on.go(workerPath(id), syncError === undefined ? message : failedMessage)
}

/** The form that changes the settings of the worker's type. */
export function changeForm(on: OnPage, { id, type }: Worker, sent?: SentBody): Html {
  const fields = html`${workerFields(workerForm(type), 'change', sent)}${submit('Save and read tools')}`
  const form = on.form(`${workerPath(id)}/settings`, fields, { recent: true })
  return section(
    'Change',
    sent !== undefined
      ? html`${form}`
      : html`<details><summary>Change its address, secret, or settings</summary>${form}</details>`,
  )
}

/** The form that asks for the user with whose connection the tools of an MCP server are listed. */
export function authorizeForm(on: OnPage, { id }: Worker): Html {
  return section(
    'It needs OAuth',
    html`<p>Its tools are listed with the connection of one user. Those who call them approve with connections of their own.</p>
${on.form(`${workerPath(id)}/authorize`, html`${field('User', 'user', { required: true, maxlength: 500, hint: 'As your application calls the user.' })}${submit('Create link')}`, { recent: true })}`,
  )
}
