import type pg from 'pg'
import { ownerBits } from '../../../domain/ids.ts'
import type { AuditedRelease, ConfirmedConnection, Precondition } from '../../audit-trail.ts'
import type { ChangePosition, StoreChange } from '../../changes.ts'
import { PRECONDITIONS } from '../../preconditions.ts'
import { currentPosition } from './change-table.ts'
import { fromDriver, isLocked, RetryableError } from './failures.ts'
import type { Workers } from './workers.ts'

// The check of a release on a database whose connections are on workers. The transaction that appends releases of several
// users to the audit trail is one of the coordinator alone: no worker takes part in it, so none can fail it, or hold up its
// lock on the head of the chain. What a worker has to say about a connection is read before, for each release alone.
//
// Between this read and the transaction the connection may change. Each write that makes a release invalid announces its
// change in its own transaction and then appends to the same chain. So the transaction of the release, which holds the lock
// on the head, sees the announcements of all such writes that came before it.

const { key, version, status } = PRECONDITIONS.connection
const COLUMNS = `(${version})::bigint as version, ${status} as status`
const OF_OWNER = `from connections where owner_bits = $1 and ${key} = $2`
/** Any transaction that has locked or changed the row, ended or not, has left its id in `xmax`. */
const READ = `select ${COLUMNS}, xmax::text <> '0' as "isTouched" ${OF_OWNER}`
/**
 * A commit over several servers is on the coordinator before it is on each worker: until then a worker that was just
 * started reads the row from before. It is still locked.
 */
const READ_UNLOCKED = `select ${COLUMNS} ${OF_OWNER} for share nowait`

/** Returns `AuditTrail.confirm`. Releases of one turn of the event loop share the position. */
export function createConfirm(
  pool: pg.Pool,
  { watch }: Pick<Workers, 'watch'>,
): (release: AuditedRelease) => Promise<ConfirmedConnection> {
  let shared: Promise<ChangePosition> | undefined

  async function positionOfTurn(): Promise<ChangePosition> {
    await new Promise(setImmediate)
    shared = undefined
    return currentPosition(pool)
  }

  async function find(name: string, text: string, [bits, id]: OfRow): Promise<Found | undefined> {
    try {
      const query = { name, text, values: [bits, id] }
      return (await watch(bits, () => fromDriver(pool.query<Found>(query)))).rows[0]
    } catch (error) {
      throw isLocked(error) ? new RetryableError('the connection is being written', { cause: error }) : error
    }
  }

  return async ({ connection: { id, projectId, userId } }) => {
    shared ??= positionOfTurn()
    const position = await shared
    const values: OfRow = [ownerBits(projectId, userId), id]
    const seen = await find('confirm_connection', READ, values)
    const found = seen?.isTouched ? await find('confirm_unlocked', READ_UNLOCKED, values) : seen
    return { position, row: found && { version: Number(found.version), status: found.status } }
  }
}

type OfRow = readonly [ownerBits: string, id: string]

interface Found {
  readonly version: string
  readonly status: string
  readonly isTouched?: boolean
}

/** A row of the table of changes, as the transaction of the releases reads it. */
export interface LaterChange {
  readonly xid: number
  /** `undefined`: rows below `xid` were deleted. */
  readonly changes: readonly StoreChange[] | undefined
}

/** From where the table of changes must be read for these releases. */
export function earliestOf(releases: readonly AuditedRelease[]): Pick<ChangePosition, 'end' | 'open'> {
  const positions = releases.flatMap(({ confirmed }) => confirmed?.position ?? [])
  return {
    end: Math.min(...positions.map(({ end }) => end)),
    open: [...new Set(positions.flatMap(({ open }) => open))],
  }
}

/** The row as it was confirmed; `undefined` where it may have changed since. */
export function unchangedRow(
  { connection, confirmed }: AuditedRelease,
  later: readonly LaterChange[],
): Precondition | undefined {
  if (confirmed === undefined) return undefined
  const { horizon, end, open } = confirmed.position
  const isChanged = later.some(({ xid, changes }) => {
    if (changes === undefined) return xid > horizon
    const isLater = xid >= end || open.includes(xid)
    return isLater && changes.some((change) => change.noun === 'connection' && change.id === connection.id)
  })
  return isChanged ? undefined : confirmed.row
}
