import type { Broker } from '../broker.ts'
import type { Attempt, AttemptSecrets, Authorization } from '../domain/authorization.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { callbackPath } from '../services/users-origin.ts'
import { sealingContext } from '../store/protected-tables.ts'

/** How long a code is kept until the caller's page confirms the user; codes should not live longer (RFC 6749 section 4.1.2). */
export const HELD_SECONDS = 600

/** The secrets that the current attempt keeps for its token request. */
export function openAttemptSecrets(
  broker: Broker,
  authorization: Authorization,
  { secrets }: Pick<Attempt, 'secrets'>,
): AttemptSecrets {
  // only `startAttempt` and `typeCredentials` seal this column, in this shape
  return JSON.parse(
    broker.sealer.open(secrets, sealingContext('authorizations', 'secrets', authorization)),
  ) as AttemptSecrets
}

/** The redirect URI of the attempt's authorization request. Releases that stored none used that of the public URL. */
export function attemptRedirectUri(
  { settings }: Pick<Broker, 'settings'>,
  { redirectUri }: AttemptSecrets,
  { uid }: Pick<ProviderEntry, 'uid'>,
): string {
  return redirectUri ?? new URL(callbackPath(uid), settings.publicUrl).href
}
