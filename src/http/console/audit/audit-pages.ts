import type { z } from '@hono/zod-openapi'
import { html } from 'hono/html'
import type { Broker } from '../../../broker.ts'
import { AUDIT_ACTIONS } from '../../../domain/audit.ts'
import { fromTimestamp } from '../../../domain/clock.ts'
import { BrokerError } from '../../../domain/errors.ts'
import { type AuditFilter, readAudit } from '../../../flows/audit/read-audit.ts'
import { verifyEnd } from '../../../flows/audit/verify-end.ts'
import { auditEntrySchema, exportedEntries } from '../../../operations/admin/audit.ts'
import { omitted } from '../../../operations/omitted.ts'
import { withoutUndefined } from '../../../sdk/without-undefined.ts'
import { newestAnchor } from '../../../services/audit-anchors.ts'
import { type AuditEntry, entryToWire } from '../../../services/audit-entry.ts'
import { respondWithText } from '../../endpoint/add-operation.ts'
import { type Html, name } from '../../pages/layout.ts'
import {
  asCurl,
  badge,
  code,
  exactTime,
  facts,
  link,
  numeric,
  section,
  type Tone,
  table,
  time,
} from '../elements.ts'
import { field, filters, select, submit } from '../form-fields.ts'
import { outputView } from '../output-view.ts'
import { urlWith } from '../pager.ts'
import type { ConsoleRoutes, OnPage } from '../routes.ts'

type Entry = z.output<typeof auditEntrySchema>

const SHOWN = 50
const DAY = 24 * 3600

const ON_THE_PAGE_OF_THE_ENTRY = {
  // in what it is about
  ...omitted('user_id', 'provider_id', 'tool', 'reason', 'connection_id', 'authorization_id', 'scopes'),
  ...omitted('detail', 'fingerprint', 'purpose', 'request_id'),
} as const

/** Lets operators search and export the audit trail, and verify its end. */
export function addAuditPages(routes: ConsoleRoutes, broker: Broker): void {
  routes.page('/audit', async (on) => {
    const filter = readFilter(on)
    const [entries, anchor] = await Promise.all([
      firstOf(readAudit(broker, on.projectId, filter, 'newest first'), SHOWN + 1),
      newestAnchor(broker, on.projectId),
    ])
    const shown = entries.slice(0, SHOWN)
    const view = outputView(auditEntrySchema, {
      action: [
        'What',
        (entry) => html`${link(`/audit/${entry.seq}`, code(entry.action))}${reasonBadge(entry)}`,
      ],
      actor: ['By', (entry) => actorView(on, entry)],
      subject: ['About', aboutView],
      at: ['When', ({ at }, now) => time(fromTimestamp(at), now)],
      seq: ['#', ({ seq }) => numeric(String(seq))],
      ...ON_THE_PAGE_OF_THE_ENTRY,
    })
    // the audit log writes such entries
    const rows = shown.map((entry) => view.cells(entryToWire(entry) as Entry, broker.now()))
    const isFiltered = Object.keys(filter).some((member) => member !== 'before')
    const last = shown.at(-1)
    const hasNewer = on.query('before') !== undefined
    const body = html`${filterForm(on, isFiltered)}
${table('Audit trail', view.heads, rows, isFiltered ? 'No entry matches.' : 'The trail is empty.')}
${(hasNewer || entries.length > SHOWN) && html`<nav class="pager" aria-label="Pages of the list">${hasNewer && html`<a rel="prev" href="${urlWith(on, {})}">← Newest</a>`}${entries.length > SHOWN && last !== undefined && html`<a rel="next" href="${urlWith(on, { before: String(last.seq) })}">Older →</a>`}</nav>`}
${anchor !== undefined && html`<p class="muted small">Entries up to ${anchor.lastSeq} are archived: the files of <code>gatepass audit archive</code> have them.</p>`}
${section('Verify and export', verifyAndExport(on))}
${asCurl(on, '/v1/admin/audit')}`
    return on.show('Audit trail', body, {
      lead: 'Who did what, and when. Verification finds changed and missing entries. Keep its head elsewhere, so that it also detects a cut-off end.',
    })
  })

  /** Exports the entries that the filter selects as JSON lines. */
  routes.page('/audit/export', async (on) => {
    const { before: _, ...filter } = readFilter(on)
    on.c.header('content-disposition', 'attachment; filename="audit.jsonl"')
    on.c.header('cache-control', 'no-store')
    return respondWithText(on.c, await exportedEntries(broker, on.projectId, filter))
  })

  routes.page('/audit/:seq', async (on) => {
    const seq = Number(on.c.req.param('seq'))
    const range = { after: seq - 1, before: seq + 1 }
    const [entry] =
      Number.isSafeInteger(seq) && seq > 0
        ? await firstOf(readAudit(broker, on.projectId, range, 'newest first'), 1)
        : []
    if (entry === undefined)
      throw new BrokerError('not_found', 'There is no such entry here. It may have been archived.')
    const { seq: _, at: when, action, ...rest } = entryToWire(entry)
    const body = section(
      'Entry',
      facts([
        ['When', exactTime(entry.at)],
        ['What', html`<code>${action}</code>`],
        ['By', actorView(on, entry)],
        ...Object.entries(rest)
          .filter(([member]) => member !== 'actor')
          .map(([member, value]): readonly [string, Html] => [
            member.replaceAll('_', ' '),
            valueView(member, value),
          ]),
      ]),
    )
    return on.show(`Entry ${seq}`, body, {
      above: [['Audit trail', '/audit']],
      lead: html`<time datetime="${when}">${when}</time>`,
    })
  })

  routes.form(
    '/audit/verify',
    async (on) => {
      const verdict = await verifyEnd(broker, on.projectId)
      const body = html`${section(
        'Verdict',
        verdict.fault === undefined
          ? html`<p>${badge('intact', 'good')} ${verdict.to === 0 ? 'The trail is empty.' : `The entries ${verdict.from} to ${verdict.to} follow each other, and have the hashes that this installation’s key makes.`}</p>${verdict.hash !== undefined && html`<p>Keep this head elsewhere: given to <code>gatepass audit verify --head</code> later, it shows whether entries were cut off.</p><p><code class="copy">${verdict.to}:${verdict.hash}</code></p>`}`
          : html`<p>${badge('altered', 'bad')} ${name(verdict.fault, { longest: 500 })}</p>`,
      )}<p class="muted">All of the trail, its archives and its index: <code>gatepass audit verify --all</code></p>`
      return on.show('Verify', body, { above: [['Audit trail', '/audit']] })
    },
    { readonly: true },
  )
}

async function firstOf<Item>(items: AsyncIterable<Item>, count: number): Promise<Item[]> {
  const found: Item[] = []
  for await (const item of items) {
    found.push(item)
    if (found.length >= count) break
  }
  return found
}

function readFilter(on: OnPage): AuditFilter {
  const text = (parameter: string) => on.query(parameter)?.slice(0, 512)
  const day = (parameter: string) => {
    const date = on.query(parameter)
    const ms =
      date !== undefined && /^\d{4}-\d\d-\d\d$/.test(date) ? Date.parse(`${date}T00:00:00Z`) : Number.NaN
    return Number.isNaN(ms) ? undefined : ms / 1000
  }
  const until = day('until')
  const before = Number(on.query('before'))
  const filter = {
    action: AUDIT_ACTIONS.find((known) => known === on.query('action')),
    userId: text('user'),
    providerId: text('provider'),
    connectionId: text('connection'),
    tool: text('tool'),
    subject: text('subject'),
    actorId: text('actor'),
    since: day('since'),
    until: until === undefined ? undefined : until + DAY - 1,
    before: Number.isSafeInteger(before) && before > 0 ? before : undefined,
  }
  return withoutUndefined(filter)
}

function filterForm(on: OnPage, isFiltered: boolean): Html {
  const sent = (id: string) => ({ value: on.query(id) })
  return filters(
    '/audit',
    html`${select('What', 'action', [['', 'Everything'], ...AUDIT_ACTIONS.map((known) => [known, known] as const)], sent('action'))}
${field('User', 'user', sent('user'))}${field('Provider', 'provider', sent('provider'))}${field('Tool', 'tool', sent('tool'))}${field('Subject', 'subject', sent('subject'))}${field('By', 'actor', { ...sent('actor'), placeholder: 'key_…' })}
${field('From', 'since', { ...sent('since'), type: 'date' })}${field('To', 'until', { ...sent('until'), type: 'date' })}`,
    { isFiltered },
  )
}

function verifyAndExport(on: OnPage): Html {
  const { search } = new URL(on.c.req.url)
  return html`<p>This verifies the end of the trail. <code>gatepass audit verify --all</code> verifies all of it.</p>
<div class="buttons">${on.form('/audit/verify', submit('Verify', 'secondary'), { readonly: true, className: 'inline' })}
<a class="button secondary" href="/dashboard/audit/export${search}" download>Export selection</a></div>`
}

function actorView({ mayChange }: OnPage, { actor: { kind, id, client } }: Pick<AuditEntry, 'actor'>): Html {
  const by =
    { api_key: 'key', user: 'user', cli: 'command', system: 'Gatepass', operator: 'operator' }[kind] ?? kind
  if (id === undefined) return html`${by}`
  // only administrators may open the page of a key
  const shown =
    kind === 'api_key' && mayChange
      ? link(`/keys/${encodeURIComponent(id)}`, html`<code title="${id}">…${id.slice(-8)}</code>`)
      : code(id, { longest: 40 })
  return html`${by} ${shown}${client !== undefined && html` by ${code(client)}`}`
}

const BAD = /refused|failed|needs_authorization|unreadable|deleted|revoked/

function reasonBadge({ action, reason }: Entry): Html | '' {
  if (reason === undefined) return ''
  const tone: Tone = BAD.test(action) ? 'bad' : 'plain'
  return html` ${badge(reason, tone)}`
}

function aboutView(entry: Entry): Html {
  const members = ['user_id', 'provider_id', 'tool', 'subject'] as const
  const parts = members.flatMap((member) => (entry[member] ? [valueView(member, entry[member])] : []))
  return html`${parts.map((part, i) => html`${i > 0 && html` · `}${part}`)}`
}

const PATHS: Readonly<Record<string, (value: string) => string>> = {
  user_id: (id) => `/connections?user=${id}`,
  provider_id: (id) => `/providers/${id}`,
  connection_id: (id) => `/connections/${id}`,
  authorization_id: (id) => `/authorizations/${id}`,
  tool: (id) => `/tools/${id}`,
}

function valueView(member: string, value: unknown): Html {
  if (Array.isArray(value)) return html`${value.map((item) => html`${code(String(item))} `)}`
  const text = String(value)
  const path = PATHS[member]
  return path === undefined
    ? html`${name(text, { longest: 300 })}`
    : link(path(encodeURIComponent(text)), html`${name(text)}`)
}
