import { randomBytes } from 'node:crypto'
import type { Received } from './request-header.ts'

/** The first part of the request ids that this process makes; a counter is the second. */
const PROCESS = randomBytes(6).toString('hex')
let count = 0

const SANE = /^[\w.-]{1,64}$/

/** The client's own request id if it is short and plain enough for a log line, else a new one. */
export function requestIdOf(given: string | string[] | undefined): string {
  return typeof given === 'string' && SANE.test(given) ? given : `${PROCESS}-${(count++).toString(36)}`
}

/** The id in the response's `x-request-id`. The server makes it; without a server, as in tests, it is made here. */
export function requestId(c: Received): string {
  const { requestId: known } = (c.env?.outgoing ?? {}) as { readonly requestId?: string }
  if (known !== undefined) return known
  const made = requestIdOf(c.req.header?.('x-request-id'))
  c.header('x-request-id', made)
  return made
}
