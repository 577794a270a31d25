import { eq } from 'drizzle-orm'
import type { Facts, Store, StoreChange } from '../store.ts'
import { sqliteApiKeys } from './api-keys.ts'
import { sqliteAuthorizations } from './authorizations.ts'
import { sqliteConnections } from './connections.ts'
import { migrateDatabase, openDatabase, type SqliteContext, steady } from './database.ts'
import { sqliteProjects } from './projects.ts'
import { sqliteProviders } from './providers.ts'
import { facts } from './schema.ts'
import { sqliteSecrets } from './secrets.ts'
import { sqliteTools } from './tools.ts'
import { sqliteWorkers } from './workers.ts'

/** The store on one SQLite file, which several processes of one machine may share. Migrates it first. */
export function openSqliteStore(path: string): Store {
  const { client, db } = openDatabase(path)
  migrateDatabase(client)
  const listeners: ((change: StoreChange) => void)[] = []
  const context: SqliteContext = {
    db,
    changed(change) {
      for (const listener of listeners) listener(change)
    },
  }
  // unlike everything else in SQLite, this counts the commits of other connections only
  const dataVersion = client.prepare<[], number>('pragma data_version').pluck()

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
    foreignRevision: () => dataVersion.get() ?? 0,
    onChange: (listener) => void listeners.push(listener),
    ...steady({
      async probe() {
        client.transaction(() => {}).immediate()
      },
    }),
    async close() {
      client.close()
    },
  }
}

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
  }
}
