import type { FeatureJobs } from '../feature.ts'
import { archiveDue } from './archive-due.ts'

/** Whole days are archived, so most runs only read the oldest entries and find nothing due. */
const ARCHIVE_MS = 10 * 60 * 1000

export const archiveJobs: FeatureJobs = {
  shared: (broker) => [{ intervalMs: ARCHIVE_MS, run: () => archiveDue(broker) }],
}
