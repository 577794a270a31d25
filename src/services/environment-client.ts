import type { Definitions } from '../providers/catalogue/definitions.ts'
import { endpointsDigest } from '../providers/identity.ts'
import { endpointsOf } from '../providers/provider-endpoints.ts'
import type { Client, ProviderEntry } from '../providers/provider-entry.ts'

/** A client from the environment. `allowed`: whether the entry's endpoints may receive it. */
export interface NamedClient {
  readonly client: Client
  readonly allowed: boolean
}

/** The clients of the settings, by `GATEPASS_PROVIDER_<NAME>`. */
type EnvironmentClients = ReadonlyMap<
  string,
  { readonly clientId?: string; readonly clientSecret?: string; readonly below?: string }
>

/** `GATEPASS_PROVIDER_<NAME>`, to which `_CLIENT_ID` and `_CLIENT_SECRET` are added. */
export function environmentName(id: string): string {
  return `GATEPASS_PROVIDER_${id.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}`
}

/**
 * The environment's client under the entry's name. The name alone proves nothing, since the author of a tool's metadata
 * chooses it. So the client is allowed only if every endpoint belongs to the definition of that name, or if an
 * administrator has confirmed exactly these endpoints.
 */
export function environmentClientOf(
  clients: EnvironmentClients,
  { id, name, provider }: ProviderEntry,
  definitions: Definitions,
): NamedClient | undefined {
  const byId = environmentName(id)
  // an entry named `github` has another id, such as `github-2`, if an earlier entry had the id `github` already
  const variable = [byId, environmentName(name)].find(
    (candidate) => clients.get(candidate)?.clientId !== undefined,
  )
  const found = variable === undefined ? undefined : clients.get(variable)
  if (variable === undefined || found?.clientId === undefined) return undefined
  const { clientId, clientSecret, below } = found
  const isOfCatalogue = () =>
    definitions.ids.some(
      (known) => environmentName(known) === variable && definitions.isWhollyOf(provider, known),
    )
  const allowed =
    below === undefined
      ? isOfCatalogue() || (variable === byId && provider.environmentClientFor === endpointsDigest(provider))
      : Object.values(endpointsOf(provider)).every((endpoint) => isBelow(endpoint, new URL(below)))
  return { client: { clientId, ...(clientSecret !== undefined && { clientSecret }) }, allowed }
}

/**
 * Whether the endpoint is below the base URL. Any loopback port is accepted, since the development server may have had
 * another port at its last start.
 */
function isBelow(endpoint: string, base: URL): boolean {
  const { origin, hostname, pathname } = new URL(endpoint)
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  return pathname.startsWith(base.pathname) && (origin === base.origin || isLocal)
}
