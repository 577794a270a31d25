import { html } from 'hono/html'
import { asCurl, badge, emptyState, link, numeric, section, table } from '../../http/console/elements.ts'
import { field, filters } from '../../http/console/form-fields.ts'
import { attempt, given } from '../../http/console/form-outcome.ts'
import { perform } from '../../http/console/perform.ts'
import type { ConsoleRoutes, OnPage } from '../../http/console/routes.ts'
import { name } from '../../http/pages/layout.ts'
import { updateAuthProvider } from '../../operations/providers/auth-providers.ts'
import type { FeaturePages } from '../feature.ts'
import { addedSections } from './console-added.ts'
import { addForm, additionOf, toolsSection } from './console-choice.ts'
import { addPack, getPack, listPacks, updatePack } from './operations.ts'

/** Ready-made tools: the list of packs, and the page of each, which adds its tools. */
export const packPages: FeaturePages = {
  menu: { path: '/packs', label: 'Tool packs', icon: 'folder', after: '/tools' },
  add: addPackPages,
}

const ABOVE = [['Tool packs', '/packs']] as const
/** The most packs of a page of the API. */
const AT_ONCE = 100

function addPackPages(routes: ConsoleRoutes): void {
  routes.page('/packs', showList)
  routes.page('/packs/:id', (on) => showPack(on))

  routes.form(
    '/packs/:id',
    async (on, form) => {
      const id = idOf(on)
      const added = await attempt(() => perform(on, addPack, { body: { id, ...additionOf(form) } }))
      if (added.outcome === 'refused') return showPack(on, { values: form, refused: added })
      const { tools, providers } = added.result
      const needs = providers.some(({ missing = [] }) => missing.length > 0)
      return on.go(
        pathOf(id),
        `${tools.length} tools were added.${needs ? ' Now register the redirect URI and set the client.' : ''}`,
      )
    },
    { recent: true },
  )

  routes.form(
    '/packs/:id/client',
    async (on, form) => {
      const provider = given(form, 'provider') ?? ''
      const client = {
        client_id: given(form, 'client_id') ?? '',
        ...(given(form, 'client_secret') !== undefined && { client_secret: given(form, 'client_secret') }),
      }
      const set = await attempt(() =>
        perform(on, updateAuthProvider, { params: { id: provider }, body: { oauth2: client } }),
      )
      if (set.outcome === 'refused') return showPack(on, { values: form, refused: set })
      return on.go(pathOf(idOf(on)), `The client of ${provider} was set.`)
    },
    { recent: true },
  )

  routes.form(
    '/packs/:id/update',
    async (on) => {
      const id = idOf(on)
      const { changed, gone, waiting = [] } = await perform(on, updatePack, { params: { id } })
      const said = [
        `Definitions that changed: ${changed.length}.`,
        ...(gone.length > 0 ? [`Removed: ${gone.join(', ')}.`] : []),
        ...(waiting.length > 0 ? [`Waiting on the page of the worker: ${waiting.length}.`] : []),
      ]
      return on.go(pathOf(id), said.join(' '))
    },
    { recent: true },
  )
}

const idOf = ({ c }: OnPage) => c.req.param('id') ?? ''
const pathOf = (id: string) => `/packs/${encodeURIComponent(id)}`

async function showList(on: OnPage): Promise<Response> {
  const search = on.query('search')?.slice(0, 100).toLowerCase()
  const first = await perform(on, listPacks, { query: { limit: String(AT_ONCE) } })
  const rest =
    first.total_count > AT_ONCE
      ? await perform(on, listPacks, { query: { limit: String(AT_ONCE), offset: String(AT_ONCE) } })
      : undefined
  const found = [...first.items, ...(rest?.items ?? [])].filter(
    ({ id, name, summary, provider_id }) =>
      search === undefined ||
      [id, name, summary, provider_id].some((text) => text.toLowerCase().includes(search)),
  )
  const workers = new Set((await on.broker.store.workers.list(on.projectId)).map(({ id }) => id))
  const rows = found.map((pack) => [
    html`${link(pathOf(pack.id), html`${name(pack.name)}`)}${pack.source === 'own' && html` ${badge('own')}`}${workers.has(pack.id) && html` ${badge('added', 'good')}`}`,
    html`${name(pack.summary, { longest: 200 })}`,
    numeric(String(pack.tool_count)),
    numeric(`${pack.checked_count} of ${pack.tool_count}`),
    html`${name(pack.provider_id)}`,
  ])
  const body = html`${filters('/packs', field('Search', 'search', { value: search, type: 'search', placeholder: 'Gmail' }), { isFiltered: search !== undefined })}
${first.faults.map(({ message }) => html`<p class="note bad">${name(message, { longest: 2000 })}</p>`)}
${rows.length === 0 ? emptyState('No pack has this name.') : table('Tool packs', ['Service', 'For', 'Tools', 'Compared', 'Provider'], rows, '')}
${asCurl(on, '/v1/packs')}`
  return on.show('Tool packs', body, {
    lead: 'Ready-made tools of services, as data. “Compared”: how many were compared with the description of the service’s API, or with a client of it.',
  })
}

interface Sent {
  readonly values: URLSearchParams
  readonly refused: { readonly message: string; readonly status: 400 | 403 | 404 | 409 | 413 | 502 | 503 }
}

async function showPack(on: OnPage, sent?: Sent): Promise<Response> {
  const id = idOf(on)
  const pack = await perform(on, getPack, { params: { id } })
  const worker = await on.broker.store.workers.find(on.projectId, id)
  const body = html`${worker === undefined ? addForm(on, pack, sent?.values) : html`${await addedSections(on, pack, sent?.values)}${toolsSection(pack)}`}
${section(
  'What was checked',
  html`<p>Of ${pack.tool_count} tools ${pack.compared.description} were compared with the description of the API, ${pack.compared.client} with a client of it, and ${pack.compared.nothing} with nothing, last on ${pack.checked_at}. None was run against the service.</p>
<p class="muted small">Written after: ${name(pack.sources.join(', '), { longest: 1000 })}</p>`,
)}
${worker === undefined ? asCurl(on, '/v1/packs', { method: 'POST', body: { id } }) : asCurl(on, `/v1/packs/${id}/update`, { method: 'POST', body: { dry_run: true } })}`
  return on.show(pack.name, body, {
    above: ABOVE,
    lead: html`${name(pack.summary)} ${pack.source === 'own' && badge('own')}`,
    ...(sent && { problem: sent.refused.message, status: sent.refused.status }),
  })
}
