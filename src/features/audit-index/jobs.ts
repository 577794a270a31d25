import type { FeatureJobs } from '../feature.ts'
import { indexAudit } from './write-index.ts'

const INDEX_MS = 5_000

export const indexJobs: FeatureJobs = {
  shared: (broker) => [{ intervalMs: INDEX_MS, run: () => indexAudit(broker) }],
}
