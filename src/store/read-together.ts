/** Keys that one statement reads. */
const MOST = 100

interface Waiting<Key, Row> {
  readonly key: Key
  readonly resolve: (rows: readonly Row[]) => void
  readonly reject: (error: unknown) => void
}

/**
 * Reads of different requests that come in one turn of the event loop go to the database as one, because a round trip
 * costs more than the read. `readAll` gives the rows of each key, in the order of the keys.
 */
export function readTogether<Key, Row>(
  readAll: (keys: readonly Key[]) => Promise<readonly (readonly Row[])[]>,
): (key: Key) => Promise<readonly Row[]> {
  let waiting: Waiting<Key, Row>[] = []

  async function readThose(those: readonly Waiting<Key, Row>[]): Promise<void> {
    try {
      const found = await readAll(those.map(({ key }) => key))
      for (const [i, { resolve }] of those.entries()) resolve(found[i] ?? [])
    } catch (error) {
      for (const { reject } of those) reject(error)
    }
  }

  function readWaiting(): void {
    const all = waiting
    waiting = []
    for (let from = 0; from < all.length; from += MOST) void readThose(all.slice(from, from + MOST))
  }

  return (key) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(readWaiting)
      waiting.push({ key, resolve, reject })
    })
}
