import type { Broker } from '../../broker.ts'
import { type Cause, type CauseCode, causeOf } from '../../domain/causes.ts'
import type { Connection } from '../../domain/connection.ts'
import { derivedFrom } from '../../domain/derived-account.ts'
import { BrokerError } from '../../domain/errors.ts'
import { NO_USER } from '../../domain/shared-connection.ts'
import { readTrail, type TrailEntry } from '../../domain/trail.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import { hasRedirect } from '../../providers/provider-grant.ts'
import { mayActFor } from '../../services/request-context.ts'
import { isSubject } from '../exchange-subject.ts'
import { getConnection } from '../get-connection.ts'
import { findProviderByUid, providerIdentity } from '../get-provider.ts'
import { getShared } from '../get-shared.ts'
import { type ExplainedStep, type Explanation, factsAbout, measuredIn } from './explanation.ts'
import { causeForGrant, causeOfRefusedGrant, causeOfTokenRequest } from './refusal-cause.ts'

/** Explains a connection: what happened since its consent, and why it does not work. */
export async function explainConnection(broker: Broker, connection: Connection): Promise<Explanation> {
  const { id, projectId, userId, providerUid, status, statusReason, createdAt, expiresAt, scopes } =
    connection
  const entry = await findProviderByUid(broker, projectId, providerUid)
  const { entries, isCut } = readTrail((await broker.store.connections.trail(id)) ?? '')
  const providerId = entry?.id ?? providerUid
  const missingScopes = Object.keys(connection.withheldScopes)
  const cause =
    (await causeOfSubject(broker, connection, entry)) ?? causeOfConnection(broker, connection, entry, entries)
  return {
    id,
    kind: 'connection',
    userId,
    status,
    reason: statusReason,
    createdAt,
    expiresAt,
    providers: [
      {
        providerId,
        name: entry?.provider.displayName ?? 'a removed provider',
        ...(userId !== NO_USER &&
          isRedirected(entry) && {
            redirectUri: broker.redirectUri({ uid: providerUid, projectId: connection.projectId }),
          }),
        scopes,
        ...(missingScopes.length > 0 && { missingScopes }),
        connectionId: id,
      },
    ],
    steps: stepsOf(connection, entries).map((step) => ({ ...step, providerId })),
    isCut,
    cause,
  }
}

/** A removed entry counts as one with a redirect URI, which may be registered still. */
function isRedirected(entry: ProviderEntry | undefined): boolean {
  return entry === undefined || hasRedirect(entry.provider)
}

/** Whether the connection whose token is exchanged is what does not work. */
async function causeOfSubject(
  broker: Broker,
  connection: Connection,
  entry: ProviderEntry | undefined,
): Promise<Cause | undefined> {
  const subjectId = entry?.provider.grant?.subject?.connection
  if (entry === undefined || subjectId === undefined) return undefined
  const { projectId, userId, account } = connection
  const subject = await broker.store.providers.findById(projectId, subjectId)
  const held = await broker.store.connections.find(derivedFrom(account.id))
  const isOfUser = held?.projectId === projectId && held.userId === userId
  if (subject !== undefined && isOfUser && isSubject(broker, subject, held)) return undefined
  const facts = factsAbout(broker, entry, connection, { subject: subject?.provider.displayName ?? subjectId })
  return causeOf('subject_not_connected', facts)
}

/**
 * The connection to explain. Of a connection of the project, whose tokens are rows of no user, it is the row of that id or,
 * by the id of the shared connection, the row that works least. Throws `not_found`.
 */
export async function connectionToExplain(
  broker: Broker,
  projectId: string,
  id: string,
): Promise<Connection> {
  const { connections } = broker.store
  if (!mayActFor(NO_USER)) return getConnection(broker, projectId, id)
  if (!id.startsWith('shared_')) {
    const found = await connections.find(id)
    return found?.userId === NO_USER && found.projectId === projectId
      ? found
      : getConnection(broker, projectId, id)
  }
  const shared = await getShared(broker, projectId, id)
  const rows = await connections.ofOwner({ projectId, providerUid: shared.providerUid, userId: NO_USER })
  const own = rows.filter(({ account }) => account.id.startsWith(`${id} `))
  const trails = await Promise.all(own.map((row) => connections.trail(row.id)))
  const worst = own.find(({ status }, at) => status !== 'active' || trails[at] !== undefined) ?? own[0]
  if (worst !== undefined) return worst
  throw new BrokerError(
    'not_found',
    `The connection "${shared.name}" has no token yet, so there is nothing to explain. The first use asks for one, and so does: gatepass connections test ${id}`,
  )
}

/** Only the cause, for the connection in its stored state. */
export async function causeOfStored(broker: Broker, id: string): Promise<Cause | undefined> {
  const { connections } = broker.store
  const connection = await connections.find(id)
  if (connection === undefined) return undefined
  const entry = await findProviderByUid(broker, connection.projectId, connection.providerUid)
  return causeOfConnection(broker, connection, entry, readTrail((await connections.trail(id)) ?? '').entries)
}

/** Why the connection does not work, or works only in part. `undefined`: no fault is known. */
export function causeOfConnection(
  broker: Broker,
  connection: Connection,
  entry: ProviderEntry | undefined,
  entries: readonly TrailEntry[],
): Cause | undefined {
  const failed = entries.findLast(({ step }) => step === 'refresh_failed')?.details
  const found = codeFor(broker, connection, entry, entries)
  const code = entry === undefined ? found : causeForGrant(found, entry, failed)
  if (code === undefined) return undefined
  const { scopes, withheldScopes, account } = connection
  const facts = factsAbout(broker, entry, connection, {
    ...measuredIn(entries),
    scopes,
    missingScopes: Object.keys(withheldScopes),
    account: account.name || account.id,
  })
  return causeOf(code, facts)
}

function codeFor(
  broker: Broker,
  { userId, status, statusReason, providerIdentity: identity, withheldScopes }: Connection,
  entry: ProviderEntry | undefined,
  entries: readonly TrailEntry[],
): CauseCode | undefined {
  const failed = entries.findLast(({ step }) => step === 'refresh_failed')?.details
  const isProjectsKey = userId === NO_USER && entry?.provider.credentials !== undefined
  if (status === 'needs_authorization' && isProjectsKey && statusReason !== 'unreadable')
    return 'shared_connection_unusable'
  if (status === 'needs_authorization')
    switch (statusReason) {
      case 'consent_withdrawn':
      case 'credential_refused':
      case 'installation_removed':
      case 'refresh_token_expired':
        return statusReason
      case 'refresh_outcome_lost':
        return 'refresh_token_used_twice'
      case 'token_expired':
        return 'no_refresh_token'
      case 'account_changed':
        return 'refreshed_as_another'
      case 'provider_changed':
        return 'endpoints_changed'
      case 'unreadable':
        return 'tokens_unreadable'
      default:
        return causeOfRefusedGrant(failed?.description)
    }
  if (entry === undefined || identity !== providerIdentity(broker, entry)) return 'endpoints_changed'
  if (failed !== undefined) return causeOfTokenRequest(failed, 'refresh')
  return Object.keys(withheldScopes).length > 0 ? 'scopes_withheld' : undefined
}

function stepsOf(
  { createdAt, consentedAt, receivedAt, lastUsedAt, account, scopes }: Connection,
  entries: readonly TrailEntry[],
): ExplainedStep[] {
  const name = account.name || account.id
  const connected: ExplainedStep = {
    at: createdAt,
    step: 'connected',
    details: { scopes, ...(name !== '' && { account: name }) },
  }
  const refreshed = receivedAt > Math.max(createdAt, consentedAt)
  const steps = [
    ...(refreshed ? [{ at: receivedAt, step: 'refreshed' as const, details: {} }] : []),
    ...(lastUsedAt === undefined ? [] : [{ at: lastUsedAt, step: 'used' as const, details: {} }]),
    ...entries.map(({ at, step, details = {} }) => ({ at, step, details })),
  ]
  return [connected, ...steps.sort((a, b) => a.at - b.at)]
}
