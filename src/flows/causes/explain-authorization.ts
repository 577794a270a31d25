import type { Broker } from '../../broker.ts'
import { type Authorization, currentStep, isSettled } from '../../domain/authorization.ts'
import { type Cause, causeOf } from '../../domain/causes.ts'
import { readTrail, type TrailEntry } from '../../domain/trail.ts'
import { hasRedirect } from '../../providers/provider-grant.ts'
import { findProviderByUid, providerIdentity } from '../get-provider.ts'
import { causeCodeOf, latestAttempt } from './authorization-cause.ts'
import { type ExplainedStep, type Explanation, factsAbout, measuredIn } from './explanation.ts'

/** Each step of the authorization, and why it failed or does not go on. */
export async function explainAuthorization(
  broker: Broker,
  authorization: Authorization,
): Promise<Explanation> {
  const { id, userId, steps, createdAt, expiresAt, requester } = authorization
  // times at which links were opened are written in batches: flushing includes those of this process
  await broker.uses.flush().catch((error: unknown) => broker.log.warn({ error }, 'uses were not written'))
  const trail = await readStoredTrail(broker, authorization)
  const providers = await Promise.all(
    steps.map(async ({ providerUid, scopes, missingScopes, connectionId }) => {
      const entry = await findProviderByUid(broker, authorization.projectId, providerUid)
      return {
        providerId: entry?.id ?? providerUid,
        name: entry?.provider.displayName ?? 'a removed provider',
        ...((entry === undefined || hasRedirect(entry.provider)) && {
          redirectUri: broker.redirectUri({ uid: providerUid, projectId: authorization.projectId }),
        }),
        scopes,
        ...(missingScopes !== undefined && { missingScopes }),
        ...(connectionId !== undefined && { connectionId }),
      }
    }),
  )
  const cause = await causeAmong(broker, authorization, trail)
  const isEnded = isSettled(authorization)
  return {
    id,
    kind: 'authorization',
    userId,
    status: isEnded ? authorization.status : 'pending',
    ...(authorization.status === 'failed' && {
      reason: authorization.reason,
      message: authorization.message,
    }),
    requester,
    createdAt,
    expiresAt,
    ...(isEnded && { endedAt: authorization.completedAt }),
    providers,
    steps: stepsOf(authorization, trail, (part) => providers[part]?.providerId),
    isCut: trail.isCut,
    cause,
  }
}

/** Only the cause, for the authorization's status and the page that the user sees. */
export async function causeOfAuthorization(
  broker: Broker,
  authorization: Authorization,
): Promise<Cause | undefined> {
  return causeAmong(broker, authorization, await readStoredTrail(broker, authorization))
}

interface StoredTrail {
  readonly openedAt?: number | undefined
  readonly entries: readonly TrailEntry[]
  readonly isCut: boolean
}

async function readStoredTrail({ store }: Broker, { id }: Authorization): Promise<StoredTrail> {
  const { openedAt, trail = '' } = (await store.authorizations.trail(id)) ?? {}
  return { openedAt, ...readTrail(trail) }
}

async function causeAmong(
  broker: Broker,
  authorization: Authorization,
  { openedAt, entries }: StoredTrail,
): Promise<Cause | undefined> {
  const { projectId, steps, requester } = authorization
  // if the authorization had several steps, the one whose consent withheld or changed something counts
  const step =
    steps.find((candidate) => candidate.missingScopes ?? candidate.previousAccount) ??
    currentStep(authorization)
  const about = authorization.status === 'completed' ? step : currentStep(authorization)
  const entry = await findProviderByUid(broker, projectId, about.providerUid)
  const othersCameBack =
    entry !== undefined &&
    (await broker.store.connections.hasIdentity(entry.uid, providerIdentity(broker, entry)))
  const now = broker.now()
  const code = causeCodeOf({ authorization, entries, openedAt, now, othersCameBack })
  if (code === undefined) return undefined
  const { previousAccount, missingScopes = [], scopes, connectionId = '' } = about
  const account =
    previousAccount === undefined ? undefined : (await broker.store.connections.find(connectionId))?.account
  return causeOf(
    code,
    factsAbout(
      broker,
      entry,
      { ...about, projectId: authorization.projectId },
      {
        ...measuredIn(latestAttempt({ authorization, entries })),
        requester,
        scopes,
        missingScopes,
        account: account && (account.name || account.id),
        previousAccount: previousAccount && (previousAccount.name || previousAccount.id),
      },
    ),
  )
}

function stepsOf(
  authorization: Authorization,
  { openedAt, entries }: StoredTrail,
  providerOf: (part: number) => string | undefined,
): readonly ExplainedStep[] {
  const { createdAt, requester } = authorization
  const steps: ExplainedStep[] = [
    { at: createdAt, step: 'begun', details: requester ? { by: requester } : {} },
  ]
  if (openedAt !== undefined) steps.push({ at: openedAt, step: 'link_opened', details: {} })
  let attempt = 0
  for (const { at, step, part = 0, details = {} } of entries) {
    if (step === 'clicked') attempt++
    const providerId = providerOf(part)
    // a login comes before its click
    const of = step === 'logged_in' ? attempt + 1 : attempt
    steps.push({ at, step, providerId, ...(of > 0 && { attempt: of }), details })
  }
  if (isSettled(authorization)) {
    const { completedAt, status } = authorization
    const details =
      status === 'failed' ? { reason: authorization.reason, message: authorization.message } : {}
    steps.push({ at: completedAt, step: 'ended', details: { ...details } })
  }
  return steps
}
