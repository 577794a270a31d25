import type { Broker } from '../../broker.ts'
import type { ProviderEntry } from '../../providers/provider-entry.ts'
import type { Refreshed } from '../../services/metrics.ts'

/** Counts a refresh that has ended, for the metrics and for the console. */
export function countRefresh(
  { metrics, activity }: Pick<Broker, 'metrics' | 'activity'>,
  { id, projectId }: Pick<ProviderEntry, 'id' | 'projectId'>,
  outcome: Refreshed,
): void {
  metrics.refreshed(id, outcome)
  activity.count(projectId, 'refreshes', outcome)
}
