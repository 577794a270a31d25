import type { Broker } from '../../broker.ts'
import type { Worker } from '../../domain/worker.ts'
import { findProviderByUid } from '../../flows/get-provider.ts'
import { discoverAtOrigin, type ServerMetadata } from '../../providers/discovery.ts'
import {
  type Challenge,
  discoverProtectedResource,
  NoResourceMetadata,
} from '../../providers/protected-resource.ts'
import { ProviderRefusal } from '../../providers/provider-refusal.ts'
import { mcpSettings } from './settings.ts'

/** The authorization server of an MCP server. */
export interface FoundServer {
  /** The resource that its tokens are for (RFC 8707). */
  readonly resource: string
  readonly metadata: ServerMetadata
  readonly scopesSupported: readonly string[]
  /**
   * Set if neither the server nor its origin publishes metadata: the endpoints are then the default ones of the
   * origin.
   */
  readonly noMetadata?: NoResourceMetadata
}

/**
 * Discovers the authorization server: the one that the operator configured, or else one that the server names (RFC
 * 9728), or else the one at the server's own origin (MCP 2025-03-26). Wrong metadata of the server is an error, unless
 * the operator configured the authorization server: it is never replaced by a guess. `check` is called before an
 * issuer is requested, with `undefined` if no issuer is known. Throws `ProviderRefusal`.
 */
export async function discoverAuthorizationServer(
  broker: Broker,
  worker: Worker,
  challenge: Challenge,
  check: (issuer: string | undefined) => Promise<void>,
): Promise<FoundServer> {
  const chosen = mcpSettings(worker).oauth2?.authorizationUrl
  const server = new URL(worker.uri)
  const found = await discoverProtectedResource(broker.outgoing, server, challenge).catch(
    (error: unknown): ProviderRefusal => {
      if (!(error instanceof ProviderRefusal)) throw error
      const hasNoMetadata = error instanceof NoResourceMetadata
      if (error.reason === 'provider_unavailable' || (chosen === undefined && !hasNoMetadata)) throw error
      return error
    },
  )
  const discover = async (issuer: string) => {
    await check(issuer)
    return broker.discover(issuer)
  }
  if (found instanceof ProviderRefusal) {
    const defaults = { resource: worker.uri, scopesSupported: [] }
    if (chosen !== undefined) return { ...defaults, metadata: await discover(chosen) }
    const { metadata, isGuessed } = await discoverAtOrigin(broker.outgoing, discover, server)
    await check(isGuessed ? undefined : metadata.issuer)
    return {
      ...defaults,
      metadata,
      ...(isGuessed && found instanceof NoResourceMetadata && { noMetadata: found }),
    }
  }
  const { resource, authorizationServers: issuers, scopesSupported = [] } = found
  const known = await knownIssuer(broker, worker)
  // among several, prefer the one where users have approved already
  const kept = known !== undefined && issuers.includes(known) ? known : issuers[0]
  return { resource, metadata: await discover(chosen ?? kept ?? ''), scopesSupported }
}

async function knownIssuer(broker: Broker, worker: Worker): Promise<string | undefined> {
  const uid = mcpSettings(worker).authorization?.providerUid
  return uid === undefined
    ? undefined
    : (await findProviderByUid(broker, worker.projectId, uid))?.provider.issuer
}
