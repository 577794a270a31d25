import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type Database from 'better-sqlite3'
import type { FromCheckpointThread } from './checkpoint-thread.ts'

/** Pages in the log that are not in the database file yet, from which on they are copied. It is SQLite's own default. */
const PAGES = 1_000
/**
 * Pages in the log from which on writes wait for a checkpoint. SQLite begins the log from the start only after a moment
 * in which all of it was copied, and while writes go on there is none.
 */
const LONG_LOG_PAGES = 8_000
const LOG_BYTES = 2 ** 26
/** A checkout runs the sources, a published package the built files. */
const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
const THREAD = new URL(`./checkpoint-thread.${EXTENSION}`, import.meta.url)

/** Pages in the log, and those of them that are in the database file. */
interface Progress {
  readonly log: number
  readonly checkpointed: number
}

/** Copies committed pages from the log into the database file. */
export interface Checkpoints {
  /** Is called after commits. Begins a checkpoint when there is enough to copy. */
  consider(): void
  /** Waits for a checkpoint that is under way. */
  stop(): Promise<void>
}

/**
 * Checkpoints run in a thread with a connection of its own, which is started at the first: SQLite's own run within a
 * commit, and hold the event loop while the disk is written twice.
 *
 * `pauseWrites` keeps this process from committing until the returned function is called.
 */
export function createCheckpoints(client: Database.Database, pauseWrites: () => () => void): Checkpoints {
  const [main] = client.pragma('database_list') as { readonly file: string }[]
  if (main === undefined || main.file === '') return NONE
  const { file } = main
  client.pragma('wal_autocheckpoint = 0')
  // a log that grew beside a long reader is cut when it begins from the start
  client.pragma(`journal_size_limit = ${LOG_BYTES}`)
  const readProgress = client.prepare<[], Progress>('pragma wal_checkpoint(noop)')
  let thread: Worker | undefined
  let hasFailed = false
  let isRunning = false
  /** Whether the running checkpoint began while writes were paused. */
  let beganPaused = false
  let resume: (() => void) | undefined
  let longLog = LONG_LOG_PAGES

  const progress = (): Progress => readProgress.get() ?? { log: 0, checkpointed: 0 }

  function start(): Worker {
    const worker = new Worker(THREAD, {
      name: 'gatepass checkpoint',
      workerData: file,
      env: {},
      argv: [],
      execArgv: [],
    })
    worker.unref()
    worker.on('message', (message: FromCheckpointThread) => (message === 'done' ? ended() : fail()))
    worker.on('error', fail)
    return worker
  }

  function begin(): void {
    isRunning = true
    beganPaused = resume !== undefined
    thread ??= start()
    thread.postMessage('checkpoint')
  }

  function ended(): void {
    const { log, checkpointed } = progress()
    if (log >= longLog && !beganPaused) {
      resume ??= pauseWrites()
      begin()
      return
    }
    if (beganPaused)
      // a reader of older pages, such as a backup, or another process may keep it from being whole: not at once again
      longLog = checkpointed === log ? LONG_LOG_PAGES : log + LONG_LOG_PAGES
    goOn()
  }

  function goOn(): void {
    isRunning = false
    resume?.()
    resume = undefined
  }

  /** Without the thread SQLite does it within a commit, as it does by default. */
  function fail(): void {
    hasFailed = true
    void thread?.terminate()
    thread = undefined
    if (client.open) client.pragma(`wal_autocheckpoint = ${PAGES}`)
    goOn()
  }

  return {
    consider() {
      if (hasFailed) return
      const { log, checkpointed } = progress()
      if (!isRunning && log - checkpointed >= PAGES) begin()
      // writes are faster than the thread
      else if (isRunning && log >= 2 * longLog) resume ??= pauseWrites()
    },
    async stop() {
      if (thread === undefined) return
      const ended = once(thread, 'exit')
      thread.ref()
      thread.postMessage('stop')
      await ended
    },
  }
}

const NONE: Checkpoints = { consider: () => undefined, stop: async () => undefined }
