import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { StoreChange } from '../../changes.ts'
import { createBell } from './bell.ts'
import { APPEND_CHANGES, createChangeTable, type Position } from './change-table.ts'
import { fromDriver } from './failures.ts'
import { createOlderNodes, OLDER_CHANNEL } from './older-nodes.ts'
import { createPruning } from './pruning.ts'
import { createWakeUps } from './wake-ups.ts'

/** A notification says only that there may be new rows in the table of changes, and who has written them. */
const CHANNEL = 'gatepass_changes'
/** The connection that listens, in `pg_stat_activity`. */
export const LISTENER = 'gatepass changes'

/** How often the table is read without a notification: for wake-ups that were lost with the process that was to send them. */
const LOOK_MS = 1_000
/** The same where notifications are not delivered. */
const POLL_MS = 25
/** The shortest time between two reads. */
const GAP_MS = 5
/** After this long without an answer to a read, caches are emptied: a write of another node is noticed this late at most. */
const SILENT_MS = 3_000
const LONGEST_BACKOFF_MS = 2_000
/** How long the server may take to deliver a notification that this connection has sent itself. */
const ECHO_MS = 1_000

/** The changes of all nodes on one database. */
export interface Announcements {
  /**
   * Writes the changes down in the transaction that makes them, once in a transaction. Returns the transaction's id, or
   * `null` on a server that keeps no table of changes.
   */
  append(client: pg.ClientBase, changes: readonly StoreChange[]): Promise<string | null>
  /** Wakes the other nodes up, after the commit. */
  wake(): void
  /** Stays the same while no change was missed; changes with every call while the database cannot be read. */
  missed(): number
  close(): Promise<void>
}

/**
 * Passes the changes of other nodes to `tell`. Each transaction writes its changes into a table, which a connection of
 * its own reads when a notification wakes it up, or at intervals where none are delivered. A lost connection is opened
 * again; what was announced meanwhile is unknown, so `missed` changes.
 */
export async function followChanges(
  config: pg.ClientConfig,
  pool: pg.Pool,
  tell: (change: StoreChange) => void,
): Promise<Announcements> {
  const node = randomUUID()
  const table = createChangeTable(node)
  const older = createOlderNodes(node)
  const pruning = createPruning((below) => table.prune(pool, below))
  const bell = createBell()
  let revision = 0
  /** When the last read that was answered was begun: everything announced before was received. */
  let heardUntil = Number.NEGATIVE_INFINITY
  let client: pg.Client | undefined
  let isClosed = false
  const closing = new AbortController()
  const wakeUps = createWakeUps(async () => {
    await client?.query({ name: 'wake_up', text: 'select pg_notify($1, $2)', values: [CHANNEL, node] })
  })

  function onNotification({ channel, payload = '' }: pg.Notification): void {
    if (channel === CHANNEL && payload !== node) bell.ring()
    if (channel !== OLDER_CHANNEL) return
    const changes = older.parse(payload)
    if (changes === undefined) revision++
    changes?.forEach(tell)
  }

  /** Resolves when the connection follows the table; `lost` resolves when it is lost. */
  async function connect(): Promise<{ readonly lost: Promise<void> }> {
    const fresh = new pg.Client({
      ...config,
      application_name: LISTENER,
      query_timeout: SILENT_MS,
      statement_timeout: SILENT_MS,
    })
    const lost = new Promise<void>((resolve) => {
      fresh.on('error', () => resolve())
      fresh.on('end', () => resolve())
    })
    try {
      await fresh.connect()
      const delivers = await listen(fresh)
      fresh.on('notification', onNotification)
      const position = await table.begin(fresh)
      await older.look(fresh)
      if (isClosed) await fresh.end().catch(() => {})
      client = fresh
      revision++ // what was announced before this moment was missed
      heardUntil = performance.now()
      void follow(fresh, position, delivers ? LOOK_MS : POLL_MS)
      return { lost }
    } catch (error) {
      void fresh.end().catch(() => {})
      throw error
    }
  }

  async function follow(on: pg.Client, begun: Position, everyMs: number): Promise<void> {
    let position = begun
    let lookedAt = performance.now()
    while (client === on && !isClosed) {
      await bell.wait(everyMs)
      if (client !== on || isClosed) return
      const readAt = performance.now()
      try {
        const news = await table.readSince(on, position)
        position = news.position
        if (news.missed) revision++
        news.changes.forEach(tell)
        heardUntil = readAt
        pruning.passed(position.horizon)
        if (readAt - lookedAt >= LOOK_MS) {
          lookedAt = readAt
          await older.look(on)
        }
      } catch {
        on.connection.stream.destroy() // a connection that died without a FIN would not end otherwise
        return
      }
      await pause(GAP_MS)
    }
  }

  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: closing.signal, ref: false }).catch(() => {})
  }

  /** Opens the connection again after each loss, until `close`. */
  async function keepFollowing(first: { readonly lost: Promise<void> } | undefined): Promise<void> {
    let current = first
    for (let tries = 0; !isClosed; tries++) {
      if (current !== undefined) {
        tries = 0
        await current.lost
        heardUntil = Number.NEGATIVE_INFINITY
        client = undefined
        if (isClosed) return
      }
      await pause(Math.min(LONGEST_BACKOFF_MS, 50 * 2 ** Math.min(tries, 10)) * (0.5 + Math.random() / 2))
      if (!isClosed) current = await connect().catch(() => undefined)
    }
  }

  const running = keepFollowing(await connect().catch(() => undefined))

  return {
    async append(on, changes) {
      const values = [node, JSON.stringify(changes)]
      const { rows } = await fromDriver(
        on.query<{ id: string }>(
          older.areListening
            ? {
                name: 'append_and_notify_changes',
                text: APPEND_AND_NOTIFY,
                values: [...values, OLDER_CHANNEL, changes.map(older.payloadOf)],
              }
            : { name: 'append_changes', text: APPEND_CHANGES, values },
        ),
      )
      return rows[0]?.id ?? null
    },
    wake: wakeUps.request,
    missed() {
      if (performance.now() - heardUntil > SILENT_MS) revision++
      return revision
    },
    async close() {
      await wakeUps.flush()
      isClosed = true
      closing.abort()
      bell.ring()
      await client?.end().catch(() => {})
      await running
    },
  }
}

const APPEND_AND_NOTIFY = `with appended as (${APPEND_CHANGES})
  select id, (select count(pg_notify($3, payload)) from unnest($4::text[]) as payload) as sent from appended`

/** On a server without the means for a table of changes: the store never knows what other nodes have written. */
export function unannounced(): Announcements {
  let revision = 0
  return {
    append: async () => null,
    wake() {},
    missed: () => ++revision,
    async close() {},
  }
}

/**
 * Whether notifications are delivered. A server may have no LISTEN; a pooler that lends its connections by transaction
 * accepts it and delivers nothing.
 */
async function listen(client: pg.Client): Promise<boolean> {
  try {
    await client.query(`listen ${OLDER_CHANNEL}`)
    await client.query(`listen ${CHANNEL}`)
  } catch (error) {
    if (error instanceof pg.DatabaseError) return false
    throw error
  }
  const echo = new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), ECHO_MS)
    client.once('notification', () => {
      clearTimeout(timer)
      resolve(true)
    })
  })
  await client.query(`notify ${CHANNEL}`)
  return echo
}
