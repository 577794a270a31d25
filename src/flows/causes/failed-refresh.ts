import type { Broker } from '../../broker.ts'
import { type Cause, causeOf } from '../../domain/causes.ts'
import type { Connection } from '../../domain/connection.ts'
import { readTrail, type TrailDetails, type TrailEntry, trailLines } from '../../domain/trail.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import type { RefreshFailure } from '../../services/refresh-table.ts'
import type { ClaimedConnection } from '../../store/connection-refreshes.ts'
import { factsAbout, measuredIn } from './explanation.ts'
import { causeForGrant, causeOfTokenRequest } from './refusal-cause.ts'
import { refusalDetails, requestDetails } from './request-entries.ts'

/** How many different failures are kept. Equal failures in a row are kept as one, with their number and first time. */
const MOST_FAILURES = 6

/** The entry of the trail for a refresh that failed. */
export function failedRefresh(
  { now }: Pick<Broker, 'now'>,
  { provider }: ProviderEntry,
  { unansweredRefreshes }: Pick<Connection, 'unansweredRefreshes'>,
  failure: RefreshFailure,
): TrailEntry {
  const at = now()
  const refusal = 'refusal' in failure ? failure : undefined
  const request = refusal?.sent?.at(-1)
  return {
    at,
    step: 'refresh_failed',
    details: {
      ...(request && requestDetails(provider, request, at)),
      ...(refusal ? refusalDetails(refusal.refusal) : ownDetails(failure)),
      ...(unansweredRefreshes > 1 && { unanswered: unansweredRefreshes - 1 }),
    },
  }
}

function ownDetails(failure: RefreshFailure): TrailDetails {
  if (failure.kind !== 'broker_failed') return { reason: failure.kind }
  return { reason: failure.error.code, message: failure.error.message }
}

/** Why the refresh failed, for the caller that asked for the token. */
export function causeOfFailedRefresh(
  broker: Broker,
  entry: ProviderEntry,
  connection: Connection,
  failure: RefreshFailure,
): Cause | undefined {
  const failed = failedRefresh(broker, entry, connection, failure)
  const code = causeForGrant(causeOfTokenRequest(failed.details ?? {}, 'refresh'), entry, failed.details)
  const more = { ...measuredIn([failed]), scopes: connection.scopes }
  return (
    code &&
    causeOf(code, factsAbout(broker, entry, { providerUid: entry.uid, projectId: entry.projectId }, more))
  )
}

/** The connection's trail with the failure added. A failure equal to the latest one is merged with it. */
export function withFailure({ trail = '' }: ClaimedConnection, failed: TrailEntry): string {
  const { entries } = readTrail(trail)
  const latest = entries.at(-1)
  if (latest === undefined || !isSame(latest, failed))
    return trailLines(...[...entries, failed].slice(-MOST_FAILURES))
  const { times = 1, first_at = latest.at } = latest.details ?? {}
  const again = { ...failed, details: { ...failed.details, times: times + 1, first_at } }
  return trailLines(...entries.slice(0, -1), again)
}

function isSame(a: TrailEntry, b: TrailEntry): boolean {
  const alike = ({ step, details = {} }: TrailEntry) =>
    JSON.stringify([step, details.reason, details.error, details.status, details.failure])
  return alike(a) === alike(b)
}
