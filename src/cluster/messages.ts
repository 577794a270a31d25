import type { MetricFamily } from '../services/metrics.ts'

// The messages between the processes of one machine that serve together. The primary reads the settings, prepares the
// database, listens, and distributes connections among its workers, each of which is a whole server. Workers learn of
// each other's writes from the database; the processes exchange only settings, lifecycle messages and metrics.

export type Environment = Readonly<Record<string, string | undefined>>

export interface WorkerSettings {
  readonly environment: Environment
  /** The worker's number, from 1; the replacement of an exited worker gets its number. */
  readonly number: number
}

export type ToWorker =
  | ({ readonly type: 'settings' } & WorkerSettings)
  | { readonly type: 'end' }
  | { readonly type: 'metrics?'; readonly question: number }
  | { readonly type: 'metrics'; readonly question: number; readonly all: readonly MetricFamily[][] }

export type ToPrimary =
  | { readonly type: 'settings?' }
  | { readonly type: 'serving' }
  /** The worker shuts down for another reason than an `end` message. */
  | { readonly type: 'leaving' }
  /** Without a question, these are the final metrics of a worker that exits. */
  | { readonly type: 'metrics'; readonly question?: number; readonly own: MetricFamily[] }
  | { readonly type: 'metrics?'; readonly question: number }
