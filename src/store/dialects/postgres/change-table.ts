import type pg from 'pg'
import type { ChangePosition, StoreChange } from '../../changes.ts'
import { NEWEST_COMMIT } from './commits.ts'
import { fromDriver } from './failures.ts'

/** The most rows of one read. A process that has missed more empties its caches. */
const MOST_ROWS = 5_000

/** The changes that other processes have committed since a position. */
export interface NewChanges {
  readonly position: ChangePosition
  readonly changes: readonly StoreChange[]
  /** Whether rows were deleted before they could be read, or there were too many. */
  readonly missed: boolean
  /** The newest commit of this process that the server has (`commits.ts`). */
  readonly ownCommit: number
}

/** The current position. */
export async function currentPosition(on: pg.ClientBase | pg.Pool): Promise<ChangePosition> {
  const { rows } = await fromDriver(
    on.query<{ snapshot: string; server: string }>({ name: 'current_position', text: POSITION }),
  )
  return positionOf(rows[0]?.snapshot ?? '', rows[0]?.server ?? '')
}

/** The table by which processes announce changes: each transaction adds a row, and the other processes read it. */
export interface ChangeTable {
  /** The current position, with which reading begins. */
  begin(on: pg.ClientBase): Promise<ChangePosition>
  readSince(on: pg.ClientBase, position: ChangePosition): Promise<NewChanges>
  /** Deletes the rows of transactions with an id less than `below`, and adds a row that records this. */
  prune(on: pg.Pool, below: number): Promise<void>
}

/** Adds a row of `changes` in the transaction that makes them: $1 is the writer, $2 the changes. */
export const APPEND_CHANGES =
  'insert into changes (xid, writer, body) values (pg_current_xact_id()::text::bigint, $1, $2)'

const SNAPSHOT = 'select pg_current_snapshot()::text as snapshot'
/** What tells servers with different transactions apart. */
export const SERVER = 'pg_postmaster_start_time()::text'
const POSITION = `${SNAPSHOT}, ${SERVER} as server`
// one statement, so that the rows and the next position come from the same snapshot
const READ = `select now.snapshot, own.number as own_commit, news.body, news.pruned_below
  from (${SNAPSHOT}) now cross join (${NEWEST_COMMIT.replace('$1', '$3')}) own left join (
    select xid, body, pruned_below from (
      select xid, writer, body, pruned_below from changes
        where xid >= $1::bigint and xid < pg_snapshot_xmax(pg_current_snapshot())::text::bigint
      union all
      select xid, writer, body, pruned_below from changes where xid = any($2::bigint[])
    ) unseen where writer <> $3 order by xid limit ${MOST_ROWS + 1}
  ) news on true order by news.xid`
// nothing is deleted when all old rows are records of earlier pruning
const PRUNE = `with pruned as (
    delete from changes where xid < $1::bigint
      and exists (select 1 from changes where xid < $1::bigint and pruned_below is null)
    returning 1
  )
  insert into changes (xid, writer, pruned_below)
    select pg_current_xact_id()::text::bigint, $2, $1::bigint where exists (select 1 from pruned)`

export function createChangeTable(writer: string): ChangeTable {
  return {
    begin: currentPosition,
    async readSince(on, { end, open, horizon, server }) {
      const { rows } = await fromDriver(
        on.query<Read>({
          name: 'read_changes',
          text: READ,
          values: [end, open, writer],
        }),
      )
      const isTooMuch = rows.length > MOST_ROWS
      const position = positionOf(rows[0]?.snapshot ?? '', server)
      return {
        position,
        changes: isTooMuch ? [] : rows.flatMap(({ body }) => (body === null ? [] : JSON.parse(body))),
        // smaller ids than before come from another server, such as a replica that took over
        missed:
          isTooMuch || position.end < end || rows.some(({ pruned_below }) => Number(pruned_below) > horizon),
        ownCommit: Number(rows[0]?.own_commit),
      }
    },
    async prune(on, below) {
      await fromDriver(on.query({ name: 'prune_changes', text: PRUNE, values: [below, writer] }))
    },
  }
}

interface Read {
  readonly snapshot: string
  readonly own_commit: string
  readonly body: string | null
  readonly pruned_below: string | null
}

/** Reads a `pg_snapshot`: `horizon:end:open,open`. */
function positionOf(snapshot: string, server: string): ChangePosition {
  const [horizon, end, open = ''] = snapshot.split(':')
  return {
    horizon: Number(horizon),
    end: Number(end),
    open: open === '' ? [] : open.split(',').map(Number),
    server,
  }
}
