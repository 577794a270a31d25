import { randomUUID } from 'node:crypto'
import Database from 'better-sqlite3'
import { and, eq } from 'drizzle-orm'
import type { Facts, Store, StoreChange } from '../store.ts'
import { sqliteAnswers } from './answers.ts'
import { sqliteApiKeys } from './api-keys.ts'
import { sqliteAppendAudit, sqliteAudit } from './audit.ts'
import { sqliteAuthorizations } from './authorizations.ts'
import { sqliteChains } from './chains.ts'
import { sqliteChangeFeed } from './changes.ts'
import { sqliteConnections } from './connections.ts'
import {
  busyRetries,
  migrateDatabase,
  openDatabase,
  readFacts,
  type SqliteContext,
  steady,
} from './database.ts'
import { sqliteEnvelopes } from './envelopes.ts'
import { sqliteExecutions } from './executions.ts'
import { sqlitePolicies } from './policies.ts'
import { sqliteProcesses } from './processes.ts'
import { sqliteProjects } from './projects.ts'
import { sqliteProviders } from './providers.ts'
import { sqliteSettleRestore } from './restore.ts'
import { facts } from './schema.ts'
import { sqliteSecrets } from './secrets.ts'
import { sqliteTools } from './tools.ts'
import { sqliteWorkers } from './workers.ts'

export interface OpeningOptions {
  /** Looks at what there is before anything is written, not even a migration; throws to refuse it. */
  readonly admit?: (facts: ReadonlyMap<string, string>) => void
}

/** The store on one SQLite file, which several processes of one machine may share. Migrates it first. */
export function openSqliteStore(path: string, { admit }: OpeningOptions = {}): Store {
  admit?.(readFacts(path))
  const { client, db } = openDatabase(path)
  migrateDatabase(client)
  const feed = sqliteChangeFeed(client)
  const appendAudit = sqliteAppendAudit(client)
  // drizzle's own makes its objects anew for every transaction, which costs as much as a commit
  const inTransaction = client.transaction((run: () => unknown) => run()).immediate
  const listeners: ((change: StoreChange) => void)[] = []
  const tell = (change: StoreChange) => {
    for (const listener of listeners) listener(change)
  }
  let missed = 0
  const context: SqliteContext = {
    db,
    write(audit, body) {
      const changes: StoreChange[] = []
      const result = inTransaction(() => {
        const done = body(db, (change) => void changes.push(change))
        if (audit !== undefined && done !== undefined && done !== false) appendAudit(audit)
        for (const change of changes) feed.add(change)
        return done
      }) as ReturnType<typeof body> // what the transaction answers is what its body does
      for (const change of changes) tell(change)
      return result
    },
    catchUp() {
      const read = feed.read()
      if (read.missed) missed++
      for (const change of read.changes) tell(change)
      return missed
    },
    onChange: (listener) => void listeners.push(listener),
  }

  return {
    projects: steady(sqliteProjects(context)),
    apiKeys: steady(sqliteApiKeys(context)),
    providers: steady(sqliteProviders(context)),
    authorizations: steady(sqliteAuthorizations(context)),
    connections: steady(sqliteConnections(context)),
    tools: steady(sqliteTools(context)),
    workers: steady(sqliteWorkers(context)),
    secrets: steady(sqliteSecrets(context)),
    facts: steady(sqliteFacts(context)),
    envelopes: steady(sqliteEnvelopes(context)),
    answers: steady(sqliteAnswers(context)),
    policies: steady(sqlitePolicies(context)),
    processes: steady(sqliteProcesses(context)),
    executions: steady(sqliteExecutions(context)),
    chains: steady(sqliteChains(context)),
    audit: steady(sqliteAudit(context, appendAudit)),
    catchUp() {
      try {
        return context.catchUp()
      } catch (error) {
        if (!(error instanceof Database.SqliteError)) throw error
        // whatever was written meanwhile was missed; whoever reads now is told that it cannot be
        return ++missed
      }
    },
    onChange: context.onChange,
    ...steady({
      async probe() {
        // what writes nothing does not notice a full disk, and what is there already SQLite does not write again
        const value = randomUUID()
        db.insert(facts)
          .values({ name: PROBE_FACT, value })
          .onConflictDoUpdate({ target: facts.name, set: { value } })
          .run()
      },
      settleRestore: sqliteSettleRestore(context),
    }),
    figures: () => ({ busyRetries: busyRetries() }),
    async close() {
      client.close()
    },
  }
}

const PROBE_FACT = 'probe'

function sqliteFacts({ db }: SqliteContext): Facts {
  const get = (name: string) => db.select().from(facts).where(eq(facts.name, name)).get()?.value
  return {
    async get(name) {
      return get(name)
    },
    async settle(name, value) {
      db.insert(facts).values({ name, value }).onConflictDoNothing().run()
      return get(name) ?? value
    },
    async exchange(name, from, to) {
      if (from === undefined)
        return db.insert(facts).values({ name, value: to }).onConflictDoNothing().run().changes > 0
      const stands = and(eq(facts.name, name), eq(facts.value, from))
      return db.update(facts).set({ value: to }).where(stands).run().changes > 0
    },
    async put(name, value) {
      db.insert(facts)
        .values({ name, value })
        .onConflictDoUpdate({ target: facts.name, set: { value } })
        .run()
    },
    async delete(name) {
      db.delete(facts).where(eq(facts.name, name)).run()
    },
  }
}
