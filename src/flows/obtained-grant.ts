import type { Broker } from '../broker.ts'
import type { AttemptSecrets, Exchanging } from '../domain/authorization.ts'
import type { Grant } from '../providers/grant.ts'
import type { ToldValues } from '../providers/kept-values.ts'
import type { ProviderEntry, RegisteredClient } from '../providers/provider-entry.ts'
import { isDeviceGrant, isInstalled } from '../providers/provider-grant.ts'
import type { RequestGuard } from '../providers/token-request.ts'
import { chosenInstallation, installationOf } from './installation-choice.ts'
import type { Offered } from './offer-choice.ts'
import { chosenTenant, tenantOf } from './tenant-choice.ts'
import { typedGrant } from './typed-grant.ts'

/** Whether no code is redeemed: the response has the grant, or the choice of a browser that has approved. */
export function hasGrantAlready({ provider }: ProviderEntry, { choice }: AttemptSecrets): boolean {
  return provider.credentials !== undefined || isDeviceGrant(provider) || choice !== undefined
}

/** What the response of an attempt brings: the grant, or what our page has to ask before. Throws `ProviderRefusal`. */
export async function obtainGrant(
  broker: Broker,
  claimed: Exchanging,
  response: URLSearchParams,
  {
    entry,
    registered,
    secrets,
    told,
    guard,
  }: {
    readonly entry: ProviderEntry
    readonly registered: RegisteredClient
    readonly secrets: AttemptSecrets
    readonly told: ToldValues | undefined
    readonly guard: RequestGuard
  },
): Promise<Grant | Offered> {
  const { provider } = entry
  const { choice, given } = secrets
  if (choice !== undefined)
    return isInstalled(provider)
      ? chosenInstallation(registered, claimed, choice, response)
      : chosenTenant(choice, response)
  // what was typed was checked before the attempt began, and a device code was redeemed before the user confirmed the account
  if (hasGrantAlready(entry, secrets)) return typedGrant(response)
  const grant = await broker.oauth.redeem(registered, response, secrets, guard)
  if (isInstalled(provider)) return installationOf(broker, claimed, registered, grant)
  if (provider.choicesRequest === undefined) return grant
  return tenantOf(broker, claimed, { registered, grant, response, given, told })
}

/** What connections keep of the response: nothing where it is our own. */
export function keptResponse({ provider }: ProviderEntry, response: URLSearchParams): URLSearchParams {
  const isOurs = provider.credentials !== undefined || isDeviceGrant(provider) || isInstalled(provider)
  return isOurs ? new URLSearchParams() : response
}
