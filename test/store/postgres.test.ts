import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { freshDatabase } from '../postgres.ts'
import { storeConformance } from './conformance.ts'
import type { OpenedStore } from './fixtures.ts'

async function openTwice(): Promise<OpenedStore & { readonly url: string }> {
  const database = await freshDatabase()
  const store = await openPostgresStore(database.url)
  const other = await openPostgresStore(database.url)
  return {
    url: database.url,
    store,
    other,
    async [Symbol.asyncDispose]() {
      await store.close()
      await other.close()
      await database[Symbol.asyncDispose]()
    },
  }
}

storeConformance('postgres', openTwice)
