import type { Buffer } from 'node:buffer'
import type { Logo } from './domain.ts'

export interface ImageSize {
  readonly width: number
  readonly height: number
}

/**
 * The size in pixels that the image's header says: browsers allocate memory by it before they decode anything. `undefined`
 * if the image has no valid header.
 */
export function imageSize(type: Logo['type'], bytes: Buffer): ImageSize | undefined {
  try {
    return READERS[type](bytes)
  } catch (error) {
    if (error instanceof RangeError) return undefined // a read past the end
    throw error
  }
}

const READERS: Readonly<Record<Logo['type'], (bytes: Buffer) => ImageSize | undefined>> = {
  'image/png': pngSize,
  'image/jpeg': jpegSize,
  'image/webp': webpSize,
}

/** PNG (Third Edition) section 11.2.1: the header is the first chunk. */
function pngSize(bytes: Buffer): ImageSize | undefined {
  if (bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
}

/** ITU-T T.81 section B.1.1.3: the markers C0 to CF begin a frame, but for three of them. */
const NO_FRAMES = [0xc4, 0xc8, 0xcc]
const START_OF_SCAN = 0xda

/** ITU-T T.81 section B.2.2: the size is in the frame header, which comes before the first scan. */
function jpegSize(bytes: Buffer): ImageSize | undefined {
  let at = 2
  while (true) {
    if (bytes.readUInt8(at) !== 0xff) return undefined
    const marker = bytes.readUInt8(at + 1)
    if (marker === 0xff) {
      at++ // a fill byte
      continue
    }
    if (marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.includes(marker))
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
    const length = bytes.readUInt16BE(at + 2)
    if (marker === START_OF_SCAN || length < 2) return undefined
    at += 2 + length
  }
}

/** RFC 9649 sections 2.5 to 2.7: the first chunk is one of three, each with the size in its own form. */
function webpSize(bytes: Buffer): ImageSize | undefined {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 }
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    }
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
    default:
      return undefined
  }
}
