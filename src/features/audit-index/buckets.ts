import { packPlaces, readPlaces } from './segment.ts'
import { BUCKETS } from './store-index.ts'

// A term's number determines its bucket and its tag within the bucket. The text of a bucket has a line for each of its
// terms: `\n<tag>:<places>`.

/** Adds a term to the texts of its segment's buckets. */
export function addTerm(buckets: Map<number, string>, term: number, places: readonly number[]): void {
  const { bucket, part } = partOf(term)
  buckets.set(bucket, `${buckets.get(bucket) ?? ''}${part}${packPlaces(places)}`)
}

/** The bucket of a term, and the beginning of the term's line in it. */
export function partOf(term: number): { readonly bucket: number; readonly part: string } {
  return { bucket: term % BUCKETS, part: `\n${toBase36(Math.floor(term / BUCKETS))}:` }
}

/** A tag is written in two parts, since `toString(36)` is slow for a number beyond 2^31. */
const HALF = 36 ** 5

function toBase36(tag: number): string {
  const high = Math.floor(tag / HALF)
  const low = (tag % HALF).toString(36)
  return high === 0 ? low : high.toString(36) + low.padStart(5, '0')
}

/** The places of the entries that have a term. The text of the bucket must contain the term's line. */
export function placesOf(text: string, part: string): Uint8Array {
  const begin = text.indexOf(part) + part.length
  const end = text.indexOf('\n', begin)
  return readPlaces(text.slice(begin, end < 0 ? undefined : end))
}
