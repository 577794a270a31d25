import type { Broker } from '../../broker.ts'
import { isSettled } from '../../domain/authorization.ts'
import { type ChangeListener, createChangeSignal } from '../../services/change-signal.ts'

/** The user of a project. */
export interface LinkOwner {
  readonly projectId: string
  readonly userId: string
}

/**
 * Notifies an open stream when an authorization of its user has settled, in any process. The expiry of an authorization
 * is announced only in projects with a webhook (`Events.expireAuthorizations`).
 */
export interface SettledLinks {
  /** Returns the function that ends the subscription. */
  subscribe(owner: LinkOwner, onSettled: (authorizationId: string) => void): () => void
  close(): void
}

const POLL_MS = 250

export function createSettledLinks({ store }: Pick<Broker, 'store'>): SettledLinks {
  const listeners = new Map<string, Set<(authorizationId: string) => void>>()
  const changes = createChangeSignal(store, {
    topicOf: ({ noun }) => (noun === 'authorization' ? noun : undefined),
    pollMs: POLL_MS,
  })
  let unsubscribe: (() => void) | undefined

  const keyOf = ({ projectId, userId }: LinkOwner) => JSON.stringify([projectId, userId])

  async function announce(id: string): Promise<void> {
    const authorization = await store.authorizations.find(id)
    if (authorization === undefined || !isSettled(authorization)) return
    for (const listener of listeners.get(keyOf(authorization)) ?? []) listener(id)
  }

  const onChange: ChangeListener = (change) => {
    // an error is ignored: clients can also repeat the call without a notification
    if (change?.noun === 'authorization') announce(change.id).catch(() => {})
  }

  const stop = () => {
    unsubscribe?.()
    unsubscribe = undefined
  }

  return {
    subscribe(owner, onSettled) {
      const key = keyOf(owner)
      const ofOwner = listeners.get(key) ?? new Set()
      ofOwner.add(onSettled)
      listeners.set(key, ofOwner)
      unsubscribe ??= changes.subscribe('authorization', onChange)
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
