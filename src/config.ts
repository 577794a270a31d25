import type { BrokerSettings } from './broker.ts'
import type { DatabaseLocation } from './store/database-location.ts'

/** All settings, read once from the environment. Frozen; nothing else reads `process.env`. */
export interface Config extends BrokerSettings {
  readonly host: string
  readonly port: number
  readonly database: DatabaseLocation
  /** 32 bytes each, newest first. */
  readonly masterKeys: readonly [Buffer, ...Buffer[]]
  /** An administrator's API key that is accepted from the first start on. */
  readonly apiKey?: string
  readonly allowedHosts: readonly string[]
  readonly logLevel: LogLevel
  /** Who may read `/metrics`: everyone, holders of an API key, no one. */
  readonly metrics: 'open' | 'key' | 'off'
  /** Absolute paths of the modules whose tools run in this process. */
  readonly toolModules: readonly string[]
  /** The absolute path of the folder with the operator's definitions of providers. */
  readonly providerFolder?: string
  /** Development mode: adds a sandbox provider, and prints an API key that the first start creates. */
  readonly development: boolean
  /** Client ids and secrets from `GATEPASS_PROVIDER_<NAME>_…`, by `GATEPASS_PROVIDER_<NAME>`. */
  readonly providerClients: ReadonlyMap<string, EnvironmentClient>
}

export interface EnvironmentClient {
  readonly clientId?: string
  readonly clientSecret?: string
  /** The client's credentials are sent only to URLs that begin with this one (development's sandbox). */
  readonly below?: string
}

export type LogLevel = (typeof LOG_LEVELS)[number]
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
