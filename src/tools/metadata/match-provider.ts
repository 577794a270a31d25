import type { Broker } from '../../broker.ts'
import { newId } from '../../domain/ids.ts'
import { unionOfScopes } from '../../domain/scopes.ts'
import type { Tool } from '../../domain/tool.ts'
import { clientSecretPlace, freeProviderId, sealClientSecret } from '../../flows/provider-entry.ts'
import { identityOf } from '../../providers/identity.ts'
import type { Provider, ProviderEntry } from '../../providers/provider.ts'
import type { OAuthEntry } from './read-metadata.ts'

export interface MatchedProvider {
  readonly entry: ProviderEntry
  /** Whether the entry is new or differs from what is stored. */
  readonly changed: boolean
  readonly warning?: string
}

/**
 * The provider entry that an `oauth` entry of a tool means, as it is to be stored. An entry is known by its name,
 * endpoints and client: the same in several tools is one; other endpoints or another client id make another entry, and
 * the tokens of the first are never sent there. How an entry that other tools share is spoken to is not changed by an
 * import, so that no tool can weaken it for the rest.
 */
export function matchProvider(
  broker: Broker,
  wanted: OAuthEntry,
  known: {
    readonly entries: readonly ProviderEntry[]
    readonly tools: readonly Tool[]
    readonly tool: Pick<Tool, 'uid' | 'projectId'>
  },
): MatchedProvider {
  const now = broker.now()
  const found = findEntry(broker, wanted, known)
  if (found === undefined) {
    const uid = newId('prov')
    const { projectId } = known.tool
    const id = freeProviderId(wanted.name, new Set(known.entries.map((one) => one.id)))
    const entry: ProviderEntry = {
      uid,
      projectId,
      id,
      name: wanted.name,
      status: 'active',
      source: 'metadata',
      provider: wanted.provider,
      ...(wanted.clientId !== undefined && { clientId: wanted.clientId }),
      ...(wanted.clientSecret !== undefined && {
        clientSecret: sealClientSecret(broker, { uid, projectId }, wanted.clientSecret),
      }),
      createdAt: now,
      updatedAt: now,
    }
    return { entry, changed: true }
  }

  const shared = known.tools.some((tool) => tool.uid !== known.tool.uid && needs(tool, found))
  const differs = settingsOf(found.provider) !== settingsOf(wanted.provider)
  const keepsItsOwn = found.source === 'admin' || shared
  const defaultScopes = unionOfScopes(found.provider.defaultScopes, wanted.provider.defaultScopes)
  const provider: Provider = {
    ...(differs && !keepsItsOwn ? wanted.provider : found.provider),
    // from the catalogue, never from the file; an administrator's word stands, and so does none
    ...(found.source === 'metadata' && wanted.provider.api && { api: wanted.provider.api }),
    defaultScopes,
  }
  const entry: ProviderEntry = {
    ...found,
    provider,
    ...(found.clientId === undefined && wanted.clientId !== undefined && { clientId: wanted.clientId }),
    ...(takesSecret(broker, found, wanted) &&
      wanted.clientSecret !== undefined && {
        clientSecret: sealClientSecret(broker, found, wanted.clientSecret),
      }),
  }
  const changed = JSON.stringify(entry) !== JSON.stringify(found)
  return {
    entry: changed ? { ...entry, updatedAt: now } : found,
    changed,
    ...(differs &&
      keepsItsOwn && {
        warning: `The provider "${found.id}" is described differently ${found.source === 'admin' ? 'by an administrator' : 'by another tool'}; that stands. Change it by PATCH /v1/admin/auth_providers/${found.id}.`,
      }),
  }
}

function findEntry(
  broker: Broker,
  wanted: OAuthEntry,
  { entries, tools, tool }: Parameters<typeof matchProvider>[2],
): ProviderEntry | undefined {
  const server = serverOf(wanted.provider)
  const alike = entries.filter(
    (one) =>
      one.source !== 'server' &&
      one.name.toLowerCase() === wanted.name.toLowerCase() &&
      serverOf(one.provider) === server,
  )
  const client = (entry: ProviderEntry) => broker.clientFor(entry)?.clientId
  if (wanted.clientId !== undefined)
    return (
      alike.find((one) => client(one) === wanted.clientId) ?? alike.find((one) => client(one) === undefined)
    )
  const itself = tools.find((one) => one.uid === tool.uid)
  return alike.find((one) => itself !== undefined && needs(itself, one)) ?? alike[0]
}

function needs(tool: Tool, entry: ProviderEntry): boolean {
  return tool.requirements.authorization.some((one) => one.providerUid === entry.uid)
}

/** Where codes go: what two ways of describing one provider have in common. */
function serverOf(provider: Provider): string {
  const { refreshRequest: _, userInfoRequest: __, introspectionRequest: ___, ...rest } = provider
  const { revocationRequest: ____, ...core } = rest
  return identityOf(core, undefined)
}

/** How the provider is spoken to, without its name and the scopes, in which tools may differ, and what no file says. */
function settingsOf({
  displayName: _,
  defaultScopes: __,
  api: ___,
  environmentClientFor: ____,
  ...settings
}: Provider): string {
  return JSON.stringify(settings)
}

/** A secret in the file counts where the entry has none, or has another one from a file. */
function takesSecret(broker: Broker, found: ProviderEntry, wanted: OAuthEntry): boolean {
  if (wanted.clientSecret === undefined) return false
  if (found.clientSecret === undefined) return true
  if (found.source === 'admin') return false
  return broker.sealer.open(found.clientSecret, clientSecretPlace(found)) !== wanted.clientSecret
}
