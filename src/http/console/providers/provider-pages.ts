import type { z } from '@hono/zod-openapi'
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
import { consentedServiceAt } from '../../../providers/catalogue/consented-service.ts'
import { signsGrants } from '../../../providers/client-key.ts'
import type { Definition } from '../../../providers/definition/read-definition.ts'
import { typeOf } from '../../../providers/provider.ts'
import { endpointsOf, requestsOf } from '../../../providers/provider-endpoints.ts'
import type { ProviderEntry } from '../../../providers/provider-entry.ts'
import { isUserless } from '../../../providers/provider-grant.ts'
import { ownScopes } from '../../../providers/provider-request.ts'
import { type Html, name } from '../../pages/layout.ts'
import { asCurl, badge, buttonLink, code, facts, link, section, table } from '../elements.ts'
import { endOnce } from '../end-once.ts'
import { hidden, submit } from '../form-fields.ts'
import { attempt } from '../form-outcome.ts'
import type { SentBody } from '../operation-form.ts'
import { outputView } from '../output-view.ts'
import { perform } from '../perform.ts'
import { providerLabels } from '../provider-label.ts'
import type { ConsoleRoutes, OnPage } from '../routes.ts'
import { ACTIONS, returnTo, rowButton } from '../row-actions.ts'
import { addCataloguePages } from './catalogue-pages.ts'
import { entryChange, entryFields } from './entry-form.ts'
import { externalLink } from './external-link.ts'
import { logoTile } from './logo-tile.ts'
import { scopeFacts } from './scope-facts.ts'
import { addTestAccountPages } from './test-account-pages.ts'
import { testedView } from './tested-view.ts'
import { copyBox, wizardSteps } from './wizard.ts'

const ABOVE = [['Providers', '/providers']] as const

const ROWS = outputView(getAuthProvider.output, {
  status: ['Status', ({ status }) => statusBadge(status)],
  'oauth2.client_id': ['Client ID', (entry) => clientId(entry, 30)],
  description: 'Description',
  updated_at: 'Changed',
  ...omitted('id', 'provider_id', 'type', 'missing', 'created_at'),
})

const FACTS = outputView(getAuthProvider.output, {
  status: ['Status', ({ status }) => statusBadge(status)],
  description: 'Description',
  'oauth2.redirect_uri': [
    'Redirect URI',
    (entry) =>
      clientOf(entry) &&
      (entry.oauth2?.grant === undefined
        ? html`<code class="copy">${clientOf(entry)?.redirect_uri}</code>`
        : 'none: no browser comes back'),
  ],
  'oauth2.grant.type': [
    'Tokens come by',
    ({ oauth2 }) => oauth2 && (oauth2.grant === undefined ? 'a user’s code' : code(oauth2.grant.type)),
  ],
  owner: ['Connections of', ({ owner }) => owner],
  'oauth2.dpop.algorithm': [
    'Bound to a key',
    ({ oauth2 }) => oauth2?.dpop && `yes (DPoP, ${oauth2.dpop.algorithm})`,
  ],
  'oauth2.request_object.algorithm': [
    'Signed requests',
    ({ oauth2 }) =>
      oauth2?.request_object && `yes (${oauth2.request_object.algorithm ?? 'as the client’s key'})`,
  ],
  'oauth2.client_id': ['Client ID', (entry) => clientId(entry, 200)],
  'oauth2.client_secret': [
    'Client secret',
    (entry) =>
      clientOf(entry) &&
      (!clientOf(entry)?.client_secret.exists ? NOT_SET : isOfEnvironment(entry) ? OF_ENVIRONMENT : 'set'),
  ],
  provider_id: ['In the catalogue as', ({ provider_id: id }) => id && code(id)],
  created_at: 'Added',
  updated_at: 'Changed',
  // the title; above
  ...omitted('id', 'type', 'missing'),
})
const NOT_SET = html`<span class="muted">not set</span>`
const OF_ENVIRONMENT = 'from the environment'

type Wire = z.output<NonNullable<typeof getAuthProvider.output>>

/** Nothing where no client takes part. */
function clientId(entry: Wire, longest: number): Html | string | undefined {
  const client = clientOf(entry)
  if (client === undefined) return undefined
  const { client_id: id } = client
  return id ? code(id, { longest }) : isOfEnvironment(entry) ? OF_ENVIRONMENT : NOT_SET
}

/** Whether the settings of the server have the client. The answer has no client id then, and does not miss it. */
function isOfEnvironment(entry: Wire): boolean {
  const client = clientOf(entry)
  return client !== undefined && !client.client_id && entry.missing?.includes('client_id') !== true
}

/** The settings of the server with the client; `undefined` where no client takes part. */
function clientOf({ oauth2, oauth1 }: Wire) {
  return oauth2 ?? oauth1
}

/** The project's provider entries: their settings, the steps that are missing, and a test. */
export function addProviderPages(routes: ConsoleRoutes, broker: Broker): void {
  addCataloguePages(routes, broker)
  addTestAccountPages(routes, broker)

  routes.page('/providers', async (on) => {
    const entries = await broker.store.providers.list(on.projectId)
    const labels = await providerLabels(on)
    const rows = entries.map((entry) => [
      labels.of(entry),
      name(entry.provider.displayName),
      ...ROWS.cells(entryToWire(broker, entry), broker.now()),
      ...(on.mayChange ? [switchAction(on, entry)] : []),
    ])
    const heads = ['ID', 'Name', ...ROWS.heads, ...(on.mayChange ? [ACTIONS] : [])]
    const body = html`${table('Providers', heads, rows, {
      title: 'No providers yet',
      text: 'A provider is where your users have the accounts that tools act with, such as GitHub or Google.',
      next: on.mayChange && buttonLink('/catalogue', 'Choose one from the catalogue', { secondary: false }),
    })}
${asCurl(on, '/v1/admin/auth_providers')}`
    return on.show('Providers', body, {
      lead: 'The authorization servers at which your users approve.',
      ...(on.mayChange && { actions: buttonLink('/catalogue', 'Add a provider', { secondary: false }) }),
    })
  })

  routes.page('/providers/:id', async (on) => {
    const entry = await getEntry(broker, on.projectId, idOf(on))
    return on.show(entry.id, entryPage(on, entry), { above: ABOVE, lead: leadOf(on, entry) })
  })

  routes.form(
    '/providers/:id/client',
    async (on, form) => {
      const id = idOf(on)
      const entry = await getEntry(broker, on.projectId, id)
      const changed = await attempt(async () =>
        perform(on, updateAuthProvider, { params: { id }, body: entryChange(entry, form) }),
      )
      if (changed.outcome === 'done') return on.go(pathOf(id), 'The changes were saved.')
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
        lead: leadOf(on, entry),
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
        returnTo(form, '/providers', pathOf(id)),
        isOn ? `${id} was enabled.` : `${id} was disabled: its tokens are not handed out.`,
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
        already: `The provider ${idOf(on)} had already been deleted.`,
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

/** The logo, the provider's name if it differs from the id, and the status. */
function leadOf({ broker }: OnPage, entry: ProviderEntry): Html {
  const { displayName } = entry.provider
  const { status } = entryToWire(broker, entry)
  return html`<span class="with-logo">${logoTile(logoOf(broker, entry), displayName)}${displayName !== entry.id && name(displayName)} ${statusBadge(status)}</span>`
}

function logoOf(broker: Broker, entry: ProviderEntry): string | undefined {
  return broker.definitions.describing(entry)?.facts.logo
}

function switchAction(on: OnPage, { id, status }: ProviderEntry): Html {
  const isActive = status === 'active'
  return rowButton(on, {
    action: `${pathOf(id)}/status`,
    text: isActive ? 'Disable' : 'Enable',
    of: id,
    fields: hidden('status', isActive ? 'inactive' : 'active'),
    recent: !isActive,
  })
}

function statusBadge(status: string): Html {
  if (status === 'active') return badge('active', 'good')
  return status === 'missing' ? badge('client is missing', 'wait') : badge('disabled')
}

function entryPage(on: OnPage, entry: ProviderEntry, sent?: SentBody): Html {
  const { broker } = on
  const { id, provider, source } = entry
  const wire = entryToWire(broker, entry)
  const known = broker.definitions.describing(entry)?.facts
  const { missing = [] } = wire
  return html`${on.query('step') === 'ready' && wizardSteps('ready')}${missing.length > 0 && section('To do', toDo(on, entry, missing, known?.registration))}
${missing.length === 0 && entry.status === 'active' && nextSection(on, entry)}
${passwordWarning(entry)}
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
${scopesSection(entry, known?.scopes)}
${section('Endpoints', facts(Object.entries(endpointsOf(provider)).map(([role, url]) => [role.replaceAll('_', ' '), html`<code><bdi>${url.replaceAll('%7B%7B', '{{').replaceAll('%7D%7D', '}}')}</bdi></code>`])))}
${clientSection(on, entry, sent)}
${section(
  'Test',
  html`<p>The test needs no user and changes nothing. It checks whether the hosts answer${typeOf(provider) === 'oauth2' && html`, whether the issuer’s metadata agrees`}${howClientIsTested(provider)}</p>
${on.form(`${pathOf(id)}/test`, submit('Test it now', 'secondary'))}
${on.mayChange && typeOf(provider) === 'oauth2' && !isUserless(provider) && html`<p>A real consent shows whether the redirect URI is registered and which scopes the client may request: ${link(`${pathOf(id)}/test-account`, 'connect a test account')}, or run <code>gatepass providers test ${id} --live</code>.</p>`}
<p class="muted small">${wire.provider_id !== undefined && html` A simulator plays the provider without network: <code>gatepass providers test ${wire.provider_id} --simulate</code>.`}</p>`,
)}
${on.mayChange && dangerSection(on, entry)}
${asCurl(on, `/v1/admin/auth_providers/${encodeURIComponent(id)}`)}`
}

/** Warns of a form for credentials of a service whose users can consent. */
function passwordWarning({ provider, wellKnownId }: ProviderEntry): Html | '' {
  const { credentials, api } = provider
  if (credentials === undefined || wellKnownId !== undefined) return ''
  const addresses = requestsOf(provider).map(
    ([, { endpoint, endpointTemplate }]) => endpointTemplate ?? endpoint,
  )
  const service = consentedServiceAt([...addresses, ...(api?.hosts ?? [])])
  return service === undefined
    ? ''
    : html`<p class="note bad">The form asks users for credentials of ${name(service.name)}, where they can consent instead: ${link(`/catalogue/${service.id}`, `add ${service.name}`)}. A password of such an account should not be typed here.</p>`
}

/** How the test finds out whether the client is right, as the end of a sentence. */
function howClientIsTested({ credentials, oauth1, impersonation, grant }: ProviderEntry['provider']): string {
  if (credentials !== undefined)
    return '. There is no client: what users type is checked when they type it, and no key is sent now.'
  if (oauth1 !== undefined)
    return ' and, with a request for temporary credentials, whether the provider accepts the client.'
  if (impersonation !== undefined)
    return '. Tokens are asked for in the name of users, so none is asked for now.'
  return grant === undefined
    ? ' and, with an invented code, whether the provider accepts the client.'
    : ' and, by asking for one token that is dropped, whether the provider accepts the client.'
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
${copyBox(on.broker.redirectUri(entry), 'the redirect URI')}</li>
<li>Set its ${missing.map((member) => member.replace('_', ' ')).join(' and its ')} <a href="#client">below</a>.</li>
</ol>`
}

/** What to do with an entry that is ready. */
function nextSection(on: OnPage, { id, provider }: ProviderEntry): Html {
  const { displayName } = provider
  const isTyped = typeOf(provider) === 'credentials'
  return section(
    'What next',
    html`<ol>
${on.mayChange && isUserless(provider) && provider.impersonation === undefined && html`<li>${link('/shared', 'Share a connection of the project')}: no user connects it.</li>`}
${on.mayChange && !isTyped && !isUserless(provider) && html`<li>${link(`${pathOf(id)}/test-account`, 'Connect a test account')}: you play a user, and see whether all is as it should be.</li>`}
<li>Make a tool that uses it: one of <code>@gatepass/sdk</code> says <code>requiresAuth: OAuth2({ id: '${id}'${!isTyped && ', scopes: […]'} })</code>. ${on.mayChange && html`Its worker is registered ${link('/worker/new', 'here')}; `}${link(`/tools?provider=${encodeURIComponent(id)}`, 'the tools that need it')}.</li>
${!isUserless(provider) && html`<li>Connect a user of yours at ${name(displayName)}: your application sends them to the link that this answers: <code>POST /v1/auth/authorize {"user_id": "ada", "auth_requirement": {"id": "${id}"}}</code>. <a href="/docs">API reference</a></li>`}
</ol>`,
  )
}

/** The scopes that are requested of every user, and those that the definition has words for. */
function scopesSection({ provider }: ProviderEntry, known: Definition['facts']['scopes'] = {}): Html | '' {
  const always = ownScopes(provider)
  const all = Object.entries(known)
  if (always.length === 0 && all.length === 0) return ''
  return section(
    'Scopes',
    html`${always.length > 0 && html`<p>Requested of every user: ${always.map((scope) => html`${code(scope)} `)}</p>`}
${all.length > 0 && html`<details><summary>What else can be requested: ${all.length} scopes in words</summary>${scopeFacts(known)}</details>`}`,
  )
}

function clientSection(on: OnPage, entry: ProviderEntry, sent?: SentBody): Html | '' {
  if (!on.mayChange) return ''
  const isTyped = typeOf(entry.provider) === 'credentials'
  const fields = html`${signsGrants(entry.provider) && html`<p>The secret is the private key. You can paste the whole JSON key file of a service account in its place: only its <code>client_email</code>, <code>private_key</code> and <code>private_key_id</code> are taken.</p>`}${entryFields(entry, sent)}${submit('Save changes')}`
  return html`<div id="client">${section(isTyped ? 'Settings' : 'Client and settings', html`${on.form(`${pathOf(entry.id)}/client`, fields, { recent: true })}`)}</div>`
}

function dangerSection(on: OnPage, { id, status }: ProviderEntry): Html {
  const isActive = status === 'active'
  const other = isActive ? 'inactive' : 'active'
  return section(
    'Disable or delete',
    html`${on.form(`${pathOf(id)}/status`, html`<input type="hidden" name="status" value="${other}">${submit(isActive ? 'Disable' : 'Enable', 'secondary')}`, { recent: !isActive })}
<details><summary>Delete this provider</summary><p>Its connections are deleted too: its users must approve again once it is added again. Tools that need it cannot run until then.</p>
${on.form(`${pathOf(id)}/delete`, submit(`Delete ${id} and its connections`, 'danger'), { recent: true })}</details>`,
  )
}
