import type pg from 'pg'
import type { DatabaseParts } from '../../database.ts'
import type { SilentWorker } from '../../store.ts'
import { fromDriver, isTimeout, isWorkerFailure, WorkerDown } from './failures.ts'

// The workers of Citus, which hold the shards of connections and authorizations.

/** For how long the coordinator waits for a worker to accept a connection. By default it waits 30 s. */
const CONNECT_MS = 1_000
/** Of connections to the coordinator. PostgreSQL without Citus accepts them too. */
const SETTINGS = {
  node_connection_timeout: CONNECT_MS,
  // one connection to each worker: by default a statement over all shards opens one for each, which takes longer than the shard
  max_adaptive_executor_pool_size: 1,
  multi_shard_modify_mode: 'sequential',
}
/** After this many statements in a row that a worker has failed, it is asked once in `PAUSE_MS` only. */
const FAILURES = 3
const PAUSE_MS = 500
/** After this time the places of shards are read again, which an administrator may have moved. */
const PLACES_MS = 10_000

const EVERY_BITS = "select lpad(to_hex(i), 4, '0') as bits from generate_series(0, 65535) as i"
const OWNERS_OF_SHARDS = `select shardid::text as part, array_agg(bits) as bits, max(groupid)::text as worker
  from (select bits, get_shard_id_for_distribution_column('connections', bits) as shardid from (${EVERY_BITS}) as every) as owned
  join pg_dist_placement using (shardid) group by shardid`
/** Where Citus is absent, in tests: sixteen parts. */
const OWNERS_BY_DIGIT = `select left(bits, 1) as part, array_agg(bits) as bits, left(bits, 1) as worker from (${EVERY_BITS}) as every group by part`
const IS_CITUS = "select from pg_extension where extname = 'citus'"

/** In one round trip, and for this transaction alone: the setting. */
const ASK_WORKERS = `begin; set local citus.node_connection_timeout = ${CONNECT_MS};
  select nodeid as id, nodename || ':' || nodeport as address from pg_dist_node
    join run_command_on_workers('select 1') using (nodename, nodeport) where not success order by nodeid;
  commit`

export interface Workers extends DatabaseParts {
  /** The workers that do not answer the coordinator, named by their `nodeid` in the table `pg_dist_node`. */
  findSilent(): Promise<readonly SilentWorker[]>
  /**
   * Runs a statement about the rows of one owner. Throws `WorkerDown` at once while the owner's worker is known not to
   * answer, so that its users do not take all connections of the pool from the others.
   */
  watch<T>(ownerBits: string | undefined, run: () => Promise<T>): Promise<T>
}

interface Part {
  readonly part: string
  readonly bits: readonly string[]
  readonly worker: string
}

interface Failing {
  failures: number
  /** When the worker may be asked again, by `performance.now()`. */
  askAt: number
}

export function createWorkers(pool: pg.Pool): Workers {
  let isCitus: boolean | undefined
  let places: Promise<readonly Part[]> | undefined
  let placesAt = 0
  let partOf = new Map<string, Part>()
  const failing = new Map<string, Failing>()
  pool.options.options = Object.entries(SETTINGS)
    .map(([name, value]) => `-c citus.${name}=${value}`)
    .join(' ')

  async function hasCitus(): Promise<boolean> {
    isCitus ??= (await fromDriver(pool.query(IS_CITUS))).rows.length > 0
    return isCitus
  }

  async function readPlaces(): Promise<readonly Part[]> {
    const text = (await hasCitus()) ? OWNERS_OF_SHARDS : OWNERS_BY_DIGIT
    const { rows } = await fromDriver(pool.query<Part>(text))
    partOf = new Map(rows.flatMap((row) => row.bits.map((one) => [one, row])))
    return rows
  }

  function currentPlaces(): Promise<readonly Part[]> {
    if (places !== undefined && performance.now() - placesAt < PLACES_MS) return places
    placesAt = performance.now()
    places = readPlaces()
    places.catch(() => {
      places = undefined
    })
    return places
  }

  async function countFailure(ownerBits: string): Promise<void> {
    await currentPlaces()
    const worker = partOf.get(ownerBits)?.worker
    if (worker === undefined) return
    const failures = (failing.get(worker)?.failures ?? 0) + 1
    failing.set(worker, { failures, askAt: performance.now() + PAUSE_MS })
  }

  return {
    isUnavailable: isWorkerFailure,
    async ownersOfEach() {
      return (await currentPlaces()).map(({ bits }) => `{${bits.join()}}`)
    },
    async findSilent() {
      if (!(await hasCitus())) return []
      const answers = await fromDriver(pool.query(ASK_WORKERS))
      // the driver gives a list of results for several statements
      const rows = (answers as unknown as readonly pg.QueryResult<{ id: number; address: string }>[])[2]?.rows
      return (rows ?? []).map(({ id, address }) => ({ name: `worker ${id}`, address }))
    },
    async findPart(ownerBits) {
      // a shard keeps its owners when it is moved, so releases do not wait for the places to be read again
      if (partOf.size === 0) await currentPlaces()
      return partOf.get(ownerBits)?.part
    },
    async watch(ownerBits, run) {
      const worker = ownerBits === undefined ? undefined : partOf.get(ownerBits)?.worker
      const known = worker === undefined ? undefined : failing.get(worker)
      if (known !== undefined && known.failures >= FAILURES) {
        if (performance.now() < known.askAt) throw new WorkerDown()
        known.askAt = performance.now() + PAUSE_MS // the others wait for the outcome of this one
      }
      try {
        const result = await run()
        if (worker !== undefined) failing.delete(worker)
        return result
      } catch (error) {
        if (ownerBits !== undefined && (isWorkerFailure(error) || isTimeout(error)))
          await countFailure(ownerBits).catch(() => {}) // the coordinator does not answer either
        throw error
      }
    },
  }
}
