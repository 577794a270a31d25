import type { Failed } from '../domain/authorization.ts'
import {
  type Outgoing,
  OutgoingError,
  type OutgoingRequest,
  type OutgoingStreamRequest,
} from '../egress/outgoing.ts'
import type { Store } from '../store/store.ts'
import type { ActivityLog } from './activity-log.ts'
import type { Metrics } from './metrics.ts'

// Decorators that count calls of the store and of the guarded client, so that no flow has to.

const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]

/** Counts the outcomes of authorizations and measures how long it takes to record releases of tokens. */
export function observedStore(store: Store, metrics: Metrics, activity: ActivityLog): Store {
  const { authorizations, audit } = store
  const commits = metrics.histogram(
    'gatepass_audit_commit_duration_seconds',
    'Time to commit a batch of releases to the audit trail',
    { buckets: COMMIT_SECONDS },
  )
  addDatabaseMetrics(store, metrics)

  function countFailed(failed: Failed | undefined): Failed | undefined {
    if (failed === undefined) return undefined
    metrics.authorizationFailed(failed.reason)
    activity.count(failed.projectId, 'consents', failed.reason)
    return failed
  }

  return {
    ...store,
    authorizations: {
      ...authorizations,
      async begin(fresh, ...rest) {
        const begun = await authorizations.begin(fresh, ...rest)
        if (begun?.id === fresh.id) metrics.authorizationBegan()
        activity.seen(fresh.projectId, fresh.userId)
        return begun
      },
      async finishStep(...args) {
        const finished = await authorizations.finishStep(...args)
        if (finished?.status === 'completed') {
          metrics.authorizationCompleted()
          activity.count(finished.projectId, 'consents', 'completed')
        }
        return finished
      },
      async fail(...args) {
        return countFailed(await authorizations.fail(...args))
      },
      async cancel(...args) {
        return countFailed(await authorizations.cancel(...args))
      },
    },
    audit: {
      ...audit,
      async release(...args) {
        const begun = performance.now()
        const recorded = await audit.release(...args)
        commits.observe((performance.now() - begun) / 1000)
        return recorded
      },
    },
  }
}

function addDatabaseMetrics(store: Store, metrics: Metrics): void {
  metrics.counted(
    'gatepass_database_busy_retries_total',
    'Statements that were tried again because another process had locked the SQLite file',
    () => store.figures().busyRetries,
  )
  metrics.gauge(
    'gatepass_database_connections',
    'Connections of the PostgreSQL pools, and the calls that wait for one',
    () => {
      const { connections } = store.figures()
      return connections && { label: 'state', values: new Map(Object.entries(connections)) }
    },
  )
}

/** Counts outgoing requests by purpose and outcome, and measures their duration (of a stream: until its head). */
export function observedOutgoing(outgoing: Outgoing, metrics: Metrics): Outgoing {
  const observed =
    <R extends OutgoingRequest | OutgoingStreamRequest, A extends { readonly status: number }>(
      ask: (request: R) => Promise<A>,
    ) =>
    async (request: R) => {
      const begun = performance.now()
      const ended = (outcome: string) =>
        metrics.requestEnded(request.purpose ?? 'other', outcome, (performance.now() - begun) / 1000)
      try {
        const response = await ask(request)
        ended(`${Math.floor(response.status / 100)}xx`)
        return response
      } catch (error) {
        ended(error instanceof OutgoingError ? error.kind : 'failed')
        throw error
      }
    }
  return { ...outgoing, send: observed(outgoing.send), stream: observed(outgoing.stream) }
}
