import type { Config } from '../config.ts'
import type { Simulation } from '../dev-provider/simulation.ts'
import type { Clock } from '../domain/clock.ts'
import type { Log } from '../domain/log.ts'
import type { OnCall } from '../http/server/call-log.ts'
import type { Transport } from './transport.ts'

/** What a feature simulates. */
export interface PlannedSimulation {
  /** Before the server starts. */
  simulationFor(config: Config): Simulation
  /** Adds what is simulated. Returns what a developer should know about it, a line each. */
  addTo(transport: Transport, config: Config): Promise<readonly string[]>
}

/** A server of development whose services are simulated. */
export interface SimulatedServer {
  readonly config: Config
  /** An administrator's key. */
  readonly apiKey: string
  /** To the API in this process, as an administrator uses it. */
  readonly transport: Transport
  readonly about: readonly string[]
  /** As in `RunningServer`. */
  readonly makeLink?: () => string
  /** Answers a request in this process, as one that comes by the network. */
  fetch(request: Request): Promise<Response>
  close(): Promise<void>
}

/** As in `ServerParts`. */
export interface SimulatedServerParts {
  readonly log: Log
  readonly now?: Clock
  readonly onCall?: OnCall
  readonly printLink?: (url: string) => void
}

/**
 * Starts a server in development mode with a database of its own, which is deleted at the end: its tokens are worth nothing, and
 * no later start may send them to the real services. Throws `ConfigError`.
 */
export type StartSimulated = (
  environment: Readonly<Record<string, string | undefined>>,
  planned: PlannedSimulation,
  partsFor: (config: Config) => SimulatedServerParts,
) => Promise<SimulatedServer>
