import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Received } from '../endpoint/request-header.ts'

/** A request of the hot fetch in place of hono's `Context`, for the functions that both ways call. */
export class HotRequest implements Received {
  readonly env: { readonly incoming: IncomingMessage; readonly outgoing: ServerResponse }
  readonly routePath: string

  constructor(routePath: string, incoming: IncomingMessage, outgoing: ServerResponse) {
    this.env = { incoming, outgoing }
    this.routePath = routePath
  }

  get req(): Received['req'] {
    const { incoming } = this.env
    return {
      method: 'POST',
      path: incoming.url ?? '',
      routePath: this.routePath,
    }
  }

  get finalized(): boolean {
    return this.env.outgoing.headersSent
  }

  header(name: string, value: string): void {
    this.env.outgoing.setHeader(name, value)
  }
}
