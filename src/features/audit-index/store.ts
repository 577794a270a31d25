import type { Database } from '../../store/database.ts'
import type { StorePart } from '../../store/store-part.ts'
import { describeIndexTables } from './schema.ts'
import { createAuditIndex } from './store-index.ts'

declare module '../../store/part-types.ts' {
  interface PartTables extends ReturnType<typeof describeIndexTables> {}
  interface PartNouns extends Readonly<ReturnType<typeof createNouns>> {}
}

export const indexStore: StorePart = {
  tables: describeIndexTables,
  nouns: createNouns,
  rebuilt: ['auditTerms', 'auditSegments'],
}

function createNouns(database: Database) {
  return { auditIndex: createAuditIndex(database) }
}
