import { createHash } from 'node:crypto'
import { isRecord } from '../../../parsing/json-record.ts'
import { BadArgument } from '../write-parameter.ts'
import { isMediaType } from './media-type.ts'

const MAX_PARTS = 100

/** A `multipart/related` body (RFC 2387) of parts that have `content_type` and either `json` or `text`. Throws `BadArgument`. */
export function toMultipart(parts: unknown): { readonly contentType: string; readonly content: string } {
  if (!Array.isArray(parts) || parts.length === 0)
    throw new BadArgument('The body must have at least one part.')
  if (parts.length > MAX_PARTS) throw new BadArgument(`The body may have at most ${MAX_PARTS} parts.`)
  const written = parts.map((part: unknown) => {
    if (!isRecord(part)) throw new BadArgument('A part of the body must be an object.')
    const { content_type: type, json, text } = part
    if (!isMediaType(type)) throw new BadArgument('A part of the body has no media type, such as text/plain.')
    const content = json === undefined ? text : JSON.stringify(json)
    if (typeof content !== 'string') throw new BadArgument('A part of the body has no content.')
    return { type, content }
  })
  // made from the content, so that the content does not hold it and the same parts are the same body
  const boundary = createHash('sha256').update(JSON.stringify(written)).digest('hex')
  const content = written
    .map((part) => `--${boundary}\r\nContent-Type: ${part.type}\r\n\r\n${part.content}\r\n`)
    .join('')
  return { contentType: `multipart/related; boundary=${boundary}`, content: `${content}--${boundary}--` }
}
