import type { Broker } from '../broker.ts'
import { type AttemptSecrets, type Authorization, authorizationAt } from '../domain/authorization.ts'
import { newOwnedToken } from '../domain/ids.ts'
import { trailLines } from '../domain/trail.ts'
import type { CheckedCredentials } from '../providers/check-credentials.ts'
import type { ConnectionValues } from '../providers/connection-values.ts'
import type { CredentialsSettings } from '../providers/credentials.ts'
import type { Grant } from '../providers/grant.ts'
import type { ProviderEntry, RegisteredClient } from '../providers/provider-entry.ts'
import { recordingRequests, type SentRequest } from '../providers/sent-requests.ts'
import { failureAudit, recordTry } from './authorization-audit.ts'
import { requestEntries } from './causes/request-entries.ts'
import { finishWithGrant } from './finish-with-grant.ts'
import { providerIdentity, registeredClient } from './get-provider.ts'
import { newAttempt } from './new-attempt.ts'
import { notStartable } from './not-begun.ts'
import type { StartedAttempt } from './started-attempt.ts'
import { faultsOfFields, typedSecrets } from './typed-fields.ts'

// What a user types on our page in place of a consent at the provider. The service is asked whether it takes it before
// anything is stored; then the attempt goes the way of every other: the caller's page confirms the user, if there is one.

/** How often what was typed is checked for one step of a link: a link is no place to try out keys. */
export const MOST_TRIES = 5

interface Typed {
  /** What the form had; `undefined` if there was no form. */
  readonly typed: ConnectionValues | undefined
  /** The values that are not secret, the caller's own among them. */
  readonly given: ConnectionValues
  readonly browserId: string
  /** The provider's identity when the form was made; `undefined` if it did not say. */
  readonly shownIdentity?: string | undefined
}

/** Checks what the user typed, and stores the connection. Without a form, or with faults, the form is needed. */
export async function typeCredentials(
  broker: Broker,
  authorization: Authorization,
  entry: ProviderEntry,
  credentials: CredentialsSettings,
  { typed, given, browserId, shownIdentity }: Typed,
): Promise<StartedAttempt> {
  const { store, oauth, now } = broker
  const { id, step } = authorization
  const form = { outcome: 'form_needed', authorization } as const
  const isForm = Object.keys(credentials.fields).some(
    (name) => typed !== undefined && Object.hasOwn(typed, name),
  )
  if (typed === undefined || !isForm) return { ...form, faults: new Map() }
  // the page named other hosts, or another place, than the secrets would be sent to now
  const identity = providerIdentity(broker, entry)
  if (shownIdentity !== undefined && shownIdentity !== identity) return { ...form, faults: new Map() }
  const secrets = typedSecrets(credentials, typed)
  const wrong = faultsOfFields(entry.provider, credentials, given, secrets)
  if (wrong.size > 0) return { ...form, faults: wrong }
  const registered = registeredClient(broker, entry, given)
  const most = MOST_TRIES * (step + 1)
  const tries = await store.authorizations.countTry(id, step, most, now())
  if (tries === undefined) {
    const found = await store.authorizations.find(id)
    const isOpen = found?.step === step && authorizationAt(found, now()).status === 'pending'
    // an earlier form, sent twice or in another tab, may have gone on meanwhile: it must not fail by this one
    return notStartable(
      broker,
      authorization,
      isOpen ? await failed(broker, authorization, entry) : undefined,
    )
  }
  const sent: SentRequest[] = []
  const checked = await recordingRequests(sent, () =>
    oauth.checkCredentials(registered, { secrets, open: given }),
  )
  const grant = grantIn(checked, credentials)
  if (grant === undefined) {
    const problem = checked.outcome === 'refused' ? 'credential_refused' : 'credential_unchecked'
    await recordTry(broker, authorization, entry, problem, requestEntries(broker, entry.provider, sent, step))
    if (tries < most) return { ...form, faults: new Map(), problem }
    return notStartable(broker, authorization, await failed(broker, authorization, entry))
  }
  return keep(broker, authorization, entry, { registered, given, grant, browserId, sent })
}

/** What may be stored: an answer that is no clear one is enough only where the entry says so. */
function grantIn(checked: CheckedCredentials, { unchecked }: CredentialsSettings): Grant | undefined {
  if (checked.outcome === 'accepted') return checked.grant
  return checked.outcome === 'unclear' && unchecked ? checked.grant : undefined
}

/** Makes the attempt, and finishes it unless the caller's page has to confirm the user first. */
async function keep(
  broker: Broker,
  authorization: Authorization,
  entry: ProviderEntry,
  {
    registered,
    given,
    grant,
    browserId,
    sent,
  }: Pick<Typed, 'given' | 'browserId'> & {
    readonly registered: RegisteredClient
    readonly grant: Grant
    readonly sent: readonly SentRequest[]
  },
): Promise<StartedAttempt> {
  const { store, now, settings } = broker
  const { verifier } = settings
  const { id, projectId, userId, step } = authorization
  const secrets: AttemptSecrets = {
    providerIdentity: providerIdentity(broker, entry),
    redirectUri: registered.redirectUri,
    ...(Object.keys(given).length > 0 && { given }),
    ...(verifier.kind === 'oidc' && { loggedInAt: verifier.issuer }),
  }
  const state = newOwnedToken(projectId, userId)
  const attempt = newAttempt(broker, authorization, { state, browserId, secrets })
  const lines = trailLines(
    { at: now(), step: 'clicked', part: step },
    ...requestEntries(broker, entry.provider, sent, step),
  )
  const started = await store.authorizations.attempt(id, step, attempt, now(), lines)
  if (started === undefined) return notStartable(broker, authorization)
  return finishWithGrant(broker, authorization, attempt.stateHash, grant)
}

/** Ends the authorization after the last try. */
async function failed(
  broker: Broker,
  authorization: Authorization,
  { provider: { displayName } }: ProviderEntry,
): Promise<Authorization | undefined> {
  const message = `What was entered could not be confirmed at ${displayName}, and this link allows no further try. Start again from your application.`
  const audit = failureAudit(broker, authorization, 'provider_refused', message)
  const { authorizations } = broker.store
  return authorizations.fail(authorization.id, 'provider_refused', message, broker.now(), undefined, audit)
}
