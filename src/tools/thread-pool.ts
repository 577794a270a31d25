import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'

// Runs pure functions on input from outside (tool answers, API documents) in a small pool of threads, so that large or
// hostile input does not block the event loop. A thread starts when it is needed and ends after it has been idle.

/**
 * A module that exports `run(input, transfer)`. Input and result are copied by the structured clone algorithm; buffers
 * that `run` adds to `transfer` are moved instead. Copying objects back takes the event loop about as long as parsing
 * them, so a result that may be large should be bytes.
 */
export interface ThreadTask<Input, Output> {
  readonly module: URL
  /** Never set; it binds the types to the module. */
  readonly types?: (input: Input) => Output
}

export interface TaskModule<Input, Output> {
  run(input: Input, transfer: ArrayBuffer[]): Output | Promise<Output>
}

export interface ThreadOptions {
  /** A project id. Each owner has a queue, and the queues take turns, so that one owner's tasks do not delay another's. */
  readonly owner?: string
  /** Removes the task from its queue; a task that has begun runs to its end. */
  readonly signal?: AbortSignal | undefined
  /** The limit from the start of the task, 30 s by default. The thread is terminated after it. */
  readonly timeoutMs?: number
  /** Buffers of the input that are moved to the thread instead of copied. */
  readonly transfer?: readonly ArrayBuffer[]
}

/** A task was not finished or not begun. `busy`: too many tasks are waiting. */
export class ThreadFault extends Error {
  readonly reason: 'timeout' | 'memory' | 'crashed' | 'busy' | 'cancelled'

  constructor(reason: ThreadFault['reason']) {
    super(`A task in a thread was not finished: ${reason}.`)
    this.name = 'ThreadFault'
    this.reason = reason
  }
}

/** One core is left for the event loop. */
const MAX_THREADS = Math.max(1, Math.min(4, availableParallelism() - 1))
const MAX_WAITING = 1_000
/** The limit for one owner, so that its tasks leave room for those of other owners. */
const MAX_WAITING_OF_ONE = MAX_WAITING / 2
/** YAML of the largest accepted size takes most of this time. */
const TIMEOUT_MS = 30_000
const IDLE_MS = 30_000
/** The parsed value of 4 MB of JSON may take a hundred times as much memory. */
const RESOURCES = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 64 }
/** A checkout runs the sources, a published package the built files. */
const EXTENSION = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
const THREAD = new URL(`./pool-thread.${EXTENSION}`, import.meta.url)

/** `path` is relative to the caller's `import.meta.url`, without its extension: `./read-document-task`. */
export function threadTask<Input, Output>(path: string, base: string): ThreadTask<Input, Output> {
  return { module: new URL(`${path}.${EXTENSION}`, base) }
}

interface Job {
  readonly module: string
  readonly input: unknown
  readonly timeoutMs: number
  readonly transfer: readonly ArrayBuffer[]
  readonly resolve: (output: unknown) => void
  readonly reject: (error: Error) => void
}

interface Thread {
  readonly worker: Worker
  job: Job | undefined
  timer: NodeJS.Timeout | undefined
}

/** A message of pool-thread.ts. */
export type FromPoolThread = { readonly output: unknown } | { readonly error: string }
export type ToPoolThread = Pick<Job, 'module' | 'input'>

const threads = new Set<Thread>()
/** The queue of each owner, in the order in which the owners are served. */
const queues = new Map<string, Job[]>()
let waiting = 0

/** Runs the task in a thread. Throws `ThreadFault`, or an `Error` with the message of the error that the task threw. */
export function inThread<Input, Output>(
  task: ThreadTask<Input, Output>,
  input: Input,
  { owner = '', timeoutMs = TIMEOUT_MS, signal, transfer = [] }: ThreadOptions = {},
): Promise<Output> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const queue = queues.get(owner) ?? []
  if (waiting >= MAX_WAITING || queue.length >= MAX_WAITING_OF_ONE) reject(new ThreadFault('busy'))
  else if (signal?.aborted) reject(new ThreadFault('cancelled'))
  else {
    const job: Job = { module: task.module.href, input, timeoutMs, transfer, resolve, reject }
    queues.set(owner, queue)
    queue.push(job)
    waiting++
    const cancel = () => cancelJob(owner, job)
    signal?.addEventListener('abort', cancel, { once: true })
    const done = () => signal?.removeEventListener('abort', cancel)
    promise.then(done, done)
    beginWaiting()
  }
  return promise as Promise<Output> // `ThreadTask` binds the type to the module
}

/** Begins waiting jobs in threads that are idle or can be started. */
function beginWaiting(): void {
  if (waiting === 0) return
  const idle = [...threads].find((thread) => thread.job === undefined)
  if (idle === undefined && threads.size >= MAX_THREADS) return
  const thread = idle ?? tryStart()
  if (thread !== undefined) begin(thread, takeJob())
  else if (threads.size === 0) takeJob().reject(new ThreadFault('crashed'))
  else return // the running threads take the waiting tasks
  beginWaiting()
}

/** Starts a thread; `undefined` if the system has none left, as at the limit of a container's processes. */
function tryStart(): Thread | undefined {
  try {
    return start()
  } catch {
    return undefined
  }
}

function cancelJob(owner: string, job: Job): void {
  const queue = queues.get(owner)
  const place = queue?.indexOf(job) ?? -1
  if (place < 0) return
  queue?.splice(place, 1)
  waiting--
  job.reject(new ThreadFault('cancelled'))
}

function takeJob(): Job {
  for (const [owner, queue] of queues) {
    const job = queue.shift()
    queues.delete(owner)
    if (queue.length > 0) queues.set(owner, queue) // after all other owners
    if (job === undefined) continue
    waiting--
    return job
  }
  throw new Error('No task is waiting.')
}

function begin(thread: Thread, job: Job): void {
  thread.job = job
  thread.worker.ref()
  clearTimeout(thread.timer)
  thread.timer = setTimeout(() => end(thread, new ThreadFault('timeout')), job.timeoutMs)
  try {
    thread.worker.postMessage({ module: job.module, input: job.input } satisfies ToPoolThread, [
      ...job.transfer,
    ])
  } catch (error) {
    finish(thread)
    job.reject(error instanceof Error ? error : new Error(String(error))) // the input cannot be cloned
  }
}

function start(): Thread {
  const worker = new Worker(THREAD, {
    name: 'gatepass pool',
    resourceLimits: RESOURCES,
    env: {},
    argv: [],
    execArgv: [],
    stdout: true,
    stderr: true,
  })
  const thread: Thread = { worker, job: undefined, timer: undefined }
  threads.add(thread)
  worker.on('message', (message: FromPoolThread) => {
    const { job } = thread
    finish(thread)
    if ('error' in message) job?.reject(new Error(message.error))
    else job?.resolve(message.output)
  })
  worker.on('error', (error: Error & { readonly code?: string }) =>
    end(thread, new ThreadFault(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crashed')),
  )
  worker.on('exit', () => end(thread, new ThreadFault('crashed')))
  return thread
}

/** Makes the thread free for the next task. */
function finish(thread: Thread): void {
  thread.job = undefined
  thread.worker.unref() // an idle thread does not keep the process alive
  clearTimeout(thread.timer)
  thread.timer = setTimeout(() => end(thread, new ThreadFault('crashed')), IDLE_MS)
  thread.timer.unref()
  beginWaiting()
}

function end(thread: Thread, fault: ThreadFault): void {
  if (!threads.delete(thread)) return
  clearTimeout(thread.timer)
  thread.job?.reject(fault)
  void thread.worker.terminate()
  beginWaiting()
}
