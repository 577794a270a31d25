import { AsyncLocalStorage } from 'node:async_hooks'
import type { Context } from 'hono'

/** The HTTP request for which oidc-provider runs. Its adapter and its `fetch` are not told of it. */
export interface ServedRequest {
  readonly c: Context
  /** The address of the client, by which outgoing requests are limited. */
  readonly address: string | undefined
  /** The refresh token that replaces the one of the request (refresh-tokens.ts). */
  successor?: string
  /** Stores the assertion of the client as used. Called if the request gives tokens. */
  keepAssertion?: () => Promise<void>
  /** Set if a document that the client names could not be fetched: the host, or that the address must wait. */
  notFetched?: { readonly host: string } | { readonly retryAfter: number } | undefined
}

const requests = new AsyncLocalStorage<ServedRequest>()

/** Runs `serve`, in which `servedRequest` returns this request. */
export function inRequest<T>(request: ServedRequest, serve: () => T): T {
  return requests.run(request, serve)
}

export function servedRequest(): ServedRequest | undefined {
  return requests.getStore()
}
