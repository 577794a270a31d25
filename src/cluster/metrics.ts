import type { Worker } from 'node:cluster'
import { sumOfCounters } from '../operations/installation/metrics.ts'
import type { MetricFamily } from '../services/metrics.ts'
import type { ToWorker } from './messages.ts'

/** For a worker that does not answer in time, the metrics that it sent last are used. */
const ANSWER_TIMEOUT_MS = 1_000

/** The metrics of all workers, including exited ones, so that no counter falls when a worker exits. */
export interface ClusterMetrics {
  gather(workers: Iterable<Worker>): Promise<readonly MetricFamily[][]>
  received(worker: Worker, own: MetricFamily[], question?: number): void
  exited(worker: Worker): void
}

export function createClusterMetrics(): ClusterMetrics {
  const latest = new Map<Worker, MetricFamily[]>()
  const pendingQuestions = new Map<number, () => void>()
  let ofExited: Promise<MetricFamily[]> = Promise.resolve([])
  let questions = 0

  function ask(worker: Worker): Promise<void> {
    const question = questions++
    return new Promise((resolve) => {
      const settle = () => {
        clearTimeout(timer)
        pendingQuestions.delete(question)
        resolve()
      }
      const timer = setTimeout(settle, ANSWER_TIMEOUT_MS)
      pendingQuestions.set(question, settle)
      send(worker, { type: 'metrics?', question })
    })
  }

  function keepLast(worker: Worker): void {
    const last = latest.get(worker)
    latest.delete(worker)
    if (last !== undefined) ofExited = ofExited.then((before) => sumOfCounters([before, last]))
  }

  return {
    async gather(workers) {
      await Promise.all([...workers].map(ask))
      return [...latest.values(), await ofExited]
    },
    received(worker, own, question) {
      latest.set(worker, own)
      if (question !== undefined) pendingQuestions.get(question)?.()
    },
    exited(worker) {
      // its last metrics may be received after its exit, but not after the end of the channel
      if (worker.isConnected()) worker.once('disconnect', () => keepLast(worker))
      else keepLast(worker)
    },
  }
}

/** Sends a message; a worker that is exiting does not receive it, which is no error. */
export function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => {})
}
