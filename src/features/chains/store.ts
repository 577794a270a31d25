import type { Database } from '../../store/database.ts'
import { IN_PROJECT, type ProtectedTables, sealingBy } from '../../store/protection.ts'
import type { StorePart } from '../../store/store-part.ts'
import { describeChainTables } from './schema.ts'
import { createChains } from './store-chains.ts'

declare module '../../store/part-types.ts' {
  interface PartTables extends ReturnType<typeof describeChainTables> {}
  interface PartNouns extends Readonly<ReturnType<typeof createNouns>> {}
}

const PROTECTED = { chains: { ...IN_PROJECT, sealed: ['state'] } } as const satisfies ProtectedTables

/** What the envelope of a chain's state is bound to. */
export const chainContext = sealingBy(PROTECTED)

export const chainStore: StorePart = {
  tables: describeChainTables,
  nouns: createNouns,
  protects: PROTECTED,
  // a chain that was resumed after the backup must not run again
  restore({ tables: { chains }, query, statement }) {
    const drop = statement((_: object) => query.delete(chains).returning({ id: chains.id }))
    return function* () {
      yield* drop({})
    }
  },
}

function createNouns(database: Database) {
  return { chains: createChains(database) }
}
