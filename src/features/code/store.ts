import type { Database } from '../../store/database.ts'
import { IN_PROJECT, type ProtectedTables, sealingBy } from '../../store/protection.ts'
import type { StorePart } from '../../store/store-part.ts'
import { describeCodeTables } from './schema.ts'
import { createPausedRuns } from './store-paused-code.ts'

declare module '../../store/part-types.ts' {
  interface PartTables extends ReturnType<typeof describeCodeTables> {}
  interface PartNouns extends Readonly<ReturnType<typeof createNouns>> {}
}

const PROTECTED = { pausedCode: { ...IN_PROJECT, sealed: ['state'] } } as const satisfies ProtectedTables

/** What the envelope of a paused run's state is bound to. */
export const codeContext = sealingBy(PROTECTED)

export const codeStore: StorePart = {
  tables: describeCodeTables,
  nouns: createNouns,
  protects: PROTECTED,
  async erase({ pausedCode }, user) {
    await pausedCode.forgetUser(user)
  },
  // a run that was resumed after the backup must not make its calls again
  restore({ tables: { pausedCode }, query, statement }) {
    const drop = statement((_: object) => query.delete(pausedCode).returning({ id: pausedCode.id }))
    return function* () {
      yield* drop({})
    }
  },
}

function createNouns(database: Database) {
  return { pausedCode: createPausedRuns(database) }
}
