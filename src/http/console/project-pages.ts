import { html } from 'hono/html'
import type { Broker } from '../../broker.ts'
import { administersInstallation } from '../../flows/manage-keys.ts'
import { createProject } from '../../operations/admin/projects.ts'
import { name } from '../pages/layout.ts'
import { attempt, type Refused } from './attempt.ts'
import { asCurl, badge, code, section, table, time } from './elements.ts'
import { field, submit } from './form-fields.ts'
import { perform } from './perform.ts'
import type { ConsoleRoutes, OnPage } from './routes.ts'

/** The list of projects: all of them for those who administer the installation, else only the session's project. */
export function addProjectPages(routes: ConsoleRoutes, broker: Broker): void {
  async function list(on: OnPage, form?: URLSearchParams, refused?: Refused) {
    const own = on.session.project
    const isAll = on.mayChange && administersInstallation(own)
    const projects = isAll ? await broker.store.projects.list() : [own]
    const rows = projects.map(({ id, name: called, createdAt }) => [
      html`${name(called)}${id === own.id && html` ${badge('shown', 'good')}`}`,
      code(id),
      time(createdAt, broker.now()),
    ])
    const fields = html`${field('Name', 'name', { value: form?.get('name') ?? '', required: true, maxlength: 100, fault: refused?.faults.get('name'), hint: 'Letters, digits, _ . -, a letter or digit first.' })}${submit('Make the project')}`
    const body = html`${table('Projects', ['Name', 'Id', 'Made'], rows, 'No projects.')}
${isAll && section('Make a project', html`<p>It has no key yet: <code>gatepass keys create --project</code> or <code>POST /v1/admin/keys</code> with its name makes the first one.</p>${on.form('/projects', fields)}`)}
${asCurl(on, '/v1/admin/projects')}`
    return on.show('Projects', body, {
      lead: 'Each has its own providers, users, keys and audit trail.',
      ...(refused !== undefined && { problem: refused.message, status: refused.status }),
    })
  }

  routes.page('/projects', (on) => list(on))

  routes.form('/projects', async (on, form) => {
    const body = { name: form.get('name')?.trim() ?? '' }
    const made = await attempt(() => perform(on, createProject, { body }))
    if (made.outcome === 'refused') return list(on, form, made)
    return on.go('/projects', `The project ${made.result.name} was made.`)
  })
}
