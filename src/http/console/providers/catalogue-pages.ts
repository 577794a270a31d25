import { html } from 'hono/html'
import type { Broker } from '../../../broker.ts'
import { BrokerError } from '../../../domain/errors.ts'
import { createAuthProvider } from '../../../operations/providers/auth-providers.ts'
import { englishSentence } from '../../../providers/catalogue/scope-sentences.ts'
import { type CatalogueEntry, entriesWith, searchCatalogue } from '../../../providers/catalogue/search.ts'
import type { Definition } from '../../../providers/definition/read-definition.ts'
import { type Html, name, webUrl } from '../../pages/layout.ts'
import { asCurl, badge, code, emptyState, section } from '../elements.ts'
import { field, filters, select, submit } from '../form-fields.ts'
import { attempt, given } from '../form-outcome.ts'
import { type OperationForm, operationForm, problemOf, type SentBody } from '../operation-form.ts'
import { offsetPager } from '../pager.ts'
import { perform } from '../perform.ts'
import type { ConsoleRoutes, OnPage } from '../routes.ts'
import { givenVariables, VARIABLE_PREFIX } from './entry-form.ts'
import { logoTile } from './logo-tile.ts'

const SHOWN = 60
const ABOVE = [['Providers', '/providers']] as const

/** The providers that Gatepass knows, and the form that adds one of them. */
export function addCataloguePages(routes: ConsoleRoutes, broker: Broker): void {
  const all = () => entriesWith(broker.definitions.own)

  function definitionOf(id: string): Definition {
    const found = broker.definitions.find(id)
    if (found === undefined)
      throw new BrokerError('not_found', `The catalogue has no provider "${id.slice(0, 100)}".`)
    return found
  }

  routes.page('/catalogue', (on) =>
    on.show('Add a provider', cataloguePage(on, all()), { above: ABOVE, lead: LEAD }),
  )

  routes.page('/catalogue/:id', (on) => {
    const definition = definitionOf(on.c.req.param('id') ?? '')
    return showAdd(on, definition)
  })

  /** Adds a provider of the catalogue, or one that the metadata of its issuer describes. */
  routes.form(
    '/catalogue',
    async (on, form) => {
      const known = given(form, 'definition')
      const definition = known === undefined ? undefined : definitionOf(known)
      const body = bodyOf(form, definition)
      const added = await attempt(() => perform(on, createAuthProvider, { body }))
      if (added.outcome === 'refused') {
        const sent = { values: form, refused: added }
        if (definition !== undefined) return showAdd(on, definition, sent)
        const body = cataloguePage(on, all(), sent)
        return on.show('Add a provider', body, { above: ABOVE, ...problemOf(sent) })
      }
      const { id } = added.result
      return on.go(
        `/providers/${id}`,
        `The provider ${id} was added. Register its redirect URI, then set its client.`,
      )
    },
    { recent: true },
  )
}

const LEAD =
  'Choose who your users have accounts with. You need a client, which you register at the provider.'

/** For a server that publishes metadata. */
const BY_ISSUER = operationForm(
  createAuthProvider,
  {
    id: { label: 'Id', hint: 'Callers name it in their requests, such as okta.' },
    'oauth2.issuer': {
      label: 'Issuer',
      isRequired: true,
      type: 'url',
      placeholder: 'https://login.example.com',
      hint: 'An https URL whose metadata (RFC 8414 or OpenID Connect Discovery) describes the server.',
    },
    'oauth2.client_id': {
      label: 'Client id',
      isRequired: true,
      hint: 'The next page shows the redirect URI that belongs to the registration.',
    },
    'oauth2.client_secret': 'Client secret',
  },
  { only: ['', 'oauth2'] },
)

/** For a provider of the catalogue, which may have words of its own for the client. */
function catalogueForm({ id, facts: { registration } }: Definition): OperationForm {
  const { client_id: idWord, client_secret: secretWord } = registration?.fields ?? {}
  const labelled = (label: string, word: string | undefined) => (word ? `${label} (“${word}”)` : label)
  return operationForm(
    createAuthProvider,
    {
      id: { label: 'Id', initial: id, hint: 'Callers name it in their requests.' },
      'oauth2.client_id': {
        label: labelled('Client id', idWord),
        hint: 'May be left empty until you have registered the redirect URI, which the next page shows.',
      },
      'oauth2.client_secret': {
        label: labelled('Client secret', secretWord),
        hint: 'It is sealed, and never shown again.',
      },
    },
    { only: ['', 'oauth2'] },
  )
}

/** The body of the API request for the form, not checked yet. */
function bodyOf(form: URLSearchParams, definition: Definition | undefined): object {
  const { oauth2, ...body } = (definition ? catalogueForm(definition) : BY_ISSUER).read(form)
  return {
    ...body,
    ...(definition !== undefined && { provider_id: definition.id }),
    oauth2: { ...(oauth2 as object | undefined), ...givenVariables(form) }, // only members of `oauth2`
  }
}

function cataloguePage(on: OnPage, all: readonly CatalogueEntry[], sent?: SentBody): Html {
  const [search, category] = [on.query('search'), on.query('category')]
  const found = searchCatalogue(all, { search: search?.slice(0, 100), category })
  const from = Math.max(0, Number.parseInt(on.query('from') ?? '0', 10) || 0)
  const shown = found.slice(from, from + SHOWN)
  const categories = [...new Set(all.map((entry) => entry.category))].sort()
  return html`${filters(
    '/catalogue',
    html`${field('Search', 'search', { value: search, type: 'search', placeholder: 'GitHub' })}${select(
      'Category',
      'category',
      [['', 'All'], ...categories.map((name) => [name, name.replaceAll('-', ' ')] as const)],
      { value: category },
    )}`,
    { isFiltered: search !== undefined || category !== undefined },
  )}
${
  shown.length === 0
    ? emptyState('No provider of the catalogue has this name. One with an issuer can be added below.')
    : html`<ul class="tiles">${shown.map(
        (
          entry,
        ) => html`<li><a href="/dashboard/catalogue/${entry.id}">${logoTile(entry.logo, entry.name)}<span><strong>${name(entry.name)}</strong>
<span class="muted small">${entry.category.replaceAll('-', ' ')}</span></span></a></li>`,
      )}</ul>`
}
${offsetPager(on, { from, size: SHOWN, count: found.length })}
${on.mayChange && section('A provider that is not listed', issuerForm(on, sent))}`
}

function issuerForm(on: OnPage, sent?: SentBody): Html {
  return html`<p>For a server that publishes metadata, its issuer is enough. One without metadata is added by its endpoints: <code>gatepass providers add --file</code>, or <code>POST /v1/admin/auth_providers</code>.</p>
${on.form('/catalogue', html`${BY_ISSUER.view(sent)}${submit('Add')}`, { recent: true })}`
}

function showAdd(on: OnPage, definition: Definition, sent?: SentBody) {
  const { id, facts, provider } = definition
  const { registration, documentation } = facts
  const required = Object.entries(provider.variables ?? {}).filter(
    ([, variable]) => variable.isExample === true && variable.askUser !== true,
  )
  const fields = html`<input type="hidden" name="definition" value="${id}">
${required.map(([variable, { label = variable, example, oneOf }]) => {
  const fieldName = `${VARIABLE_PREFIX}${variable}`
  const options = {
    value: sent?.values.get(fieldName) ?? '',
    fault: sent?.refused?.faults.get(`oauth2.variables.${variable}.value`),
  }
  return oneOf === undefined
    ? field(label, fieldName, {
        ...options,
        required: true,
        ...(example !== undefined && { hint: `Such as ${example}` }),
      })
    : select(
        label,
        fieldName,
        oneOf.map((choice) => [choice, choice] as const),
        options,
      )
})}
${catalogueForm(definition).view(sent)}
${submit(`Add ${facts.name}`)}`
  const body = html`${section(
    'About',
    html`<p class="with-logo">${logoTile(facts.logo, facts.name)}<span><strong>${name(facts.name)}</strong> ${facts.verified === false ? badge('not verified', 'wait') : badge('verified', 'good')}</span></p>
${facts.description !== undefined && html`<p>${facts.description}</p>`}
<ul class="plain">${registration !== undefined && html`<li>${externalLink(registration.url, 'Register a client')}</li>`}${documentation !== undefined && html`<li>${externalLink(documentation, 'Documentation')}</li>`}</ul>
${registration?.steps !== undefined && html`<ol>${registration.steps.map((step) => html`<li>${step}</li>`)}</ol>`}`,
  )}
${section('Client', on.mayChange ? html`${on.form('/catalogue', fields, { recent: true })}` : html`<p class="muted">An administrator adds providers.</p>`)}
${scopesSection(facts.scopes)}
${asCurl(on, '/v1/admin/auth_providers', { method: 'POST', body: { id, provider_id: id, oauth2: { client_id: '…', client_secret: '…' } } })}`
  return on.show(`Add ${facts.name}`, body, {
    above: [...ABOVE, ['Catalogue', '/catalogue']],
    ...problemOf(sent),
  })
}

function scopesSection(scopes: Definition['facts']['scopes'] = {}): Html | '' {
  const all = Object.entries(scopes)
  if (all.length === 0) return ''
  return section(
    'Scopes',
    html`<dl class="facts">${all.map(([scope, sentences]) => html`<div><dt>${code(scope)}</dt><dd>${name(englishSentence(sentences), { longest: 200 })}</dd></div>`)}</dl>`,
  )
}

/** A link to another site; the text alone if the address is not a web URL. */
export function externalLink(address: string | undefined, text: string): Html {
  const url = webUrl(address)
  if (url === undefined) return html`${text}`
  return html`<a href="${url.href}" rel="noreferrer noopener">${text} <span class="muted">(${url.host})</span></a>`
}
