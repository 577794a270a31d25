import type { Context } from 'hono'
import { BrokerError } from '../../domain/errors.ts'

/** The most fields of one form. The forms of pages have far fewer; parsing half a megabyte of fields takes seconds. */
const MAX_FIELDS = 2_000

/** Reads the form that a page has sent. Throws `request_too_large` for a form of too many fields. */
export async function readForm(c: Context): Promise<URLSearchParams> {
  const text = await c.req.text()
  let fields = 1
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1))
    if (++fields > MAX_FIELDS)
      throw new BrokerError('request_too_large', `A form has at most ${MAX_FIELDS} fields.`)
  return new URLSearchParams(text)
}
