import { html } from 'hono/html'
import { type TriedWorker, testWorker } from '../../../operations/workers/worker-test.ts'
import { createWorker } from '../../../operations/workers/workers.ts'
import { type Html, name } from '../../pages/layout.ts'
import { asCurl, badge, section } from '../elements.ts'
import { attempt, type Refused } from '../form-outcome.ts'
import { problemOf } from '../operation-form.ts'
import { perform } from '../perform.ts'
import type { ConsoleRoutes, OnPage } from '../routes.ts'
import { WORKER_FORMS, workerBody, workerFields, workerForm } from './worker-form.ts'
import type { WorkerForm } from './worker-layout.ts'

/** The form that registers a worker of any type, and can try it first. */
export function addWorkerRegistration(routes: ConsoleRoutes): void {
  routes.page('/worker/new', (on) =>
    show(on, workerForm(on.query('type')), { values: new URLSearchParams() }),
  )

  routes.form(
    '/worker/new',
    async (on, form) => {
      const kind = workerForm(form.get('type'))
      const isTried = form.get('do') === 'try'
      const done = await attempt(async () => {
        const body = workerBody(form, kind, 'create')
        if (isTried) return perform(on, testWorker, { body })
        return { registered: (await perform(on, createWorker, { body })).id }
      })
      if (done.outcome === 'refused') return show(on, kind, { values: form, refused: done })
      const { result } = done
      if (!('registered' in result)) return show(on, kind, { values: form, tried: result })
      return on.go(
        `/workers/${encodeURIComponent(result.registered)}`,
        `The worker ${result.registered} was registered.`,
      )
    },
    { recent: true },
  )
}

interface Shown {
  readonly values: URLSearchParams
  readonly refused?: Refused
  readonly tried?: TriedWorker
}

function show(on: OnPage, kind: WorkerForm, { values, refused, tried }: Shown) {
  const kinds = WORKER_FORMS.map(
    ({ type, name }) =>
      html`<li><a href="/dashboard/worker/new?type=${type}"${type === kind.type ? html` aria-current="true"` : ''}>${name}</a></li>`,
  )
  const fields = html`${workerFields(kind, 'create', { values, refused })}
<div class="buttons"><button type="submit" name="do" value="try" class="secondary">Test first</button> <button type="submit" name="do" value="set">Register worker</button></div>`
  const block =
    kind.type === 'openapi' ? { url: 'https://…' } : { uri: values.get(`${kind.type}.uri`) || 'https://…' }
  const body = html`<nav class="tabs" aria-label="Type of the worker"><ul>${kinds}</ul></nav>
${tried !== undefined && trialSection(tried)}
${section(
  kind.name,
  on.mayChange
    ? html`<p class="muted">${kind.what}</p>${on.form('/worker/new', fields, { recent: true })}`
    : html`<p class="muted">An administrator registers workers.</p>`,
)}
${asCurl(on, '/v1/workers', { method: 'POST', body: { id: values.get('id') || 'notes', [kind.type]: { ...block, ...(kind.type === 'http' && { secret: '…' }) } } })}`
  return on.show('Register a worker', body, {
    above: [['Workers', '/workers']],
    lead: 'Its tools are read right away. The providers, scopes, and secrets that they ask for at that time are accepted with it.',
    ...problemOf({ refused }),
  })
}

function trialSection({ healthy, message, tool_count: tools }: TriedWorker): Html {
  const found = tools === undefined ? '' : tools === 1 ? 'It lists one tool.' : `It lists ${tools} tools.`
  return section(
    'Tried',
    html`<p>${badge(healthy ? 'answers' : 'does not work', healthy ? 'good' : 'bad')} ${found}${message !== undefined && html` ${name(message, { longest: 1000 })}`}</p>
<p class="muted small">Nothing was registered. Secrets are not shown again: type them again to continue.</p>`,
  )
}
