import type { Broker } from '../../broker.ts'
import { isSettled } from '../../domain/authorization.ts'
import { type ChangeListener, createChangeSignal } from '../../services/change-signal.ts'

/** The user of a project. */
export interface LinkOwner {
  readonly projectId: string
  readonly userId: string
}

/**
 * Notifies an open stream when an authorization or an approval of its user has settled, in any process. The expiry of an authorization
 * is announced only in projects with a webhook (`Events.expireAuthorizations`).
 */
export interface SettledLinks {
  /** Returns the function that ends the subscription. */
  subscribe(owner: LinkOwner, onSettled: (authorizationId: string) => void): () => void
  close(): void
}

const POLL_MS = 250

export function createSettledLinks({ store, approvals }: Pick<Broker, 'store' | 'approvals'>): SettledLinks {
  const listeners = new Map<string, Set<(authorizationId: string) => void>>()
  const changes = createChangeSignal(store, {
    topicOf: ({ noun }) => (noun === 'authorization' ? noun : undefined),
    pollMs: POLL_MS,
  })
  const unsubscribers: (() => void)[] = []

  const keyOf = ({ projectId, userId }: LinkOwner): string => JSON.stringify([projectId, userId])

  async function announce(id: string): Promise<void> {
    const authorization = await store.authorizations.find(id)
    if (authorization === undefined || !isSettled(authorization)) return
    tell(authorization)
  }

  function tell({ id, ...owner }: LinkOwner & { readonly id: string }): void {
    for (const listener of listeners.get(keyOf(owner)) ?? []) listener(id)
  }

  const onChange: ChangeListener = (change) => {
    // an error is ignored: clients can also repeat the call without a notification
    if (change?.noun === 'authorization') announce(change.id).catch(() => {})
  }

  const stop = () => {
    for (const unsubscribe of unsubscribers.splice(0)) unsubscribe()
  }

  return {
    subscribe(owner, onSettled) {
      const key = keyOf(owner)
      const ofOwner = listeners.get(key) ?? new Set()
      ofOwner.add(onSettled)
      listeners.set(key, ofOwner)
      if (unsubscribers.length === 0) {
        unsubscribers.push(changes.subscribe('authorization', onChange))
        if (approvals !== undefined) unsubscribers.push(approvals.onSettled(tell))
      }
      return () => {
        ofOwner.delete(onSettled)
        if (ofOwner.size === 0 && listeners.get(key) === ofOwner) listeners.delete(key)
        if (listeners.size === 0) stop()
      }
    },
    close() {
      listeners.clear()
      stop()
    },
  }
}
