import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type Database from 'better-sqlite3'
import type { FromCheckpointThread } from './checkpoint-thread.ts'

/** A checkpoint begins when the log has this many pages that are not in the database file yet. SQLite's own default. */
const PAGES = 1_000
/**
 * When the log has this many pages, writes wait for a checkpoint. SQLite reuses the log from its start only once all
 * pages were copied, which does not happen while writes go on. Only a checkpoint that copies all pages flushes the
 * database file, with the pages of all checkpoints before it: with a limit of 8,000 pages writes waited
 * for up to 150 ms, on a disk that did nothing else.
 */
const LONG_LOG_PAGES = 2_000
const LOG_BYTES = 2 ** 26
/** `ts` in a checkout, which runs the sources; `js` in a published package. */
const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
const THREAD = new URL(`./checkpoint-thread.${EXTENSION}`, import.meta.url)

/** The number of pages in the log, and how many of them are in the database file. */
interface Progress {
  readonly log: number
  readonly checkpointed: number
}

/** Copies committed pages from the log into the database file. */
export interface Checkpoints {
  /** Call it after commits. Begins a checkpoint when there are enough pages to copy. */
  beginIfDue(): void
  /** Ends the thread, after a checkpoint that is under way. */
  stop(): Promise<void>
}

/**
 * Checkpoints run in a worker thread with a connection of its own, which the first checkpoint starts. SQLite's own
 * checkpoints run within a commit, and block the event loop while two files are written.
 *
 * `pauseWrites` stops the commits of this process until the returned function is called.
 */
export function createCheckpoints(client: Database.Database, pauseWrites: () => () => void): Checkpoints {
  const [main] = client.pragma('database_list') as { readonly file: string }[]
  if (main === undefined || main.file === '') return NONE
  const { file } = main
  client.pragma('wal_autocheckpoint = 0')
  // a log that grew during a long read is truncated when it is reused from its start
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
    worker.on('message', (message: FromCheckpointThread) => (message === 'done' ? onDone() : fail()))
    worker.on('error', fail)
    return worker
  }

  function begin(): void {
    isRunning = true
    beganPaused = resume !== undefined
    try {
      thread ??= start()
      thread.postMessage('checkpoint')
    } catch {
      fail() // the system allows no further thread
    }
  }

  function onDone(): void {
    const { log, checkpointed } = progress()
    if (log >= longLog && !beganPaused) {
      resume ??= pauseWrites()
      begin()
      return
    }
    if (beganPaused)
      // an open reader (such as a backup) or another process can keep a checkpoint incomplete: wait for more pages
      longLog = checkpointed === log ? LONG_LOG_PAGES : log + LONG_LOG_PAGES
    end()
  }

  function end(): void {
    isRunning = false
    resume?.()
    resume = undefined
  }

  /** Returns to SQLite's own checkpoints within a commit. */
  function fail(): void {
    hasFailed = true
    void thread?.terminate()
    thread = undefined
    if (client.open) client.pragma(`wal_autocheckpoint = ${PAGES}`)
    end()
  }

  return {
    beginIfDue() {
      if (hasFailed) return
      const { log, checkpointed } = progress()
      if (!isRunning && log - checkpointed >= PAGES) begin()
      // the log grows faster than the thread copies
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

const NONE: Checkpoints = { beginIfDue: () => undefined, stop: async () => undefined }
