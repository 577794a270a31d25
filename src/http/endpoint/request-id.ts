import { randomBytes } from 'node:crypto'
import type { Context } from 'hono'

/** Tells this process's requests from every other's; counting on costs next to nothing. */
const PROCESS = randomBytes(6).toString('hex')
let count = 0

const SANE = /^[\w.-]{1,64}$/

/** What the client calls its request, if that is fit for a log line, or a new name. */
export function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === 'string' && SANE.test(given) ? given : `${PROCESS}-${(count++).toString(36)}`
}

/** As it is answered in `x-request-id`: by the server's own response, or without a server by the context. */
export function requestId(c: Context): string {
  const { requestId: known } = (c.env?.outgoing ?? {}) as { readonly requestId?: string }
  if (known !== undefined) return known
  const made = requestIdOf(c.req.header('x-request-id'))
  c.header('x-request-id', made)
  return made
}
