import { html } from 'hono/html'
import { type Searched, searchList } from '../../flows/console/search-list.ts'
import { badge, code, type Tone, table, time } from '../../http/console/elements.ts'
import { filters, select } from '../../http/console/form-fields.ts'
import { PAGE_ROWS, searchPager } from '../../http/console/lists.ts'
import { listPosition } from '../../http/console/pager.ts'
import type { OnPage } from '../../http/console/routes.ts'
import { type Html, name } from '../../http/pages/layout.ts'
import type { ListPosition } from '../../store/browse.ts'
import { DELIVERY_STATES, type DeliveryState, type Webhook } from './domain.ts'
import type { ListedDelivery } from './store-delivery-lists.ts'
import { deliveryToWire } from './wire.ts'

const DELIVERY_TONES = { waiting: 'wait', delivered: 'good', failed: 'bad' } as const satisfies Record<
  string,
  Tone
>

/** The deliveries to a receiver, a page of them at a time, by the state that the URL selects. */
export async function deliveryList(on: OnPage, { id }: Webhook): Promise<Html> {
  const state = DELIVERY_STATES.find((known) => known === on.query('state'))
  const page = await findDeliveries(on, id, state)
  const now = on.broker.now()
  const rows = page.rows.map((row) => {
    const {
      type,
      subject,
      attempts,
      last_status: status,
      last_error: error,
      state: deliveryState,
    } = deliveryToWire(row)
    return [
      html`<code>${type}</code>`,
      code(subject, { longest: 60 }),
      badge(deliveryState, DELIVERY_TONES[deliveryState]),
      String(attempts),
      status === undefined ? error && name(error, { longest: 120 }) : String(status),
      time(row.createdAt, now),
    ]
  })
  return html`${filters(`/webhooks/${id}`, select('Deliveries', 'state', [['', 'All'], ...DELIVERY_STATES.map((choice) => [choice, choice] as const)], { value: state }), { isFiltered: state !== undefined })}
${table('Deliveries', ['Event', 'About', 'State', 'Attempts', 'Last answer', 'When'], rows, 'Nothing was sent in the last 14 days.')}
${searchPager(on, page)}`
}

/** The newest deliveries first. Nearly all are `delivered`, so that state has no index: it is searched row by row. */
async function findDeliveries(
  on: OnPage,
  webhookId: string,
  state: DeliveryState | undefined,
): Promise<Searched<ListedDelivery & { readonly id: string }>> {
  const indexed = state === 'delivered' ? undefined : state
  const read = async (position: ListPosition, limit: number) => {
    const page = await on.broker.store.deliveries.browse(webhookId, { state: indexed }, position, limit)
    return { ...page, rows: page.rows.map((row) => ({ ...row, id: row.eventId })) }
  }
  const position = listPosition(on, 'evt')
  if (state === indexed) return read(position, PAGE_ROWS)
  return searchList(read, (row) => row.state === state, position, PAGE_ROWS)
}
