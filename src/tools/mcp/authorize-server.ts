import type { Broker } from '../../broker.ts'
import { BrokerError } from '../../domain/errors.ts'
import type { Worker } from '../../domain/worker.ts'
import { acquireTokens, type TokenAcquisition } from '../../flows/acquire-tokens.ts'
import { findProviderByUid } from '../../flows/get-provider.ts'
import { bearerChallenge } from '../../providers/protected-resource.ts'
import { readBounded } from '../catalogue/read-bounded.ts'
import { getWorker, syncWorker } from '../worker.ts'
import { WorkerFault } from '../worker-fault.ts'
import { listTools } from './catalogue.ts'
import { isUnauthorized } from './exchange.ts'
import { faultOf } from './mcp-error.ts'
import { discoverServerAuthorization, saveServerAuthorization } from './server-authorization.ts'
import { mcpSettings, neededScopes, type ServerAuthorization } from './settings.ts'

/**
 * Begins the user's authorization at the authorization server of an MCP server. From then on the server's tools are
 * listed with this user's token, and read at once if the user has a connection. Throws `invalid_request` if the worker is
 * no MCP server or requires no authorization, `provider_incomplete` and `provider_unavailable` if the authorization server
 * cannot be used, and what `acquireTokens` throws.
 */
export async function authorizeMcpServer(
  broker: Broker,
  worker: Worker,
  { userId, nextUri }: { readonly userId: string; readonly nextUri?: string | undefined },
): Promise<TokenAcquisition> {
  if (worker.type !== 'mcp')
    throw new BrokerError(
      'invalid_request',
      `The worker "${worker.id}" is of the type ${worker.type}; only an MCP server has an authorization of its own.`,
    )
  const authorization = await currentAuthorization(broker, worker).catch((error: unknown) => {
    if (!(error instanceof WorkerFault)) throw error
    throw new BrokerError(
      error.error.canRetry ? 'provider_unavailable' : 'provider_incomplete',
      error.message,
    )
  })
  const entry =
    authorization && (await findProviderByUid(broker, worker.projectId, authorization.providerUid))
  if (authorization === undefined || entry === undefined)
    throw new BrokerError(
      'invalid_request',
      `The worker "${worker.id}" answers without an authorization, so there is none to begin.`,
    )
  const audit = broker.audit.of(worker.projectId, { action: 'worker.changed', subject: worker.id, userId })
  await saveServerAuthorization(broker, worker, { ...authorization, userId }, audit)
  const acquired = await acquireTokens(broker, {
    projectId: worker.projectId,
    userId,
    providers: [{ entry, scopes: neededScopes(mcpSettings(worker), authorization.scopes) }],
    requester: worker.id,
    nextUri,
  })
  if (acquired.outcome === 'ready')
    await syncWorker(broker, await getWorker(broker, worker.projectId, worker.id))
  return acquired
}

/**
 * Returns the authorization that the server requires, or the stored one if the server lists its tools without a token.
 */
async function currentAuthorization(
  broker: Broker,
  worker: Worker,
): Promise<ServerAuthorization | undefined> {
  try {
    await readBounded(worker, (bounds) => listTools(broker, worker, undefined, bounds))
    return mcpSettings(worker).authorization
  } catch (error) {
    if (error instanceof WorkerFault) throw error
    if (!isUnauthorized(error)) throw faultOf(error, new URL(worker.uri).host)
    return discoverServerAuthorization(broker, worker, bearerChallenge(error.seen.refused?.challenge))
  }
}
