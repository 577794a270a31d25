import type { z } from '@hono/zod-openapi'
import { html } from 'hono/html'
import { facts, link, section } from '../../http/console/elements.ts'
import { field, hidden, submit } from '../../http/console/form-fields.ts'
import { perform } from '../../http/console/perform.ts'
import type { OnPage } from '../../http/console/routes.ts'
import { RequestOf } from '../../http/endpoint/add-operation.ts'
import { type Html, name } from '../../http/pages/layout.ts'
import { findOperation, performOperation } from '../../operations/perform-operation.ts'
import { type getAuthProvider, listAuthProviders } from '../../operations/providers/auth-providers.ts'
import { isRecord } from '../../parsing/json-record.ts'
import type { PackOnPage } from './console-choice.ts'
import { updatePack } from './operations.ts'

type Provider = z.output<NonNullable<typeof getAuthProvider.output>>

/** What the page of a pack shows once its tools were added: what is missing, where clients find them, and an update. */
export async function addedSections(on: OnPage, pack: PackOnPage, sent?: URLSearchParams): Promise<Html> {
  const { items } = await perform(on, listAuthProviders)
  const ids = new Set(pack.tools.map(({ provider_id }) => provider_id))
  const providers = items.filter(({ id, provider_id = id }) => ids.has(provider_id))
  return html`${providers.map((provider) => clientSection(on, pack, provider, sent))}
${section(
  'Added',
  facts([
    ['Address for MCP clients', await toolsetAddress(on, pack.id)],
    ['Worker', link(`/workers/${encodeURIComponent(pack.id)}`, html`${name(pack.id)}`)],
    [
      'Provider',
      html`${providers.map(({ id }) => html`${link(`/providers/${encodeURIComponent(id)}`, html`${name(id)}`)} `)}`,
    ],
  ]),
)}
${await updateSection(on, pack)}`
}

async function toolsetAddress(on: OnPage, id: string): Promise<Html | undefined> {
  const get = findOperation(on.broker, 'getToolset')
  if (get === undefined) return undefined
  try {
    const by = { caller: on.caller, request: new RequestOf(on.c) }
    const toolset = await performOperation(on.broker, get, by, { params: { id } })
    return isRecord(toolset) ? html`<code class="copy">${String(toolset.url)}</code>` : undefined
  } catch {
    return undefined // it was deleted since
  }
}

/** The redirect URI to register, and the fields for the client, until it is set. */
function clientSection(on: OnPage, pack: PackOnPage, provider: Provider, sent?: URLSearchParams): Html | '' {
  const { id, missing = [], oauth2 } = provider
  if (missing.length === 0) return ''
  const path = `/providers/${encodeURIComponent(id)}`
  if (oauth2?.redirect_uri === undefined)
    return section('To do', html`<p>${link(path, html`The provider ${name(id)}`)} needs its client.</p>`)
  return section(
    `To do: the client of ${id}`,
    html`<p>Register a client with this redirect URI at the provider, then enter it here. ${link(path, 'The page of the provider')} has more settings.</p>
<p><code class="copy">${oauth2.redirect_uri}</code></p>
${on.form(
  `/packs/${encodeURIComponent(pack.id)}/client`,
  html`${hidden('provider', id)}${field('Client ID', 'client_id', { value: sent?.get('client_id') ?? '', required: true })}${field('Client secret', 'client_secret', { type: 'password', maxlength: 8000 })}${submit('Set client')}`,
  { recent: true },
)}`,
  )
}

async function updateSection(on: OnPage, pack: PackOnPage): Promise<Html | ''> {
  if (!on.mayChange) return ''
  const diff = await perform(on, updatePack, { params: { id: pack.id }, body: { dry_run: true } }).catch(
    () => undefined, // a worker of this name that was not added from the pack
  )
  if (diff === undefined) return ''
  const { changed, gone } = diff
  const body =
    changed.length + gone.length === 0
      ? html`<p>The tools have the definitions of version ${pack.version}.</p>`
      : html`<p>Version ${pack.version} differs from what was added:</p>
<ul>${changed.map(({ name: tool, members }) => html`<li><code>${name(tool)}</code>: ${members.map(({ at }) => html`<code>${name(at)}</code> `)}</li>`)}${gone.map((tool) => html`<li><code>${name(tool)}</code> is no longer in the pack and would be removed</li>`)}</ul>
${on.form(`/packs/${encodeURIComponent(pack.id)}/update`, submit('Take these definitions', 'secondary'), { recent: true })}`
  return section(
    'Update',
    html`${body}${diff.new.length > 0 && html`<p class="muted small">Not added: ${diff.new.join(', ')}</p>`}`,
  )
}
