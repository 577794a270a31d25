import { loadFeatures } from '../features/load-features.ts'
import { sealedColumnsOf } from './protected-tables.ts'
import { describeTables, type Tables } from './schema.ts'
import type { SchemaKit } from './schema-kit.ts'

/** What features keep in the database. */
export const storeParts = await loadFeatures('store')

/** Every column that holds envelopes. */
export const SEALED_COLUMNS = sealedColumnsOf(storeParts)

/** The tables of the core and of all features. */
export function allTables(kit: SchemaKit): Tables {
  const core = describeTables(kit)
  return Object.assign({}, core, ...storeParts.map(({ tables }) => tables?.(kit, core)))
}
