import type { Database } from '../../store/database.ts'
import type { StorePart } from '../../store/store-part.ts'
import { createAuditArchives } from './store-archives.ts'

declare module '../../store/part-types.ts' {
  interface PartNouns extends Readonly<ReturnType<typeof createNouns>> {}
}

export const archiveStore: StorePart = { nouns: createNouns }

function createNouns(database: Database) {
  return { auditArchives: createAuditArchives(database) }
}
