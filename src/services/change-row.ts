import { BrokerError } from '../domain/errors.ts'

/** Each failed attempt means that another request has changed the row, so few requests need more than two. */
const MAX_ATTEMPTS = 5

/**
 * Changes the row that `first` was read from. `change` returns `undefined`, with nothing written, if another request has
 * changed the row since it was read; the row is read again then, and the change is repeated on it. Throws
 * `store_unavailable` after a few attempts.
 *
 * @param name the subject of the message, such as: The provider "demo"
 */
export async function changeRow<Row, Changed>(
  name: string,
  first: Row,
  read: () => Promise<Row>,
  change: (row: Row) => Promise<Changed | undefined>,
): Promise<Changed> {
  let row = first
  for (let attempt = 1; ; attempt++) {
    const changed = await change(row)
    if (changed !== undefined) return changed
    if (attempt === MAX_ATTEMPTS)
      throw new BrokerError(
        'store_unavailable',
        `${name} was changed by other requests at the same time, and this change was not made. Try again.`,
        { retryAfter: 1 },
      )
    row = await read()
  }
}
