import type Database from 'better-sqlite3'
import type { SteadyClock } from '../../../domain/clock.ts'
import { LEASE_CLOCK_FACT } from '../../facts.ts'
import { BUSY_TIMEOUT_MS } from './file.ts'

/**
 * The clock of leases of a file that the processes of one machine share: `lease_clock(now)` in seconds, and
 * `lease_clock_ms()`. It begins with the time of day that the first process after the machine's start has written into the
 * file, and does not follow when an administrator or NTP sets the time. So a lease always lasts for its seconds. Without a steady clock, `lease_clock` is the `now` of the caller.
 */
export function addLeaseClock(client: Database.Database, steady: SteadyClock | undefined): void {
  const offset = steady && offsetOf(client, steady)
  const ms = () =>
    steady === undefined || offset === undefined ? Date.now() : steady.milliseconds() + offset
  client.function('lease_clock', (now) => (offset === undefined ? now : Math.floor(ms() / 1000)))
  client.function('lease_clock_ms', ms)
}

/** What to add to the steady clock. */
function offsetOf(client: Database.Database, { bootId, startedAt }: SteadyClock): number {
  const known = offsetFor(client, bootId)
  if (known !== undefined) return known
  client.pragma('busy_timeout = 30000')
  client
    .transaction(() => {
      if (offsetFor(client, bootId) !== undefined) return
      client
        .prepare('insert or replace into facts (name, value) values (?, ?)')
        .run(LEASE_CLOCK_FACT, `${bootId} ${startedAt}`)
      // the processes that held these have ended with the machine; `claimRefresh` judges leases on connections itself
      client.exec("update executions set lease_until = 0 where status = 'running'")
      client.exec('update audit_progress set lease_until = 0 where lease_until is not null')
      client.exec('delete from processes')
    })
    .immediate()
  client.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  return offsetFor(client, bootId) ?? startedAt
}

function offsetFor(client: Database.Database, bootId: string): number | undefined {
  const value = client
    .prepare<[string], string>('select value from facts where name = ?')
    .pluck()
    .get(LEASE_CLOCK_FACT)
  const [boot, offset] = value?.split(' ') ?? []
  return boot === bootId ? Number(offset) : undefined
}
