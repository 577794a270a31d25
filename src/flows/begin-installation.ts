import type { Broker } from '../broker.ts'
import type { Authorization } from '../domain/authorization.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import { invalidMember } from '../domain/errors.ts'
import { hintsIn, isSigned, valuesOfHints } from '../providers/installation.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { carriedContext } from '../store/protection.ts'
import { acquireTokens, type ProviderNeed } from './acquire-tokens.ts'
import { openCarried } from './carried-seal.ts'
import { clientSecretOf } from './receive-response.ts'

// Authorizations that begin at the provider: its store of apps sends the browser here. What the browser brings only
// fills in values; the authorization itself begins here, with a `state` of ours.

/** How long a browser that has arrived may take until its authorization begins. */
export const ARRIVAL_SECONDS = 600

interface Arrival {
  readonly hints: Readonly<Record<string, string>>
  readonly until: EpochSeconds
}

/**
 * Seals what a browser brought from the provider, for its cookie or as `install_id`. `undefined`: the provider did not
 * sign the query as the entry says.
 */
export function sealArrival(
  broker: Broker,
  entry: ProviderEntry,
  query: URLSearchParams,
): string | undefined {
  const { installation } = entry.provider
  if (installation === undefined || !isSigned(installation, query, clientSecretOf(broker, entry)))
    return undefined
  const arrival: Arrival = { hints: hintsIn(installation, query), until: broker.now() + ARRIVAL_SECONDS }
  return broker.sealer.seal(JSON.stringify(arrival), contextOf(entry))
}

/** The hints of a browser that arrived at this entry; `undefined` if it did not, or too long ago. */
export function openArrival(
  broker: Broker,
  entry: ProviderEntry,
  sealed: string | undefined,
): Arrival['hints'] | undefined {
  const arrival = openCarried<Arrival>(broker.sealer, sealed, contextOf(entry))
  return arrival !== undefined && broker.now() < arrival.until ? arrival.hints : undefined
}

/** The need of an authorization that its caller begins with `install_id`. Throws `invalid_request`. */
export function installedNeed(
  broker: Broker,
  entry: ProviderEntry,
  installId: string | null | undefined,
): Pick<ProviderNeed, 'given' | 'isAskedAnyway'> {
  if (installId == null) return {}
  const hints = openArrival(broker, entry, installId)
  if (hints === undefined)
    throw invalidMember(
      'install_id',
      'invalid',
      `install_id is not one that this provider's installation gave within ${ARRIVAL_SECONDS / 60} minutes: the user begins again at the provider.`,
    )
  return needOf(entry, hints)
}

/** Begins the authorization of a user who came from the provider and has logged in. */
export async function beginInstallation(
  broker: Broker,
  {
    projectId,
    userId,
    entry,
    hints,
  }: {
    readonly projectId: string
    readonly userId: string
    readonly entry: ProviderEntry
    readonly hints: Arrival['hints']
  },
): Promise<Authorization> {
  const providers = [{ entry, scopes: [], ...needOf(entry, hints) }]
  const acquired = await acquireTokens(broker, { projectId, userId, providers })
  if (acquired.outcome === 'authorization_required') return acquired.authorization
  throw new Error('the user is asked anyway')
}

function needOf({ provider }: ProviderEntry, hints: Arrival['hints']) {
  const given = valuesOfHints(provider, hints)
  return { isAskedAnyway: true, ...(Object.keys(given).length > 0 && { given }) }
}

function contextOf({ uid, projectId }: ProviderEntry) {
  return carriedContext('installation', { rowId: uid, projectId })
}
