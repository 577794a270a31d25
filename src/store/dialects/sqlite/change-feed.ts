import { randomUUID } from 'node:crypto'
import type Database from 'better-sqlite3'
import type { StoreChange } from '../../changes.ts'

/** How many changes are kept for other processes, at least. A process that has missed more empties its caches. */
const KEPT = 10_000
/** Older changes are deleted when the number of a new one is a multiple of this. */
const PRUNED_EVERY = 100

/** The table by which the processes on one file announce changes: each transaction adds its own, and the others read. */
export interface ChangeFeed {
  /** Adds a change, in the transaction that makes it. */
  add(change: StoreChange): void
  /** The changes that other processes have added since the last call; `missed`: some were deleted before that. */
  read(): { readonly changes: readonly StoreChange[]; readonly missed: boolean }
}

export function createChangeFeed(client: Database.Database): ChangeFeed {
  const writer = randomUUID()
  const insert = client.prepare('insert into changes (writer, change) values (?, ?)')
  const prune = client.prepare('delete from changes where seq <= ?')
  // unlike everything else in SQLite, this counts the commits of other connections only
  const dataVersion = client.prepare<[], number>('pragma data_version').pluck()
  const newer = client.prepare<[number, string], { seq: number; change: string }>(
    'select seq, change from changes where seq > ? and writer <> ? order by seq',
  )
  // two subqueries, since SQLite answers one minimum or maximum from the index, but reads all rows for both
  const range = client.prepare<[], { first: number | null; last: number | null }>(
    'select (select min(seq) from changes) as first, (select max(seq) from changes) as last',
  )
  let version = dataVersion.get()
  let seen = range.get()?.last ?? 0
  /** The first row of this process that may be rolled back. Another process may get its number then. */
  let firstUncertain = Number.POSITIVE_INFINITY

  return {
    add(change) {
      const seq = Number(insert.run(writer, JSON.stringify(change)).lastInsertRowid)
      firstUncertain = Math.min(firstUncertain, seq)
      if (seq % PRUNED_EVERY === 0) prune.run(seq - KEPT)
    },
    read() {
      if (!client.inTransaction) firstUncertain = Number.POSITIVE_INFINITY
      const current = dataVersion.get()
      if (current === version) return NOTHING
      const { first, last } = range.get() ?? { first: null, last: null }
      if (last === null || last <= seen) {
        version = current
        return NOTHING
      }
      const missed = first !== null && first > seen + 1
      const rows = missed ? [] : newer.all(seen, writer)
      version = current // after the reads: if one of them fails, the next call reads again
      // a group commit may have added uncommitted rows of this process, which are not counted as seen
      seen = Math.max(seen, Math.min(last, firstUncertain - 1))
      return { changes: rows.map((row) => JSON.parse(row.change) as StoreChange), missed } // written by `add`
    },
  }
}

const NOTHING = { changes: [], missed: false } as const
