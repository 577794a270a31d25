import { html } from 'hono/html'
import type { Broker } from '../../../broker.ts'
import { BrokerError } from '../../../domain/errors.ts'
import { RESERVED_DAYS, reservedUid, reserveProvider } from '../../../flows/reserve-provider.ts'
import { createAuthProvider, createReserved } from '../../../operations/providers/auth-providers.ts'
import { entriesWith } from '../../../providers/catalogue/search.ts'
import type { Definition } from '../../../providers/definition/read-definition.ts'
import { hasRedirect } from '../../../providers/provider-grant.ts'
import { type Html, name } from '../../pages/layout.ts'
import { asCurl, badge, buttonLink, link, section } from '../elements.ts'
import { submit } from '../form-fields.ts'
import { attempt } from '../form-outcome.ts'
import { problemOf, type SentBody } from '../operation-form.ts'
import { perform } from '../perform.ts'
import type { ConsoleRoutes, OnPage } from '../routes.ts'
import { type AddForm, BY_DEFINITION, BY_ISSUER, ofDefinition, ofTyped, typedIn } from './add-forms.ts'
import { externalLink } from './external-link.ts'
import { logoTile } from './logo-tile.ts'
import { scopeFacts } from './scope-facts.ts'
import { copyBox, wizardSteps } from './wizard.ts'

const ABOVE = [
  ['Providers', '/providers'],
  ['Catalogue', '/catalogue'],
] as const
/** The longest query that the confirmation of a login leads back to. */
const LONGEST_NEXT = 500

/**
 * The steps between choosing a provider and its entry: first its redirect URI with what to do at the provider, then its
 * client. Both pages have the reservation of the entry's uid in their query, so that the redirect URI stays the same when a
 * page is opened again, and after a login.
 */
export function addAddPages(routes: ConsoleRoutes, broker: Broker): void {
  function definitionOf(id: string): Definition {
    const found = broker.definitions.find(id)
    if (found === undefined)
      throw new BrokerError('not_found', `The catalogue has no provider "${id.slice(0, 100)}".`)
    return found
  }
  addSteps('/catalogue/:id', (on) => {
    const definition = definitionOf(on.c.req.param('id') ?? '')
    return isTyped(definition) ? ofTyped(definition) : ofDefinition(definition)
  })
  routes.form(
    '/catalogue/:id/key',
    async (on, values) => {
      const form = ofTyped(definitionOf(on.c.req.param('id') ?? ''))
      const added = await attempt(() => perform(on, createAuthProvider, { body: form.body(values) }))
      if (added.outcome === 'refused') return showTyped(on, form, { values, refused: form.atFields(added) })
      const { id } = added.result
      return on.go(
        `/providers/${encodeURIComponent(id)}`,
        `The provider ${id} was added. Now connect a user.`,
      )
    },
    { recent: true },
  )
  for (const form of [BY_ISSUER, BY_DEFINITION]) addSteps(form.path, () => form)

  function addSteps(pattern: string, formOf: (on: OnPage) => AddForm): void {
    routes.page(pattern, async (on) => {
      const form = formOf(on)
      if (!on.mayChange) return on.show(titleOf(form), about(on, form), { above: ABOVE })
      if (isTyped(form.definition)) return showTyped(on, form)
      if (on.query('reserved') === undefined)
        return on.go(`${form.path}?reserved=${reserveProvider(broker, on.projectId)}`)
      const reserved = await reservedBy(on)
      if (reserved.addedAs !== undefined) return alreadyAdded(on, reserved.addedAs)
      const body = html`${wizardSteps('redirect')}${redirectSection(form, reserved)}${about(on, form)}`
      return on.show(titleOf(form), body, { above: ABOVE })
    })

    routes.page(`${pattern}/client`, async (on) => {
      const form = formOf(on)
      if (!on.mayChange) throw new BrokerError('insufficient_role', 'An administrator adds providers.')
      const reserved = await reservedBy(on)
      if (reserved.addedAs !== undefined) return alreadyAdded(on, reserved.addedAs)
      const typed = new URLSearchParams(typedIn(new URL(on.c.req.url).searchParams).map(([...one]) => one))
      return showClient(on, form, reserved, typed.size > 0 ? { values: typed } : undefined)
    })

    routes.form(`${pattern}/client`, async (on, values) => {
      const form = formOf(on)
      const reserved = await reservedBy(on)
      if (reserved.addedAs !== undefined) return alreadyAdded(on, reserved.addedAs)
      // registering at the provider takes longer than a login is recent: what was typed is kept, except the secret
      if (!on.session.isRecent)
        return on.go(`/confirm?next=${encodeURIComponent(clientPath(form, reserved, values))}`)
      const added = await attempt(() => add(on, form, reserved, values))
      if (added.outcome === 'refused') {
        const meanwhile = await reservedBy(on)
        if (meanwhile.addedAs !== undefined) return alreadyAdded(on, meanwhile.addedAs)
        return showClient(on, form, reserved, { values, refused: form.atFields(added) })
      }
      const { id, missing = [], oauth2 } = added.result
      const path = `/providers/${encodeURIComponent(id)}`
      return missing.length > 0
        ? on.go(path, `The provider ${id} was added. It still needs its client.`)
        : oauth2?.grant !== undefined
          ? on.go(path, `The provider ${id} was added. Test it, then share a connection of the project.`)
          : on.go(`${path}/test-account`, `The provider ${id} was added. Now try it.`)
    })
  }

  async function add(on: OnPage, form: AddForm, { uid }: Reserved, values: URLSearchParams) {
    try {
      return await perform(on, createReserved(uid), { body: form.body(values) })
    } catch (error) {
      // the issuer that was typed does not answer: the form shows it beside the field
      if (error instanceof BrokerError && error.code === 'provider_unavailable')
        throw new BrokerError('invalid_request', error.message)
      throw error
    }
  }

  interface Reserved {
    readonly reservation: string
    readonly uid: string
    readonly redirectUri: string
    /** The id of the entry that has been added with this uid. */
    readonly addedAs: string | undefined
  }

  /** The reservation in the query. Throws `invalid_request` for one that this server did not make for the project. */
  async function reservedBy(on: OnPage): Promise<Reserved> {
    const reservation = on.query('reserved') ?? ''
    const uid = reservedUid(broker, on.projectId, reservation)
    if (uid === undefined) throw new BrokerError('invalid_request', NOT_RESERVED)
    const { projectId } = on
    const entry = await broker.store.providers.findByUid(uid)
    return { reservation, uid, redirectUri: broker.redirectUri({ uid, projectId }), addedAs: entry?.id }
  }

  /** There is nothing to register, so one page adds the provider. */
  function showTyped(on: OnPage, form: AddForm, sent?: SentBody) {
    const fields = html`${form.fields(sent)}${submit(`Add ${form.subject}`)}`
    const body = html`${section(
      'What users type',
      html`<p>Your users open a link and fill in a form with what the service gives them: ${typedLabels(form.definition)}. Gatepass checks it there, and keeps it sealed. You register nothing.</p>
${on.form(`${form.path}/key`, fields, { recent: true })}`,
    )}${about(on, form)}`
    return on.show(titleOf(form), body, { above: ABOVE, lead: logoOf(form), ...problemOf(sent) })
  }

  function showClient(on: OnPage, form: AddForm, reserved: Reserved, sent?: SentBody) {
    const fields = html`${form.fields(sent)}${submit(`Add ${form.definition === undefined ? 'the provider' : form.subject}`)}`
    const action = `${form.path}/client?reserved=${reserved.reservation}`
    const body = html`${wizardSteps('client')}
${section(
  'Client',
  html`<p>Copy both values from the page of the client that you registered${form.definition !== undefined && html` at ${name(form.subject)}`}.</p>
${on.form(action, fields, { recent: true })}`,
)}
<p>${link(`${form.path}?reserved=${reserved.reservation}`, 'Back to the redirect URI')}</p>`
    return on.show(titleOf(form), body, { above: ABOVE, lead: logoOf(form), ...problemOf(sent) })
  }

  /** The page of the client, filled in with what was typed as far as it fits. */
  function clientPath(form: AddForm, { reservation }: Reserved, values: URLSearchParams): string {
    const query = new URLSearchParams({ reserved: reservation })
    const pathWith = () => `${form.path}/client?${query}`
    for (const [field, value] of typedIn(values)) {
      query.set(field, value)
      if (pathWith().length > LONGEST_NEXT) query.delete(field)
    }
    return pathWith()
  }
}

const NOT_RESERVED = `This address names no redirect URI that this server has made for this project in the last ${RESERVED_DAYS} days. Choose the provider in the catalogue again; the redirect URI will be another one, to be registered at the provider.`

function logoOf({ definition, subject }: AddForm): Html | undefined {
  return (
    definition &&
    html`<span class="with-logo">${logoTile(definition.facts.logo, subject)}${name(subject)}</span>`
  )
}

const isTyped = (definition: Definition | undefined) => definition?.provider.credentials !== undefined

function typedLabels(definition: Definition | undefined): readonly Html[] {
  return Object.entries(definition?.provider.credentials?.fields ?? {}).map(
    ([member, { label = member, helpUrl }], at) =>
      html`${at > 0 && ', '}${name(label)}${helpUrl !== undefined && html` (${externalLink(helpUrl, 'found here')})`}`,
  )
}

/** A link to the other way in which users of the same service give access, if the catalogue has one. */
function otherWay(on: OnPage, { id, facts }: Definition): Html | undefined {
  const other = entriesWith(on.broker.definitions.own).find(
    (entry) => entry.secondWayOf === id || entry.id === facts.second_way_of,
  )
  return (
    other &&
    html`<p>${link(`/catalogue/${other.id}`, other.type === 'credentials' ? 'With an API key instead' : `With a consent at ${other.name} instead`)}</p>`
  )
}

const titleOf = ({ subject }: AddForm) => `Add ${subject}`

function alreadyAdded(on: OnPage, id: string) {
  return on.go(
    `/providers/${encodeURIComponent(id)}`,
    'The provider with this redirect URI was added already.',
  )
}

function redirectSection(
  form: AddForm,
  { redirectUri, reservation }: { readonly redirectUri: string; readonly reservation: string },
): Html {
  const { subject, definition } = form
  const { registration, documentation } = definition?.facts ?? {}
  const at = definition === undefined ? 'the provider' : subject
  const word = registration?.fields?.redirect_uri
  const isPlain = redirectUri.startsWith('http:')
  const isRedirected = definition === undefined || hasRedirect(definition.provider)
  return html`${
    isRedirected &&
    section(
      'Your redirect URI',
      html`<p>The provider sends your users back to this address, and to no other. You enter it when you register a client there.</p>
${copyBox(redirectUri, 'the redirect URI')}
${isPlain && html`<p class="muted small">It is not an https address. Most providers accept one only for <code>localhost</code>, and some do not accept it at all.</p>`}`,
    )
  }
${section(
  `Register a client at ${at}`,
  html`<p>A client, also called an OAuth app, is how ${name(at)} knows you. You register it once, with your own account there.</p>
<ol>
<li>Open ${registration === undefined ? html`the developer settings of ${name(at)}${documentation !== undefined && html`: ${externalLink(documentation, 'its documentation')} says where`}. Look for “OAuth apps”, “API clients” or “Developer console”.` : externalLink(registration.url, `the page where ${subject} registers clients`)}</li>
${registration?.steps === undefined ? html`<li>Create an app or client for a web application. If you are asked, choose one that is confidential or has a secret.</li>` : registration.steps.map((step) => html`<li>${step}</li>`)}
${isRedirected ? html`<li>Paste the redirect URI ${word === undefined ? html`where it asks for a “Redirect URI” or “Callback URL”` : html`into “${word}”`}, exactly as it is above.</li>` : html`<li>It needs no redirect URI: no user’s browser comes back from ${name(at)}.</li>`}
<li>Keep that page open: you need its ${registration?.fields?.client_id ?? 'client id'} and its ${registration?.fields?.client_secret ?? 'client secret'} next.</li>
</ol>
<p>${buttonLink(`${form.path}/client?reserved=${reservation}`, 'I have registered it: continue', { secondary: false })}</p>
<p class="muted small">This redirect URI is reserved for ${RESERVED_DAYS} days: you can come back to this page at its address.</p>`,
)}`
}

/** What the catalogue says of the provider. */
function about(on: OnPage, { definition, subject }: AddForm): Html {
  if (definition === undefined) return on.mayChange ? html`` : NO_ADMINISTRATOR
  const { id, facts } = definition
  const client = isTyped(definition)
    ? { type: 'credentials' }
    : { oauth2: { client_id: '…', client_secret: '…' } }
  return html`${section(
    'About',
    html`<p class="with-logo">${logoTile(facts.logo, facts.name)}<span><strong>${name(subject)}</strong> ${facts.verified === false ? badge('not verified', 'wait') : badge('verified', 'good')}</span></p>
${facts.description !== undefined && html`<p>${facts.description}</p>`}
${facts.documentation !== undefined && html`<p>${externalLink(facts.documentation, 'Documentation')}</p>`}
${otherWay(on, definition)}
${!on.mayChange && NO_ADMINISTRATOR}`,
  )}
${scopesSection(facts.scopes)}
${on.mayChange && asCurl(on, '/v1/admin/auth_providers', { method: 'POST', body: { id, provider_id: id, ...client } })}`
}

const NO_ADMINISTRATOR = html`<p class="muted">An administrator adds providers.</p>`

function scopesSection(scopes: Definition['facts']['scopes'] = {}): Html | '' {
  if (Object.keys(scopes).length === 0) return ''
  return section(
    'Scopes',
    html`<p>What users can be asked for. Tools say which of them they need.</p>${scopeFacts(scopes)}`,
  )
}
