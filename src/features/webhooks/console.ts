import type { z } from '@hono/zod-openapi'
import { html } from 'hono/html'
import type { Broker } from '../../broker.ts'
import { toTimestamp } from '../../domain/clock.ts'
import { asCurl, badge, buttonLink, code, facts, link, section, table } from '../../http/console/elements.ts'
import { endOnce } from '../../http/console/end-once.ts'
import { checkbox, field, hidden, submit } from '../../http/console/form-fields.ts'
import { attempt } from '../../http/console/form-outcome.ts'
import { operationForm, problemOf, type SentBody } from '../../http/console/operation-form.ts'
import { outputView } from '../../http/console/output-view.ts'
import { perform } from '../../http/console/perform.ts'
import type { ConsoleRoutes, OnPage } from '../../http/console/routes.ts'
import { ACTIONS, returnTo, rowButton } from '../../http/console/row-actions.ts'
import type { Html } from '../../http/pages/layout.ts'
import { omitted } from '../../operations/omitted.ts'
import type { FeaturePages } from '../feature.ts'
import { deliveryList } from './console-deliveries.ts'
import { EVENT_TYPES, EVENTS_KEPT_SECONDS, type Webhook } from './domain.ts'
import { getWebhook } from './manage-webhooks.ts'
import {
  createWebhook,
  deleteWebhook,
  getWebhook as getWebhookOperation,
  replayWebhook,
  rotateWebhookSecret,
  testWebhook,
  updateWebhook,
} from './operations.ts'
import { webhookToWire } from './wire.ts'

const ABOVE = [['Webhooks', '/webhooks']] as const
type WebhookWire = z.output<NonNullable<typeof getWebhookOperation.output>>

const CREATE = operationForm(createWebhook, {
  url: { label: 'URL', type: 'url' },
  description: 'Description',
  types: { label: 'Events', hint: 'If none is chosen: all events, including those of later releases.' },
  enabled: false, // a new one is
})
const CHANGE = operationForm(
  updateWebhook,
  { url: { label: 'URL', type: 'url' }, enabled: false },
  { isChange: true },
)

const ROWS = outputView(getWebhookOperation.output, {
  url: ['URL', (webhook) => link(pathOf(webhook), html`<bdi>${webhook.url}</bdi>`)],
  state: ['State', stateBadge],
  types: [
    'Events',
    ({ types }) => (types === undefined ? 'all events' : `${types.length} of ${EVENT_TYPES.length}`),
  ],
  description: 'Description',
  ...omitted('id', 'enabled', 'disabled_reason', 'disabled_at', 'failures', 'failing_since'),
  ...omitted('previous_secret_until', 'created_at', 'updated_at'),
})

const FACTS = outputView(getWebhookOperation.output, {
  url: ['URL', ({ url }) => html`<code><bdi>${url}</bdi></code>`],
  state: ['State', stateBadge],
  description: 'Description',
  types: [
    'Events',
    ({ types }) => (types === undefined ? 'all' : html`${types.map((type) => html`${code(type)} `)}`),
  ],
  failures: ['Failed attempts in a row', ({ failures }) => (failures > 0 ? String(failures) : undefined)],
  failing_since: 'Failing since',
  previous_secret_until: 'Previous secret signs until',
  created_at: 'Registered',
  ...omitted('id', 'enabled', 'disabled_reason'),
  disabled_at: 'Disabled',
  updated_at: false,
})

/** How many parts of up to 500 events one form replays. The page says when there are more. */
const REPLAY_ROUNDS = 10

/** The receivers of the project's events, and their deliveries. */
export const webhookPages: FeaturePages = {
  menu: { path: '/webhooks', label: 'Webhooks', icon: 'hook', after: '/projects' },
  add: addWebhookPages,
}

function addWebhookPages(routes: ConsoleRoutes, broker: Broker): void {
  const idOf = ({ c }: OnPage) => c.req.param('id') ?? ''
  const get = (on: OnPage) => getWebhook(broker, on.projectId, idOf(on))

  async function list(on: OnPage, sent?: SentBody) {
    const webhooks = await broker.store.webhooks.list(on.projectId)
    const now = broker.now()
    const rows = webhooks.map((webhook) => [
      ...ROWS.cells(webhookToWire(webhook, now), now),
      ...(on.mayChange ? [switchAction(on, webhook)] : []),
    ])
    const heads = [...ROWS.heads, ...(on.mayChange ? [ACTIONS] : [])]
    const empty = {
      title: 'No webhooks',
      text: 'A webhook tells your server when a consent, a connection or a run changes. Without one, nothing is sent, and nothing is kept to be sent.',
      next: on.mayChange && html`<a class="button" href="#register">Register a receiver</a>`,
    }
    const body = html`${table('Webhooks', heads, rows, empty)}
${on.mayChange && html`<div id="register">${section('Register a webhook', html`${on.form('/webhooks', html`${CREATE.view(sent)}${submit('Register')}`, { recent: true })}`)}</div>`}
${asCurl(on, '/v1/webhooks')}`
    return on.show('Webhooks', body, {
      lead: 'Send events about connections, authorizations, runs, and workers to your application, signed by Standard Webhooks.',
      ...problemOf(sent),
    })
  }

  routes.page('/webhooks', (on) => list(on))

  routes.form(
    '/webhooks',
    async (on, form) => {
      const added = await attempt(() => perform(on, createWebhook, { body: CREATE.read(form) }))
      if (added.outcome === 'refused') return list(on, { values: form, refused: added })
      return showSecret(on, added.result, 'The webhook was registered')
    },
    { recent: true },
  )

  async function show(on: OnPage, sent?: SentBody) {
    const webhook = await get(on)
    const { id, url } = webhook
    const now = broker.now()
    const body = html`${section('Webhook', facts(FACTS.facts(webhookToWire(webhook, now), now)))}
${await deliveryList(on, webhook)}
${on.mayChange && changeSections(on, webhook, sent)}
${asCurl(on, `/v1/webhooks/${id}/deliveries`)}`
    return on.show(new URL(url).host, body, {
      above: ABOVE,
      lead: html`<code>${id}</code>`,
      ...problemOf(sent),
    })
  }

  routes.page('/webhooks/:id', (on) => show(on))

  routes.form(
    '/webhooks/:id/change',
    async (on, form) => {
      const webhook = await get(on)
      const changed = await attempt(() =>
        perform(on, updateWebhook, { params: { id: webhook.id }, body: CHANGE.read(form) }),
      )
      if (changed.outcome === 'refused') return show(on, { values: form, refused: changed })
      return on.go(pathOf(webhook), 'The changes were saved.')
    },
    { recent: true },
  )

  routes.form('/webhooks/:id/test', async (on) => {
    const webhook = await get(on)
    const { delivered, status, error } = await perform(on, testWebhook, { params: { id: webhook.id } })
    const answer = status === undefined ? `gave no answer: ${error}` : `answered ${status}`
    return on.go(
      pathOf(webhook),
      `The receiver ${answer}. ${delivered ? 'The test event was delivered.' : 'The test event was not delivered.'}`,
    )
  })

  const switchesOn = (form: URLSearchParams) => form.get('enabled') === 'true'
  routes.form(
    '/webhooks/:id/enabled',
    async (on, form) => {
      const webhook = await get(on)
      const enabled = switchesOn(form)
      await perform(on, updateWebhook, { params: { id: webhook.id }, body: { enabled } })
      return on.go(
        returnTo(form, '/webhooks', pathOf(webhook)),
        enabled
          ? 'It was enabled: waiting events are sent at once.'
          : 'It was disabled: new events are not sent to it unless you replay them.',
      )
    },
    { recent: switchesOn },
  )

  routes.form('/webhooks/:id/replay', async (on, form) => {
    const webhook = await get(on)
    const now = broker.now()
    const days = Math.min(14, Math.max(1, Math.floor(Number(form.get('days')) || 1)))
    const since = Math.max(now - days * 86_400, now - EVENTS_KEPT_SECONDS)
    const selection = {
      since: toTimestamp(since),
      until: toTimestamp(now),
      only_failed: form.get('only_failed') === 'on',
    }
    let replayed = 0
    let cursor: string | undefined
    for (let round = 0; round < REPLAY_ROUNDS && (round === 0 || cursor !== undefined); round++) {
      const body = { ...selection, cursor }
      const part = await perform(on, replayWebhook, { params: { id: webhook.id }, body })
      replayed += part.replayed
      cursor = part.next_cursor
    }
    const more =
      cursor === undefined
        ? ''
        : ` There are more. To send all of them: gatepass webhooks replay ${webhook.id}`
    return on.go(pathOf(webhook), `${replayed} events will be sent again.${more}`)
  })

  routes.form(
    '/webhooks/:id/rotate',
    async (on) =>
      showSecret(
        on,
        await perform(on, rotateWebhookSecret, { params: { id: idOf(on) } }),
        'The secret was replaced',
      ),
    { recent: true },
  )

  routes.form(
    '/webhooks/:id/delete',
    endOnce(
      (on) => ({
        entry: { action: 'webhook.deleted', subject: idOf(on) },
        list: '/webhooks',
        already: 'The webhook had already been deleted.',
      }),
      async (on) => {
        const { id, url } = await get(on)
        await perform(on, deleteWebhook, { params: { id } })
        return on.go(
          '/webhooks',
          `${new URL(url).host} was deleted: events that were waiting for it are not sent.`,
        )
      },
    ),
    { recent: true },
  )
}

function switchAction(on: OnPage, { id, url, enabled }: Webhook): Html {
  return rowButton(on, {
    action: `/webhooks/${id}/enabled`,
    text: enabled ? 'Disable' : 'Enable',
    of: new URL(url).host,
    fields: hidden('enabled', String(!enabled)),
    recent: !enabled,
  })
}

const pathOf = ({ id }: Pick<Webhook, 'id'>) => `/webhooks/${id}`

function stateBadge({ enabled, state, disabled_reason: reason }: WebhookWire): Html {
  if (enabled) return state === 'failing' ? badge('failing', 'bad') : badge('enabled', 'good')
  return badge(
    reason === undefined || reason === 'operator' ? 'disabled' : `disabled: ${reason}`,
    reason === 'operator' ? 'plain' : 'bad',
  )
}

function changeSections(on: OnPage, webhook: Webhook, sent?: SentBody): Html {
  const { enabled } = webhook
  const path = pathOf(webhook)
  return html`${section('Test', html`<p>A test event is sent now, signed as every event is.</p>${on.form(`${path}/test`, submit('Send test event', 'secondary'))}`)}
${section('Replay', html`${on.form(`${path}/replay`, html`${field('Of the last', 'days', { type: 'number', value: '1', hint: 'Days, at most 14.' })}${checkbox('Only what failed', 'only_failed', true)}${submit('Send again', 'secondary')}`)}`)}
${section(
  'Change',
  html`<details${sent !== undefined && html` open`}><summary>Change its address, description, or events</summary>${on.form(`${path}/change`, html`${CHANGE.view(sent)}${submit('Save changes')}`, { recent: true })}</details>
${on.form(`${path}/enabled`, html`${hidden('enabled', String(!enabled))}${submit(enabled ? 'Disable' : 'Enable', 'secondary')}`, { recent: !enabled })}
<details><summary>Replace the secret</summary><p>Both secrets sign for a day, so that the receiver can change over.</p>${on.form(`${path}/rotate`, submit('Replace it', 'secondary'), { recent: true })}</details>
<details><summary>Delete this webhook</summary><p>Events that wait for it are not sent.</p>${on.form(`${path}/delete`, submit('Delete', 'danger'), { recent: true })}</details>`,
)}`
}

/** The only page that has the secret: it is not shown again. */
function showSecret(
  on: OnPage,
  { id, secret }: { readonly id: string; readonly secret: string },
  title: string,
) {
  const body = section(
    'The secret',
    html`<p class="note wait">This is the only time it is shown. The receiver uses it to check signatures.</p>
<p><code class="copy secret">${secret}</code></p>
<p>${buttonLink(pathOf({ id }), 'To the webhook')}</p>`,
  )
  return on.show(title, body, { above: ABOVE })
}
