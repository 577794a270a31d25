/** The published keys of an issuer, from a cache. */
export interface IssuerKeys<Keys> {
  /**
   * Reads the keys again when they are ten minutes old, because an issuer withdraws a key by no longer publishing it.
   * While they cannot be read, the last keys stay in use. Rejects with the error of the last read while there are none.
   */
  current(): Promise<Keys>
  /** Returns keys that are newer than `seen`, for a token whose key is not among them; else `undefined`. */
  newerThan(seen: Keys): Promise<Keys | undefined>
}

export interface IssuerKeysOptions<Keys> {
  read(): Promise<Keys>
  /** In milliseconds. */
  now(): number
  /** The least time between two reads while none has succeeded, because anyone can send a token. */
  readonly retryMs: number
  /** The longest use of keys while the issuer does not answer. Default: no limit. */
  readonly staleMs?: number
}

const MAX_AGE_MS = 600_000
/** The least time between two other reads, because anyone can send a token with an unknown key. */
const PAUSE_MS = 30_000

export function createIssuerKeys<Keys>({
  read,
  now,
  retryMs,
  staleMs = Infinity,
}: IssuerKeysOptions<Keys>): IssuerKeys<Keys> {
  let known: { readonly keys: Keys; readonly readAt: number } | undefined
  let failure: unknown
  let triedAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  /** Reads the keys, unless the last attempt was within the pause. Concurrent callers share one read. */
  async function readOnce(pauseMs: number): Promise<void> {
    // `now` is before `triedAt` if the clock was set back
    if (reading === undefined && now() >= triedAt && now() < triedAt + pauseMs) return
    reading ??= readNow().finally(() => {
      reading = undefined
    })
    await reading
  }

  async function readNow(): Promise<void> {
    triedAt = now()
    try {
      known = { keys: await read(), readAt: now() }
    } catch (error) {
      failure = error
    }
  }

  return {
    async current() {
      const isFresh = known !== undefined && now() >= known.readAt && now() < known.readAt + MAX_AGE_MS
      if (!isFresh) await readOnce(known === undefined ? retryMs : PAUSE_MS)
      if (known === undefined || now() >= known.readAt + staleMs) throw failure
      return known.keys
    },
    async newerThan(seen) {
      await readOnce(PAUSE_MS)
      return known?.keys === seen ? undefined : known?.keys
    },
  }
}
