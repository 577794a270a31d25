import type { Broker } from '../../broker.ts'
import { workerStatus } from '../../domain/worker.ts'
import { brokenConnections, failedConsents } from '../causes/troubles.ts'
import { missingSettings, providersOf } from '../get-provider.ts'

/** The most connections and ended authorizations that are read. At this number the page says "at least". */
const MOST = 200
const RECENT_SECONDS = 24 * 3600
/** The most providers whose failed consent is examined, since each costs a query. */
const MOST_CAUSES = 10

/** One thing that the operator or a user has to repair, and the page that shows it. */
export interface Attention {
  /** `bad`: the operator has to repair it; `wait`: a user has to. */
  readonly tone: 'bad' | 'wait'
  readonly title: string
  readonly toDo: string
  /** A path below `/dashboard`. */
  readonly path?: string
}

/**
 * What needs attention, the worst first. It reads a bounded number of rows and sends no request.
 *
 * @param others further things that the caller has found
 */
export async function needsAttention(
  broker: Broker,
  projectId: string,
  others: readonly Attention[] = [],
): Promise<readonly Attention[]> {
  const all = await Promise.all([
    incompleteProviders(broker, projectId),
    failingWorkers(broker, projectId),
    consentsToRepair(broker, projectId),
    connectionsToRepair(broker, projectId),
  ])
  const found = [...all.flat(), ...others]
  return [...found.filter(({ tone }) => tone === 'bad'), ...found.filter(({ tone }) => tone === 'wait')]
}

async function incompleteProviders(broker: Broker, projectId: string): Promise<Attention[]> {
  const { entries } = await providersOf(broker, projectId)
  return entries.flatMap((entry) => {
    const missing = entry.status === 'active' ? missingSettings(broker, entry) : []
    if (missing.length === 0) return []
    return [
      {
        tone: 'bad' as const,
        title: `The provider ${entry.id} has no ${missing.map((member) => member.replaceAll('_', ' ')).join(' and no ')}.`,
        toDo: 'No user can connect it until its client is set.',
        path: '/providers',
      },
    ]
  })
}

async function failingWorkers(broker: Broker, projectId: string): Promise<Attention[]> {
  const workers = await broker.store.workers.list(projectId)
  return workers
    .filter(({ enabled, syncError }) => enabled && syncError !== undefined)
    .map((worker) => ({
      tone: 'bad',
      title:
        workerStatus(worker) === 'unreachable'
          ? `The worker ${worker.id} cannot be reached.`
          : `Not all tools of the worker ${worker.id} were read.`,
      toDo: worker.syncError ?? '',
      path: '/workers',
    }))
}

async function consentsToRepair(broker: Broker, projectId: string): Promise<Attention[]> {
  const since = broker.now() - RECENT_SECONDS
  const failed = await failedConsents(broker, projectId, since, { ended: MOST, causes: MOST_CAUSES })
  return failed.map(({ provider, cause, authorizationId }) => ({
    tone: 'bad',
    title: `The latest consent at ${provider} failed: ${cause.message}`,
    toDo: cause.toDo,
    path: `/authorizations/${authorizationId}`,
  }))
}

async function connectionsToRepair(broker: Broker, projectId: string): Promise<Attention[]> {
  const { groups, isPartial } = await brokenConnections(broker, projectId, MOST)
  const atLeast = isPartial ? 'At least ' : ''
  return groups.map(({ provider, cause, ids, sharedIds }) => {
    const areShared = sharedIds.length > 0
    const count = areShared ? sharedIds.length : ids.length
    return {
      tone: cause.who === 'user' ? 'wait' : 'bad',
      title: `${atLeast}${count} ${count === 1 ? 'connection' : 'connections'} ${areShared ? 'of the project ' : ''}at ${provider}: ${cause.message}`,
      toDo: cause.toDo,
      path: areShared
        ? '/shared'
        : `/connections?${new URLSearchParams({ provider, status: 'needs_authorization' })}`,
    }
  })
}
