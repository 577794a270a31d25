import { afterAll, beforeAll } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../postgres.ts'
import { storeConformance } from './conformance.ts'
import { type ReusedDatabase, reuseDatabase } from './reused-postgres.ts'

let database: FreshDatabase
let reused: ReusedDatabase

beforeAll(async () => {
  database = await freshDatabase()
  reused = await reuseDatabase(database, { partitions: 64 })
})
afterAll(async () => {
  await reused.close()
  await database[Symbol.asyncDispose]()
})

// every promise of the store, with ids of older releases: those of the fixtures have no bits of their owner
storeConformance('partitioned postgres', () => reused.open())
