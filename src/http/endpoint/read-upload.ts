import { Buffer } from 'node:buffer'
import type { Context } from 'hono'
import { BrokerError } from '../../domain/errors.ts'
import { requestHeader } from './request-header.ts'

/** The largest form that is kept: a file of 64 KiB, other fields, and the separators of multipart. */
const MAX_KEPT_BYTES = 80 * 1024
/**
 * A larger form is read and dropped up to this size, so that the browser shows the refusal and no connection error.
 */
const MAX_READ_BYTES = 8 * 1024 * 1024

export interface Upload {
  readonly form: URLSearchParams
  /** The field of the form that is a file, unless none was chosen. */
  readonly file: { readonly type: string; readonly data: Buffer } | undefined
}

/**
 * Reads a form that was sent as `multipart/form-data` (RFC 7578). Throws `request_too_large`, with the message
 * `tooLarge`, for a form of more than `MAX_KEPT_BYTES`, and `invalid_request` for a form that cannot be read.
 */
export async function readUpload(c: Context, tooLarge: string): Promise<Upload> {
  const type = requestHeader(c, 'content-type') ?? ''
  if (!/^multipart\/form-data;/i.test(type))
    throw new BrokerError('invalid_request', 'A form with a file is sent as multipart/form-data.')
  const body = await readBody(c, tooLarge)
  const fields = await new Response(new Uint8Array(body), { headers: { 'content-type': type } })
    .formData()
    .catch(() => {
      throw new BrokerError('invalid_request', 'The form cannot be read.')
    })
  const form = new URLSearchParams()
  let file: Upload['file']
  for (const [field, value] of fields)
    if (typeof value === 'string') form.append(field, value)
    // a browser sends an empty file where none was chosen
    else if (value.size > 0) file = { type: value.type, data: Buffer.from(await value.arrayBuffer()) }
  return { form, file }
}

async function readBody(c: Context, tooLarge: string): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  const refusal = () => new BrokerError('request_too_large', tooLarge)
  if (Number(requestHeader(c, 'content-length') ?? 0) > MAX_READ_BYTES) {
    c.header('connection', 'close')
    throw refusal()
  }
  for await (const chunk of c.req.raw.body ?? []) {
    size += chunk.length
    if (size > MAX_READ_BYTES) break
    if (size <= MAX_KEPT_BYTES) chunks.push(chunk)
    else chunks.length = 0
  }
  if (size > MAX_KEPT_BYTES) throw refusal()
  return Buffer.concat(chunks)
}
