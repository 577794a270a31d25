import type { Cause } from '../domain/causes.ts'
import { brokenConnections, failedConsents } from '../flows/causes/troubles.ts'
import type { Check, DiagnosisTarget } from './check.ts'

/** The most connections and authorizations that are read. At this number the message says "at least". */
const MOST = 500
/** Authorizations that ended longer ago say little about faults of today. */
const RECENT_SECONDS = 3600

/** Finds connections that do not work, grouped by provider and cause. */
export async function checkConnections({ broker, project }: DiagnosisTarget): Promise<Check[]> {
  const { groups, isPartial } = await brokenConnections(broker, project.id, MOST)
  const atLeast = isPartial ? 'at least ' : ''
  return groups.map(({ provider, cause, ids }) =>
    checkOf(
      `connections at ${provider}`,
      cause,
      ids[0] ?? '',
      `${atLeast}${ids.length} ${ids.length === 1 ? 'does' : 'do'} not work`,
    ),
  )
}

/** Finds providers whose latest authorization failed for a cause that users cannot remove. */
export async function checkAuthorizations({ broker, project }: DiagnosisTarget): Promise<Check[]> {
  const since = broker.now() - RECENT_SECONDS
  const failed = await failedConsents(broker, project.id, since, { ended: MOST, causes: MOST })
  return failed.map(({ provider, cause, authorizationId }) =>
    checkOf(`consent at ${provider}`, cause, authorizationId, 'the latest one failed'),
  )
}

/** `id`: the connection or authorization that `gatepass explain` can show. */
function checkOf(name: string, { code, message, toDo, who }: Cause, id: string, what: string): Check {
  return {
    name,
    status: who === 'user' ? 'warning' : 'failed',
    message: `${what} (${code}): ${message}`,
    fix: `${toDo} Each step: gatepass explain ${id}`,
  }
}
