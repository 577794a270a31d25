import type { Broker } from '../../broker.ts'
import { verifiedHost } from '../../domain/mcp-client-identity.ts'
import type { McpConsent } from '../../domain/mcp-consent.ts'
import { approvedScopes } from '../../flows/approved-scopes.ts'
import { clientRights } from '../../flows/mcp-clients.ts'
import { tileLogo } from '../../http/pages/logo-assets.ts'
import type { TileLogo } from '../../http/pages/provider-tile.ts'
import { describeScopes } from '../../providers/catalogue/scope-sentences.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { findToolsNamed } from '../../tools/catalogue/get-tool.ts'
import type { ClientCard, ConnectionCard, SharedCard } from './page-me.ts'
import type { PortalConnection, SharedWithUser } from './portal-view.ts'

/** The cards of a page of connections, with the titles of the tools that used them. */
export async function connectionCards(
  broker: Broker,
  projectId: string,
  connections: readonly PortalConnection[],
  language: string,
): Promise<readonly ConnectionCard[]> {
  const ids = new Set(connections.flatMap(({ tools }) => tools.map(({ tool }) => tool)))
  const titles = new Map(
    await Promise.all([...ids].map(async (id) => [id, await toolTitle(broker, projectId, id)] as const)),
  )
  return connections.map((card) => {
    const { connection, entry, lastUsedAt, tools, moreTools, unusedSince, hasSiblings } = card
    const { id, account, status, statusReason, isDefault, createdAt } = connection
    const facts = entry && broker.definitions.describing(entry)?.facts
    return {
      id,
      providerName: entry?.provider.displayName,
      logo: tileLogo(facts?.logo),
      documentation: facts?.documentation,
      account: account.name || account.id,
      scopes: describeScopes(facts?.scopes, approvedScopes(connection, entry?.provider), language),
      isTyped: entry?.provider.credentials !== undefined,
      isDefault,
      hasSiblings,
      broken: status === 'needs_authorization' ? (statusReason ?? 'refresh_refused') : undefined,
      createdAt,
      lastUsedAt,
      unusedSince,
      tools: tools.map(({ tool, lastUsedAt }) => ({ title: titles.get(tool) ?? tool, lastUsedAt })),
      moreTools,
    }
  })
}

export function sharedCard(broker: Broker, { id, name, entry }: SharedWithUser): SharedCard {
  return { id, name, providerName: entry.provider.displayName, logo: logoOf(broker, entry) }
}

export function clientCard(broker: Broker, consent: McpConsent): ClientCard {
  const { id, clientId, clientName, createdAt, lastUsedAt } = consent
  return {
    id,
    clientName,
    verifiedHost: verifiedHost(clientId),
    may: clientRights(broker, consent),
    createdAt,
    lastUsedAt,
  }
}

export function logoOf(broker: Broker, entry: ProviderEntry): TileLogo | undefined {
  return tileLogo(broker.definitions.describing(entry)?.facts.logo)
}

/** The title of a tool; for a tool that was deleted since, the name within its id. */
async function toolTitle(broker: Broker, projectId: string, id: string): Promise<string> {
  const [tool] = await findToolsNamed(broker, projectId, id)
  return tool?.title ?? id.split(':')[1] ?? id
}
