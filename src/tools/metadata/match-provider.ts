import type { Broker } from '../../broker.ts'
import { newId } from '../../domain/ids.ts'
import { unionOfScopes } from '../../domain/scopes.ts'
import type { Tool } from '../../domain/tool.ts'
import { sealClientSecret } from '../../flows/client-secret.ts'
import { freeProviderId } from '../../flows/free-provider-id.ts'
import { identityOf } from '../../providers/identity.ts'
import type { Provider } from '../../providers/provider.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { sealingContext } from '../../store/protected-tables.ts'
import type { ImportState } from './import-state.ts'
import type { OAuthEntry } from './read-oauth-entry.ts'

export interface MatchedProvider {
  readonly entry: ProviderEntry
  /** Whether the entry is new or differs from the stored one. */
  readonly changed: boolean
  readonly warning?: string
}

/**
 * Finds or makes the provider entry for an `oauth` entry of a tool. Tools whose `oauth` entries have the same name,
 * endpoints and client share one provider entry. Other endpoints or another client id make another provider entry, so
 * tokens of the first are never sent there. An import does not change the settings of a provider entry that several
 * tools share, so no tool can weaken it for the others.
 */
export function matchProvider(
  broker: Broker,
  wanted: OAuthEntry,
  known: { readonly state: ImportState; readonly tool: Pick<Tool, 'uid' | 'projectId'> },
): MatchedProvider {
  const now = broker.now()
  const api = wanted.provider.api ?? broker.definitions.unlistedApi(wanted.provider)
  const found = findEntry(broker, wanted, known)
  if (found === undefined) {
    const uid = newId('prov')
    const { projectId } = known.tool
    const id = freeProviderId(
      wanted.name,
      new Set([...known.state.entries.values()].map((entry) => entry.id)),
    )
    const entry: ProviderEntry = {
      uid,
      projectId,
      id,
      name: wanted.name,
      status: 'active',
      source: 'metadata',
      provider: { ...wanted.provider, ...(api && { api }) },
      ...(wanted.clientId !== undefined && { clientId: wanted.clientId }),
      ...(wanted.clientSecret !== undefined && {
        clientSecret: sealClientSecret(broker, { uid, projectId }, wanted.clientSecret),
      }),
      createdAt: now,
      updatedAt: now,
    }
    return { entry, changed: true }
  }

  const shared = known.state.isNeededByOthers(found, known.tool.uid)
  const differs = settingsOf(found.provider) !== settingsOf(wanted.provider)
  const keepsSettings = found.source === 'admin' || shared
  const defaultScopes = unionOfScopes(found.provider.defaultScopes, wanted.provider.defaultScopes)
  const provider: Provider = {
    ...(differs && !keepsSettings ? wanted.provider : found.provider),
    // `api` comes from a definition, never from the file; an administrator's value is kept, also when it is empty
    ...(found.source === 'metadata' && api && { api }),
    defaultScopes,
  }
  const entry: ProviderEntry = {
    ...found,
    provider,
    ...(found.clientId === undefined && wanted.clientId !== undefined && { clientId: wanted.clientId }),
    ...(shouldStoreSecret(broker, found, wanted) &&
      wanted.clientSecret !== undefined && {
        clientSecret: sealClientSecret(broker, found, wanted.clientSecret),
      }),
  }
  const changed = JSON.stringify(entry) !== JSON.stringify(found)
  return {
    entry: changed ? { ...entry, updatedAt: now } : found,
    changed,
    ...(differs &&
      keepsSettings && {
        warning: `The provider "${found.id}" is described differently ${found.source === 'admin' ? 'by an administrator' : 'by another tool'}; those settings are kept. Change them by PATCH /v1/admin/auth_providers/${found.id}.`,
      }),
  }
}

function findEntry(
  broker: Broker,
  wanted: OAuthEntry,
  { state, tool }: Parameters<typeof matchProvider>[2],
): ProviderEntry | undefined {
  const server = serverOf(wanted.provider)
  const alike = [...state.entries.values()].filter(
    (entry) =>
      entry.source !== 'server' &&
      entry.name.toLowerCase() === wanted.name.toLowerCase() &&
      serverOf(entry.provider) === server,
  )
  const client = (entry: ProviderEntry) => broker.clientFor(entry)?.clientId
  if (wanted.clientId !== undefined)
    return (
      alike.find((candidate) => client(candidate) === wanted.clientId) ??
      alike.find((candidate) => client(candidate) === undefined)
    )
  return alike.find((candidate) => state.isNeededBy(candidate, tool.uid)) ?? alike[0]
}

/** The provider's identity by the endpoints that every description has. */
function serverOf(provider: Provider): string {
  const { refreshRequest: _, userInfoRequest: __, introspectionRequest: ___, ...rest } = provider
  const { revocationRequest: ____, ...core } = rest
  return identityOf(core, undefined)
}

/**
 * The settings of a provider that an import may not change for others: without name and scopes, in which tools may
 * differ, and without members that no file has.
 */
function settingsOf({
  displayName: _,
  defaultScopes: __,
  api: ___,
  environmentClientFor: ____,
  ...settings
}: Provider): string {
  return JSON.stringify(settings)
}

/** Whether to store the file's secret: the entry has no secret, or a different one that came from a file. */
function shouldStoreSecret(broker: Broker, found: ProviderEntry, wanted: OAuthEntry): boolean {
  if (wanted.clientSecret === undefined) return false
  if (found.clientSecret === undefined) return true
  if (found.source === 'admin') return false
  return (
    broker.sealer.open(found.clientSecret, sealingContext('providers', 'client_secret', found)) !==
    wanted.clientSecret
  )
}
