import { setTimeout as pause } from 'node:timers/promises'
import { type PostgresCluster, runSql, startPostgres } from '../postgres-cluster.ts'
import { openLink } from './link.ts'

/** A PostgreSQL that fails over: a primary, a standby while it is needed, and an address that leads to one of them. */
export interface Replicated extends AsyncDisposable {
  /** The URL of the database `postgres` at the address. */
  readonly url: string
  readonly primary: PostgresCluster
  /**
   * Kills the primary, promotes a standby, leads the address there and closes the connections to the former primary; then
   * resolves. `synchronous`: commits wait for the standby, so that nothing is lost that was answered.
   */
  failOver(how: 'synchronous' | 'asynchronous', during?: Stall): Promise<void>
  /** Leads the address to a standby for some time. */
  leadToStandby(ms: number): Promise<void>
}

export interface Stall {
  /** Called when the standby has everything that was answered until then. */
  readonly begun?: () => void
  /** The standby receives nothing while this runs and afterwards. Without it, the standby receives until the end. */
  readonly stalled?: () => Promise<unknown>
}

export async function startReplicated(): Promise<Replicated> {
  let primary = await startPostgres()
  const closing: Promise<void>[] = []
  const link = await openLink(portOf(primary))
  const address = new URL(primary.url)
  address.port = String(link.port)
  return {
    url: address.href,
    get primary() {
      return primary
    },
    async failOver(how, { begun, stalled } = {}) {
      const standby = await primary.startStandby()
      if (how === 'synchronous') await primary.waitForStandby()
      await pause(Math.random() * 300)
      const { rows } = await runSql(primary.url, 'select pg_current_wal_flush_lsn() as lsn')
      begun?.() // what was answered before is in the log up to here
      const hasReceived = `select from pg_stat_replication where flush_lsn >= '${rows[0]?.lsn}'`
      while ((await runSql(primary.url, hasReceived)).rowCount === 0) await pause(5)
      if (stalled !== undefined) {
        standby.link.stall()
        await stalled()
      }
      const former = primary
      await former.stopAtOnce()
      await standby.promote()
      primary = standby
      link.leadTo(portOf(standby))
      link.cut()
      closing.push(former.close())
    },
    async leadToStandby(ms) {
      const standby = await primary.startStandby()
      link.leadTo(portOf(standby))
      link.cut()
      await pause(ms)
      link.leadTo(portOf(primary))
      link.cut()
      await standby.close()
    },
    async [Symbol.asyncDispose]() {
      await link.close()
      await Promise.all([...closing, primary.close()])
    },
  }
}

function portOf({ url }: PostgresCluster): number {
  return Number(new URL(url).port)
}
