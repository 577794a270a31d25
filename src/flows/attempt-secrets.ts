import type { Broker } from '../broker.ts'
import type { Attempt, AttemptSecrets, Authorization } from '../domain/authorization.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { callbackPath } from '../services/users-origin.ts'
import { sealingContext } from '../store/protected-tables.ts'

/** How long a code is kept until the caller's page confirms the user; codes should not live longer (RFC 6749 section 4.1.2). */
export const HELD_SECONDS = 600

/** By the attempt as one request has read it: a callback needs the secrets before the claim and after it. */
const opened = new WeakMap<Pick<Attempt, 'secrets'>, AttemptSecrets>()

/** The secrets that the current attempt keeps for its token request, decrypted once for each object. */
export function openAttemptSecrets(
  broker: Broker,
  authorization: Authorization,
  attempt: Pick<Attempt, 'secrets'>,
): AttemptSecrets {
  const known = opened.get(attempt)
  if (known !== undefined) return known
  // only `startAttempt` and `typeCredentials` seal this column, in this shape
  const secrets = JSON.parse(
    broker.sealer.open(attempt.secrets, sealingContext('authorizations', 'secrets', authorization)),
  ) as AttemptSecrets
  opened.set(attempt, secrets)
  return secrets
}

/** The redirect URI of the attempt's authorization request. Releases that stored none used that of the public URL. */
export function attemptRedirectUri(
  { settings }: Pick<Broker, 'settings'>,
  { redirectUri }: AttemptSecrets,
  { uid }: Pick<ProviderEntry, 'uid'>,
): string {
  return redirectUri ?? new URL(callbackPath(uid), settings.publicUrl).href
}
