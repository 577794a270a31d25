import type { ServerEventBus } from '@modelcontextprotocol/server'
import type { Exchange } from './exchange.ts'
import type { ListChanges } from './list-changes.ts'

/** The events for the `subscriptions/listen` of one request (MCP 2026-07-28, Subscriptions). */
export interface Subscription {
  readonly bus: ServerEventBus
  /** The reader of the stream has taken an event. */
  taken(): void
}

/** At most one change waits for the reader of the stream, because a client reads the whole list after it. */
export function createSubscription(exchange: Exchange, changes: ListChanges): Subscription {
  let publish = () => {}
  let isUnread = false
  let isNewer = false
  return {
    bus: {
      publish() {}, // the store announces the changes
      subscribe(listener) {
        publish = () => {
          isNewer = isUnread
          if (isUnread) return
          isUnread = true
          listener({ kind: 'tools_list_changed' })
        }
        return changes.watch(exchange, () => publish())
      },
    },
    taken() {
      isUnread = false
      if (isNewer) publish()
    },
  }
}
