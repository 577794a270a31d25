import cluster, { type Worker } from 'node:cluster'
import { createServer } from 'node:net'
import type { Config } from '../config.ts'
import type { Log } from '../domain/log.ts'
import { prepareStore, SHUTDOWN_BUDGET_MS } from '../server.ts'
import type { Environment, ToPrimary, ToWorker } from './messages.ts'
import { createClusterMetrics, send } from './metrics.ts'

/** After serving this long, a worker counts as stable. */
const STABLE_MS = 10_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 10_000
/** The primary gives up after this many early exits in a row when no worker serves. */
const MAX_FAILURES = 5
/** Delay before replacing a worker that got a signal: the same signal may be about to reach the primary. */
const SIGNAL_MS = 100
/** A worker is killed when it exceeds its own shutdown budget by two seconds. */
const KILL_AFTER_MS = SHUTDOWN_BUDGET_MS + 2_000

export interface PrimaryOptions {
  readonly processes: number
  readonly config: Config
  /** What `config` was read from. */
  readonly environment: Environment
  readonly log: Log
  /** Called once, when all workers serve. */
  readonly onServing: () => void
}

/** Workers kept exiting right after their start, or did not exit in time at the end. */
export class WorkersFailed extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'WorkersFailed'
  }
}

interface ExitStatus {
  readonly exitCode?: number
  readonly signal?: string
}

interface WorkerSlot {
  readonly number: number
  worker?: Worker
  isServing: boolean
  /** Early exits in a row. */
  failures: number
}

/**
 * Keeps `processes` workers serving until SIGTERM or SIGINT, then waits until all have exited; a second signal kills
 * them. Throws `WorkersFailed` when workers keep exiting right after their start, or had to be killed.
 */
export async function runPrimary(options: PrimaryOptions): Promise<void> {
  const { config, log } = options
  await checkPort(config)
  await prepareStore(config, { log })

  const settings = {
    type: 'settings',
    // key files are read once, so that a worker that starts later has the same keys
    environment: {
      ...options.environment,
      GATEPASS_MASTER_KEY: config.masterKeys.map((key) => key.toString('base64')).join(),
    },
  } as const satisfies Omit<Extract<ToWorker, { type: 'settings' }>, 'number'>
  const slots: WorkerSlot[] = Array.from({ length: options.processes }, (_, i) => ({
    number: i + 1,
    isServing: false,
    failures: 0,
  }))
  /** All running workers, including those that shut down while their replacement runs. */
  const running = new Set<Worker>()
  const metrics = createClusterMetrics()
  const allExited = Promise.withResolvers<void>()
  let isClosing = false
  let hasServed = false
  /** Early exits of all workers since one was last stable. */
  let failures = 0

  function start(slot: WorkerSlot): void {
    if (isClosing) return
    const begun = performance.now()
    let stable: NodeJS.Timeout | undefined
    slot.isServing = false
    const worker = fork()
    if (worker instanceof Error) {
      startAgain(worker.message, {})
      return
    }
    slot.worker = worker
    running.add(worker)
    worker.on('error', (error) => {
      // a running process has an id: a message to it could not be sent, and its exit is handled apart
      if (worker.process.pid === undefined) ended(worker, error.message, {})
    })
    worker.on('message', (message: ToPrimary) => {
      switch (message.type) {
        case 'settings?':
          send(worker, { ...settings, number: slot.number })
          break
        case 'serving':
          slot.isServing = true
          stable = setTimeout(() => {
            slot.failures = 0
            failures = 0
          }, STABLE_MS).unref()
          log.info({ worker: slot.number, workerPid: worker.process.pid ?? 0 }, 'a worker is serving')
          if (!hasServed && slots.every(({ isServing }) => isServing)) {
            hasServed = true
            options.onServing()
          }
          break
        case 'leaving':
          // it still finishes its requests, but its slot is free for a replacement
          delete slot.worker
          slot.isServing = false
          log.info({ worker: slot.number }, 'a worker leaves; another takes its place')
          setTimeout(() => start(slot), SIGNAL_MS)
          break
        case 'metrics':
          metrics.received(worker, message.own, message.question)
          break
        case 'metrics?':
          void metrics
            .gather(running)
            .then((all) => send(worker, { type: 'metrics', question: message.question, all }))
          break
      }
    })
    worker.once('exit', (exitCode, signal) =>
      ended(worker, signal ?? `exit code ${exitCode}`, { exitCode, signal }),
    )

    /** Called when the process has exited, and when it could not be started, because no exit follows then. */
    function ended(worker: Worker, how: string, facts: ExitStatus): void {
      clearTimeout(stable)
      running.delete(worker)
      metrics.exited(worker)
      if (isClosing) {
        if (running.size === 0) allExited.resolve()
        return
      }
      if (slot.worker !== worker) return // a replacement has its slot already
      startAgain(how, facts)
    }

    function startAgain(how: string, facts: ExitStatus): void {
      const afterMs = Math.round(performance.now() - begun)
      log.error({ worker: slot.number, how, ...facts, afterMs }, 'a worker has ended; it is started again')
      slot.isServing = false
      slot.failures++
      failures++
      if (failures >= MAX_FAILURES && !slots.some(({ isServing }) => isServing)) {
        giveUp(
          `The processes end as soon as they have started (the last with ${how}); see their log lines above.`,
        )
        return
      }
      setTimeout(() => start(slot), Math.min(FIRST_PAUSE_MS * 2 ** (slot.failures - 1), LONGEST_PAUSE_MS))
    }
  }

  function killAll(): void {
    for (const worker of running) worker.process.kill('SIGKILL')
  }

  function giveUp(why: string): void {
    isClosing = true
    killAll()
    allExited.reject(new WorkersFailed(why))
  }

  function end(): void {
    isClosing = true
    log.info({ workers: running.size }, 'ending')
    for (const worker of running) send(worker, { type: 'end' })
    if (running.size === 0) allExited.resolve()
    setTimeout(() => giveUp('Some processes did not end in time and were killed.'), KILL_AFTER_MS).unref()
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (!isClosing) return end()
      killAll()
      process.exit(1)
    })
  for (const slot of slots) start(slot)
  await allExited.promise
}

/** Starts a process. Node throws some failures of the system, such as ENOMEM, and emits others as `error`. */
function fork(): Worker | Error {
  try {
    return cluster.fork()
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

/** Checks that the port can be bound, so that the primary reports the failure once instead of every worker. */
async function checkPort({ host, port }: Config): Promise<void> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  await new Promise((resolve) => server.close(resolve))
}
