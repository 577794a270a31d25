import type { Database } from '../../store/database.ts'
import type { StorePart } from '../../store/store-part.ts'
import { createScheduledRuns } from './store-runs.ts'

declare module '../../store/part-types.ts' {
  interface PartNouns extends Readonly<ReturnType<typeof createNouns>> {}
}

export const scheduledRunStore: StorePart = { nouns: createNouns }

function createNouns(database: Database) {
  return { scheduledRuns: createScheduledRuns(database) }
}
