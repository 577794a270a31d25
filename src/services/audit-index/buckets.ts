import { BUCKETS } from '../../store/audit-index.ts'
import { packPlaces, readPlaces } from './segment.ts'

// The text of a bucket has a line for each of its terms: `\n<tag>:<places>`. A term is a bucket and a tag.

/** Adds a term to the texts of its segment's buckets. */
export function addTerm(buckets: Map<number, string>, term: number, places: readonly number[]): void {
  const { bucket, part } = partOf(term)
  buckets.set(bucket, `${buckets.get(bucket) ?? ''}${part}${packPlaces(places)}`)
}

/** The bucket that a term is in, and how its line begins. */
export function partOf(term: number): { readonly bucket: number; readonly part: string } {
  return { bucket: term % BUCKETS, part: `\n${Math.floor(term / BUCKETS).toString(36)}:` }
}

/** The places of the entries that have a term, of a text that has its line. */
export function placesOf(text: string, part: string): Uint8Array {
  const begin = text.indexOf(part) + part.length
  const end = text.indexOf('\n', begin)
  return readPlaces(text.slice(begin, end < 0 ? undefined : end))
}
