import type { MetricFamily } from '../services/metrics.ts'

// Several processes that are one Gatepass on one machine: the primary reads the settings, prepares the database,
// listens, and hands the connections that come round its workers, each of which is a whole server. They hear of each
// other's writes by the database; between the processes go settings, farewells and figures, and nothing else.

export type Environment = Readonly<Record<string, string | undefined>>

export interface WorkerSettings {
  readonly environment: Environment
  /** Its place among the workers, from 1; whoever takes the place of one that has ended has its number. */
  readonly number: number
}

export type ToWorker =
  | ({ readonly tell: 'settings' } & WorkerSettings)
  | { readonly tell: 'end' }
  | { readonly tell: 'figures?'; readonly question: number }
  | { readonly tell: 'figures'; readonly question: number; readonly all: readonly MetricFamily[][] }

export type ToPrimary =
  | { readonly tell: 'settings?' }
  | { readonly tell: 'serving' }
  /** It ends, and not because it was told to by `end`. */
  | { readonly tell: 'leaving' }
  /** Without a question they are its last. */
  | { readonly tell: 'figures'; readonly question?: number; readonly own: MetricFamily[] }
  | { readonly tell: 'figures?'; readonly question: number }
