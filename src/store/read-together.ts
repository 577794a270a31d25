/** The most keys that one statement reads. */
const MOST_KEYS = 100

interface Waiting<Key, Row> {
  readonly key: Key
  readonly resolve: (rows: readonly Row[]) => void
  readonly reject: (error: unknown) => void
}

/**
 * Batches reads: those that arrive in one turn of the event loop become one statement, because a round trip to the
 * database costs more than the read. `readAll` returns the rows of each key, in the order of the keys. After an error for
 * which `isOfOneKey` holds, each key is read alone.
 */
export function readTogether<Key, Row>(
  readAll: (keys: readonly Key[]) => Promise<readonly (readonly Row[])[]>,
  isOfOneKey: (error: unknown) => boolean = () => false,
): (key: Key) => Promise<readonly Row[]> {
  let waiting: Waiting<Key, Row>[] = []

  async function readBatch(batch: readonly Waiting<Key, Row>[]): Promise<void> {
    try {
      const found = await readAll(batch.map(({ key }) => key))
      for (const [i, { resolve }] of batch.entries()) resolve(found[i] ?? [])
    } catch (error) {
      if (batch.length > 1 && isOfOneKey(error)) for (const one of batch) void readBatch([one])
      else for (const { reject } of batch) reject(error)
    }
  }

  function readWaiting(): void {
    const all = waiting
    waiting = []
    for (let from = 0; from < all.length; from += MOST_KEYS) void readBatch(all.slice(from, from + MOST_KEYS))
  }

  return (key) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(readWaiting)
      waiting.push({ key, resolve, reject })
    })
}
