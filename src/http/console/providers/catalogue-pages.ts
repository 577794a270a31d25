import { html } from 'hono/html'
import type { Broker } from '../../../broker.ts'
import { type CatalogueEntry, entriesWith, searchCatalogue } from '../../../providers/catalogue/search.ts'
import { type Html, name } from '../../pages/layout.ts'
import { buttonLink, emptyState, section } from '../elements.ts'
import { field, filters, select } from '../form-fields.ts'
import { offsetPager } from '../pager.ts'
import type { ConsoleRoutes, OnPage } from '../routes.ts'
import { BY_DEFINITION, BY_ISSUER } from './add-forms.ts'
import { addAddPages } from './add-pages.ts'
import { logoTile } from './logo-tile.ts'
import { wizardSteps } from './wizard.ts'

const SHOWN = 60
/** Shown first, because their names are what most people look for. */
const OFTEN = ['github', 'google', 'slack', 'microsoft', 'notion', 'atlassian', 'linear', 'hubspot']
const ABOVE = [['Providers', '/providers']] as const

/** The providers that Gatepass knows: the first step of adding one. */
export function addCataloguePages(routes: ConsoleRoutes, broker: Broker): void {
  routes.page('/catalogue', (on) =>
    on.show('Add a provider', cataloguePage(on, entriesWith(broker.definitions.own)), {
      above: ABOVE,
      lead: LEAD,
    }),
  )
  addAddPages(routes, broker)
}

const LEAD = 'Choose where your users have their accounts. You will register a client there.'

function cataloguePage(on: OnPage, all: readonly CatalogueEntry[]): Html {
  const [search, category] = [on.query('search'), on.query('category')]
  const found = searchCatalogue(all, { search: search?.slice(0, 100), category })
  const from = Math.max(0, Number.parseInt(on.query('from') ?? '0', 10) || 0)
  const shown = found.slice(from, from + SHOWN)
  const isFiltered = search !== undefined || category !== undefined
  const often =
    isFiltered || from > 0 ? [] : OFTEN.flatMap((id) => all.find((entry) => entry.id === id) ?? [])
  const categories = [...new Set(all.map((entry) => entry.category))].sort()
  return html`${on.mayChange && wizardSteps('provider')}${filters(
    '/catalogue',
    html`${field('Search', 'search', { value: search, type: 'search', placeholder: 'GitHub' })}${select(
      'Category',
      'category',
      [['', 'All'], ...categories.map((name) => [name, name.replaceAll('-', ' ')] as const)],
      { value: category },
    )}`,
    { isFiltered },
  )}
${often.length > 0 && html`<h2>Often used</h2>${tiles(often)}<h2>All ${all.length}</h2>`}
${shown.length === 0 ? emptyState('No provider of the catalogue has this name.') : tiles(shown)}
${offsetPager(on, { from, size: SHOWN, count: found.length })}
${on.mayChange && otherSection}`
}

function tiles(entries: readonly CatalogueEntry[]): Html {
  return html`<ul class="tiles">${entries.map(
    (
      entry,
    ) => html`<li><a href="/dashboard/catalogue/${entry.id}">${logoTile(entry.logo, entry.name)}<span><strong>${name(entry.name)}</strong>
<span class="muted small">${entry.category.replaceAll('-', ' ')}${entry.type === 'credentials' && ' · API key'}</span></span></a></li>`,
  )}</ul>`
}

const otherSection = section(
  'Another provider',
  html`<p>For a server that publishes metadata (RFC 8414 or OpenID Connect Discovery) the issuer is enough, an https URL. Any other OAuth 2.0 server is described by its endpoints.</p>
<div class="buttons">${buttonLink(BY_ISSUER.path, 'Add one by its issuer')}${buttonLink(BY_DEFINITION.path, 'Add one by its definition')}</div>`,
)
