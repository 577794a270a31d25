import { z } from 'zod'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { Worker } from '../../domain/worker.ts'
import { getAccessToken } from '../../flows/get-access-token.ts'
import { findProviderByUid } from '../../flows/get-provider.ts'
import { withOwners } from '../../flows/owner-of-use.ts'
import { releaseTokens } from '../../flows/release-tokens.ts'
import { isSecretExpired } from '../../providers/client-registration.ts'
import { bearerChallenge } from '../../providers/protected-resource.ts'
import { isKeptFromWorkers } from '../../providers/provider-grant.ts'
import type { Release } from '../../services/release.ts'
import { permit } from '../../services/request-context.ts'
import { usedProvider } from '../../services/used-provider.ts'
import type { CatalogueBounds, ListedCatalogue } from '../backend.ts'
import type { CatalogueReading, ReceivedCatalogue } from '../catalogue/catalogue-reading.ts'
import { readCatalogue } from '../catalogue/read-catalogue.ts'
import { scrub } from '../scrub/scrub.ts'
import { threadTask } from '../thread-pool.ts'
import { badOutputError } from '../tool-error.ts'
import { WorkerFault } from '../worker-fault.ts'
import { authorizationFault } from './authorization-fault.ts'
import { exchange, isUnauthorized } from './exchange.ts'
import { createListedPages, type ListedPages } from './large-pages.ts'
import { faultOf, scrubFault } from './mcp-error.ts'
import { type McpListing, readList } from './read-catalogue-task.ts'
import { namespaceOf, versionOf } from './read-mcp-tool.ts'
import { discoverServerAuthorization } from './server-authorization.ts'
import { type McpSession, openSession } from './session.ts'
import { rememberProtocol } from './sessions.ts'
import { type McpCredentials, mcpCredentials, mcpSettings, type ServerAuthorization } from './settings.ts'

const MAX_PAGES = 1_000
const catalogueTask = threadTask<ReceivedCatalogue<McpListing>, CatalogueReading>(
  './read-catalogue-task',
  import.meta.url,
)

const page = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() })

interface Listing extends Pick<McpListing, 'secrets'> {
  /** The tools of each page, as a JSON array. */
  readonly pages: readonly Uint8Array[]
  readonly server: { readonly name: string; readonly version: string }
}

/**
 * Lists the server's tools without authorization or, if the server requires OAuth, with the token of the user who
 * approved for the operator. A 401 starts the discovery of the authorization server. Throws `WorkerFault`.
 */
export async function mcpCatalogue(
  broker: Broker,
  worker: Worker,
  bounds: CatalogueBounds,
): Promise<ListedCatalogue | 'unchanged'> {
  const { host } = new URL(worker.uri)
  const known = mcpSettings(worker).authorization
  try {
    const token = known && (await catalogueToken(broker, worker, known))
    return await readListed(worker, await listTools(broker, worker, token, bounds), {
      ...bounds,
      authorization: known,
    })
  } catch (error) {
    if (error instanceof WorkerFault) throw error
    if (!isUnauthorized(error)) throw faultOf(error, host)
    const challenge = bearerChallenge(error.seen.refused?.challenge)
    const found = await discoverServerAuthorization(broker, worker, challenge)
    const token = await catalogueToken(broker, worker, found, { forceRefresh: true })
    if (token === undefined) throw await consentFault(broker, worker, found)
    const listing = await listTools(broker, worker, token, bounds).catch(async (error: unknown) => {
      throw isUnauthorized(error) ? await consentFault(broker, worker, found) : faultOf(error, host)
    })
    return readListed(worker, listing, { ...bounds, authorization: found })
  }
}

function readListed(
  worker: Worker,
  { pages, server: { name, version: statedVersion }, secrets }: Listing,
  {
    before,
    authorization,
  }: Pick<CatalogueBounds, 'before'> & { readonly authorization: ServerAuthorization | undefined },
): Promise<ListedCatalogue | 'unchanged'> {
  const settings = { ...mcpSettings(worker), ...(authorization && { authorization }) }
  const version = versionOf(statedVersion)
  const server = {
    namespace: settings.namespace ?? namespaceOf(name, worker.id),
    ...(version !== undefined && { version }),
  }
  const received = {
    pages,
    about: { server, settings, secrets },
    key: JSON.stringify([server, settings]),
    before,
  }
  return readCatalogue(received, { task: catalogueTask, read: readList, owner: worker.projectId })
}

/**
 * Lists the tools. Throws `WorkerFault`, or an `ExchangeFault` from which the worker's secrets and the token are
 * removed.
 */
export async function listTools(
  broker: Broker,
  worker: Worker,
  token: string | undefined,
  bounds: CatalogueBounds,
): Promise<Listing> {
  const { headers, signer, secretValues } = await mcpCredentials(broker, worker)
  const secrets = token === undefined ? secretValues : [...secretValues, token]
  const pages = createListedPages({ owner: worker.projectId, secrets, maxBytes: bounds.maxBytes })
  try {
    const credentials = {
      headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      ...(signer && { signer }),
    }
    const server = await readListing(broker, worker, { credentials, pages, bounds })
    // `scrub` keeps the shape
    return { pages: pages.pages, server: scrub(server, secrets) as Listing['server'], secrets }
  } catch (error) {
    throw scrubFault(pages.faultOf(error), secrets)
  }
}

async function readListing(
  broker: Broker,
  worker: Worker,
  {
    credentials,
    pages,
    bounds: { maxBytes, maxSeconds },
  }: {
    readonly credentials: Pick<McpCredentials, 'headers' | 'signer'>
    readonly pages: ListedPages
    readonly bounds: CatalogueBounds
  },
): Promise<Listing['server']> {
  const timeoutMs = Math.min(worker.timeoutSeconds, maxSeconds) * 1000
  const endsAt = performance.now() + timeoutMs
  const session = await openSession(broker.outgoing, {
    uri: worker.uri,
    ...credentials,
    timeoutMs,
    longestMs: timeoutMs,
    isLegacy: false,
    maxBytes,
  })
  rememberProtocol(worker, session)
  try {
    const { name, version } = session.client.getServerVersion() ?? { name: '', version: '' }
    await exchange({ timeoutMs: Math.max(1, endsAt - performance.now()), large: pages }, (signal) =>
      readPages(session, pages, { signal, timeout: timeoutMs }),
    )
    return { name, version }
  } finally {
    session.close()
  }
}

async function readPages(
  { client }: McpSession,
  pages: ListedPages,
  options: { readonly signal: AbortSignal; readonly timeout: number },
): Promise<void> {
  const seen = new Set<string>()
  for (let cursor: string | undefined; ; ) {
    const params = cursor === undefined ? {} : { cursor }
    const read = await client.request({ method: 'tools/list', params }, page, options)
    pages.add(read)
    if (read.nextCursor == null) return
    cursor = read.nextCursor
    if (seen.has(cursor) || seen.size >= MAX_PAGES)
      throw unreadable(
        `The list of the server’s tools has no end: its pages repeat, or there are more than ${MAX_PAGES.toLocaleString('en')}.`,
      )
    seen.add(cursor)
  }
}

function unreadable(developerMessage: string): WorkerFault {
  return new WorkerFault(badOutputError(developerMessage))
}

/**
 * Returns the token of the user for whom the tools are listed; its release is audited. `undefined` if there is none
 * now, or if it cannot be refreshed because the client secret has expired: the request without a token then gets a
 * 401, which starts the discovery that registers a new client.
 */
async function catalogueToken(
  broker: Broker,
  { projectId, uri, id: worker }: Worker,
  { providerUid, userId }: ServerAuthorization,
  { forceRefresh = false } = {},
): Promise<string | undefined> {
  const entry = await findProviderByUid(broker, projectId, providerUid)
  if (entry === undefined || userId === undefined) return undefined
  if (isKeptFromWorkers(entry.provider))
    throw authorizationFault(
      `The server cannot be given a token: those of "${entry.id}" are of use only with a key or secret that stays in Gatepass.`,
    )
  try {
    const providers = [usedProvider(entry, [])]
    const hosts = [new URL(uri).host]
    const use = await withOwners(broker, { projectId, userId, use: 'tool', worker, providers, hosts }, [
      { entry },
    ])
    await broker.gate.check(use)
    const found = await permit(use, () =>
      releaseTokens<Release | undefined>(
        broker,
        async () => {
          const need = { projectId, userId, entry, scopes: [], forceRefresh }
          const token = await getAccessToken(broker, need)
          if (token.outcome === 'provider_unavailable') throw authorizationFault(token.message, true)
          return token.outcome === 'ready' ? token : undefined
        },
        (release) => (release === undefined ? [] : [release]),
      ),
    )
    return found?.accessToken
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    if (error.code === 'token_request_refused' && isSecretExpired(entry.provider, broker.now()))
      return undefined
    throw authorizationFault(error.message)
  }
}

async function consentFault(
  broker: Broker,
  worker: Worker,
  { providerUid, userId }: ServerAuthorization,
): Promise<WorkerFault> {
  const entry = await findProviderByUid(broker, worker.projectId, providerUid)
  const who = userId === undefined ? 'a user' : `the user ${userId} or another user`
  return authorizationFault(
    `The server requires OAuth (provider "${entry?.id ?? providerUid}"). Its tools are listed with the token of a user: call POST /v1/workers/${worker.id}/authorize?user_id=… and let ${who} approve at the url in the response.`,
  )
}
