import type { z } from '@hono/zod-openapi'
import { html } from 'hono/html'
import type { Broker } from '../../broker.ts'
import type { Role } from '../../domain/api-key.ts'
import { BrokerError } from '../../domain/errors.ts'
import { getKey } from '../../flows/manage-keys.ts'
import {
  apiKeyToWire,
  createApiKey,
  getApiKey,
  revokeApiKey,
  rotateApiKey,
} from '../../operations/admin/keys.ts'
import { omitted } from '../../operations/omitted.ts'
import { type Html, name } from '../pages/layout.ts'
import { asCurl, badge, buttonLink, code, facts, link, section, table } from './elements.ts'
import { endOnce } from './end-once.ts'
import { submit } from './form-fields.ts'
import { attempt } from './form-outcome.ts'
import { PAGE_ROWS } from './lists.ts'
import { operationForm, problemOf, type SentBody } from './operation-form.ts'
import { outputView } from './output-view.ts'
import { listPosition, pager } from './pager.ts'
import { perform } from './perform.ts'
import type { ConsoleRoutes, OnPage } from './routes.ts'
import { ACTIONS, rowDanger } from './row-actions.ts'

const ABOVE = [['API keys', '/keys']] as const
const DAY = 24 * 3600

const ROLE_WORDS = {
  readonly: 'readonly: can read, but not change',
  caller: 'caller: for applications',
  admin: 'admin: can do everything',
  approver: 'approver: only decides about calls',
} as const satisfies Record<Role, string>

const CREATE = operationForm(createApiKey, {
  name: 'Name',
  role: { label: 'Role', initial: 'caller', choices: Object.entries(ROLE_WORDS) },
  user_id: { label: 'Acts only for this user', type: 'text' },
  groups: { label: 'Groups', hint: 'Of approvers, such as security. Without one: all calls of the project.' },
  expires_in: {
    label: 'Ends',
    hint: '',
    choices: [
      ['', 'Never'],
      [String(30 * DAY), 'In 30 days'],
      [String(90 * DAY), 'In 90 days'],
      [String(365 * DAY), 'In a year'],
    ],
  },
  // that of the console
  ...omitted('expires_at', 'project'),
})

const ROTATE = operationForm(rotateApiKey, {
  grace: {
    label: 'The old key stays valid for',
    hint: '',
    initial: DAY,
    choices: [
      ['3600', 'An hour'],
      [String(DAY), 'A day'],
      [String(7 * DAY), 'A week'],
      [String(30 * DAY), '30 days'],
      ['0', 'No time: it ends immediately'],
    ],
  },
})

type KeyWire = z.output<NonNullable<typeof getApiKey.output>>
type IssuedWire = z.output<NonNullable<typeof createApiKey.output>>

const rateText = ({ rate_limit: limit }: KeyWire) => (limit === 0 ? 'any number' : limit?.toString())
const userText = ({ user_id: user }: KeyWire) =>
  user === undefined ? 'every user' : name(user, { longest: 200 })

const ROWS = outputView(getApiKey.output, {
  name: ['Name', ({ id, name: called }) => link(`/keys/${id}`, called === '' ? id : html`${name(called)}`)],
  role: ['Role', ({ role }) => html`<code>${role}</code>`],
  status: ['State', stateBadge],
  user_id: ['Acts for', userText],
  last_used_at: 'Last used',
  created_at: 'Made',
  ...omitted('id', 'project', 'expires_at', 'rate_limit', 'replaced_by', 'revoked_at', 'groups'),
})

const FACTS = outputView(getApiKey.output, {
  status: ['State', stateBadge],
  role: ['Role', ({ role }) => html`<code>${role}</code>`],
  user_id: ['Acts for', userText],
  groups: ['Groups', ({ groups }) => groups && html`${groups.map((group) => code(group))}`],
  created_at: 'Made',
  last_used_at: 'Last used',
  expires_at: 'Ends',
  revoked_at: 'Revoked',
  rate_limit: ['Requests a second', rateText],
  replaced_by: ['Successor', ({ replaced_by: id }) => id && link(`/keys/${id}`, code(id))],
  ...omitted('id', 'name', 'project'),
})

const ISSUED = outputView(createApiKey.output, {
  id: ['ID', ({ id }) => code(id)],
  role: ['Role', ({ role }) => html`<code>${role}</code>`],
  name: 'Name',
  expires_at: 'Ends',
  // shown above
  ...omitted('key', 'project'),
})

const idOf = ({ c }: OnPage) => c.req.param('id') ?? ''

/** The project's API keys. A new key is shown once, in the answer to the form that made it. */
export function addKeyPages(routes: ConsoleRoutes, broker: Broker): void {
  const { apiKeys } = broker.store

  async function list(on: OnPage, sent?: SentBody) {
    const page = await apiKeys.browse(on.projectId, listPosition(on, 'key'), PAGE_ROWS)
    const now = broker.now()
    const rows = page.rows.map((row) => {
      const key = apiKeyToWire(row, on.session.project.name, now)
      return [...ROWS.cells(key, now), key.status === 'active' ? revokeAction(on, key) : '']
    })
    const empty = {
      title: 'No keys yet',
      text: 'Each application and each person calls this Gatepass with a key of their own, which has a role and can be revoked.',
      next: html`<a class="button" href="#make">Create key</a>`,
    }
    const body = html`${table('API keys', [...ROWS.heads, ACTIONS], rows, empty)}
${pager(on, page)}
<div id="make">${section('Create a key', html`${on.form('/keys', html`${CREATE.view(sent)}${submit('Create key')}`, { recent: true })}`)}</div>
${asCurl(on, '/v1/admin/keys', { method: 'POST', body: { role: 'caller', name: 'backend' } })}`
    return on.show('API keys', body, {
      lead: 'Who can call this Gatepass in this project, and with which role.',
      ...problemOf(sent),
    })
  }

  routes.page('/keys', (on) => {
    requireAdmin(on)
    return list(on)
  })

  routes.form(
    '/keys',
    async (on, form) => {
      const made = await attempt(() => perform(on, createApiKey, { body: CREATE.read(form) }))
      if (made.outcome === 'refused') return list(on, { values: form, refused: made })
      return showIssued(on, made.result, 'The key was created')
    },
    { recent: true },
  )

  async function show(on: OnPage, sent?: SentBody) {
    const key = await perform(on, getApiKey, { params: { id: idOf(on) } })
    return on.show(key.name === '' ? key.id : key.name, keyPage(on, key, sent), {
      above: ABOVE,
      lead: html`<code>${key.id}</code>`,
      ...problemOf(sent),
    })
  }

  routes.page('/keys/:id', (on) => {
    requireAdmin(on)
    return show(on)
  })

  routes.form(
    '/keys/:id/rotate',
    async (on, form) => {
      const made = await attempt(() =>
        perform(on, rotateApiKey, { params: { id: idOf(on) }, body: ROTATE.read(form) }),
      )
      if (made.outcome === 'refused') return show(on, { values: form, refused: made })
      const { replaces } = made.result
      return showIssued(
        on,
        made.result,
        'The replacement was created',
        `The old key is valid until ${replaces.expires_at.slice(0, 16).replace('T', ' ')} UTC.`,
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
        already: `${idOf(on)} had already been revoked.`,
      }),
      async (on) => {
        const { id } = await getKey(broker, on.session.project, idOf(on))
        await perform(on, revokeApiKey, { params: { id } })
        return on.go('/keys', `${id} was revoked: it is refused from now on.`)
      },
    ),
    { recent: true },
  )
}

/** Only administrators see keys, as in the API. */
function requireAdmin(on: OnPage): void {
  if (!on.mayChange)
    throw new BrokerError('insufficient_role', 'Only administrators can see API keys. Your role is readonly.')
}

/** The only page that has the key: it is neither stored nor shown again. */
function showIssued(on: OnPage, issued: IssuedWire, title: string, more?: string) {
  const body = section(
    'The key',
    html`<p class="note wait">This is the only time it is shown. Copy it now, and store it where you keep secrets.</p>
<p><code class="copy secret">${issued.key}</code></p>
${facts(ISSUED.facts(issued, on.broker.now()))}
${more !== undefined && html`<p>${more}</p>`}
<p>${buttonLink('/keys', 'Back to the keys')}</p>`,
  )
  return on.show(title, body, { above: ABOVE })
}

function keyPage(on: OnPage, key: KeyWire, sent?: SentBody): Html {
  const { id, status, replaced_by: successor } = key
  const did = link(`/audit?actor=${encodeURIComponent(id)}`, 'In the audit trail')
  return html`${section('Key', facts([...FACTS.facts(key, on.broker.now()), ['What it did', did]]))}
${
  status === 'active' &&
  section(
    'Rotate or revoke',
    html`${successor === undefined && on.form(`/keys/${id}/rotate`, html`${ROTATE.view(sent)}${submit('Create replacement', 'secondary')}`, { recent: true })}
<details><summary>Revoke this key</summary><p>${nextRefused(on, id)}</p>
${on.form(`/keys/${id}/revoke`, submit('Revoke it', 'danger'), { recent: true })}</details>`,
  )
}
${asCurl(on, `/v1/admin/keys/${id}`)}`
}

function revokeAction(on: OnPage, { id, name: called }: KeyWire): Html {
  return rowDanger(on, {
    action: `/keys/${id}/revoke`,
    text: 'Revoke',
    of: called || id,
    says: nextRefused(on, id),
    button: 'Revoke it',
  })
}

function nextRefused(on: OnPage, id: string): string {
  const isOwn = on.session.caller.id === id
  return `Its next request is refused${isOwn ? ', and it is the key with which you are logged in' : ''}.`
}

function stateBadge({ status, expires_at: end }: KeyWire): Html {
  if (status === 'revoked') return badge('revoked')
  if (status === 'expired') return badge('ended')
  return end === undefined ? badge('active', 'good') : badge('active until it ends', 'good')
}
