import { html } from 'hono/html'
import type { Broker } from '../../broker.ts'
import { administersInstallation } from '../../flows/manage-keys.ts'
import { createProject, projectToWire } from '../../operations/admin/projects.ts'
import { name } from '../pages/layout.ts'
import { asCurl, badge, code, section, table } from './elements.ts'
import { submit } from './form-fields.ts'
import { attempt } from './form-outcome.ts'
import { operationForm, problemOf, type SentBody } from './operation-form.ts'
import { outputView } from './output-view.ts'
import { perform } from './perform.ts'
import type { ConsoleRoutes, OnPage } from './routes.ts'

const CREATE = operationForm(createProject, { name: 'Name' })
const ROWS = outputView(createProject.output, {
  name: ['Name', ({ name: called }) => html`${name(called)}`],
  id: ['ID', ({ id }) => code(id)],
  created_at: 'Made',
})

/** The list of projects: all of them for those who administer the installation, else only the session's project. */
export function addProjectPages(routes: ConsoleRoutes, broker: Broker): void {
  async function list(on: OnPage, sent?: SentBody) {
    const own = on.session.project
    const isAll = on.mayChange && administersInstallation(own)
    const projects = isAll ? await broker.store.projects.list() : [own]
    const rows = projects.map((project) => [
      ...ROWS.cells(projectToWire(project), broker.now()),
      project.id === own.id ? badge('shown', 'good') : '',
    ])
    const fields = html`${CREATE.view(sent)}${submit('Create project')}`
    const body = html`${table('Projects', [...ROWS.heads, html`<span class="visually-hidden">Shown</span>`], rows, 'No projects.')}
${isAll && section('Create a project', html`<p>It has no key yet: <code>gatepass keys create --project</code> or <code>POST /v1/admin/keys</code> with its name makes the first one.</p>${on.form('/projects', fields)}`)}
${asCurl(on, '/v1/admin/projects')}`
    return on.show('Projects', body, {
      lead: 'Each has its own providers, users, keys, and audit trail.',
      ...problemOf(sent),
    })
  }

  routes.page('/projects', (on) => list(on))

  routes.form('/projects', async (on, form) => {
    const made = await attempt(() => perform(on, createProject, { body: CREATE.read(form) }))
    if (made.outcome === 'refused') return list(on, { values: form, refused: made })
    return on.go('/projects', `The project ${made.result.name} was created.`)
  })
}
