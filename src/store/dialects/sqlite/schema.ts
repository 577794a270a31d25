import type { StoreChange } from '../../changes.ts'
import { sqliteKit } from '../../schema-kit.ts'

/** The change feed: announcements for the other processes on this file. Only the newest rows are kept. */
export const changes = sqliteKit.table('changes', {
  seq: sqliteKit.integer('seq').primaryKey({ autoIncrement: true }),
  writer: sqliteKit.text('writer').notNull(),
  change: sqliteKit.json<StoreChange>('change').notNull(),
})
