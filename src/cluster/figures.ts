import type { Worker } from 'node:cluster'
import { sumOfCounters } from '../http/operation/metrics.ts'
import type { MetricFamily } from '../services/metrics.ts'
import type { ToWorker } from './messages.ts'

/** One that does not answer in time is counted as it was when it last did. */
const ANSWER_MS = 1_000

/** What all workers have counted, those that have ended too: what only grows does not fall when one ends. */
export interface ClusterFigures {
  gather(workers: Iterable<Worker>): Promise<readonly MetricFamily[][]>
  told(worker: Worker, own: MetricFamily[], question?: number): void
  ended(worker: Worker): void
}

export function createClusterFigures(): ClusterFigures {
  const latest = new Map<Worker, MetricFamily[]>()
  const asked = new Map<number, () => void>()
  let ofEnded: Promise<MetricFamily[]> = Promise.resolve([])
  let questions = 0

  function ask(worker: Worker): Promise<void> {
    const question = questions++
    return new Promise((resolve) => {
      const settle = () => {
        clearTimeout(timer)
        asked.delete(question)
        resolve()
      }
      const timer = setTimeout(settle, ANSWER_MS)
      asked.set(question, settle)
      send(worker, { tell: 'figures?', question })
    })
  }

  return {
    async gather(workers) {
      await Promise.all([...workers].map(ask))
      return [...latest.values(), await ofEnded]
    },
    told(worker, own, question) {
      latest.set(worker, own)
      if (question !== undefined) asked.get(question)?.()
    },
    ended(worker) {
      const last = latest.get(worker)
      latest.delete(worker)
      if (last !== undefined) ofEnded = ofEnded.then((before) => sumOfCounters([before, last]))
    },
  }
}

/** One that is just dying hears nothing, and that is all. */
export function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => {})
}
