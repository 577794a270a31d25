import type { z } from '@hono/zod-openapi'
import { html } from 'hono/html'
import { badge, section, table } from '../../http/console/elements.ts'
import { checkbox, field, select, submit } from '../../http/console/form-fields.ts'
import { given } from '../../http/console/form-outcome.ts'
import type { OnPage } from '../../http/console/routes.ts'
import { type Html, name } from '../../http/pages/layout.ts'
import type { packDetailSchema } from './wire-pack.ts'

export type PackOnPage = z.output<typeof packDetailSchema>
type ToolOnPage = PackOnPage['tools'][number]

/** The body of `POST /v1/packs` that the form chooses, without its id. */
export function additionOf(form: URLSearchParams): object {
  const approvals = given(form, 'approvals') ?? 'user'
  const provider = given(form, 'provider_id')
  return {
    read_only: form.get('read_only') === 'on',
    tools: form.getAll('tool'),
    ...(provider !== undefined && { provider_id: provider }),
    approvals: approvals === 'group' ? { group: given(form, 'group') ?? '' } : approvals === 'user' && 'user',
  }
}

/** The tools of a pack, and for administrators the form that adds those that are chosen. */
export function addForm(on: OnPage, pack: PackOnPage, sent?: URLSearchParams): Html {
  if (!on.mayChange) return toolsSection(pack)
  const chosen = (tool: ToolOnPage) => sent === undefined || sent.getAll('tool').includes(tool.name)
  const asking = pack.tools.filter(({ approval }) => approval === 'ask').length
  const rows = pack.tools.map((tool) => [
    checkbox(tool.name, 'tool', chosen(tool), tool.name),
    ...cellsOf(tool),
  ])
  const fields = html`${table('Tools', ['Tool', ...HEADS], rows, '')}
${checkbox('Only tools that change nothing', 'read_only', sent?.get('read_only') === 'on')}
${asking > 0 && approvalFields(sent)}
${field('Provider entry', 'provider_id', { value: sent?.get('provider_id') ?? '', hint: `Only where this project has several entries of ${pack.provider_id}` })}
${submit('Add these tools')}`
  return html`${section(
    'What happens',
    html`<p>Gatepass makes a worker with these tools, a toolset with an address for MCP clients${asking > 0 && html`, a policy that has a person approve the ${asking} tools that destroy something or reach other people`}, and an entry of the provider <code>${name(pack.provider_id)}</code>, each only if there is none. Then you register the redirect URI there and set its client. Users are asked for the scopes of a tool when it is first called.</p>`,
  )}
${section('Choose the tools', on.form(`/packs/${encodeURIComponent(pack.id)}`, fields, { recent: true }) || html``)}`
}

function approvalFields(sent: URLSearchParams | undefined): Html {
  return html`${select(
    'Calls with “asks” are approved by',
    'approvals',
    [
      ['user', 'The user for whom the call is made'],
      ['group', 'People of a group'],
      ['none', 'Nobody: they are made without asking'],
    ],
    { value: sent?.get('approvals') ?? 'user' },
  )}${field('Group', 'group', { value: sent?.get('group') ?? '', hint: 'Only for “people of a group”' })}`
}

export function toolsSection(pack: PackOnPage): Html {
  const rows = pack.tools.map((tool) => [html`<code>${name(tool.name)}</code>`, ...cellsOf(tool)])
  return section('Tools', table('Tools', ['Tool', ...HEADS], rows, ''))
}

const HEADS = ['What it does', 'Effect', 'Scopes']

function cellsOf({ description, read_only, destructive, approval, scopes }: ToolOnPage): Html[] {
  return [
    html`${name(description, { longest: 300 })}`,
    html`${badge(read_only ? 'reads' : destructive ? 'destroys' : 'writes', destructive ? 'bad' : 'plain')}${approval === 'ask' && html` ${badge('asks', 'wait')}`}`,
    html`<span class="small">${scopes.map((scope) => html`<code>${name(scope, { longest: 200 })}</code> `)}</span>`,
  ]
}
