import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { StoreChange } from '../../changes.ts'

export const CHANNEL = 'gatepass'

/** How often it is asked whether the connection still lives. */
const PING_MS = 1_000
/** After so long without an answer nothing that was kept is believed any more: as late as a foreign write can be. */
const SILENT_MS = 3_000
const LONGEST_BACKOFF_MS = 2_000
/** How long the server is given to hand back what this connection has announced itself. */
const ECHO_MS = 1_000
/** PostgreSQL takes less than 8000 bytes. */
const LONGEST_PAYLOAD = 7_900

/** The changes of all nodes on one database, each sent in the transaction that makes it. */
export interface Announcements {
  payloadOf(change: StoreChange): string
  /** Stays the same while nothing was missed; is another one at each call while nothing is heard. */
  missed(): number
  close(): Promise<void>
}

/**
 * Listens on a connection of its own, for as long as it takes to hear of it: what others write is told by `tell`. A
 * connection that was lost is opened again; what was missed meanwhile is unknown, so `missed` has changed.
 */
export async function listen(
  config: pg.ClientConfig,
  node: string,
  tell: (change: StoreChange) => void,
): Promise<Announcements> {
  let revision = 0
  /** When the ping was sent that was answered last: until then everything has been heard. */
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

  /** Resolves when it hears; then `lost` resolves when it does not any more. */
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
      await hearsItself(fresh)
    } catch (error) {
      void fresh.end().catch(() => {})
      throw error
    }
    fresh.on('notification', ({ channel, payload }) => {
      if (channel === CHANNEL && payload !== undefined && payload !== '') onNotification(payload)
    })
    if (isClosed) await fresh.end().catch(() => {})
    client = fresh
    revision++ // what was written before this is not known
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
        on.connection.stream.destroy() // it may have died without a word, and then would not end by itself
        return
      }
    }
  }

  async function pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: closing.signal, ref: false }).catch(() => {})
  }

  /** As long as it is not closed: from one loss to the next. */
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

/** Without `change`: too long to be sent, so anything may have changed. */
interface Payload {
  readonly writer: string
  readonly change?: StoreChange
}

/**
 * Throws when the server, or a pooler between that lends its connections by transaction, takes LISTEN but delivers
 * nothing: then nothing may be kept.
 */
async function hearsItself(client: pg.Client): Promise<void> {
  const echo = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('nothing is delivered')), ECHO_MS)
    client.once('notification', () => {
      clearTimeout(timer)
      resolve()
    })
  })
  await Promise.all([client.query(`notify ${CHANNEL}`), echo])
}
