import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { EpochSeconds } from '../domain/clock.ts'
import type { ChangeHook } from './change-hook.ts'
import type { Database } from './database.ts'
import type { PartNouns, PartTables } from './part-types.ts'
import type { ProtectedTables } from './protection.ts'
import type { CoreTables } from './schema.ts'
import type { SchemaKit } from './schema-kit.ts'
import type { Signing } from './signed-rows.ts'
import type { OfUser, Steps } from './statement.ts'

/**
 * What one feature keeps in the database, in the file `store.ts` of its folder (`Feature.store`). Its tables and nouns are
 * used like those of the core, `database.tables.webhooks` and `broker.store.webhooks`: they are retried, traced and
 * copied with the others. TypeScript learns their types from the feature, which extends `part-types.ts`:
 *
 *     declare module '../../store/part-types.ts' {
 *       interface PartTables extends ReturnType<typeof describeWebhookTables> {}
 *       interface PartNouns extends ReturnType<typeof createNouns> {}
 *       interface PartChanges { readonly delivery: { readonly noun: 'delivery' } }
 *     }
 *
 * Without the feature these types are gone, so the core cannot use them (`test/house/features.test.ts`).
 *
 * The modules that a `store.ts` imports are loaded while `store-parts.ts` waits for them, so none of them may import
 * `store-parts.ts`, `create-nouns.ts` or `open-store.ts`, except for types.
 */
export interface StorePart {
  /**
   * Describes the feature's tables, by the functions of either database. Its columns may refer to tables of the core. A
   * change needs `npm run migrations`.
   */
  readonly tables?: (kit: SchemaKit, core: CoreTables) => Readonly<Record<string, SQLiteTable>>
  readonly nouns?: (database: Database) => Readonly<Record<string, object>>
  /**
   * The columns of its tables that are sealed or signed, once: key rotation and counts go by it, `sealingBy` makes of it
   * what envelopes are bound to, and `signed` the MACs of rows.
   */
  readonly protects?: ProtectedTables
  /** Wraps nouns so that rows which grant rights are signed when they are written, and checked when they are read. */
  readonly signed?: (nouns: PartNouns, signing: Signing) => Partial<PartNouns>
  /** Reads all signed rows of a project, through the wrapped nouns, so that `gatepass doctor` reports altered ones. */
  readonly readSigned?: (nouns: PartNouns, projectId: string) => Promise<unknown>
  /** Signs the rows of a project from releases that signed none, by writing rows of `raw` once more; returns how many. */
  readonly signOlder?: (raw: PartNouns, nouns: PartNouns, projectId: string) => Promise<number>
  /** Runs in the transaction of each change of the core that `ChangeHook` lists. */
  readonly hook?: (database: Database) => ChangeHook
  /** Deletes what is stored about a user, when the user's data are erased. May be repeated. */
  readonly erase?: (nouns: PartNouns, user: OfUser, now: EpochSeconds) => Promise<unknown>
  /** Deletes what must not come back with a restored backup, in the transaction that ends the restore. */
  readonly restore?: (database: Database) => () => Steps<unknown>
  /** Runs when the database has lost commits that it had acknowledged. May be repeated. */
  readonly loss?: (nouns: PartNouns, now: EpochSeconds) => Promise<unknown>
  /** Tables that a copy of the installation leaves empty, because servers fill them again. */
  readonly rebuilt?: readonly (keyof PartTables)[]
}
