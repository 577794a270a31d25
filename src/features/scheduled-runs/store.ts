import { eq } from 'drizzle-orm'
import type { Database } from '../../store/database.ts'
import type { StorePart } from '../../store/store-part.ts'
import { createScheduledRuns } from './store-runs.ts'
import { createWaitingRuns, runsOfApprovals } from './store-waiting.ts'

declare module '../../store/part-types.ts' {
  interface PartNouns extends Readonly<ReturnType<typeof createNouns>> {}
}

export const scheduledRunStore: StorePart = {
  nouns: createNouns,
  hook: runsOfApprovals,
  // approvals do not come back with a backup, so the runs that waited for one end
  restore({ tables: { executions }, query, statement }) {
    const release = statement((_: object) =>
      query
        .update(executions)
        .set({ status: 'scheduled' })
        .where(eq(executions.status, 'waiting_for_approval'))
        .returning({ id: executions.id }),
    )
    return function* () {
      yield* release({})
    }
  },
}

function createNouns(database: Database) {
  return { scheduledRuns: createScheduledRuns(database), waitingRuns: createWaitingRuns(database) }
}
