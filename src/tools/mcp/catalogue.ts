import { z } from 'zod'
import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { Worker } from '../../domain/worker.ts'
import { findProviderByUid } from '../../flows/find-provider.ts'
import { getAccessToken } from '../../flows/get-access-token.ts'
import { releaseTokens } from '../../flows/release-tokens.ts'
import { bearerChallenge } from '../../providers/protected-resource.ts'
import { policyProvider } from '../../services/policies/policy-provider.ts'
import type { Release } from '../../services/release.ts'
import { permit } from '../../services/request-context.ts'
import type { CatalogueItem } from '../backend.ts'
import { scrub } from '../scrub.ts'
import { badOutputError } from '../tool-error.ts'
import { WorkerFault } from '../worker-fault.ts'
import { MAX_CATALOGUE_SECONDS } from '../worker-request.ts'
import { ExchangeFault, exchange } from './exchange.ts'
import { faultOf, scrubFault } from './mcp-error.ts'
import { namespaceOf, readMcpTool, versionOf } from './read-mcp-tool.ts'
import { authorizationFault, findServerAuthorization } from './server-authorization.ts'
import { type McpSession, openSession } from './session.ts'
import { rememberProtocol } from './sessions.ts'
import { type McpCredentials, mcpCredentials, mcpSettings, type ServerAuthorization } from './settings.ts'

const MAX_PAGES = 100
const MAX_TOOLS = 2_000
/** How many refused tools are reported for one server; the list is stored with the worker and read by the operator. */
const MAX_REASONS = 20
/** Length of all pages together, as JSON. */
const MAX_LENGTH = 16 * 1024 * 1024

const page = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() })

interface Listing {
  readonly tools: readonly unknown[]
  readonly server: { readonly name: string; readonly version: string }
}

/**
 * Lists the server's tools without authorization or, if the server requires OAuth, with the token of the user who
 * approved for the operator. A 401 starts the discovery of the authorization server. Throws `WorkerFault`.
 */
export async function mcpCatalogue(broker: Broker, worker: Worker): Promise<readonly CatalogueItem[]> {
  const { host } = new URL(worker.uri)
  const known = mcpSettings(worker).authorization
  try {
    const listing = await listTools(broker, worker, known && (await catalogueToken(broker, worker, known)))
    return toItems(worker, listing, known)
  } catch (error) {
    if (error instanceof WorkerFault) throw error
    if (!isUnauthorized(error)) throw faultOf(error, host)
    const challenge = bearerChallenge(error.seen.refused?.challenge)
    const found = await findServerAuthorization(broker, worker, challenge)
    const token = await catalogueToken(broker, worker, found, { forceRefresh: true })
    if (token === undefined) throw await consentFault(broker, worker, found)
    const listing = await listTools(broker, worker, token).catch(async (error: unknown) => {
      throw isUnauthorized(error) ? await consentFault(broker, worker, found) : faultOf(error, host)
    })
    return toItems(worker, listing, found)
  }
}

function isUnauthorized(error: unknown): error is ExchangeFault {
  return error instanceof ExchangeFault && error.seen.refused?.status === 401
}

function toItems(
  worker: Worker,
  { tools, server }: Listing,
  authorization: ServerAuthorization | undefined,
): CatalogueItem[] {
  const settings = { ...mcpSettings(worker), ...(authorization && { authorization }) }
  const version = versionOf(server.version)
  const about = {
    namespace: settings.namespace ?? namespaceOf(server.name, worker.id),
    ...(version !== undefined && { version }),
  }
  const items = tools.map((tool) => readMcpTool(tool, about, settings))
  const refused = items.filter((item) => item.outcome === 'refused')
  if (refused.length <= MAX_REASONS) return items
  const reason = `${refused.length - MAX_REASONS} more cannot be taken either.`
  return [
    ...items.filter((item) => item.outcome === 'read'),
    ...refused.slice(0, MAX_REASONS),
    { outcome: 'refused', name: refused[MAX_REASONS]?.name ?? '', reason },
  ]
}

/**
 * Lists the tools. The worker's secrets and the token are removed from the answer, because models read descriptions
 * and operators read errors.
 */
export async function listTools(broker: Broker, worker: Worker, token: string | undefined): Promise<Listing> {
  const { headers, signer, values } = await mcpCredentials(broker, worker)
  const shown = token === undefined ? values : [...values, token]
  try {
    const listing = await readListing(broker, worker, {
      headers: { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      ...(signer && { signer }),
    })
    return scrub(listing, shown) as Listing // `scrub` keeps the shape
  } catch (error) {
    throw scrubFault(error, shown)
  }
}

async function readListing(
  broker: Broker,
  worker: Worker,
  credentials: Pick<McpCredentials, 'headers' | 'signer'>,
): Promise<Listing> {
  const timeoutMs = Math.min(worker.timeoutSeconds, MAX_CATALOGUE_SECONDS) * 1000
  const endsAt = performance.now() + timeoutMs
  const session = await openSession(broker.outgoing, {
    uri: worker.uri,
    ...credentials,
    timeoutMs,
    longestMs: timeoutMs,
    isLegacy: false,
  })
  rememberProtocol(worker, session)
  try {
    const { name, version } = session.client.getServerVersion() ?? { name: '', version: '' }
    const tools = await exchange({ timeoutMs: Math.max(1, endsAt - performance.now()) }, (signal) =>
      readPages(session, signal, timeoutMs),
    )
    return { tools, server: { name, version } }
  } finally {
    session.close()
  }
}

async function readPages({ client }: McpSession, signal: AbortSignal, timeout: number): Promise<unknown[]> {
  const tools: unknown[] = []
  const seen = new Set<string>()
  let length = 0
  for (let cursor: string | undefined; ; ) {
    const params = cursor === undefined ? {} : { cursor }
    const read = await client.request({ method: 'tools/list', params }, page, { signal, timeout })
    tools.push(...read.tools)
    length += JSON.stringify(read.tools).length
    if (tools.length > MAX_TOOLS || length > MAX_LENGTH)
      throw unreadable(`The server lists more than ${MAX_TOOLS} tools or ${MAX_LENGTH / 1024 / 1024} MiB.`)
    if (read.nextCursor == null) return tools
    cursor = read.nextCursor
    if (seen.has(cursor) || seen.size >= MAX_PAGES)
      throw unreadable('The list of the server’s tools has no end: its pages repeat, or are over 100.')
    seen.add(cursor)
  }
}

function unreadable(developerMessage: string): WorkerFault {
  return new WorkerFault(badOutputError(developerMessage))
}

/** The token of the user for whom the tools are listed; its release is audited. `undefined` if there is none now. */
async function catalogueToken(
  broker: Broker,
  { projectId, uri }: Worker,
  { providerUid, userId }: ServerAuthorization,
  { forceRefresh = false } = {},
): Promise<string | undefined> {
  const entry = await findProviderByUid(broker, projectId, providerUid)
  if (entry === undefined || userId === undefined) return undefined
  try {
    const providers = [policyProvider(entry, [])]
    const use = { projectId, userId, use: 'tool', providers, hosts: [new URL(uri).host] } as const
    await broker.policies.check(use)
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
    if (error instanceof BrokerError) throw authorizationFault(error.message)
    throw error
  }
}

async function consentFault(
  broker: Broker,
  worker: Worker,
  { providerUid, userId }: ServerAuthorization,
): Promise<WorkerFault> {
  const entry = await findProviderByUid(broker, worker.projectId, providerUid)
  const who = userId === undefined ? 'a user' : `the user ${userId} again, or another`
  return authorizationFault(
    `The server wants OAuth (provider "${entry?.id ?? providerUid}"). Its tools are listed in the name of a user: call POST /v1/workers/${worker.id}/authorize?user_id=… and let ${who} approve at the url it answers.`,
  )
}
