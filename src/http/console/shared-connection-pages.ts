import type { z } from '@hono/zod-openapi'
import { html } from 'hono/html'
import type { SharedWith } from '../../domain/shared-connection.ts'
import {
  addConnectionOfProject,
  deleteConnectionOfProject,
  getConnectionOfProject,
  listConnectionsOfProject,
  testConnectionOfProject,
  updateConnectionOfProject,
} from '../../operations/admin/shared-connections.ts'
import { omitted } from '../../operations/omitted.ts'
import { getAuthProvider, listAuthProviders } from '../../operations/providers/auth-providers.ts'
import { LONGEST_VALUE } from '../../providers/credentials.ts'
import type { credentialsAnswer } from '../../providers/definition/credentials-settings.ts'
import { asCurl, buttonLink, facts, section, table } from './elements.ts'
import { endOnce } from './end-once.ts'
import { field, hidden, secretArea, submit } from './form-fields.ts'
import { attempt } from './form-outcome.ts'
import { operationForm, problemOf, type SentBody } from './operation-form.ts'
import { outputView } from './output-view.ts'
import { perform } from './perform.ts'
import type { ConsoleRoutes, OnPage } from './routes.ts'
import { rowDanger } from './row-actions.ts'

const SHARING = {
  'shared_with.users': { label: 'Users', hint: 'Their ids; * is any characters.' },
  'shared_with.agents': {
    label: 'Agents',
    hint: 'Ids or names of API keys, client ids of MCP clients. Left empty: any.',
  },
  'shared_with.tools': {
    label: 'Tools',
    hint: 'Names of tools, such as Crm.*. Left empty: any, and the proxy and tokens that callers fetch.',
  },
} as const

const ADD = operationForm(addConnectionOfProject, {
  provider_id: { label: 'Provider', hint: 'A provider whose owner is project or either.' },
  name: { label: 'Name', hint: 'What people call it.' },
  ...SHARING,
  scopes: { label: 'Scopes', hint: 'The most that its tokens may have. Left empty: what each tool needs.' },
  owner: false,
  fields: false,
})

const ADD_KEY = operationForm(addConnectionOfProject, {
  name: { label: 'Name', hint: 'What people call it.' },
  ...SHARING,
  ...{ provider_id: false, owner: false, scopes: false, fields: false },
})

const CHANGE = operationForm(
  updateConnectionOfProject,
  { name: { label: 'Name', hint: 'What people call it.' }, ...SHARING, fields: false },
  { isRecord: true },
)

const sharingOf = ({ users, agents, tools }: SharedWith) =>
  [
    `users ${users.join(', ')}`,
    ...(agents ? [`agents ${agents.join(', ')}`] : []),
    ...(tools ? [`tools ${tools.join(', ')}`] : []),
  ].join('; ')

const ROWS = outputView(getConnectionOfProject.output, {
  name: ['Name', ({ id, name }) => html`<a href="/dashboard/shared/${id}">${name}</a>`],
  provider_id: ['Provider', ({ provider_id: id }) => id ?? 'removed'],
  shared_with: ['Shared with', ({ shared_with: shared }) => sharingOf(shared)],
  scopes: ['At most', ({ scopes }) => scopes?.join(' ') ?? 'what each tool needs'],
  status: [
    'Status',
    ({ status, status_reason: reason }) =>
      status === 'active' ? 'active' : `needs attention${reason === undefined ? '' : `: ${reason}`}`,
  ],
  created_at: 'Added',
  ...omitted('id', 'owner', 'status_reason', 'updated_at'),
})

type Fields = Readonly<Record<string, NonNullable<z.output<typeof credentialsAnswer>['fields']>[string]>>

const ABOVE = [['Connections of the project', '/shared']] as const

/** The inputs for what people type; secrets that were sent are not shown again. */
function fieldInputs(fields: Fields, { values, refused }: Partial<SentBody> = {}) {
  return Object.entries(fields).map(
    ([name, { label = name, secret, multiline, help_url: help, example }]) => {
      const id = `fields.${name}`
      const options = {
        ...(help !== undefined && {
          hint: html`<a href="${help}" rel="noreferrer" target="_blank">Where to find it</a>`,
        }),
        fault: refused?.faults.get(id),
        required: true,
      }
      if (secret && multiline) return secretArea(label, id, options)
      return field(label, id, {
        ...options,
        ...(secret
          ? { type: 'password' as const }
          : { value: values?.get(id) ?? '', ...(example !== undefined && { placeholder: example }) }),
        maxlength: LONGEST_VALUE,
      })
    },
  )
}

function fieldsIn(form: URLSearchParams): Record<string, string> {
  const entries = [...form].filter(([name]) => name.startsWith('fields.'))
  return Object.fromEntries(entries.map(([name, value]) => [name.replace('fields.', ''), value]))
}

/** Connections of the project: the list, the form that adds one, and a page for each to share it with others. */
export function addSharedConnectionPages(routes: ConsoleRoutes): void {
  async function list(on: OnPage, sent?: SentBody) {
    const { items } = await perform(on, listConnectionsOfProject)
    const rows = items.map((shared) => ROWS.cells(shared, on.broker.now()))
    const { items: providers } = on.mayChange ? await perform(on, listAuthProviders) : { items: [] }
    const withKeys = providers.filter(({ type, owner }) => type === 'credentials' && owner !== 'user')
    const empty = {
      title: 'No connections of the project yet',
      text: 'Services that a client uses by itself, without a user’s consent, are connected once for all or some users.',
      next: on.mayChange && html`<a class="button" href="#add">Add one</a>`,
    }
    const body = html`${table('Connections of the project', ROWS.heads, rows, empty)}
${on.mayChange && html`<div id="add">${section('Add a connection', html`${on.form('/shared', html`${ADD.view(sent)}${submit('Add connection')}`, { recent: true })}`)}</div>`}
${
  withKeys.length > 0 &&
  section(
    'Add a key',
    html`<p>A key of your organization at one of these providers, checked before it is stored:</p>
${withKeys.map(({ id }) => buttonLink(`/shared/key/${id}`, id))}`,
  )
}
${asCurl(on, '/v1/admin/connections')}`
    return on.show('Connections of the project', body, {
      lead: 'Shared by an administrator with users, agents and tools.',
      ...problemOf(sent),
    })
  }

  /** The form for a connection with a key of the provider. */
  async function newKey(on: OnPage, providerId: string, sent?: SentBody) {
    const { credentials } = await perform(on, getAuthProvider, { params: { id: providerId } })
    const inputs = html`${ADD_KEY.view(sent)}${fieldInputs(credentials?.fields ?? {}, sent)}`
    const body = html`${section('Key', html`${on.form(`/shared/key/${providerId}`, html`${inputs}${submit('Check and add')}`, { recent: true })}`)}
${asCurl(on, '/v1/admin/connections')}`
    return on.show(`A key for ${providerId}`, body, {
      lead: 'The service is asked whether it takes the key before it is stored, encrypted. It is never shown again.',
      above: ABOVE,
      ...problemOf(sent),
    })
  }

  async function one(on: OnPage, id: string, sent?: SentBody) {
    const shared = await perform(on, getConnectionOfProject, { params: { id } })
    const { provider_id: providerId } = shared
    const { credentials = undefined } =
      on.mayChange && providerId !== undefined
        ? await perform(on, getAuthProvider, { params: { id: providerId } })
        : {}
    const replace =
      credentials !== undefined &&
      section(
        'Replace the key',
        html`${on.form(`/shared/${id}/key`, html`${fieldInputs(credentials.fields, sent)}${submit('Check and replace')}`, { recent: true })}`,
      )
    const values = { values: CHANGE.valuesOf(shared) }
    const controls =
      on.mayChange &&
      html`${section('Share it with others', html`${on.form(`/shared/${id}`, html`${CHANGE.view(sent !== undefined && [...sent.values].length > 0 ? sent : values)}${submit('Save')}`, { recent: true })}`)}
${replace}
${section('Try it', html`${on.form(`/shared/${id}/test`, html`<p>${credentials === undefined ? 'Forgets its tokens, and asks the provider for a new one.' : 'Asks the service whether it still takes the key.'}</p>${submit('Try it')}`, { recent: true })}`)}
${rowDanger(on, {
  action: '/shared/delete',
  text: 'Delete',
  of: shared.name,
  fields: html`${hidden('id', id)}${hidden('name', shared.name)}`,
  says: 'Tools that use it do not run without it.',
  button: 'Delete',
})}`
    const body = html`${facts(ROWS.facts(shared, on.broker.now()))}
${controls}
${asCurl(on, `/v1/admin/connections/${id}`)}`
    return on.show(shared.name, body, {
      above: ABOVE,
      lead: 'A connection of the project.',
      ...problemOf(sent),
    })
  }

  routes.page('/shared', (on) => list(on))
  routes.page('/shared/key/:provider', (on) => newKey(on, on.c.req.param('provider') ?? ''))
  routes.page('/shared/:id', (on) => one(on, on.c.req.param('id') ?? ''))

  routes.form(
    '/shared',
    async (on, form) => {
      const added = await attempt(() => perform(on, addConnectionOfProject, { body: ADD.read(form) }))
      if (added.outcome === 'refused') return list(on, { values: form, refused: added })
      return on.go('/shared', `${added.result.name} works, and is shared.`)
    },
    { recent: true },
  )

  routes.form(
    '/shared/delete',
    endOnce(
      (_, form) => ({
        entry: { action: 'shared_connection.deleted', subject: form.get('id') ?? '' },
        list: '/shared',
        already: `${form.get('name') ?? ''} had already been deleted.`,
      }),
      async (on, form) => {
        await perform(on, deleteConnectionOfProject, { params: { id: form.get('id') ?? '' } })
        return on.go('/shared', `${form.get('name') ?? ''} was deleted.`)
      },
    ),
    { recent: true },
  )

  routes.form(
    '/shared/key/:provider',
    async (on, form) => {
      const provider_id = on.c.req.param('provider') ?? ''
      const added = await attempt(() =>
        perform(on, addConnectionOfProject, {
          body: { ...ADD_KEY.read(form), provider_id, fields: fieldsIn(form) },
        }),
      )
      if (added.outcome === 'refused') return newKey(on, provider_id, { values: form, refused: added })
      return on.go('/shared', `${added.result.name} works, and is shared.`)
    },
    { recent: true },
  )

  routes.form(
    '/shared/:id/key',
    async (on, form) => {
      const id = on.c.req.param('id') ?? ''
      const changed = await attempt(() =>
        perform(on, updateConnectionOfProject, { params: { id }, body: { fields: fieldsIn(form) } }),
      )
      if (changed.outcome === 'refused')
        return one(on, id, { values: new URLSearchParams(), refused: changed })
      return on.go(`/shared/${id}`, 'The service takes the new key.')
    },
    { recent: true },
  )

  routes.form(
    '/shared/:id',
    async (on, form) => {
      const id = on.c.req.param('id') ?? ''
      const changed = await attempt(() =>
        perform(on, updateConnectionOfProject, { params: { id }, body: CHANGE.read(form) }),
      )
      if (changed.outcome === 'refused') return one(on, id, { values: form, refused: changed })
      return on.go(
        `/shared/${id}`,
        `${changed.result.name} is shared with ${sharingOf(changed.result.shared_with)}.`,
      )
    },
    { recent: true },
  )

  routes.form(
    '/shared/:id/test',
    async (on) => {
      const id = on.c.req.param('id') ?? ''
      const tested = await attempt(() => perform(on, testConnectionOfProject, { params: { id } }))
      if (tested.outcome === 'refused') return one(on, id, { values: new URLSearchParams(), refused: tested })
      return on.go(`/shared/${id}`, 'It works.')
    },
    { recent: true },
  )
}
