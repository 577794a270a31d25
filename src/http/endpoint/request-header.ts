import type { IncomingMessage } from 'node:http'
import type { HonoRequest } from 'hono'

// Reads the headers of a request as Node has parsed them. To read one header, hono first builds a web `Headers` of
// all headers, which costs more than most steps of a request. Repeated fields are joined by a comma
// (`joinDuplicateHeaders` in server-options.ts), as `Headers` joins them.

/** A received request, as what all ways of answering share reads it: hono's `Context`, or that of the hot fetch. */
export interface Received {
  /** Has `incoming` and `outgoing` of Node; nothing where the app is called without a server, as in tests. */
  // biome-ignore lint/suspicious/noExplicitAny: hono's own type
  readonly env: any
  readonly req: {
    readonly method: string
    readonly path: string
    /** The pattern of the route, as hono writes it. */
    readonly routePath: string
    /** Absent where `env` has the request of Node. */
    header?: HonoRequest['header']
  }
  /** Whether the response is made. */
  readonly finalized: boolean
  /** Sets a header of the response. */
  header(name: string, value: string): void
}

/** Returns one header, `undefined` if the request does not have it. */
export function requestHeader(c: Received, name: Lowercase<string>): string | undefined {
  const headers = headersAtNode(c)
  return headers === undefined ? c.req.header?.(name) : joined(headers[name])
}

/** All headers, with names in lower case and the values of a repeated header joined. */
export function requestHeaders(c: Received): Readonly<Record<string, string>> {
  const headers = headersOf(c)
  const all: Record<string, string> = {}
  for (const name in headers) all[name] = joined(headers[name]) ?? ''
  return all
}

/** All headers, with names in lower case; a repeated header may be a list of its values. */
export function headersOf(c: Received): Readonly<Record<string, string | string[] | undefined>> {
  return headersAtNode(c) ?? c.req.header?.() ?? {}
}

/** `undefined` where the app is called without a server, as in tests. */
function headersAtNode(c: Received): IncomingMessage['headers'] | undefined {
  return (c.env?.incoming as IncomingMessage | undefined)?.headers
}

function joined(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(', ') : value
}
