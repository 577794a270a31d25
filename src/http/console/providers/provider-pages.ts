import { html } from 'hono/html'
import type { Broker } from '../../../broker.ts'
import { BrokerError } from '../../../domain/errors.ts'
import { getEntry } from '../../../flows/manage-providers.ts'
import { testProvider } from '../../../flows/test-provider.ts'
import { omitted } from '../../../operations/omitted.ts'
import {
  deleteAuthProvider,
  getAuthProvider,
  updateAuthProvider,
} from '../../../operations/providers/auth-providers.ts'
import { entryToWire } from '../../../operations/providers/provider-wire.ts'
import { endpointsOf } from '../../../providers/provider.ts'
import type { ProviderEntry } from '../../../providers/provider-entry.ts'
import { type Html, name } from '../../pages/layout.ts'
import { asCurl, badge, buttonLink, code, facts, link, section, table } from '../elements.ts'
import { endOnce } from '../end-once.ts'
import { submit } from '../form-fields.ts'
import { attempt } from '../form-outcome.ts'
import type { SentBody } from '../operation-form.ts'
import { outputView } from '../output-view.ts'
import { perform } from '../perform.ts'
import type { ConsoleRoutes, OnPage } from '../routes.ts'
import { addCataloguePages, externalLink } from './catalogue-pages.ts'
import { entryChange, entryFields } from './entry-form.ts'
import { logoTile } from './logo-tile.ts'
import { testedView } from './tested-view.ts'

const ABOVE = [['Providers', '/providers']] as const

const ROWS = outputView(getAuthProvider.output, {
  status: ['Status', ({ status }) => statusBadge(status)],
  'oauth2.client_id': ['Client id', ({ oauth2: { client_id: id } }) => id && code(id, { longest: 30 })],
  description: 'Description',
  updated_at: 'Changed',
  ...omitted('id', 'provider_id', 'type', 'missing', 'created_at'),
})

const FACTS = outputView(getAuthProvider.output, {
  status: ['Status', ({ status }) => statusBadge(status)],
  description: 'Description',
  'oauth2.redirect_uri': [
    'Redirect URI',
    ({ oauth2 }) => html`<code class="copy">${oauth2.redirect_uri}</code>`,
  ],
  'oauth2.client_id': [
    'Client id',
    ({ oauth2: { client_id: id } }) => (id ? code(id, { longest: 200 }) : NOT_SET),
  ],
  'oauth2.client_secret': ['Client secret', ({ oauth2 }) => (oauth2.client_secret.exists ? 'set' : NOT_SET)],
  provider_id: ['In the catalogue as', ({ provider_id: id }) => id && code(id)],
  created_at: 'Added',
  updated_at: 'Changed',
  // the title; above
  ...omitted('id', 'type', 'missing'),
})
const NOT_SET = html`<span class="muted">not set</span>`

/** The project's provider entries: their settings, the steps that are missing, and a test. */
export function addProviderPages(routes: ConsoleRoutes, broker: Broker): void {
  addCataloguePages(routes, broker)

  routes.page('/providers', async (on) => {
    const entries = await broker.store.providers.list(on.projectId)
    const rows = entries.map((entry) => {
      const { id, provider } = entry
      return [
        html`<span class="with-logo">${logoTile(logoOf(broker, entry), provider.displayName)}${link(pathOf(id), html`${name(id)}`)}</span>`,
        name(provider.displayName),
        ...ROWS.cells(entryToWire(broker, entry), broker.now()),
      ]
    })
    const body = html`${table('Providers', ['Id', 'Name', ...ROWS.heads], rows, html`No providers yet. ${link('/catalogue', 'Add one from the catalogue')}, or import a tool that names one.`)}
${asCurl(on, '/v1/admin/auth_providers')}`
    return on.show('Providers', body, {
      lead: 'The authorization servers at which your users approve.',
      ...(on.mayChange && { actions: buttonLink('/catalogue', 'Add a provider', { secondary: false }) }),
    })
  })

  routes.page('/providers/:id', async (on) => {
    const entry = await getEntry(broker, on.projectId, idOf(on))
    return on.show(entry.id, entryPage(on, entry), { above: ABOVE, lead: leadOf(entry) })
  })

  routes.form(
    '/providers/:id/client',
    async (on, form) => {
      const id = idOf(on)
      const changed = await attempt(async () =>
        perform(on, updateAuthProvider, { params: { id }, body: entryChange(form) }),
      )
      if (changed.outcome === 'done') return on.go(pathOf(id), 'The entry was changed.')
      const entry = await getEntry(broker, on.projectId, id)
      return on.show(entry.id, entryPage(on, entry, { values: form, refused: changed }), {
        above: ABOVE,
        problem: changed.message,
        status: changed.status,
      })
    },
    { recent: true },
  )

  /** The entries under test in this process: an entry has one test at a time, because a test sends requests. */
  const underTest = new Set<string>()
  routes.form('/providers/:id/test', async (on) => {
    const entry = await getEntry(broker, on.projectId, idOf(on))
    if (underTest.has(entry.uid))
      throw new BrokerError(
        'rate_limited',
        'This provider is being tested. Wait until the test has ended, then try again.',
      )
    underTest.add(entry.uid)
    try {
      const points = await testProvider(broker, entry)
      return await on.show(entry.id, html`${testedView(points)}${entryPage(on, entry)}`, {
        above: ABOVE,
        lead: leadOf(entry),
      })
    } finally {
      underTest.delete(entry.uid)
    }
  })

  const switchesOn = (form: URLSearchParams) => form.get('status') !== 'inactive'
  routes.form(
    '/providers/:id/status',
    async (on, form) => {
      const id = idOf(on)
      const isOn = switchesOn(form)
      const body = { status: isOn ? 'active' : 'inactive' }
      await perform(on, updateAuthProvider, { params: { id }, body })
      return on.go(
        pathOf(id),
        isOn ? 'It is switched on.' : 'It is switched off: its tokens are not handed out.',
      )
    },
    { recent: switchesOn },
  )

  routes.form(
    '/providers/:id/delete',
    endOnce(
      (on) => ({
        entry: { action: 'provider.deleted', providerId: idOf(on) },
        list: '/providers',
        already: `The provider ${idOf(on)} was deleted already.`,
      }),
      async (on) => {
        const id = idOf(on)
        await perform(on, deleteAuthProvider, { params: { id } })
        return on.go('/providers', `The provider ${id} was deleted with its connections.`)
      },
    ),
    { recent: true },
  )
}

const idOf = ({ c }: OnPage) => c.req.param('id') ?? ''
const pathOf = (id: string) => `/providers/${encodeURIComponent(id)}`

/** The provider's name, if it differs from the id. */
function leadOf({ id, provider: { displayName } }: ProviderEntry): Html | undefined {
  return displayName === id ? undefined : name(displayName)
}

function logoOf(broker: Broker, entry: ProviderEntry): string | undefined {
  return broker.definitions.describing(entry)?.facts.logo
}

function statusBadge(status: string): Html {
  if (status === 'active') return badge('active', 'good')
  return status === 'missing' ? badge('client is missing', 'wait') : badge('switched off')
}

function entryPage(on: OnPage, entry: ProviderEntry, sent?: SentBody): Html {
  const { broker } = on
  const { id, provider, source } = entry
  const wire = entryToWire(broker, entry)
  const known = broker.definitions.describing(entry)?.facts
  const { missing = [] } = wire
  return html`${missing.length > 0 && section('To do', toDo(on, entry, missing, known?.registration))}
${section(
  'Entry',
  facts([
    ...FACTS.facts(wire, broker.now()),
    [
      'Comes from',
      { admin: 'an administrator', metadata: 'the metadata of a tool', server: 'a remote MCP server' }[
        source
      ],
    ],
    ['Connections', link(`/connections?provider=${encodeURIComponent(id)}`, 'Show them')],
    [
      'Documentation',
      known?.documentation === undefined ? undefined : externalLink(known.documentation, 'Read it'),
    ],
  ]),
)}
${section('Endpoints', facts(Object.entries(endpointsOf(provider)).map(([role, url]) => [role.replaceAll('_', ' '), html`<code><bdi>${url.replaceAll('%7B%7B', '{{').replaceAll('%7D%7D', '}}')}</bdi></code>`])))}
${clientSection(on, entry, sent)}
${section(
  'Test',
  html`<p>The test needs no user and changes nothing. It checks whether the hosts answer, whether the issuer’s metadata agrees and, with an invented code, whether the provider accepts the client.</p>
${on.form(`${pathOf(id)}/test`, submit('Test it now', 'secondary'))}
<p class="muted small">A real consent shows whether the redirect URI is registered and which scopes the client may request: <code>gatepass providers test ${id} --live</code>.${wire.provider_id !== undefined && html` A simulator plays the provider without network: <code>gatepass providers test ${wire.provider_id} --simulate</code>.`}</p>`,
)}
${on.mayChange && dangerSection(on, entry)}
${asCurl(on, `/v1/admin/auth_providers/${encodeURIComponent(id)}`)}`
}

function toDo(
  on: OnPage,
  entry: ProviderEntry,
  missing: readonly string[],
  registration:
    | { readonly url: string; readonly fields?: Readonly<Record<string, string>> | undefined }
    | undefined,
): Html {
  const { displayName } = entry.provider
  const redirectLabel = registration?.fields?.redirect_uri
  return html`<ol class="to-do">
<li>Register a client ${registration === undefined ? html`at ${name(displayName)}` : externalLink(registration.url, `at ${displayName}`)}, with this redirect URI${redirectLabel !== undefined && html` (“${redirectLabel}” there)`}:
<code class="copy">${on.broker.redirectUri(entry)}</code></li>
<li>Set its ${missing.map((member) => member.replace('_', ' ')).join(' and its ')} <a href="#client">below</a>.</li>
</ol>`
}

function clientSection(on: OnPage, entry: ProviderEntry, sent?: SentBody): Html | '' {
  if (!on.mayChange) return ''
  const fields = html`${entryFields(entry, sent)}${submit('Change the entry')}`
  return html`<div id="client">${section('Client and settings', html`${on.form(`${pathOf(entry.id)}/client`, fields, { recent: true })}`)}</div>`
}

function dangerSection(on: OnPage, { id, status }: ProviderEntry): Html {
  const isActive = status === 'active'
  const other = isActive ? 'inactive' : 'active'
  return section(
    'Switch off, delete',
    html`${on.form(`${pathOf(id)}/status`, html`<input type="hidden" name="status" value="${other}">${submit(isActive ? 'Switch off' : 'Switch on', 'secondary')}`, { recent: !isActive })}
<details><summary>Delete this provider</summary><p>Its connections are deleted too: its users must approve again once it is added again. Tools that need it cannot run until then.</p>
${on.form(`${pathOf(id)}/delete`, submit(`Delete ${id} and its connections`, 'danger'), { recent: true })}</details>`,
  )
}
