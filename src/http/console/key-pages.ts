import type { z } from '@hono/zod-openapi'
import { html } from 'hono/html'
import type { Broker } from '../../broker.ts'
import { type ApiKey, isExpired, ROLES, type Role } from '../../domain/api-key.ts'
import { fromTimestamp } from '../../domain/clock.ts'
import { BrokerError, invalidMember } from '../../domain/errors.ts'
import { getKey } from '../../flows/manage-keys.ts'
import { createApiKey, revokeApiKey, rotateApiKey } from '../../operations/admin/keys.ts'
import { type Html, name } from '../pages/layout.ts'
import { attempt, given, type Refused } from './attempt.ts'
import { asCurl, badge, buttonLink, code, exactTime, facts, link, section, table, time } from './elements.ts'
import { endOnce } from './end-once.ts'
import { field, select, submit } from './form-fields.ts'
import { PAGE_ROWS } from './lists.ts'
import { pager, placeInList } from './pager.ts'
import { perform } from './perform.ts'
import type { ConsoleRoutes, OnPage } from './routes.ts'

const ABOVE = [['API keys', '/keys']] as const
const DAY = 24 * 3600

const idOf = ({ c }: OnPage) => c.req.param('id') ?? ''

/** The project's API keys. A new key is shown once, in the answer to the form that made it. */
export function addKeyPages(routes: ConsoleRoutes, broker: Broker): void {
  const { apiKeys } = broker.store

  const get = (on: OnPage) => getKey(broker, on.session.project, idOf(on))

  async function list(on: OnPage, form?: URLSearchParams, refused?: Refused) {
    const page = await apiKeys.browse(on.projectId, placeInList(on, 'key'), PAGE_ROWS)
    const now = broker.now()
    const rows = page.rows.map((key) => [
      link(`/keys/${key.id}`, key.name === '' ? key.id : html`${name(key.name)}`),
      html`<code>${key.role}</code>`,
      stateBadge(key, now),
      key.userId === undefined ? 'every user' : name(key.userId),
      time(key.lastUsedAt, now),
      time(key.createdAt, now),
    ])
    const body = html`${table('API keys', ['Name', 'Role', 'State', 'Acts for', 'Last used', 'Made'], rows, 'No keys yet.')}
${pager(on, page)}
${section('Make a key', createForm(on, form, refused))}
${asCurl(on, '/v1/admin/keys', { method: 'POST', body: { role: 'caller', name: 'backend' } })}`
    return on.show('API keys', body, {
      lead: 'Who may call this Gatepass in the project, and with which role.',
      ...(refused !== undefined && { problem: refused.message, status: refused.status }),
    })
  }

  routes.page('/keys', (on) => {
    requireAdmin(on)
    return list(on)
  })

  routes.form(
    '/keys',
    async (on, form) => {
      const made = await attempt(() => perform(on, createApiKey, { body: readNewKey(form) }))
      if (made.outcome === 'refused') return list(on, form, made)
      return showIssued(on, made.result, 'The key was made')
    },
    { recent: true },
  )

  function show(on: OnPage, key: ApiKey, refused?: Refused) {
    return on.show(key.name === '' ? key.id : key.name, keyPage(on, key), {
      above: ABOVE,
      lead: html`<code>${key.id}</code>`,
      ...(refused !== undefined && { problem: refused.message, status: refused.status }),
    })
  }

  routes.page('/keys/:id', async (on) => {
    requireAdmin(on)
    return show(on, await get(on))
  })

  routes.form(
    '/keys/:id/rotate',
    async (on, form) => {
      const key = await get(on)
      const body = { grace: readGrace(form) }
      const made = await attempt(() => perform(on, rotateApiKey, { params: { id: key.id }, body }))
      if (made.outcome === 'refused') return show(on, key, made)
      const issued = made.result
      return showIssued(
        on,
        issued,
        'The successor was made',
        `The old key is valid until ${issued.replaces.expires_at.slice(0, 16).replace('T', ' ')} UTC.`,
      )
    },
    { recent: true },
  )

  routes.form(
    '/keys/:id/revoke',
    endOnce(
      (on) => ({
        entry: { action: 'key.revoked', subject: idOf(on) },
        list: '/keys',
        already: `${idOf(on)} was revoked already.`,
      }),
      async (on) => {
        const { id } = await get(on)
        await perform(on, revokeApiKey, { params: { id } })
        return on.go('/keys', `${id} is revoked: it is refused from now on.`)
      },
    ),
    { recent: true },
  )
}

/** Only administrators see keys, as in the API. */
function requireAdmin(on: OnPage): void {
  if (!on.mayChange)
    throw new BrokerError('insufficient_role', 'API keys are shown to administrators: your role is readonly.')
}

const LIFETIMES = [
  ['', 'Never'],
  [String(30 * DAY), 'In 30 days'],
  [String(90 * DAY), 'In 90 days'],
  [String(365 * DAY), 'In a year'],
] as const

const ROLE_WORDS = {
  readonly: 'readonly: may read, not change',
  caller: 'caller: applications',
  admin: 'admin: may do everything',
} as const satisfies Record<Role, string>

function createForm(on: OnPage, form?: URLSearchParams, refused?: Refused): Html {
  const value = (id: string) => form?.get(id) ?? undefined
  const fields = html`${field('Name', 'name', { value: value('name'), maxlength: 200, hint: 'Its purpose, by which you recognize it.' })}
${select(
  'Role',
  'role',
  ROLES.map((role) => [role, ROLE_WORDS[role]] as const),
  { value: value('role') ?? 'caller', fault: refused?.faults.get('role') },
)}
${field('Acts only for the user', 'user', { value: value('user'), fault: refused?.faults.get('user_id'), hint: 'Left empty: for every user. Not with the role admin.' })}
${select('Ends', 'expires_in', LIFETIMES, { value: value('expires_in') })}
${submit('Make the key')}`
  return html`${on.form('/keys', fields, { recent: true })}`
}

/** The body of the request that makes the key. */
function readNewKey(form: URLSearchParams) {
  const lifetime = given(form, 'expires_in')
  return {
    role: form.get('role'),
    name: given(form, 'name'),
    user_id: given(form, 'user'),
    expires_in: lifetime === undefined ? undefined : Number(lifetime),
  }
}

const MAX_GRACE_HOURS = 24 * 365

/** Reads how many seconds the old key stays valid. Throws `invalid_request`: an empty field must not end it at once. */
function readGrace(form: URLSearchParams): number {
  const hours = Number(given(form, 'hours') ?? Number.NaN)
  if (Number.isInteger(hours) && hours >= 0 && hours <= MAX_GRACE_HOURS) return hours * 3600
  throw invalidMember(
    'hours',
    'invalid',
    `Say for how long the old key stays valid: 0 to ${MAX_GRACE_HOURS} whole hours.`,
  )
}

type IssuedWire = z.output<NonNullable<typeof createApiKey.output>>

/** The only page that has the key: it is neither stored nor shown again. */
function showIssued(
  on: OnPage,
  { id, key, role, name: called, expires_at: end }: IssuedWire,
  title: string,
  more?: string,
) {
  const body = section(
    'The key',
    html`<p class="note wait">This is the only time that it is shown. Copy it now, and keep it where secrets are kept.</p>
<p><code class="copy secret">${key}</code></p>
${facts([
  ['Id', html`<code>${id}</code>`],
  ['Role', html`<code>${role}</code>`],
  ['Name', called === '' ? undefined : name(called)],
  ['Ends', end === undefined ? 'never' : exactTime(fromTimestamp(end))],
])}
${more !== undefined && html`<p>${more}</p>`}
<p>${buttonLink('/keys', 'Back to the keys')}</p>`,
  )
  return on.show(title, body, { above: ABOVE })
}

function keyPage(on: OnPage, key: ApiKey): Html {
  const now = on.broker.now()
  const { id, role, userId, createdAt, expiresAt, lastUsedAt, revokedAt, replacedBy, rateLimit } = key
  const isLive = revokedAt === undefined && !isExpired(key, now)
  return html`${section(
    'Key',
    facts([
      ['State', stateBadge(key, now)],
      ['Role', html`<code>${role}</code>`],
      ['Acts for', userId === undefined ? 'every user' : name(userId, { longest: 200 })],
      ['Made', exactTime(createdAt)],
      ['Last used', lastUsedAt === undefined ? 'never' : exactTime(lastUsedAt)],
      ['Ends', expiresAt === undefined ? 'never' : exactTime(expiresAt)],
      ['Revoked', revokedAt === undefined ? undefined : exactTime(revokedAt)],
      [
        'Requests a second',
        rateLimit === undefined ? undefined : rateLimit === 0 ? 'any number' : String(rateLimit),
      ],
      ['Successor', replacedBy === undefined ? undefined : link(`/keys/${replacedBy}`, code(replacedBy))],
      ['What it did', link(`/audit?actor=${encodeURIComponent(id)}`, 'In the audit trail')],
    ]),
  )}
${
  isLive &&
  section(
    'Rotate, revoke',
    html`${replacedBy === undefined && on.form(`/keys/${id}/rotate`, html`${field('The old key stays valid for', 'hours', { type: 'number', value: '24', hint: 'Hours.' })}${submit('Make its successor', 'secondary')}`, { recent: true })}
<details><summary>Revoke this key</summary><p>Its next request is refused${on.session.caller.id === id && ' — and it is the key with which you are logged in'}.</p>
${on.form(`/keys/${id}/revoke`, submit('Revoke it', 'danger'), { recent: true })}</details>`,
  )
}
${asCurl(on, `/v1/admin/keys/${id}`)}`
}

function stateBadge(key: ApiKey, now: number): Html {
  if (key.revokedAt !== undefined) return badge('revoked')
  if (isExpired(key, now)) return badge('ended')
  return key.expiresAt === undefined ? badge('active', 'good') : badge('active until it ends', 'good')
}
