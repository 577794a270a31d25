import type { Broker } from '../../broker.ts'
import type { Worker } from '../../domain/worker.ts'
import { findProviderByUid } from '../../flows/find-provider.ts'
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
  /** What its tokens are for (RFC 8707). */
  readonly resource: string
  readonly metadata: ServerMetadata
  readonly scopesSupported: readonly string[]
  /** The server says nothing of itself, and nothing at its origin either: these are the usual endpoints there. */
  readonly silence?: NoResourceMetadata
}

/**
 * The authorization server that the operator names, else one that the server names (RFC 9728), else the one at its own
 * origin, as servers of 2025-03-26 have it. What a server says wrongly of itself is never made up for. Throws
 * `ProviderRefusal`.
 * @param check asked before an issuer is: `undefined` where none is known.
 */
export async function serverOf(
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
      const isSilent = error instanceof NoResourceMetadata
      if (error.reason === 'provider_unavailable' || (chosen === undefined && !isSilent)) throw error
      return error
    },
  )
  const discover = async (issuer: string) => {
    await check(issuer)
    return broker.oauth.discover(issuer)
  }
  if (found instanceof ProviderRefusal) {
    const silent = { resource: worker.uri, scopesSupported: [] }
    if (chosen !== undefined) return { ...silent, metadata: await discover(chosen) }
    const { metadata, isGuessed } = await discoverAtOrigin(broker.outgoing, discover, server)
    await check(isGuessed ? undefined : metadata.issuer)
    return {
      ...silent,
      metadata,
      ...(isGuessed && found instanceof NoResourceMetadata && { silence: found }),
    }
  }
  const { resource, authorizationServers: issuers, scopesSupported = [] } = found
  const known = await knownIssuer(broker, worker)
  // of several, the one where users have approved stays
  const kept = known !== undefined && issuers.includes(known) ? known : issuers[0]
  return { resource, metadata: await discover(chosen ?? kept ?? ''), scopesSupported }
}

async function knownIssuer(broker: Broker, worker: Worker): Promise<string | undefined> {
  const uid = mcpSettings(worker).authorization?.providerUid
  return uid === undefined
    ? undefined
    : (await findProviderByUid(broker, worker.projectId, uid))?.provider.issuer
}
