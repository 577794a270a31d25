import { resolve } from 'node:path'
import { type Config, LOG_LEVELS } from './config.ts'
import { ConfigError } from './config-error.ts'
import { parseAllowedHost } from './egress/public-address.ts'
import { loadFeatures } from './features/load-features.ts'
import type { FeatureSettings } from './services/feature-settings.ts'
import { readBytes } from './settings/bytes.ts'
import { readDashboard } from './settings/dashboard.ts'
import { readDatabase } from './settings/database.ts'
import { findStats } from './settings/find-stats.ts'
import { readMasterKeys } from './settings/master-keys.ts'
import { readMcp } from './settings/mcp.ts'
import { isServiceLink, type SettingName, unknownSettings } from './settings/names.ts'
import { readPublicUrl } from './settings/public-url.ts'
import { type AddFault, type ReadSetting, splitList } from './settings/read.ts'
import { toolsPorts } from './settings/tools-ports.ts'
import { readTrustedProxies } from './settings/trusted-proxies.ts'
import { readVerifier } from './settings/verifier.ts'

const ofFeatures = await loadFeatures('settings')
/** The `GATEPASS_…` variables that features read. */
export const FEATURE_VARIABLES = ofFeatures.flatMap(({ variables }) => variables)

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads the settings of a mode. `serve` requires the settings that an installation's safety depends on: the master key,
 * the verifier and the public URL. Development creates its master key, unless `makeKey` is false. Throws `ConfigError`
 * with all faults.
 */
export function readConfig(
  environment: Environment,
  mode: 'development' | 'serve',
  { makeKey = true }: { readonly makeKey?: boolean } = {},
): Config {
  const faults: string[] = []
  const development = mode === 'development'
  const read = (variable: string) => environment[variable]?.trim() || undefined
  const setting: ReadSetting = (name) => {
    const value = read(`GATEPASS_${name}`)
    return value !== undefined && isServiceLink(name, value) ? undefined : value
  }
  const addFault: AddFault = (name, what) => void faults.push(`GATEPASS_${name} ${what}`)
  const names = Object.keys(environment).filter((name) => environment[name] !== undefined)
  faults.push(...unknownSettings(names, FEATURE_VARIABLES))

  function number(name: SettingName, fallback: number, min: number, max: number): number {
    const text = setting(name)
    if (text === undefined) return fallback
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= min && value <= max) return value
    addFault(name, `must be a whole number from ${min} to ${max}.`)
    return fallback
  }

  function choice<T extends string>(name: SettingName, choices: readonly T[], fallback: T): T {
    const text = setting(name)
    if (text === undefined) return fallback
    const chosen = choices.find((candidate) => candidate === text)
    if (chosen === undefined) addFault(name, `must be one of ${choices.join(', ')}.`)
    return chosen ?? fallback
  }

  const values = new Map<FeatureSettings<unknown>, unknown>(
    ofFeatures.map((settings) => [
      settings,
      settings.read({
        setting: read,
        addFault: (variable, what) => void faults.push(`${variable} ${what}`),
        development,
      }),
    ]),
  )
  const port = number('PORT', 8400, 1, 65_535)
  const publicUrl = readPublicUrl(setting('PUBLIC_URL'), port, development, addFault)
  const database = readDatabase(setting('DATABASE_URL') ?? 'file:gatepass.db', addFault)
  const verifier = readVerifier(setting, development, addFault)
  const apiKey = setting('API_KEY')
  if (apiKey !== undefined && apiKey.length < 16) addFault('API_KEY', 'must have 16 characters or more.')

  function hosts(name: SettingName): string[] {
    const given = splitList(setting(name))
    for (const item of given)
      if (parseAllowedHost(item) === undefined)
        addFault(name, `has "${item}", which is not a host, host:port, or CIDR.`)
    return given
  }

  const allowedHosts = hosts('ALLOWED_HOSTS')
  // the broker sends requests to the sandbox, which this server itself serves, and to tools of `gatepass tools dev`
  if (development)
    allowedHosts.push(publicUrl.host, ...toolsPorts(port).map((toolsPort) => `127.0.0.1:${toolsPort}`))

  const nextOrigins = new Set([
    publicUrl.origin,
    ...(verifier.kind === 'caller' ? [verifier.url.origin] : []),
  ])
  for (const uri of splitList(setting('NEXT_URIS'))) {
    const url = URL.canParse(uri) ? new URL(uri) : undefined
    if (url === undefined || !['http:', 'https:'].includes(url.protocol))
      addFault('NEXT_URIS', `has "${uri}", which is not an origin such as https://app.example.com.`)
    else nextOrigins.add(url.origin)
  }

  const host = setting('HOST') ?? '127.0.0.1'
  const config = {
    host,
    port,
    publicUrl,
    database,
    masterKeys: readMasterKeys(
      setting('MASTER_KEY'),
      database,
      { development, make: !makeKey ? 'never' : faults.length > 0 ? 'not yet' : 'now' },
      addFault,
    ),
    ...(apiKey !== undefined && { apiKey }),
    verifier,
    allowedHosts,
    trustedProxies: readTrustedProxies(setting('TRUSTED_PROXIES'), addFault),
    nextOrigins,
    authorizationTtlSeconds: number('AUTHORIZATION_TTL', 600, 1, 86_400),
    connectPage: choice('CONNECT_PAGE', ['show', 'pass'], 'show'),
    requestsPerSecond: number('RATE_LIMIT', 0, 0, 1_000_000),
    maxPending: number('MAX_PENDING', 100_000, 1, 10_000_000),
    maxWaiters: number('MAX_WAITERS', 20_000, 2, 1_000_000),
    cacheBytes: readBytes(setting('CACHE_SIZE') ?? '128MB', 'CACHE_SIZE', addFault),
    mcp: {
      ...readMcp(setting, { development, host, publicUrl, verifier }, addFault),
      registration: choice('MCP_REGISTRATION', ['on', 'off'], 'on'),
      clientDocuments: choice('MCP_CLIENT_DOCUMENTS', ['on', 'off'], 'on'),
      clientHosts: hosts('MCP_CLIENT_HOSTS'),
    },
    dashboard: readDashboard(
      setting,
      { development, serve: choice('DASHBOARD', ['on', 'off'], 'on') },
      addFault,
    ),
    logLevel: choice('LOG_LEVEL', LOG_LEVELS, 'info'),
    metrics: choice('METRICS', ['open', 'key', 'off'], development ? 'open' : 'key'),
    development,
    toolModules: readToolModules(splitList(setting('TOOLS')), addFault),
    ...readProviderFolder(setting('PROVIDERS'), addFault),
    providerClients: readProviderClients(environment),
    of: <Value>(settings: FeatureSettings<Value>) => values.get(settings) as Value, // what its `read` returned
  }
  frozen(values)
  const [newest, ...older] = config.masterKeys
  if (faults.length > 0 || newest === undefined) throw new ConfigError(faults)
  return frozen({ ...config, masterKeys: [newest, ...older] as const })
}

/** Freezes a value and all its members, so that no part of a running server can change a setting of another part. */
function frozen<T>(value: T): T {
  // JavaScript cannot freeze the content of a URL or a buffer
  if (typeof value !== 'object' || value === null || value instanceof URL || ArrayBuffer.isView(value))
    return value
  if (value instanceof Set || value instanceof Map) {
    const refuse = () => {
      throw new TypeError('Settings cannot be changed after they were read.')
    }
    for (const name of ['add', 'set', 'delete', 'clear']) Object.assign(value, { [name]: refuse })
    for (const member of value.values()) frozen(member)
  }
  for (const member of Object.values(value)) frozen(member)
  return Object.freeze(value)
}

function readToolModules(names: readonly string[], addFault: AddFault): string[] {
  const files = [...new Set(names.map((name) => resolve(name)))]
  for (const file of files)
    if (findStats(file)?.isFile() !== true)
      addFault(
        'TOOLS',
        `names ${file}, which is not a readable file: give the paths of modules, separated by commas.`,
      )
  return files
}

function readProviderFolder(name: string | undefined, addFault: AddFault): Pick<Config, 'providerFolder'> {
  if (name === undefined) return {}
  const folder = resolve(name)
  if (findStats(folder)?.isDirectory() !== true)
    addFault(
      'PROVIDERS',
      `names ${folder}, which is not a readable folder: give the path of a folder with definitions.`,
    )
  return { providerFolder: folder }
}

function readProviderClients(environment: Environment): Config['providerClients'] {
  const clients = new Map<string, { clientId?: string; clientSecret?: string }>()
  for (const [name, value] of Object.entries(environment)) {
    const [, key, what] = /^(GATEPASS_PROVIDER_[A-Z0-9_]+)_CLIENT_(ID|SECRET)$/.exec(name) ?? []
    const text = value?.trim() || undefined
    if (key === undefined || text === undefined) continue
    clients.set(key, {
      ...clients.get(key),
      ...(what === 'ID' ? { clientId: text } : { clientSecret: text }),
    })
  }
  return clients
}
