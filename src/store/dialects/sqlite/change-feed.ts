import { randomUUID } from 'node:crypto'
import type Database from 'better-sqlite3'
import type { StoreChange } from '../../changes.ts'

/** How many changes are kept for other processes. A process that has missed more must read everything again. */
const KEPT = 10_000

/** The announcements of all processes on one file: each transaction adds its own, and the others read them. */
export interface ChangeFeed {
  /** Inside the transaction that makes the change. */
  add(change: StoreChange): void
  /** What other processes have added since the last call; `missed` when there was more than is kept. */
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
  const range = client.prepare<[], { first: number | null; last: number | null }>(
    'select min(seq) as first, max(seq) as last from changes',
  )
  let version = dataVersion.get()
  let seen = range.get()?.last ?? 0

  return {
    add(change) {
      const { lastInsertRowid } = insert.run(writer, JSON.stringify(change))
      prune.run(Number(lastInsertRowid) - KEPT)
    },
    read() {
      const current = dataVersion.get()
      if (current === version) return NOTHING
      version = current
      const { first, last } = range.get() ?? { first: null, last: null }
      if (last === null || last <= seen) return NOTHING
      const missed = first !== null && first > seen + 1
      const rows = missed ? [] : newer.all(seen, writer)
      seen = last
      return { changes: rows.map((row) => JSON.parse(row.change) as StoreChange), missed } // written by `add`
    },
  }
}

const NOTHING = { changes: [], missed: false } as const
