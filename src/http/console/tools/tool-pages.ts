import { html } from 'hono/html'
import type { Broker } from '../../../broker.ts'
import { type Tool, toolId } from '../../../domain/tool.ts'
import { catalogueOf } from '../../../tools/catalogue/catalogue.ts'
import { getTool } from '../../../tools/catalogue/get-tool.ts'
import type { RequiredProvider, RequirementStatus } from '../../../tools/catalogue/requirement-context.ts'
import { searchTools } from '../../../tools/catalogue/search-tools.ts'
import { requirementStatus, requirementStatuses } from '../../../tools/catalogue/tool-requirements.ts'
import { resolveRunner } from '../../../tools/run/preconditions.ts'
import { getWorker } from '../../../tools/worker.ts'
import { type Html, name } from '../../pages/layout.ts'
import { asCurl, badge, buttonLink, code, facts, link, section, table } from '../elements.ts'
import { field, filters, select } from '../form-fields.ts'
import { offsetPager } from '../pager.ts'
import { type ProviderLabels, providerLabels } from '../provider-label.ts'
import type { ConsoleRoutes } from '../routes.ts'
import { type FormField, schemaForm } from '../schema-form.ts'
import { toolPath } from './tool-path.ts'
import { addTryPages } from './try-page.ts'

const SHOWN = 50

/** The tools of all sources: their requirements, whether these are met, and a form to try a tool. */
export function addToolPages(routes: ConsoleRoutes, broker: Broker): void {
  addTryPages(routes, broker)

  routes.page('/tools', async (on) => {
    const { projectId } = on
    const [q, provider, met] = [on.query('q')?.slice(0, 200), on.query('provider'), on.query('met')]
    const worker = on.query('worker')
    const catalogue = await catalogueOf(broker, projectId)
    const isFiltered = [q, provider, met, worker].some((filter) => filter !== undefined)
    const uid = worker === undefined ? undefined : (await getWorker(broker, projectId, worker)).uid
    const listed =
      uid === undefined
        ? catalogue.listed
        : catalogue.listed.filter(({ binding }) => binding?.workerUid === uid)
    const found = isFiltered
      ? await searchTools(broker, listed, {
          ...(q !== undefined && { text: q }),
          ...(provider !== undefined && { provider }),
          ...(met !== undefined && { met: met === 'true' }),
        })
      : listed
    const from = Math.max(0, Number.parseInt(on.query('from') ?? '0', 10) || 0)
    const shown = found.slice(from, from + SHOWN)
    const [statuses, labels] = await Promise.all([
      requirementStatuses(broker, projectId, shown),
      providerLabels(on),
    ])
    const rows = shown.map((tool, i) => [
      html`${link(toolPath(tool), html`${name(toolId(tool))}`)}<br><span class="muted small">${name(tool.description, { longest: 120 })}</span>`,
      providersOf(statuses[i], labels),
      statuses[i]?.worker === undefined
        ? undefined
        : link(`/workers/${encodeURIComponent(statuses[i].worker.id)}`, html`${name(statuses[i].worker.id)}`),
      readyBadge(statuses[i]),
    ])
    const empty = isFiltered
      ? 'No tool matches.'
      : {
          title: 'No tools yet',
          text: 'A tool is what an agent or an application calls for a user. A worker lists tools and runs them; their metadata can be imported too.',
          next: on.mayChange && buttonLink('/worker/new', 'Register a worker', { secondary: false }),
        }
    const body = html`${filters(
      '/tools',
      html`${field('Search', 'q', { value: q, type: 'search' })}${field('Provider', 'provider', { value: provider })}${field('Worker', 'worker', { value: worker })}${select(
        'Requirements',
        'met',
        [
          ['', 'Any'],
          ['true', 'All met'],
          ['false', 'Something is missing'],
        ],
        { value: met },
      )}`,
      { isFiltered },
    )}
${table('Tools', ['Tool', 'Needs', 'Worker', 'Ready'], rows, empty)}
${offsetPager(on, { from, size: SHOWN, count: found.length })}
${asCurl(on, '/v1/tools')}`
    return on.show('Tools', body, {
      lead: 'The tools that can be called, and what each one needs from its user.',
    })
  })

  routes.page('/tools/:id', async (on) => {
    const tool = await getTool(broker, on.projectId, on.c.req.param('id') ?? '')
    const userId = on.query('user')?.slice(0, 512)
    const [status, runner] = await Promise.all([
      requirementStatus(broker, tool, userId),
      resolveRunner(broker, tool),
    ])
    const { namespace, version, source, createdAt, annotations = {} } = tool
    const hints = Object.entries(HINTS).flatMap(
      ([hint, text]) => (annotations[hint as keyof typeof HINTS] === true ? [text] : []), // the type of `Object.entries` loses the names
    )
    const body = html`${section(
      'Tool',
      facts([
        ['ID', code(toolId(tool), { longest: 300 })],
        ['Description', name(tool.description, { longest: 2000 })],
        ['Namespace', namespace === '' ? undefined : code(namespace)],
        ['Version', version === undefined ? undefined : code(version)],
        ['Comes from', source.kind === 'worker' ? 'a worker' : 'imported metadata'],
        ['Says of itself', hints.length === 0 ? undefined : hints.join(', ')],
        [
          'Worker',
          runner.outcome === 'found'
            ? link(`/workers/${encodeURIComponent(runner.worker.id)}`, html`${name(runner.worker.id)}`)
            : html`${badge('none', 'bad')} ${name(runner.message, { longest: 400 })}`,
        ],
        ['Known since', html`${new Date(createdAt * 1000).toISOString().slice(0, 10)}`],
      ]),
    )}
${section('What it needs', requirementsView(tool, status, userId))}
${section('Input', html`${inputTable(tool)}${schemaText(tool.inputSchema)}`)}
${tool.outputSchema !== undefined && section('Output', schemaText(tool.outputSchema))}
${asCurl(on, `/v1/tools/${encodeURIComponent(toolId(tool))}`)}`
    return on.show(tool.title, body, {
      above: [['Tools', '/tools']],
      actions: html`${buttonLink(`/runs?tool=${encodeURIComponent(toolId(tool))}`, 'Runs')}${on.mayChange && buttonLink(`${toolPath(tool)}/try`, 'Try it', { secondary: false })}`,
    })
  })
}

const HINTS = {
  readOnlyHint: 'reads only',
  destructiveHint: 'may destroy something',
  idempotentHint: 'may be repeated',
  openWorldHint: 'reaches other systems',
} as const

function providersOf(status: RequirementStatus | undefined, labels: ProviderLabels): Html | undefined {
  const all = status?.authorizations ?? []
  if (all.length === 0) return undefined
  return html`<span class="labels">${all.map(({ id, wellKnownId }) => labels.named(id ?? wellKnownId ?? '?'))}</span>`
}

function readyBadge(status: RequirementStatus | undefined): Html {
  if (status?.worker === undefined) return badge('nothing runs it', 'wait')
  if (status.met) return badge('ready', 'good')
  return badge('something is missing', 'wait')
}

function requirementsView(tool: Tool, status: RequirementStatus, userId: string | undefined): Html {
  const rows = [
    ...status.authorizations.map((authorization) => [
      html`Provider ${authorization.id === undefined ? code(authorization.wellKnownId ?? '?') : link(`/providers/${encodeURIComponent(authorization.id)}`, html`${name(authorization.id)}`)}`,
      authorization.scopes.length === 0
        ? undefined
        : html`${authorization.scopes.map((scope) => html`${code(scope)} `)}`,
      providerBadge(authorization),
      authorization.statusReason,
    ]),
    ...status.secrets.map(({ key, met, statusReason }) => [
      html`Secret ${code(key)}`,
      undefined,
      met ? badge('set', 'good') : badge('not set', 'bad'),
      statusReason,
    ]),
    ...(status.worker === undefined
      ? []
      : [
          [
            html`Worker ${link(`/workers/${encodeURIComponent(status.worker.id)}`, html`${name(status.worker.id)}`)}`,
            undefined,
            status.worker.met ? badge('answers', 'good') : badge(status.worker.status, 'bad'),
            status.worker.statusReason,
          ],
        ]),
  ]
  return html`<p class="muted">Name a user to see what this user has granted.</p>
${filters(toolPath(tool), html`${field('User', 'user', { value: userId, type: 'search' })}`, { isFiltered: userId !== undefined })}
${table('What the tool needs', ['Requirement', 'Scopes', 'Status', 'Reason'], rows, 'It needs nothing.')}`
}

const TOKEN_WORDS = {
  not_started: 'not granted',
  pending: 'consent is in progress',
  completed: 'granted',
  failed: 'refused',
} as const

function providerBadge({ status, tokenStatus }: RequiredProvider): Html {
  if (status === 'inactive') return badge('not set up', 'bad')
  if (tokenStatus === undefined) return badge('set up', 'good')
  return badge(TOKEN_WORDS[tokenStatus], tokenStatus === 'completed' ? 'good' : 'wait')
}

/** The members that the form of the tool has. */
function inputTable({ inputSchema }: Tool): Html | '' {
  const form = schemaForm(inputSchema)
  if (form.kind === 'whole' || form.fields.length === 0) return ''
  const rows = form.fields.map(({ member, kind, isRequired, description }) => [
    code(member),
    KINDS[kind],
    isRequired ? badge('required') : 'no',
    description === undefined ? undefined : name(description, { longest: 300 }),
  ])
  return html`${table('Input', ['Member', 'Type', 'Required', 'Description'], rows, '')}`
}

const KINDS = {
  text: 'a text',
  number: 'a number',
  boolean: 'yes or no',
  choice: 'one of several',
  constant: 'always the same',
  texts: 'texts',
  json: 'JSON',
  group: 'an object',
} as const satisfies Record<FormField['kind'], string>

function schemaText(schema: unknown): Html {
  return html`<details><summary>JSON Schema</summary><pre tabindex="0"><code>${JSON.stringify(schema, null, 2).slice(0, LONGEST_SCHEMA)}</code></pre></details>`
}

/** Characters of a schema that a page shows. */
const LONGEST_SCHEMA = 50_000
