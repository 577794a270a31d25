import type { Broker } from '../../broker.ts'
import { findProviderByUid } from '../../flows/get-provider.ts'
import type { ConsentLink } from '../../sdk/mcp/consent-answer.ts'
import type { RequiredAuthorization } from '../../tools/tool-answer.ts'

/** More scopes are counted, not listed: the sentence is for people. */
const MAX_NAMED_SCOPES = 12

/** Describes the link by the tool's title, as the client knows it, the providers and the scopes. */
export async function consentLink(
  broker: Broker,
  { projectId, title }: { readonly projectId: string; readonly title: string },
  { id, url, scopes, steps }: RequiredAuthorization,
): Promise<ConsentLink> {
  const entries = await Promise.all(
    steps.map(({ providerUid }) => findProviderByUid(broker, projectId, providerUid)),
  )
  const providers = entries.flatMap((entry) => (entry === undefined ? [] : [entry.provider.displayName]))
  const atProviders = providers.length === 0 ? '' : ` at ${listed(providers)}`
  const named = scopes.slice(0, MAX_NAMED_SCOPES)
  const more = scopes.length - named.length
  const andMore = more === 0 ? '' : ` and ${more} more ${more === 1 ? 'scope' : 'scopes'}`
  const forScopes = named.length === 0 ? '' : ` (${named.join(' ')}${andMore})`
  return { id, url, scopes, message: `${title} needs your approval${atProviders}${forScopes}.` }
}

function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? ''
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`
}

/** When a link ends: `in 10 minutes`. */
export function endOf(broker: Broker, { expiresAt }: RequiredAuthorization): string {
  const minutes = Math.max(Math.ceil((expiresAt - broker.now()) / 60), 1)
  return `in ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`
}
