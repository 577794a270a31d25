import type pg from 'pg'
import type { StoreChange } from '../../changes.ts'

/** The channel of releases without a table of changes: they send each change by NOTIFY in its transaction. */
export const OLDER_CHANNEL = 'gatepass'
/** The `application_name` of the listening connections of those releases. */
const OLDER_LISTENER = 'gatepass listener'
/** The longest payload, in bytes. PostgreSQL refuses 8000 bytes or more. */
const LONGEST_PAYLOAD = 7_900

/**
 * Nodes of an older release, during a rolling upgrade. While such a node listens, each change is also sent by NOTIFY.
 * When it begins to listen, it gets a message that it may have missed changes.
 */
export interface OlderNodes {
  readonly areListening: boolean
  payloadOf(change: StoreChange): string
  /** Changes that a node of an older release has sent; `undefined` when anything may have changed. */
  parse(payload: string): readonly StoreChange[] | undefined
  /** Updates `areListening`, and notifies nodes that have begun to listen. */
  check(on: pg.ClientBase): Promise<void>
}

interface Payload {
  readonly writer: string
  /** Absent: the change was too long to be sent, so anything may have changed. */
  readonly change?: StoreChange
  /** Set by this release: its nodes ignore the payload, since they read the change from the table. */
  readonly isInTable?: true
}

export function createOlderNodes(writer: string): OlderNodes {
  let areListening = true
  const toPayload = (payload: Partial<Payload>) =>
    JSON.stringify({ writer, ...payload, isInTable: true } satisfies Payload)

  return {
    get areListening() {
      return areListening
    },
    payloadOf(change) {
      const whole = toPayload({ change })
      return Buffer.byteLength(whole) <= LONGEST_PAYLOAD ? whole : toPayload({})
    },
    parse(payload) {
      if (payload === '') return [] // the message by which a node tests whether notifications are delivered
      try {
        const { change, isInTable } = JSON.parse(payload) as Payload // written by `payloadOf` of some release
        if (isInTable === true) return []
        return change === undefined ? undefined : [change]
      } catch {
        return undefined // another program may notify on the same channel
      }
    },
    async check(on) {
      const { rowCount } = await on.query({
        name: 'older_nodes',
        text: 'select 1 from pg_stat_activity where datname = current_database() and application_name = $1 limit 1',
        values: [OLDER_LISTENER],
      })
      const had = areListening
      areListening = rowCount !== 0
      if (areListening && !had) await on.query('select pg_notify($1, $2)', [OLDER_CHANNEL, toPayload({})])
    },
  }
}
