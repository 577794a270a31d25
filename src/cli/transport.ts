import type { Fetch } from '../sdk/client/transport.ts'
import type { LocalInstallation } from './installation.ts'

/** Sends requests to an installation's HTTP API. */
export interface Transport {
  /** The installation's name in messages: the server's origin, or the database. */
  readonly place: string
  /** The installation's database, if this process has it open. */
  readonly local?: LocalInstallation
  /** The URL below which the API is. */
  readonly baseUrl: string
  readonly key: string
  readonly fetch: Fetch
  /** For a response that may be too long to be held in memory. Default: `fetch`. */
  readonly stream?: Fetch
}
