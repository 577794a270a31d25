import cluster, { type Worker } from 'node:cluster'
import { createServer } from 'node:net'
import type { Config } from '../config.ts'
import type { Log } from '../domain/log.ts'
import { LONGEST_FAREWELL_MS, prepareStore } from '../server.ts'
import { createClusterFigures, send } from './figures.ts'
import type { Environment, ToPrimary, ToWorker } from './messages.ts'

/** A worker that has served for this long has started well. */
const STABLE_MS = 10_000
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 10_000
/** As many in a row that ended before that, with none left that serves, and it is given up. */
const MOST_FAILURES = 5
/** How long one that leaves by itself is not replaced: the signal it got may be on its way to the primary too. */
const SIGNAL_MS = 100
/** Beyond what a worker gives itself. */
const KILLED_AFTER_MS = LONGEST_FAREWELL_MS + 2_000

export interface PrimaryOptions {
  readonly processes: number
  readonly config: Config
  /** What `config` was read from. */
  readonly environment: Environment
  readonly log: Log
  /** Called once, when all have begun to serve. */
  readonly onServing: () => void
}

export class WorkersFailed extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'WorkersFailed'
  }
}

interface Seat {
  readonly number: number
  worker?: Worker
  isServing: boolean
  /** In a row. */
  failures: number
}

/**
 * Keeps that many workers serving until SIGTERM or SIGINT, and then until all have ended; a second signal ends them at
 * once. Throws `WorkersFailed` when they end again and again as soon as they have started, and when some had to be
 * killed.
 */
export async function runPrimary(options: PrimaryOptions): Promise<void> {
  const { config, log } = options
  await checkPort(config)
  await prepareStore(config, { log })

  const settings = {
    tell: 'settings',
    // files are read once: a worker that starts later has what the others have
    environment: {
      ...options.environment,
      GATEPASS_MASTER_KEY: config.masterKeys.map((key) => key.toString('base64')).join(),
    },
  } as const satisfies Omit<Extract<ToWorker, { tell: 'settings' }>, 'number'>
  const seats: Seat[] = Array.from({ length: options.processes }, (_, i) => ({
    number: i + 1,
    isServing: false,
    failures: 0,
  }))
  /** Also those that leave while another already sits on their seat. */
  const living = new Set<Worker>()
  const figures = createClusterFigures()
  const ended = Promise.withResolvers<void>()
  let isEnding = false
  let hasServed = false
  /** Of all seats, since one was last known to have started well. */
  let failures = 0

  function start(seat: Seat): void {
    if (isEnding) return
    const worker = cluster.fork()
    const begun = performance.now()
    let stable: NodeJS.Timeout | undefined
    seat.worker = worker
    seat.isServing = false
    living.add(worker)
    worker.on('error', () => {}) // what cannot be told to it; that it ends is heard of below
    worker.on('message', (message: ToPrimary) => {
      switch (message.tell) {
        case 'settings?':
          send(worker, { ...settings, number: seat.number })
          break
        case 'serving':
          seat.isServing = true
          stable = setTimeout(() => {
            seat.failures = 0
            failures = 0
          }, STABLE_MS).unref()
          log.info({ worker: seat.number, workerPid: worker.process.pid ?? 0 }, 'a worker is serving')
          if (!hasServed && seats.every(({ isServing }) => isServing)) {
            hasServed = true
            options.onServing()
          }
          break
        case 'leaving':
          // it is finishing what it has begun: its seat is free already
          delete seat.worker
          seat.isServing = false
          log.info({ worker: seat.number }, 'a worker leaves; another takes its place')
          setTimeout(() => start(seat), SIGNAL_MS)
          break
        case 'figures':
          figures.told(worker, message.own, message.question)
          break
        case 'figures?':
          void figures
            .gather(living)
            .then((all) => send(worker, { tell: 'figures', question: message.question, all }))
          break
      }
    })
    worker.once('exit', (exitCode, signal) => {
      clearTimeout(stable)
      living.delete(worker)
      figures.ended(worker)
      if (isEnding) return living.size === 0 ? ended.resolve() : undefined
      if (seat.worker !== worker) return // it left its seat to another before
      const afterMs = Math.round(performance.now() - begun)
      log.error({ worker: seat.number, exitCode, signal, afterMs }, 'a worker has ended; it is started again')
      seat.isServing = false
      seat.failures++
      failures++
      if (failures >= MOST_FAILURES && !seats.some(({ isServing }) => isServing)) {
        const how = signal ?? `exit code ${exitCode}`
        return giveUp(
          `The processes end as soon as they have started (the last with ${how}); what they say stands above.`,
        )
      }
      setTimeout(() => start(seat), Math.min(FIRST_PAUSE_MS * 2 ** (seat.failures - 1), LONGEST_PAUSE_MS))
    })
  }

  function killAll(): void {
    for (const worker of living) worker.process.kill('SIGKILL')
  }

  function giveUp(why: string): void {
    isEnding = true
    killAll()
    ended.reject(new WorkersFailed(why))
  }

  function end(): void {
    isEnding = true
    log.info({ workers: living.size }, 'ending')
    for (const worker of living) send(worker, { tell: 'end' })
    if (living.size === 0) ended.resolve()
    setTimeout(() => giveUp('Some processes did not end in time and were killed.'), KILLED_AFTER_MS).unref()
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (!isEnding) return end()
      killAll()
      process.exit(1)
    })
  for (const seat of seats) start(seat)
  await ended.promise
}

/** Fails here, once, rather than in every worker. */
async function checkPort({ host, port }: Config): Promise<void> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  await new Promise((resolve) => server.close(resolve))
}
