import type { Broker } from '../../broker.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { Connection } from '../../domain/connection.ts'
import type { McpConsent } from '../../domain/mcp-consent.ts'
import { isSharedWith } from '../../domain/shared-connection.ts'
import { findProviderByUid } from '../../flows/get-provider.ts'
import { sharedConnections } from '../../flows/shared-token.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { ownerOf } from '../../providers/provider-grant.ts'
import type { ConnectionTool } from '../../store/connection-tools.ts'

/** The most connections on one page, and the most uses by tools that are read for them. */
const CONNECTIONS = 50
const TOOL_USES = 1_000
/** How many tools are named for each connection. */
const TOOLS_SHOWN = 5
/** A connection that was not used for this long is marked. */
const UNUSED_SECONDS = 90 * 24 * 3600

export interface PortalConnection {
  readonly connection: Connection
  /** Absent: the provider was removed. */
  readonly entry?: ProviderEntry | undefined
  readonly lastUsedAt?: EpochSeconds
  /** The latest use first. */
  readonly tools: readonly ConnectionTool[]
  readonly moreTools: number
  /** The time of the last use or consent, if that is long ago. */
  readonly unusedSince?: EpochSeconds
  /** The user has other accounts at this provider. */
  readonly hasSiblings: boolean
}

/** A connection of the project that is shared with the user. */
export interface SharedWithUser {
  readonly id: string
  readonly name: string
  readonly entry: ProviderEntry
}

export interface PortalView {
  readonly connections: readonly PortalConnection[]
  /** Where the next page begins. */
  readonly next?: string | undefined
  readonly clients: readonly McpConsent[]
}

/** What a user sees on their own page: connections with the tools that use them, and MCP clients. */
export async function portalView(
  broker: Broker,
  {
    projectId,
    userId,
    after,
  }: { readonly projectId: string; readonly userId: string; readonly after?: string },
): Promise<PortalView> {
  const { store } = broker
  const [page, uses, clients] = await Promise.all([
    store.connections.list(projectId, { userId }, { offset: 0, limit: CONNECTIONS, after }),
    store.connectionTools.ofUser(projectId, userId, TOOL_USES),
    store.mcpConsents.ofUser(projectId, userId),
  ])
  const toolsOf = Map.groupBy(uses, ({ connectionId }) => connectionId)
  const atProvider = Map.groupBy(page.items, ({ providerUid }) => providerUid)
  const isOnlyPage = after === undefined && page.next === undefined
  const connections = await Promise.all(
    page.items.map(async (connection) => {
      const { providerUid } = connection
      const entry = await findProviderByUid(broker, projectId, providerUid)
      const hasSiblings =
        (atProvider.get(providerUid)?.length ?? 0) > 1 ||
        // another account may be on another page
        (!isOnlyPage && (await store.connections.ofOwner({ projectId, userId, providerUid })).length > 1)
      const tools = [...(toolsOf.get(connection.id) ?? [])].sort((a, b) => b.lastUsedAt - a.lastUsedAt)
      // both times are written at most once a minute, so the later one counts
      const used = Math.max(connection.lastUsedAt ?? 0, tools[0]?.lastUsedAt ?? 0)
      const since = Math.max(used, connection.consentedAt)
      return {
        connection,
        ...(used > 0 && { lastUsedAt: used }),
        entry,
        tools: tools.slice(0, TOOLS_SHOWN),
        moreTools: Math.max(tools.length - TOOLS_SHOWN, 0),
        ...(broker.now() - since >= UNUSED_SECONDS && { unusedSince: since }),
        hasSiblings,
      }
    }),
  )
  // connections that need a new consent come first
  connections.sort((a, b) => Number(isBroken(b)) - Number(isBroken(a)))
  return { connections, next: page.next, clients }
}

function isBroken({ connection }: PortalConnection): boolean {
  return connection.status === 'needs_authorization'
}

/** A connection of this user; `undefined` for an unknown id, and for a connection of another user or project. */
export async function ownConnection(
  { store }: Broker,
  { projectId, userId }: { readonly projectId: string; readonly userId: string },
  id: string,
): Promise<Connection | undefined> {
  const connection = await store.connections.find(id)
  return connection?.projectId === projectId && connection.userId === userId ? connection : undefined
}

/**
 * The connections of the project that some use by this user could take. What agents and tools they are limited to does not
 * count: the user's own page shows whose accounts may act for them, not for what.
 */
export async function sharedWithUser(
  broker: Broker,
  { projectId, userId }: { readonly projectId: string; readonly userId: string },
): Promise<readonly SharedWithUser[]> {
  const all = await sharedConnections(broker, projectId)
  const theirs = all.filter(({ sharedWith: { users } }) => isSharedWith({ users }, { userId, agents: [] }))
  const shown = theirs.map(async ({ id, name, providerUid }) => {
    const entry = await findProviderByUid(broker, projectId, providerUid)
    return entry === undefined || ownerOf(entry.provider) === 'user' ? [] : [{ id, name, entry }]
  })
  return (await Promise.all(shown)).flat()
}
