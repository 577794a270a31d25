import { generateKeyPairSync, randomUUID } from 'node:crypto'
import type { JWK } from 'jose'
import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { Sealed } from '../../domain/sealed.ts'
import { sealingContext } from '../../store/protected-tables.ts'

/** The name under which `store.facts` holds the sealed keys. */
const FACT = 'mcp_signing_keys'
const ALGORITHM = 'ES256'
/** How long one key signs. */
const SIGNS_SECONDS = 90 * 24 * 3600
/** How long a replaced key still verifies: longer than an access token lives. */
const VERIFIES_SECONDS = 2 * 3600
/** How long a process caches the keys. */
const CACHED_SECONDS = 60
/** The pause between two reads for tokens with unknown keys, because anyone can make up such tokens. */
const READ_PAUSE_SECONDS = 5

/** A private key (RFC 7517) with which access tokens are signed. */
export interface SigningKey {
  readonly jwk: JWK & { readonly kid: string; readonly alg: typeof ALGORITHM }
  readonly createdAt: EpochSeconds
}

/** The keys that sign access tokens: kept in the database, sealed, and the same on every node. */
export interface SigningKeys {
  /** The key that signs comes first; the others verify. The list is the same object until the keys change. */
  current(): Promise<readonly [SigningKey, ...SigningKey[]]>
  /**
   * Reads the keys again, for a token whose key is not known: another node may have replaced the keys. Keys that were
   * read less than `READ_PAUSE_SECONDS` ago are returned unchanged.
   */
  refresh(): Promise<readonly [SigningKey, ...SigningKey[]]>
}

export function createSigningKeys({
  store,
  sealer,
  now,
}: Pick<Broker, 'store' | 'sealer' | 'now'>): SigningKeys {
  let known: { readonly ids: string; readonly keys: readonly [SigningKey, ...SigningKey[]] } | undefined
  let readAt = 0
  let reading: Promise<readonly [SigningKey, ...SigningKey[]]> | undefined

  /** The keys that were read in the last `seconds`. Simultaneous callers share one read. */
  async function readWithin(seconds: number): Promise<readonly [SigningKey, ...SigningKey[]]> {
    if (known !== undefined && now() < readAt + seconds) return known.keys
    reading ??= read().finally(() => {
      reading = undefined
    })
    return reading
  }

  async function read(): Promise<readonly [SigningKey, ...SigningKey[]]> {
    const stored = (await store.facts.find(FACT)) ?? (await store.facts.settle(FACT, sealed([newKey(now())])))
    const keys = await rotateIfDue(stored, opened(stored))
    const ids = JSON.stringify(keys.map(({ jwk }) => jwk.kid))
    if (known?.ids !== ids) known = { ids, keys }
    readAt = now()
    return known.keys
  }

  /** Adds a key when the newest is `SIGNS_SECONDS` old. If several nodes try, one succeeds; the others read its key. */
  async function rotateIfDue(
    stored: string,
    keys: readonly [SigningKey, ...SigningKey[]],
  ): Promise<readonly [SigningKey, ...SigningKey[]]> {
    const [newest] = keys
    if (now() < newest.createdAt + SIGNS_SECONDS) return stillValid(keys)
    const next = [newKey(now()), ...stillValid(keys)] as const
    if (await store.facts.exchange(FACT, stored, sealed(next))) return next
    return opened((await store.facts.find(FACT)) ?? stored)
  }

  /** Leaves out the keys whose successor has signed for longer than the lifetime of a token. */
  function stillValid([newest, ...older]: readonly [SigningKey, ...SigningKey[]]) {
    const verifies = older.filter((_, at) => {
      const successor = at === 0 ? newest : older[at - 1]
      return now() < (successor?.createdAt ?? 0) + VERIFIES_SECONDS
    })
    return [newest, ...verifies] as const
  }

  function sealed(keys: readonly SigningKey[]): Sealed {
    return sealer.seal(JSON.stringify(keys), sealingContext('facts', 'value', { name: FACT }))
  }

  function opened(stored: string): readonly [SigningKey, ...SigningKey[]] {
    return JSON.parse(sealer.open(stored as Sealed, sealingContext('facts', 'value', { name: FACT }))) // only this file writes the fact
  }

  return {
    current: () => readWithin(CACHED_SECONDS),
    refresh: () => readWithin(READ_PAUSE_SECONDS),
  }
}

function newKey(createdAt: EpochSeconds): SigningKey {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = privateKey.export({ format: 'jwk' })
  return { createdAt, jwk: { ...jwk, kid: randomUUID(), alg: ALGORITHM, use: 'sig' } }
}

/** The public part of a key, as `/jwks` publishes it. */
export function publicJwk({ jwk: { d: _, ...rest } }: SigningKey): JWK {
  return rest
}
