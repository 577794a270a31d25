import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { ownerBits } from '../../../domain/ids.ts'
import type { AuditedRelease, AuditTrail, ConfirmedConnection, Precondition } from '../../audit-trail.ts'
import type { ChangePosition, StoreChange } from '../../changes.ts'
import { PRECONDITIONS } from '../../preconditions.ts'
import type { Announcements } from './announcements.ts'
import { currentPosition } from './change-table.ts'
import { RetryableError } from './failures.ts'
import { queryOnKept } from './pool.ts'
import type { Workers } from './workers.ts'

// The check of a release on a database whose connections are on workers. The transaction that appends releases of several
// users to the audit trail is one of the coordinator alone: no worker takes part in it, so none can fail it, or hold up its
// lock on the head of the chain. What a worker has to say about a connection is read before, for each release alone.
//
// Between this read and the transaction the connection may change. Each write that makes a release invalid announces its
// change in its own transaction and then appends to the same chain. So the transaction of the release, which holds the lock
// on the head, sees the announcements of all such writes that came before it.

const { key, version, status } = PRECONDITIONS.connection
const SNAPSHOT_END = 'pg_snapshot_xmax(pg_current_snapshot())::text::bigint'
/** `xmax` with its epoch: the server gives its lower 32 bits, which are less than 2^31 away from the snapshot's end. */
const WRITER = `(${SNAPSHOT_END} + ((xmax::text::bigint - ${SNAPSHOT_END}) << 32 >> 32))`
/**
 * A commit over several servers is on the coordinator before it is on each worker: until then a worker, even one that was
 * started again, reads the row from before. But `xmax` names the transaction that last wrote or locked the row, and the
 * worker's snapshot tells whether it has ended. (Of several that lock a row together, as FOR SHARE does, `xmax` is another
 * kind of id: no statement locks these rows so, and they have no foreign keys.)
 */
const READ = `select ${key} as id, (${version})::bigint as version, ${status} as status,
    xmax::text = '0' or pg_visible_in_snapshot(${WRITER}::text::xid8, pg_current_snapshot()) as "isSettled"
  from connections where owner_bits = any($1::text[]) and ${key} = any($2::text[])`

/** How many connections are remembered, and for how long: for changes that are not announced, such as those of an administrator in SQL. */
const REMEMBERED = 50_000
const REMEMBERED_MS = 300_000

export interface Confirmations {
  readonly confirm: NonNullable<AuditTrail['confirm']>
  /** Called with each change of this and of other nodes; with those of this node before their commit is sent, too. */
  forget(change: StoreChange): void
}

/**
 * A connection that was read is remembered until a change of it is announced. So its next release is confirmed by what
 * the feed of changes has passed on, without its worker.
 */
export function createConfirmations(
  pool: pg.Pool,
  { watch, findPart }: Pick<Workers, 'watch' | 'findPart'>,
  feed: Pick<Announcements, 'position' | 'missed'>,
): Confirmations {
  const remembered = new LRUCache<string, ConfirmedConnection>({ max: REMEMBERED, ttl: REMEMBERED_MS })
  const readers = new Map<string | undefined, (asked: Asked) => void>()
  let revision = feed.missed()
  /** Counts what was forgotten: what was read meanwhile is not remembered. */
  let epoch = 0

  function forgetAll(): void {
    epoch++
    remembered.clear()
  }

  /** Reads together the connections that one part of the database holds. */
  async function read(asked: readonly Asked[]): Promise<void> {
    const began = epoch
    try {
      const position = await currentPosition(pool)
      const bits = [...new Set(asked.map(({ ownerBits }) => ownerBits))]
      const values = [bits, [...new Set(asked.map(({ id }) => id))]]
      const query = { name: 'confirm_connections', text: READ, values }
      const { rows } = await watch(bits[0], () => queryOnKept<Found>(pool, query))
      const found = new Map(rows.map((row) => [row.id, row]))
      for (const { id, resolve, reject } of asked) {
        const row = found.get(id)
        if (row?.isSettled === false) {
          reject(new RetryableError('the connection is being written'))
          continue
        }
        const confirmed = { position, row: row && { version: Number(row.version), status: row.status } }
        if (row !== undefined && began === epoch) remembered.set(id, confirmed)
        resolve(confirmed)
      }
    } catch (error) {
      for (const { reject } of asked) reject(error)
    }
  }

  async function readWith(id: string, bits: string): Promise<ConfirmedConnection> {
    const part = await findPart(bits)
    let ask = readers.get(part)
    if (ask === undefined) {
      ask = inTurn(read)
      readers.set(part, ask)
    }
    const { promise, resolve, reject } = Promise.withResolvers<ConfirmedConnection>()
    ask({ id, ownerBits: bits, resolve, reject })
    return promise
  }

  return {
    async confirm({ connection: { id, projectId, userId } }) {
      const current = feed.missed()
      if (current !== revision) forgetAll()
      revision = current
      const known = remembered.get(id)
      const passed = feed.position()
      if (known === undefined || passed === undefined) return readWith(id, ownerBits(projectId, userId))
      return passed.end > known.position.end ? { ...known, position: passed } : known
    },
    forget(change) {
      if (change.noun !== 'connection') return
      epoch++
      remembered.delete(change.id)
    },
  }
}

/** Runs one call at a time, with all items that have arrived since the last one began. */
function inTurn<Item>(run: (items: readonly Item[]) => Promise<void>): (item: Item) => void {
  let waiting: Item[] = []
  let isRunning = false

  async function runAll(): Promise<void> {
    while (waiting.length > 0) {
      const items = waiting
      waiting = []
      await run(items)
    }
    isRunning = false
  }

  return (item) => {
    waiting.push(item)
    if (isRunning) return
    isRunning = true
    setImmediate(runAll) // with the items of the same turn of the event loop
  }
}

interface Asked {
  readonly id: string
  readonly ownerBits: string
  readonly resolve: (confirmed: ConfirmedConnection) => void
  readonly reject: (error: unknown) => void
}

interface Found {
  readonly id: string
  readonly version: string
  readonly status: string
  readonly isSettled: boolean
}

/** A row of the table of changes. */
export interface LaterChange {
  readonly xid: number
  /** `undefined`: rows below `xid` were deleted. */
  readonly changes: readonly StoreChange[] | undefined
}

/** The table of changes as the transaction of the releases reads it. */
export interface ChangesSince {
  readonly server: string
  readonly later: readonly LaterChange[]
}

/** From where the table of changes must be read for these releases. */
export function earliestOf(releases: readonly AuditedRelease[]): Pick<ChangePosition, 'end' | 'open'> {
  const positions = releases.flatMap(({ confirmed }) => confirmed?.position ?? [])
  return {
    end: Math.min(...positions.map(({ end }) => end)),
    open: [...new Set(positions.flatMap(({ open }) => open))],
  }
}

/** The row as it was confirmed; `undefined` where it may have changed since. `server`: the one that the changes are from. */
export function unchangedRow(
  { connection, confirmed }: AuditedRelease,
  { server, later }: ChangesSince,
): Precondition | undefined {
  if (confirmed === undefined || confirmed.position.server !== server) return undefined
  const { horizon, end, open } = confirmed.position
  const isChanged = later.some(({ xid, changes }) => {
    if (changes === undefined) return xid > horizon
    const isLater = xid >= end || open.includes(xid)
    return isLater && changes.some((change) => change.noun === 'connection' && change.id === connection.id)
  })
  return isChanged ? undefined : confirmed.row
}
