import { LRUCache } from 'lru-cache'
import type { Configuration } from 'oidc-provider'
import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import { sha256 } from '../../domain/ids.ts'
import { isMetadataDocument } from '../../domain/mcp-client-identity.ts'
import { OutgoingError } from '../../egress/outgoing.ts'
import { toFetch } from '../../egress/outgoing-fetch.ts'
import { createAddressLimit } from '../../http/endpoint/rate-limit.ts'
import { ClientMetadataFault, checkedKeys, clientMetadata } from './client-metadata.ts'
import { servedRequest } from './served-request.ts'

// The documents that clients name: their metadata and their keys. Anyone may name any URL, so the requests are limited,
// they reach public hosts and those of GATEPASS_MCP_CLIENT_HOSTS only, and an answer says no more than that a document could
// not be read. The log says why.

const MAX_BYTES = 64 * 1024
const DEADLINE_MS = 5_000
/** Documents that one address can have fetched which were not read before. Documents that were read are cached. */
const PER_ADDRESS = { burst: 30, perSecond: 1 } as const
/** The most documents that are fetched at a time: of those that were read before, and of all others. */
const AT_ONCE = 64
/** After a failure the document is not fetched again for this time. */
const FAILED_SECONDS = 20
const MAX_REMEMBERED = 1_000

/** Whether a client id is the URL of a metadata document that may be fetched. */
export function isFetchable({ clientDocuments }: Pick<Broker, 'clientDocuments'>, clientId: string): boolean {
  // one spelling for each document, so that every place takes a client id for the same client
  if (!isMetadataDocument(clientId) || !URL.canParse(clientId)) return false
  const url = new URL(clientId)
  return url.href === clientId && clientDocuments.allows(url)
}

/** Returns the `fetch` for oidc-provider. Metadata is converted like that of a registration. */
export function documentFetch({
  clientDocuments,
  now,
  log,
}: Pick<Broker, 'clientDocuments' | 'now' | 'log'>): NonNullable<Configuration['fetch']> {
  const guarded = toFetch(clientDocuments, {
    purpose: 'discovery',
    maxBytes: MAX_BYTES,
    deadlineMs: DEADLINE_MS,
    idleMs: DEADLINE_MS,
  })
  const secondsToWait = createAddressLimit(PER_ADDRESS)
  const failed = new LRUCache<string, EpochSeconds>({ max: MAX_REMEMBERED })
  // strangers cannot stop the logins of known clients: neither those who share an address with users, behind a proxy, nor
  // those who name many documents on hosts that do not answer
  const readBefore = new LRUCache<string, true>({ max: MAX_REMEMBERED })
  const running = { known: 0, unknown: 0 }

  return async (input, init) => {
    const url = String(input)
    const { host } = new URL(url)
    const request = servedRequest()
    const key = sha256(url) // a client id can be long
    const at = failed.get(key)
    if (at !== undefined && now() >= at && now() < at + FAILED_SECONDS) {
      if (request !== undefined) request.notFetched = { host }
      throw new Error('the document could not be read a moment ago')
    }
    const kind = readBefore.has(key) ? 'known' : 'unknown'
    const retryAfter = running[kind] >= AT_ONCE ? 1 : kind === 'unknown' ? secondsToWait(request?.address) : 0
    if (retryAfter > 0) {
      if (request !== undefined) request.notFetched = { retryAfter }
      throw new Error('too many documents are fetched')
    }
    running[kind]++
    try {
      const document = await read(url, init)
      readBefore.set(key, true)
      return document
    } catch (error) {
      failed.set(key, now())
      if (request !== undefined) request.notFetched = { host }
      log.warn({ host, why: reasonOf(error) }, 'a document that an MCP client names could not be read')
      throw error
    } finally {
      running[kind]--
    }
  }

  async function read(url: string, { method = 'GET', headers, signal }: RequestInit = {}): Promise<Response> {
    const response = await guarded(url, {
      method,
      redirect: 'manual',
      ...(headers && { headers }),
      ...(signal && { signal }),
    })
    if (response.status !== 200) throw new UnreadableDocument(`status ${response.status}`)
    const document = await response.json().catch((error: unknown) => {
      throw error instanceof OutgoingError ? error : new UnreadableDocument('no JSON')
    })
    const isMetadata = typeof document === 'object' && document !== null && 'client_id' in document
    if (!isMetadata) return Response.json(checkedKeys(document), { headers: response.headers })
    // the secret is passed on, so that oidc-provider refuses the document
    const { client_id, client_secret } = document as Readonly<Record<string, unknown>>
    const converted = {
      ...clientMetadata(document),
      client_id,
      ...(client_secret !== undefined && { client_secret }),
    }
    return Response.json(converted, { headers: response.headers })
  }
}

class UnreadableDocument extends Error {}

function reasonOf(error: unknown): string {
  if (error instanceof OutgoingError) return error.kind
  const isExpected = error instanceof UnreadableDocument || error instanceof ClientMetadataFault
  return isExpected ? error.message : 'no answer'
}
