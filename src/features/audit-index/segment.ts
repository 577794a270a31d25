/**
 * How many entries a segment has: enough that the index needs only one row for all entries with a common term, and
 * few enough that a segment can be searched without the index.
 */
export const SEGMENT = 4_096

const BITMAP_BYTES = SEGMENT / 8
/** From this many entries on, a bitmap is no longer than a list with two bytes for each entry. */
const LISTED = BITMAP_BYTES / 2

/** The segment of the entry with this number. */
export function segmentOf(seq: number): number {
  return Math.floor((seq - 1) / SEGMENT)
}

/** The number of the first entry of a segment. */
export function firstSeqOf(segment: number): number {
  return segment * SEGMENT + 1
}

/** Writes the places of entries within their segment, given in ascending order, as text for the index. */
export function packPlaces(places: readonly number[]): string {
  const bytes = Buffer.alloc(places.length < LISTED ? places.length * 2 : BITMAP_BYTES)
  for (const [i, place] of places.entries())
    if (places.length < LISTED) bytes.writeUInt16LE(place, i * 2)
    else bytes[place >> 3] = (bytes[place >> 3] ?? 0) | (1 << (place & 7))
  return bytes.toString('base64')
}

/** The places that `packPlaces` wrote, as a bitmap. An altered text gives a wrong bitmap, but no error. */
export function readPlaces(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === BITMAP_BYTES) return bytes
  const bitmap = new Uint8Array(BITMAP_BYTES)
  for (let i = 0; i + 1 < bytes.length; i += 2) {
    const place = bytes.readUInt16LE(i)
    if (place < SEGMENT) bitmap[place >> 3] = (bitmap[place >> 3] ?? 0) | (1 << (place & 7))
  }
  return bitmap
}

/** The places that are in all of the bitmaps, in ascending order. */
export function placesInAll(bitmaps: readonly Uint8Array[]): number[] {
  const places: number[] = []
  for (let i = 0; i < BITMAP_BYTES; i++) {
    let byte = 255
    for (const bitmap of bitmaps) byte &= bitmap[i] ?? 0
    for (let bit = 0; byte >> bit > 0; bit++) if ((byte >> bit) & 1) places.push(i * 8 + bit)
  }
  return places
}
