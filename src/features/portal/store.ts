import type { Database } from '../../store/database.ts'
import type { StorePart } from '../../store/store-part.ts'
import { describePortalTables } from './schema.ts'
import { createPortalTickets } from './store-tickets.ts'

declare module '../../store/part-types.ts' {
  interface PartTables extends ReturnType<typeof describePortalTables> {}
  interface PartNouns extends Readonly<ReturnType<typeof createNouns>> {}
}

export const portalStore: StorePart = {
  tables: describePortalTables,
  nouns: createNouns,
  // a link that was used after the backup must not work again
  restore({ tables: { portalTickets }, query, statement }) {
    const drop = statement((_: object) => query.delete(portalTickets).returning({ hash: portalTickets.hash }))
    return function* () {
      yield* drop({})
    }
  },
}

function createNouns(database: Database) {
  return { portalTickets: createPortalTickets(database) }
}
