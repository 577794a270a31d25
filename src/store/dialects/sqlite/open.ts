import { AsyncLocalStorage } from 'node:async_hooks'
import Database from 'better-sqlite3'
import { drizzle } from 'drizzle-orm/better-sqlite3'
import { SQLiteSyncDialect } from 'drizzle-orm/sqlite-core'
import type { Connection } from '../../../domain/connection.ts'
import type { AuditEntries } from '../../audit-entries.ts'
import type { Announce, ConnectionOwner, StoreChange } from '../../changes.ts'
import { createNouns } from '../../create-nouns.ts'
import { readTogether } from '../../read-together.ts'
import { sqliteKit } from '../../schema-kit.ts'
import { createStatementMaker, type Transaction } from '../../statement.ts'
import type { OpeningOptions, Store } from '../../store.ts'
import { allTables, storeParts } from '../../store-parts.ts'
import { createAuditAppender, createReleaseCheck, sqliteAudit } from './audit.ts'
import { createChangeFeed } from './change-feed.ts'
import { createCheckpoints } from './checkpoints.ts'
import { sqliteDialect } from './dialect.ts'
import { busyRetries } from './failures.ts'
import { openDatabase } from './file.ts'
import { createGroupCommit, type GroupCommit, type Write } from './group-commit.ts'
import { addLeaseClock } from './lease-clock.ts'
import { migrateDatabase, readFacts } from './migrations.ts'
import { createRunner, type Transact } from './runner.ts'
import { openWriteAheadLog } from './write-ahead-log.ts'

const TABLES = allTables(sqliteKit)

/** Migrates an SQLite file, which several processes of one machine may share, and opens the store on it. */
export function openSqliteStore(
  path: string,
  { admit, steadyClock, traceparent }: OpeningOptions = {},
): Store {
  admit?.(readFacts(path))
  const client = openDatabase(path)
  migrateDatabase(client)
  // the savepoint of a write keeps a copy of each page that it changes: more than 64 kB of them go to a temporary file by
  // default. Set after the migrations, which sort new indexes in such files
  client.pragma('temp_store = memory')
  addLeaseClock(client, steadyClock)
  const feed = createChangeFeed(client)
  const appendAudit = createAuditAppender(client)
  const rowsOf = createRunner(client)
  const dialect = new SQLiteSyncDialect()
  const listeners: ((change: StoreChange) => void)[] = []
  const notify = (change: StoreChange) => {
    for (const listener of listeners) listener(change)
  }
  const onChange = (listener: (change: StoreChange) => void) => void listeners.push(listener)
  /** Called within the transaction. All other listeners are called after the commit. */
  const earlyListeners: ((change: StoreChange) => void)[] = []
  const check = createReleaseCheck(client, (listener) => {
    onChange(listener)
    // a release that comes after the change may share its commit
    earlyListeners.push(listener)
  })
  const log = openWriteAheadLog(client)
  const group: GroupCommit = createGroupCommit(client, log, () => checkpoints.beginIfDue())
  const checkpoints = createCheckpoints(client, () => group.pause())
  const beginRead = client.prepare('begin')
  const endRead = client.prepare('commit')
  let missed = 0
  let closing: Promise<void> | undefined

  const toWrite = <T>(audit: AuditEntries | undefined, body: (announce: Announce) => T): Write<T> => {
    let changes: StoreChange[] = []
    return {
      body() {
        changes = []
        const done = body((change) => void changes.push(change))
        if (audit !== undefined && done !== undefined && done !== false) appendAudit(audit)
        for (const change of changes) {
          feed.add(change)
          for (const listener of earlyListeners) listener(change)
        }
        return done
      },
      committed() {
        for (const change of changes) notify(change)
      },
    }
  }
  const transact: Transact = (audit, body) => group.add(toWrite(audit, body))
  const transactNow: Transact = (audit, body) => group.addNow(toWrite(audit, body))

  function noteMissed(): number {
    check.missed()
    return ++missed
  }

  function catchUp(): number {
    const read = feed.read()
    if (read.missed) noteMissed()
    for (const change of read.changes) notify(change)
    return missed
  }

  /** Runs all steps in one turn of the event loop, so that the write lock is released soon. */
  function run<T>(transaction: Transaction<T>): T {
    const steps = transaction[Symbol.iterator]()
    let step = steps.next([])
    while (!step.done) step = steps.next(rowsOf(step.value))
    return step.value
  }

  /** Each read runs when it is called, so the transaction can end before the promises have resolved. */
  function inOneRead<T>(count: number, read: () => T): T {
    if (count < 2) return read()
    beginRead.run()
    try {
      return read()
    } finally {
      if (client.inTransaction) endRead.run() // after some errors SQLite has ended it
    }
  }

  async function close(): Promise<void> {
    await group.finish()
    await checkpoints.stop()
    client.close()
    log.close()
  }

  const nouns = createNouns(
    {
      tables: TABLES,
      query: drizzle(client),
      statement: createStatementMaker((query) => dialect.sqlToQuery(query)),
      read: async (statement) => rowsOf(statement),
      write(audit, body) {
        // a group commit runs the bodies of several requests, each of which needs its own context
        const inContext = traceparent && AsyncLocalStorage.snapshot()
        return transact(audit, (announce) =>
          inContext ? inContext(() => run(body(announce))) : run(body(announce)),
        )
      },
      writeRepeatable: (statement) => transact(undefined, () => rowsOf(statement)),
      dialect: sqliteDialect,
      traceparent,
    },
    sqliteAudit({ transact, transactNow, appendAudit, catchUp, check }),
    storeParts,
  )
  /** Simultaneous reads share a transaction, which locks the log once: 24 us for each of 16 owners, and 29 without. */
  const readOwners = readTogether<ConnectionOwner, Connection>(async (owners) => {
    // a release need not compare a connection that was just read, unless a change was announced since
    const remember = check.beforeReading()
    const reading = inOneRead(owners.length, () => owners.map(nouns.connections.ofOwner))
    const found = await Promise.all(reading)
    for (const rows of found) rows.forEach(remember)
    return found
  })

  return {
    ...nouns,
    parts: storeParts,
    connections: { ...nouns.connections, ofOwner: readOwners },
    catchUp() {
      try {
        return catchUp()
      } catch (error) {
        if (!(error instanceof Database.SqliteError)) throw error
        // changes were missed; the next read fails with the reason
        return noteMissed()
      }
    },
    onChange,
    onLoss() {}, // all processes are on the machine of the file
    figures: () => ({ busyRetries: busyRetries() }),
    close() {
      closing ??= close()
      return closing
    },
  }
}
