import { newId } from '../../src/domain/ids.ts'
import type { StoreChange } from '../../src/store/changes.ts'
import { APPEND_CHANGES } from '../../src/store/dialects/postgres/change-table.ts'
import { openPostgresStore } from '../../src/store/dialects/postgres/open.ts'
import type { Store } from '../../src/store/store.ts'
import { type FreshDatabase, runSql } from '../postgres.ts'
import type { OpenedStore } from './fixtures.ts'

/** Opens two stores of their own on the database; disposing of them empties it. */
export async function openTwice(database: FreshDatabase): Promise<OpenedStore & { readonly url: string }> {
  const { url } = database
  const [store, other] = [await openPostgresStore(url), await openPostgresStore(url)]
  return {
    url,
    store,
    other,
    sql: (text) => runSql(url, text),
    async [Symbol.asyncDispose]() {
      await Promise.all([store.close(), other.close()])
      await database.empty()
    },
  }
}

/** A database that is opened once for many tests, because opening takes ten times as long as most of them. */
export interface ReusedDatabase {
  /** Returns two stores on the empty database; disposing of them empties it. */
  open(): Promise<OpenedStore>
  close(): Promise<void>
}

export async function reuseDatabase(
  database: FreshDatabase,
  options: { readonly partitions?: number; readonly distribute?: number } = {},
): Promise<ReusedDatabase> {
  const reused = [
    reusable(await openPostgresStore(database.url, options)),
    reusable(await openPostgresStore(database.url, options)),
  ] as const
  const [{ store }, { store: other }] = reused
  return {
    async open() {
      return {
        store,
        other,
        sql: (text) => runSql(database.url, text),
        async [Symbol.asyncDispose]() {
          await database.empty()
          const id = newId('auth')
          const received = reused.map((one) => one.untilReceived(id))
          await announce(database, id)
          await Promise.all(received)
        },
      }
    },
    async close() {
      for (const one of reused) await one.store.close()
    },
  }
}

interface ReusedStore {
  readonly store: Store
  /** Resolves when this change and all earlier ones have been received; then removes all listeners. */
  untilReceived(authorizationId: string): Promise<void>
}

/** A store whose listeners can be removed after each test. */
function reusable(store: Store): ReusedStore {
  const listeners = new Set<(change: StoreChange) => void>()
  store.onChange((change) => {
    for (const listener of listeners) listener(change)
  })
  const listen = (listener: (change: StoreChange) => void) => void listeners.add(listener)
  return {
    store: { ...store, onChange: listen },
    async untilReceived(authorizationId) {
      await new Promise<void>((resolve) =>
        listen((change) => change.noun === 'authorization' && change.id === authorizationId && resolve()),
      )
      listeners.clear()
    },
  }
}

/** Announces a change as another node does: a row in the table of changes, and a notification. */
export async function announce(database: FreshDatabase, authorizationId: string): Promise<void> {
  const changes: StoreChange[] = [{ noun: 'authorization', id: authorizationId }]
  await database.sqlAsReplica(
    `with appended as (${APPEND_CHANGES}) select pg_notify('gatepass_changes', '')`,
    ['a test', JSON.stringify(changes)],
  )
}
