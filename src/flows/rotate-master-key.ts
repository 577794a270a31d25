import { setTimeout as sleep } from 'node:timers/promises'
import type { Broker } from '../broker.ts'
import type { Sealed } from '../domain/sealed.ts'
import { checkServersSeal, forgetOlderKeys } from '../services/sealing-keys.ts'
import type { EnvelopeCount } from '../store/envelopes.ts'
import { sealedColumnsOf } from '../store/protected-tables.ts'
import type { SealedColumn, StoredEnvelope } from '../store/protection.ts'
import { keyIdOf, type SealingContext, UnknownKeyError, UnsealError } from '../store/seal.ts'
import { markUnusable } from './mark-unusable.ts'

export interface RotationOptions {
  /** How many envelopes one transaction re-seals. */
  readonly batch: number
  /** Called after each batch. */
  readonly onProgress?: (progress: RotationProgress) => void
  /** Ends the rotation after the current batch; re-sealed envelopes stay re-sealed. */
  readonly signal?: AbortSignal
}

export interface RotationProgress {
  readonly done: number
  readonly total: number
}

/** The result of a rotation of the master key. */
export interface Rotation {
  /** `false` when the rotation ended before everything was sealed with the newest key. */
  readonly complete: boolean
  readonly resealed: number
  /** Envelopes that no key of the ring opens; they are not changed. */
  readonly unreadable: readonly Unreadable[]
  /** Ids of keys that are no longer needed, when the rotation is complete. */
  readonly removableKeys: readonly string[]
}

/** An envelope that could not be re-sealed, because it could not be opened. */
export interface Unreadable {
  readonly context: SealingContext
  readonly reason: 'altered' | 'unknown_key'
}

/** An unreadable envelope, with the key id by which `countByKey` counts it. */
interface Found extends Unreadable {
  readonly keyId: string
}

/** The pause before the next pass: a writer that has read an old envelope may still write it back. */
const SETTLE_MS = 1_000
/** If old envelopes remain after this many passes, another process keeps sealing with an old key. */
const MAX_PASSES = 5

/**
 * Re-seals everything with the newest key while servers run. It works in small transactions, each followed by a pause of the
 * same length, and replaces each envelope by compare-and-set, so that a concurrent refresh wins. It searches for old
 * envelopes instead of keeping a position, so it can be interrupted and started again at any time. Throws
 * `store_unavailable` while a server runs that does not seal with the newest key.
 */
export async function rotateMasterKey(
  broker: Broker,
  { batch, onProgress, signal }: RotationOptions,
): Promise<Rotation> {
  const { store, sealer } = broker
  const [newest, ...older] = sealer.keyIds
  await checkServersSeal(store, sealer)
  let total = outdated(await store.envelopes.countByKey(), newest)
  let resealed = 0
  let unreadable: readonly Found[] = []
  onProgress?.({ done: 0, total })

  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const before = resealed
    const found: Found[] = []
    for (const column of sealedColumnsOf(store.parts)) {
      for (let after = ''; ; ) {
        if (signal?.aborted)
          return { complete: false, resealed, unreadable: found.map(reported), removableKeys: [] }
        const started = performance.now()
        const envelopes = await store.envelopes.ofOtherKeys(column, newest, after, batch)
        if (envelopes.length === 0) break
        resealed += await reseal(broker, column, envelopes, found)
        after = envelopes.at(-1)?.rowId ?? ''
        total = Math.max(total, resealed + found.length)
        onProgress?.({ done: resealed + found.length, total })
        await sleep(performance.now() - started)
      }
    }
    unreadable = found
    if (pass > 0 && resealed === before) break
    if (resealed > 0) await sleep(SETTLE_MS)
    else break
  }

  for (const row of unreadable) await markIfAltered(broker, row)
  const left = (await store.envelopes.countByKey()).filter(({ keyId }) => older.includes(keyId))
  // `left` counts altered envelopes only if they have the id of an older key, so only these are compared with it
  const alteredLeft = unreadable.filter(({ reason, keyId }) => reason === 'altered' && older.includes(keyId))
  const result = { resealed, unreadable: unreadable.map(reported) }
  if (left.reduce((sum, { count }) => sum + count, 0) > alteredLeft.length)
    return { ...result, complete: false, removableKeys: [] }
  await checkServersSeal(store, sealer)
  await forgetOlderKeys(store.facts, sealer)
  // a server that started meanwhile with an older key in front has either recorded that key again, or is found here
  await checkServersSeal(store, sealer)
  return { ...result, complete: true, removableKeys: older }
}

function reported({ context, reason }: Found): Unreadable {
  return { context, reason }
}

async function reseal(
  { store, sealer }: Broker,
  column: SealedColumn,
  envelopes: readonly StoredEnvelope[],
  unreadable: Found[],
): Promise<number> {
  const exchanges = envelopes.flatMap(({ rowId, context, sealed }) => {
    try {
      return [{ rowId, from: sealed, to: sealer.seal(sealer.open(sealed, context), context) }]
    } catch (error) {
      const keyId = keyIdOf(sealed)
      if (error instanceof UnknownKeyError) unreadable.push({ context, keyId, reason: 'unknown_key' })
      else if (error instanceof UnsealError) unreadable.push({ context, keyId, reason: 'altered' })
      else throw error
      return []
    }
  })
  return exchanges.length === 0 ? 0 : store.envelopes.exchange(column, exchanges)
}

/**
 * An altered envelope opens with no key. Once the old key is removed, it could not be told apart from one whose key is
 * missing. So the connection is marked as needing a new consent now, as it would be at its next use. A connection that
 * has got new tokens since its envelope was found is not marked.
 */
async function markIfAltered(broker: Broker, { context, reason }: Unreadable): Promise<void> {
  if (context.table !== 'connections' || reason !== 'altered') return
  const connection = await broker.store.connections.find(context.rowId)
  if (connection?.status !== 'active') return
  const sealed = context.column === 'access' ? connection.access : connection.refresh
  if (sealed === undefined || !isAltered(broker, sealed, context)) return
  const entry = await broker.store.providers.findByUid(connection.providerUid)
  await markUnusable(broker, { id: entry?.id ?? '' }, connection, { reason: 'unreadable' })
}

function isAltered({ sealer }: Broker, sealed: Sealed, context: SealingContext): boolean {
  try {
    sealer.open(sealed, context)
    return false
  } catch (error) {
    if (error instanceof UnsealError) return true
    if (error instanceof UnknownKeyError) return false
    throw error
  }
}

function outdated(counts: readonly EnvelopeCount[], newest: string): number {
  return counts.filter(({ keyId }) => keyId !== newest).reduce((sum, { count }) => sum + count, 0)
}
