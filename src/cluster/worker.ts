import cluster from 'node:cluster'
import type { Gather } from '../operations/installation/metrics.ts'
import type { MetricFamily } from '../services/metrics.ts'
import type { ToPrimary, ToWorker, WorkerSettings } from './messages.ts'

/** Longer than the primary's timeout for the other workers. */
const GATHER_TIMEOUT_MS = 2_000

/** Whether a primary has started this process. */
export const isWorker = cluster.isWorker

/** A worker's connection to its primary. */
export interface Primary {
  readonly settings: WorkerSettings
  readonly gather: Gather
  /** Sets how this process answers when the primary asks for its metrics. */
  answerWith(own: () => Promise<MetricFamily[]>): void
  serving(): void
  /** Resolves when the worker must shut down: on the primary's message, when the primary has exited, or on SIGTERM. */
  readonly shutdown: Promise<void>
  /** Sends the final metrics, the worker's last message. */
  sendFinalMetrics(own: MetricFamily[]): Promise<void>
}

/** Connects this worker to its primary, and resolves with the settings from it. */
export async function joinPrimary(): Promise<Primary> {
  const settings = Promise.withResolvers<WorkerSettings>()
  const shutdown = Promise.withResolvers<void>()
  const pendingQuestions = new Map<number, (all: readonly MetricFamily[][]) => void>()
  let answer = async (): Promise<MetricFamily[]> => []
  let questions = 0

  process.on('message', (message: ToWorker) => {
    switch (message.type) {
      case 'settings':
        return settings.resolve(message)
      case 'end':
        return shutdown.resolve()
      case 'metrics?':
        return void answer().then((own) => send({ type: 'metrics', question: message.question, own }))
      case 'metrics':
        return pendingQuestions.get(message.question)?.(message.all)
    }
  })
  // without this flag, Node ends a worker as soon as its primary has exited, before its requests are finished
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true
  process.once('disconnect', () => shutdown.resolve())
  process.once('SIGTERM', () => {
    process.once('SIGTERM', () => process.exit(1))
    void send({ type: 'leaving' })
    shutdown.resolve()
  })
  // Ctrl+C reaches the whole process group; only the primary reacts to it
  process.on('SIGINT', () => {})

  void send({ type: 'settings?' })
  return {
    settings: await settings.promise,
    shutdown: shutdown.promise,
    answerWith(own) {
      answer = own
    },
    serving: () => void send({ type: 'serving' }),
    sendFinalMetrics: (own) => send({ type: 'metrics', own }),
    async gather(own) {
      const question = questions++
      const all = await new Promise<readonly MetricFamily[][] | undefined>((resolve) => {
        const timer = setTimeout(resolve, GATHER_TIMEOUT_MS)
        pendingQuestions.set(question, (all) => {
          clearTimeout(timer)
          resolve(all)
        })
        void send({ type: 'metrics?', question })
      })
      pendingQuestions.delete(question)
      return all ?? [await own()]
    },
  }
}

/** Resolves when the message was sent, or when the primary has exited. */
function send(message: ToPrimary): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected && process.send) process.send(message, undefined, undefined, () => resolve())
    else resolve()
  })
}
