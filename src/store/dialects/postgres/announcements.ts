import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { ChangePosition, StoreChange } from '../../changes.ts'
import { APPEND_CHANGES, createChangeTable } from './change-table.ts'
import type { Commits } from './commits.ts'
import { fromDriver } from './failures.ts'
import { createOlderNodes, OLDER_CHANNEL } from './older-nodes.ts'
import { nameOfServer, refuseReadOnly, type ServerPool } from './pool.ts'
import { createPruning } from './pruning.ts'
import { createSignal } from './signal.ts'
import { createWakeUps } from './wake-ups.ts'

/** A notification on this channel says only that the table of changes may have new rows, and which node wrote them. */
const CHANNEL = 'gatepass_changes'
/** The `application_name` of the listening connection in `pg_stat_activity`. */
export const LISTENER = 'gatepass changes'

/** How often the table is read without a notification: a process may end before it has sent one. */
const READ_MS = 1_000
/** How often the table is read where notifications are not delivered. */
const POLL_MS = 25
/** The shortest time between two reads. */
const GAP_MS = 5
/** After this long without a read that is proved to be current, caches are emptied. So no cache is stale for longer. */
const SILENT_MS = 3_000
/** How long a read waits until the commit is stored that proves it to be current. */
const MARK_MS = 500
const LONGEST_BACKOFF_MS = 2_000
/** How long the server may take to deliver a notification that this connection has sent itself. */
const ECHO_MS = 1_000

/** The changes of all nodes on one database. */
export interface Announcements {
  /** Adds the changes to the table in the transaction that makes them, once per transaction. */
  append(client: pg.ClientBase, changes: readonly StoreChange[]): Promise<void>
  /** Notifies the other nodes, after the commit. */
  wake(): void
  /** All changes that are visible at this position were passed on. `undefined`: it is not known up to where. */
  position(): ChangePosition | undefined
  /** Returns a number. It differs from the number of the last call when changes may have been missed in between. */
  missed(): number
  close(): Promise<void>
}

export interface FeedParts extends ServerPool {
  readonly commits: Commits
  readonly notify: (change: StoreChange) => void
  /** Passes the changes of other nodes a second time after this many milliseconds; absent: once. */
  readonly againAfterMs?: number | undefined
  /** Whether the position is also moved after each change of this node. */
  readonly followsOwn?: boolean
}

/**
 * Passes the changes of other nodes to `notify`. Each transaction adds its changes to a table. A connection of its own
 * reads the table after a notification, or at intervals where none are delivered. A lost connection is opened again;
 * changes may have been missed meanwhile, so `missed` returns another number.
 *
 * That a server answers is no proof that it is current: the connection may lead to a standby or to a former primary. So a
 * read counts for the time until which it shows the commits that this process has made on the server for writes.
 */
export async function followChanges(
  config: pg.ClientConfig,
  { pool, leaveOthers, commits, notify, againAfterMs, followsOwn }: FeedParts,
): Promise<Announcements> {
  const node = commits.writer
  const table = createChangeTable(node)
  const older = createOlderNodes(node)
  const pruning = createPruning((below) => table.prune(pool, below))
  const signal = createSignal()
  let revision = 0
  /** All changes from before this time were received. */
  let heardUntil = Number.NEGATIVE_INFINITY
  let passed: ChangePosition | undefined
  let client: pg.Client | undefined
  let server: string | undefined
  let isClosed = false
  const closing = new AbortController()
  const wakeUps = createWakeUps(async () => {
    await client?.query({ name: 'wake_up', text: 'select pg_notify($1, $2)', values: [CHANNEL, node] })
  })

  function onNotification({ channel, payload = '' }: pg.Notification): void {
    if (channel === CHANNEL && payload !== node) signal.set()
    if (channel !== OLDER_CHANNEL) return
    const changes = older.parse(payload)
    if (changes === undefined) revision++
    changes?.forEach(notify)
  }

  /** Opens the connection and begins to read the table. `lost` resolves when the connection is lost. */
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
      await refuseReadOnly(fresh)
      await leaveFormer(fresh)
      const delivers = await listen(fresh)
      fresh.on('notification', onNotification)
      const position = await table.begin(fresh)
      await older.check(fresh)
      if (isClosed) await fresh.end().catch(() => {})
      client = fresh
      revision++ // changes from before this moment may have been missed
      heardUntil = performance.now()
      void follow(fresh, position, delivers ? READ_MS : POLL_MS)
      return { lost }
    } catch (error) {
      void fresh.end().catch(() => {})
      throw error
    }
  }

  /**
   * When the address leads to another server than before, some of the pool's connections still lead to the former one. They
   * answer nothing if its machine is gone, until each statement reaches its time limit; or what was written there is lost.
   */
  async function leaveFormer(fresh: pg.Client): Promise<void> {
    const former = server
    server = await nameOfServer(fresh)
    if (former !== undefined && server !== former) leaveOthers(server)
  }

  async function follow(on: pg.Client, begun: ChangePosition, everyMs: number): Promise<void> {
    let position = begun
    let checkedAt = performance.now()
    while (client === on && !isClosed) {
      await signal.wait(everyMs)
      if (client !== on || isClosed) return
      const isDue = performance.now() - checkedAt >= READ_MS
      try {
        if (isDue) {
          checkedAt = performance.now()
          // a commit that this read will show
          const marked = commits.mark().then(commits.checkLoss)
          await Promise.race([marked.catch(() => {}), pause(MARK_MS)])
        }
        const acknowledged = commits.newest
        const found = await table.readSince(on, position)
        position = found.position
        if (found.missed) revision++
        found.changes.forEach(notify)
        if (againAfterMs !== undefined && found.changes.length > 0)
          void pause(againAfterMs).then(() => found.changes.forEach(notify))
        // either the server for writes has lost it too, or this is another server
        if (found.ownCommit < acknowledged && !(await commits.checkLoss())) throw new Error('a stale server')
        heardUntil = Math.max(heardUntil, commits.begunAt(found.ownCommit))
        passed = position
        pruning.passed(position.horizon)
        if (isDue) await older.check(on)
      } catch {
        on.connection.stream.destroy() // else a connection that died without a FIN would never end
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
        passed = undefined
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
      await fromDriver(
        on.query(
          older.areListening
            ? {
                name: 'append_and_notify_changes',
                text: APPEND_AND_NOTIFY,
                values: [...values, OLDER_CHANNEL, changes.map(older.payloadOf)],
              }
            : { name: 'append_changes', text: APPEND_CHANGES, values },
        ),
      )
    },
    wake() {
      if (followsOwn) signal.set()
      wakeUps.request()
    },
    position: () => passed,
    missed() {
      if (performance.now() - heardUntil > SILENT_MS) revision++
      return revision + commits.losses
    },
    async close() {
      await wakeUps.flush()
      isClosed = true
      closing.abort()
      signal.set()
      await client?.end().catch(() => {})
      await running
    },
  }
}

const APPEND_AND_NOTIFY = `with appended as (${APPEND_CHANGES})
  select (select count(pg_notify($3, payload)) from unnest($4::text[]) as payload) as sent`

/** For a server that cannot have a table of changes: each read must assume that other nodes have written. */
export function unannounced(): Announcements {
  let revision = 0
  return {
    async append() {},
    wake() {},
    position: () => undefined,
    missed: () => ++revision,
    async close() {},
  }
}

/**
 * Begins to listen, and returns whether notifications are delivered. A server may have no LISTEN. A pooler in
 * transaction mode accepts LISTEN but delivers nothing, so this connection notifies itself once.
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
