import type * as Wire from '../../generated/wire.ts'
import type { Answer, Body } from '../operation.ts'
import { createList, type List } from '../pages.ts'
import type { RequestOptions, Transport } from '../transport.ts'

/** Receivers of events. What they are sent is verified by `verifyWebhook` of `@gatepass/sdk/webhooks`. */
export interface AdminWebhooks {
  list(): List<Wire.Webhook>
  get(id: string, options?: RequestOptions): Promise<Wire.Webhook>
  /** Registers a receiver. `secret` is in this answer only. The request is not repeated if its answer is lost. */
  create(webhook: Body<'createWebhook'>, options?: RequestOptions): Promise<Wire.WebhookWithSecret>
  update(id: string, changes: Body<'updateWebhook'>, options?: RequestOptions): Promise<Wire.Webhook>
  delete(id: string, options?: RequestOptions): Promise<void>
  /**
   * Replaces the secret. The former secret also signs for `overlap_seconds`, a day by default. The request is not
   * repeated if its answer is lost.
   */
  rotate(id: string, options?: RequestOptions & Body<'rotateWebhookSecret'>): Promise<Wire.WebhookWithSecret>
  /** Sends a test event now and returns the receiver's answer. */
  test(id: string, options?: RequestOptions): Promise<Wire.WebhookTest>
  /** The deliveries of the last 14 days, newest first. */
  deliveries(
    id: string,
    filter?: { readonly state?: Wire.WebhookDelivery['state'] | undefined },
  ): List<Wire.WebhookDelivery>
  /** Sends up to 500 past events once more. For the next 500, call it with the answer's `next_cursor` as `cursor`. */
  replay(id: string, what?: Body<'replayWebhook'>, options?: RequestOptions): Promise<Answer<'replayWebhook'>>
}

export function createWebhooks({ call }: Transport): AdminWebhooks {
  return {
    list: () => createList((query, options) => call('listWebhooks', { query, options })),
    get: (id, options) => call('getWebhook', { params: { id }, options }),
    create: (body, options) => call('createWebhook', { body, options }),
    update: (id, body, options) => call('updateWebhook', { params: { id }, body, options }),
    async delete(id, options) {
      await call('deleteWebhook', { params: { id }, options })
    },
    rotate: (id, { overlap_seconds, ...options } = {}) =>
      call('rotateWebhookSecret', { params: { id }, body: { overlap_seconds }, options }),
    test: (id, options) => call('testWebhook', { params: { id }, options }),
    deliveries: (id, { state } = {}) =>
      createList((page, options) =>
        call('listWebhookDeliveries', { params: { id }, query: { ...page, state }, options }),
      ),
    replay: (id, body = {}, options) => call('replayWebhook', { params: { id }, body, options }),
  }
}
