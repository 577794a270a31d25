import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { StoreChange } from '../../changes.ts'

export const CHANNEL = 'gatepass'

/** How often the listening connection is pinged. */
const PING_MS = 1_000
/** After this long without an answer to a ping, caches are emptied: a write of another node is noticed this late at most. */
const SILENT_MS = 3_000
const LONGEST_BACKOFF_MS = 2_000
/** How long the server may take to deliver a notification that this connection has sent itself. */
const ECHO_MS = 1_000
/** In bytes. PostgreSQL refuses a payload of 8000 bytes or more. */
const LONGEST_PAYLOAD = 7_900

/** The changes of all nodes on one database, each sent in the transaction that makes it. */
export interface Announcements {
  payloadOf(change: StoreChange): string
  /** Stays the same while no change was missed; changes with every call while the connection is lost. */
  missed(): number
  close(): Promise<void>
}

/**
 * Listens on a connection of its own and passes the changes of other nodes to `tell`. A lost connection is opened again;
 * what was announced meanwhile is unknown, so `missed` changes.
 */
export async function listen(
  config: pg.ClientConfig,
  node: string,
  tell: (change: StoreChange) => void,
): Promise<Announcements> {
  let revision = 0
  /** When the last ping that was answered was sent: everything announced before was received. */
  let heardUntil = Number.NEGATIVE_INFINITY
  let client: pg.Client | undefined
  let isClosed = false
  const closing = new AbortController()

  function onNotification(payload: string): void {
    const { writer, change } = JSON.parse(payload) as Payload // written by `payloadOf`
    if (writer === node) return
    if (change === undefined) revision++
    else tell(change)
  }

  /** Resolves when the connection listens; `lost` resolves when it is lost. */
  async function connect(): Promise<{ readonly lost: Promise<void> }> {
    const fresh = new pg.Client({
      ...config,
      application_name: 'gatepass listener',
      query_timeout: SILENT_MS,
      statement_timeout: SILENT_MS,
    })
    const lost = new Promise<void>((resolve) => {
      fresh.on('error', () => resolve())
      fresh.on('end', () => resolve())
    })
    try {
      await fresh.connect()
      await fresh.query(`listen ${CHANNEL}`)
      await checkDelivery(fresh)
    } catch (error) {
      void fresh.end().catch(() => {})
      throw error
    }
    fresh.on('notification', ({ channel, payload }) => {
      if (channel === CHANNEL && payload !== undefined && payload !== '') onNotification(payload)
    })
    if (isClosed) await fresh.end().catch(() => {})
    client = fresh
    revision++ // announcements before this moment were missed
    heardUntil = performance.now()
    void keepAlive(fresh)
    return { lost }
  }

  async function keepAlive(on: pg.Client): Promise<void> {
    while (client === on && !isClosed) {
      await pause(PING_MS)
      const sentAt = performance.now()
      try {
        await on.query('select 1')
        heardUntil = sentAt
      } catch {
        on.connection.stream.destroy() // a connection that died without a FIN would not end otherwise
        return
      }
    }
  }

  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: closing.signal, ref: false }).catch(() => {})
  }

  /** Opens the connection again after each loss, until `close`. */
  async function keepListening(first: { readonly lost: Promise<void> } | undefined): Promise<void> {
    let current = first
    for (let tries = 0; !isClosed; tries++) {
      if (current !== undefined) {
        tries = 0
        await current.lost
        heardUntil = Number.NEGATIVE_INFINITY
        client = undefined
        if (isClosed) return
      }
      await pause(Math.min(LONGEST_BACKOFF_MS, 50 * 2 ** Math.min(tries, 10)) * (0.5 + Math.random() / 2))
      if (!isClosed) current = await connect().catch(() => undefined)
    }
  }

  const running = keepListening(await connect().catch(() => undefined))

  return {
    payloadOf(change) {
      const whole = JSON.stringify({ writer: node, change } satisfies Payload)
      return Buffer.byteLength(whole) <= LONGEST_PAYLOAD ? whole : JSON.stringify({ writer: node })
    },
    missed() {
      if (performance.now() - heardUntil > SILENT_MS) revision++
      return revision
    },
    async close() {
      isClosed = true
      closing.abort()
      await client?.end().catch(() => {})
      await running
    },
  }
}

/** Without `change`: the change was too long to be sent, so anything may have changed. */
interface Payload {
  readonly writer: string
  readonly change?: StoreChange
}

/**
 * Throws when the server, or a pooler that lends its connections by transaction, accepts LISTEN but delivers nothing:
 * then nothing may be cached.
 */
async function checkDelivery(client: pg.Client): Promise<void> {
  const echo = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('nothing is delivered')), ECHO_MS)
    client.once('notification', () => {
      clearTimeout(timer)
      resolve()
    })
  })
  await Promise.all([client.query(`notify ${CHANNEL}`), echo])
}
