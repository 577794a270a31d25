import { Buffer } from 'node:buffer'
import { invalidMember } from '../../domain/errors.ts'
import type { Logo } from './domain.ts'
import { imageSize } from './image-size.ts'

export const MAX_LOGO_BYTES = 64 * 1024
/** The longest side: a few bytes can describe an image that takes a browser gigabytes of memory. */
const MAX_LOGO_PIXELS = 1024

/** The first bytes of each accepted kind of image, in hexadecimal. SVG is not accepted: it may hold scripts and links. */
const BEGINNINGS: Readonly<Record<Logo['type'], RegExp>> = {
  'image/png': /^89504e470d0a1a0a/,
  'image/jpeg': /^ffd8ff/,
  'image/webp': /^52494646.{8}57454250/,
}

/**
 * Reads the image of a `data:` URL. Its first bytes must agree with the type that the URL names. Throws `invalid_request`
 * for another kind, for more than 64 KiB, and for a side of more than 1,024 pixels.
 */
export function readLogo(url: string): Logo {
  const [, type, data] = /^data:(image\/(?:png|jpeg|webp));base64,([A-Za-z0-9+/]+={0,2})$/.exec(url) ?? []
  if (type === undefined || data === undefined)
    throw invalidMember(
      'logo',
      'invalid',
      'logo must be the image itself as data:image/png;base64,…, data:image/jpeg;base64,… or data:image/webp;base64,…; an address or an SVG is not taken.',
    )
  const bytes = Buffer.from(data, 'base64')
  if (bytes.length > MAX_LOGO_BYTES)
    throw invalidMember(
      'logo',
      'too_large',
      `logo is ${bytes.length} bytes large, and may be 65,536 (64 KiB).`,
    )
  const beginning = bytes.subarray(0, 16).toString('hex')
  const kinds = Object.keys(BEGINNINGS) as Logo['type'][] // of the table above
  const kind = kinds.find((candidate) => BEGINNINGS[candidate].test(beginning))
  if (kind !== type)
    throw invalidMember(
      'logo',
      'invalid',
      `logo is called ${type}, and its bytes are ${kind === undefined ? 'not those of a PNG, JPEG, or WebP image' : `those of ${kind}`}.`,
    )
  const { width, height } = imageSize(kind, bytes) ?? { width: 0, height: 0 }
  if (width === 0 || height === 0)
    throw invalidMember('logo', 'invalid', 'logo is damaged: its head does not say how large the image is.')
  if (width > MAX_LOGO_PIXELS || height > MAX_LOGO_PIXELS)
    throw invalidMember(
      'logo',
      'too_large',
      `logo is ${width} by ${height} pixels large, and may be 1,024 by 1,024. Pages show it 40 pixels high, so 160 are enough.`,
    )
  return { type: kind, data: bytes.toString('base64') }
}
