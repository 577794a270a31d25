import { crc32, deflateSync, inflateSync } from 'node:zlib'

// Pages have few colours, so a palette makes a screenshot about a third of what Chromium writes (PNG, ISO/IEC 15948).

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
const MOST_COLOURS = 256

/** The picture with at most 256 colours: each rarer colour becomes the nearest of the frequent ones. */
export function smallPng(png: Buffer): Buffer {
  const { width, height, pixels } = decode(png)
  const counts = new Map<number, number>()
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1)
  const frequent = [...counts.entries()].sort(([, a], [, b]) => b - a)
  const palette = frequent.slice(0, MOST_COLOURS).map(([colour]) => colour)
  const indexes = new Map(
    frequent.map(([colour], i) => [colour, i < MOST_COLOURS ? i : nearest(palette, colour)]),
  )

  const rows = Buffer.alloc((width + 1) * height) // each row begins with its filter, 0: none
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      rows[y * (width + 1) + 1 + x] = indexes.get(pixels[y * width + x] ?? 0) ?? 0

  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8) // eight bits, a palette
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]))
  const data = deflateSync(rows, { level: 9, memLevel: 9 })
  const chunks = [
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ]
  return Buffer.concat([SIGNATURE, ...chunks])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const ends = Buffer.alloc(8)
  ends.writeUInt32BE(data.length, 0)
  ends.writeUInt32BE(crc32(body), 4)
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)])
}

const channels = (colour: number) => [colour >> 16, (colour >> 8) & 255, colour & 255] as const

function nearest(palette: readonly number[], colour: number): number {
  const [r, g, b] = channels(colour)
  let best = 0
  let least = Number.POSITIVE_INFINITY
  for (const [i, one] of palette.entries()) {
    const [red, green, blue] = channels(one)
    const distance = (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2
    if (distance < least) [best, least] = [i, distance]
  }
  return best
}

/** The colours of a picture as Chromium writes it: eight bits a channel, RGB or RGBA, not interlaced. */
function decode(png: Buffer): {
  readonly width: number
  readonly height: number
  readonly pixels: Uint32Array
} {
  const data: Buffer[] = []
  for (let at = SIGNATURE.length; at < png.length; at += png.readUInt32BE(at) + 12)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
  const [depth, kind, , , interlaced] = png.subarray(24, 29)
  const size = kind === 2 ? 3 : kind === 6 ? 4 : 0
  if (depth !== 8 || size === 0 || interlaced !== 0) throw new Error('The picture has another form of PNG.')

  const bytes = unfilter(inflateSync(Buffer.concat(data)), width * size, height, size)
  const pixels = new Uint32Array(width * height)
  for (let i = 0; i < pixels.length; i++) pixels[i] = bytes.readUIntBE(i * size, 3)
  return { width, height, pixels }
}

/** Undoes the filters of rows, which name each byte by its difference to those to the left (a) and above (b, c). */
function unfilter(rows: Buffer, length: number, height: number, size: number): Buffer {
  const out = Buffer.alloc(length * height)
  for (let y = 0; y < height; y++) {
    const filter = rows[y * (length + 1)]
    for (let x = 0; x < length; x++) {
      const at = y * length + x
      const a = x < size ? 0 : (out[at - size] ?? 0)
      const b = y === 0 ? 0 : (out[at - length] ?? 0)
      const c = x < size || y === 0 ? 0 : (out[at - length - size] ?? 0)
      const foretold = [0, a, b, (a + b) >> 1, paeth(a, b, c)][filter ?? 0] ?? 0
      out[at] = (rows[y * (length + 1) + 1 + x] ?? 0) + foretold
    }
  }
  return out
}

function paeth(a: number, b: number, c: number): number {
  const [toA, toB, toC] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)]
  return toA <= toB && toA <= toC ? a : toB <= toC ? b : c
}
