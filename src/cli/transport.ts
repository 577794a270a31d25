import type { CommonOptions } from './shell.ts'
import type { LocalInstallation, OpenOptions } from './with-broker.ts'

/** Sends requests to an installation's HTTP API. Responses are not parsed. */
export interface Transport {
  /** The installation's name in messages: the server's origin, or the database. */
  readonly place: string
  /** The installation's database, if this process has it open. */
  readonly local?: LocalInstallation
  /** The URL below which the API is. */
  readonly baseUrl: string
  readonly key: string
  fetch(
    method: Method,
    target: string,
    body: string | undefined,
    signal: AbortSignal | null | undefined,
  ): Promise<RawResponse>
  /** Sends a GET request whose response may be too long to be held in memory. */
  stream(target: string): Promise<{ readonly status: number; readonly body: AsyncIterable<Uint8Array> }>
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface RawResponse {
  readonly status: number
  readonly text: string
}

export type OpenApiOptions = CommonOptions & Pick<OpenOptions, 'creates'>
