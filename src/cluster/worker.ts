import cluster from 'node:cluster'
import type { Gather } from '../http/operation/metrics.ts'
import type { MetricFamily } from '../services/metrics.ts'
import type { ToPrimary, ToWorker, WorkerSettings } from './messages.ts'

/** Longer than the primary waits for the other workers. */
const GATHER_MS = 2_000

/** Whether a primary has started this process. */
export const isWorker = cluster.isWorker

/** A worker's line to its primary. */
export interface Primary {
  readonly settings: WorkerSettings
  readonly gather: Gather
  /** What this process answers when it is asked for its figures. */
  answerWith(own: () => Promise<MetricFamily[]>): void
  serving(): void
  /** Resolves when it is to end: the primary says so or is gone, or somebody has sent SIGTERM to this process alone. */
  readonly ending: Promise<void>
  /** The last it says: what it has counted. */
  farewell(own: MetricFamily[]): Promise<void>
}

export async function joinPrimary(): Promise<Primary> {
  const settings = Promise.withResolvers<WorkerSettings>()
  const ending = Promise.withResolvers<void>()
  const gathered = new Map<number, (all: readonly MetricFamily[][]) => void>()
  let answer = async (): Promise<MetricFamily[]> => []
  let questions = 0

  process.on('message', (message: ToWorker) => {
    switch (message.tell) {
      case 'settings':
        return settings.resolve(message)
      case 'end':
        return ending.resolve()
      case 'figures?':
        return void answer().then((own) => send({ tell: 'figures', question: message.question, own }))
      case 'figures':
        return gathered.get(message.question)?.(message.all)
    }
  })
  // Node would end a worker at once whose primary is gone; what it has begun is finished all the same
  if (cluster.worker !== undefined) cluster.worker.exitedAfterDisconnect = true
  process.once('disconnect', () => ending.resolve())
  process.once('SIGTERM', () => {
    process.once('SIGTERM', () => process.exit(1))
    void send({ tell: 'leaving' })
    ending.resolve()
  })
  // Ctrl+C goes to the whole group; it is the primary's to answer
  process.on('SIGINT', () => {})

  void send({ tell: 'settings?' })
  return {
    settings: await settings.promise,
    ending: ending.promise,
    answerWith(own) {
      answer = own
    },
    serving: () => void send({ tell: 'serving' }),
    farewell: (own) => send({ tell: 'figures', own }),
    async gather(own) {
      const question = questions++
      const all = await new Promise<readonly MetricFamily[][] | undefined>((resolve) => {
        const timer = setTimeout(resolve, GATHER_MS)
        gathered.set(question, (all) => {
          clearTimeout(timer)
          resolve(all)
        })
        void send({ tell: 'figures?', question })
      })
      gathered.delete(question)
      return all ?? [await own()]
    },
  }
}

/** Resolves when it has been said, or cannot be because nobody is there any more. */
function send(message: ToPrimary): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected && process.send) process.send(message, undefined, undefined, () => resolve())
    else resolve()
  })
}
