import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { BrokerSettings, Verifier } from './broker.ts'
import { ConfigError } from './config-error.ts'
import { parseAllowedHost } from './egress/public-address.ts'
import { isServiceLink, type SettingName, unknownSettings } from './known-settings.ts'
import type { DatabasePlace } from './store/database-place.ts'

/** All settings, read once from the environment. Frozen; nothing else reads `process.env`. */
export interface Config extends BrokerSettings {
  readonly host: string
  readonly port: number
  readonly database: DatabasePlace
  /** 32 bytes each, newest first. */
  readonly masterKeys: readonly [Buffer, ...Buffer[]]
  /** An administrator's key to accept from the first start on. */
  readonly apiKey?: string
  readonly allowedHosts: readonly string[]
  readonly logLevel: LogLevel
  /** Who may read `/metrics`: anybody, whoever has an API key, nobody. */
  readonly metrics: 'open' | 'key' | 'off'
  /** Absolute paths of the modules whose tools run in this process. */
  readonly toolModules: readonly string[]
  /** Development: a sandbox provider, and an API key made and printed at the first start. */
  readonly development: boolean
  /** Client ids and secrets from `GATEPASS_PROVIDER_<NAME>_…`, by `GATEPASS_PROVIDER_<NAME>`. */
  readonly providerClients: ReadonlyMap<string, EnvironmentClient>
}

export interface EnvironmentClient {
  readonly clientId?: string
  readonly clientSecret?: string
  /** Development's own client goes to its sandbox, below this address, and nowhere else. */
  readonly below?: string
}

export type LogLevel = (typeof LOG_LEVELS)[number]
const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const

type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads the settings of a mode. `serve` has no defaults for what decides the safety of an installation: the master
 * key, the verifier, the public URL. Development makes its master key unless told not to `makeKey`. Throws
 * `ConfigError`.
 */
export function readConfig(
  environment: Environment,
  mode: 'development' | 'serve',
  { makeKey = true }: { readonly makeKey?: boolean } = {},
): Config {
  const faults: string[] = []
  const development = mode === 'development'
  const setting: Setting = (name) => {
    const value = environment[`GATEPASS_${name}`]?.trim() || undefined
    return value !== undefined && isServiceLink(name, value) ? undefined : value
  }
  const fault: Fault = (name, what) => void faults.push(`GATEPASS_${name} ${what}`)
  const names = Object.keys(environment).filter((name) => environment[name] !== undefined)
  faults.push(...unknownSettings(names))

  function number(name: SettingName, fallback: number, min: number, max: number): number {
    const text = setting(name)
    if (text === undefined) return fallback
    const value = Number(text)
    if (/^\d+$/.test(text) && value >= min && value <= max) return value
    fault(name, `must be a whole number from ${min} to ${max}.`)
    return fallback
  }

  function choice<T extends string>(name: SettingName, choices: readonly T[], fallback: T): T {
    const text = setting(name)
    if (text === undefined) return fallback
    const chosen = choices.find((one) => one === text)
    if (chosen === undefined) fault(name, `must be one of ${choices.join(', ')}.`)
    return chosen ?? fallback
  }

  const port = number('PORT', 8400, 1, 65_535)
  const publicUrl = readPublicUrl(setting('PUBLIC_URL'), port, development, fault)
  const database = readDatabase(setting('DATABASE_URL') ?? 'file:gatepass.db', fault)
  const verifier = readVerifier(setting, development, fault)
  const apiKey = setting('API_KEY')
  if (apiKey !== undefined && apiKey.length < 16) fault('API_KEY', 'must have 16 characters or more.')

  const allowedHosts = list(setting('ALLOWED_HOSTS'))
  for (const one of allowedHosts)
    if (parseAllowedHost(one) === undefined)
      fault('ALLOWED_HOSTS', `has "${one}", which is no host, host:port or CIDR.`)
  // the sandbox is on this server itself
  if (development) allowedHosts.push(publicUrl.host)

  const nextOrigins = new Set([
    publicUrl.origin,
    ...(verifier.kind === 'caller' ? [verifier.url.origin] : []),
  ])
  for (const one of list(setting('NEXT_URIS'))) {
    const url = URL.canParse(one) ? new URL(one) : undefined
    if (url === undefined || !['http:', 'https:'].includes(url.protocol))
      fault('NEXT_URIS', `has "${one}", which is no origin such as https://app.example.com.`)
    else nextOrigins.add(url.origin)
  }

  const config = {
    host: setting('HOST') ?? '127.0.0.1',
    port,
    publicUrl,
    database,
    masterKeys: readMasterKeys(
      setting('MASTER_KEY'),
      database,
      { development, make: !makeKey ? 'never' : faults.length > 0 ? 'not yet' : 'now' },
      fault,
    ),
    ...(apiKey !== undefined && { apiKey }),
    verifier,
    allowedHosts,
    nextOrigins,
    authorizationTtlSeconds: number('AUTHORIZATION_TTL', 600, 1, 86_400),
    connectPage: choice('CONNECT_PAGE', ['show', 'pass'], 'show'),
    requestsPerSecond: number('RATE_LIMIT', 0, 0, 1_000_000),
    maxPending: number('MAX_PENDING', 100_000, 1, 10_000_000),
    maxWaiters: number('MAX_WAITERS', 20_000, 2, 1_000_000),
    logLevel: choice('LOG_LEVEL', LOG_LEVELS, 'info'),
    metrics: choice('METRICS', ['open', 'key', 'off'], development ? 'open' : 'key'),
    development,
    toolModules: readToolModules(list(setting('TOOLS')), fault),
    providerClients: readProviderClients(environment),
  }
  const [newest, ...older] = config.masterKeys
  if (faults.length > 0 || newest === undefined) throw new ConfigError(faults)
  return frozen({ ...config, masterKeys: [newest, ...older] as const })
}

/** Freezes a value with everything in it, so that no part of a running server can change what another part relies on. */
function frozen<T>(value: T): T {
  // their contents cannot be frozen in JavaScript; nothing here hands out the only copy
  if (typeof value !== 'object' || value === null || value instanceof URL || ArrayBuffer.isView(value))
    return value
  if (value instanceof Set || value instanceof Map) {
    const refuse = () => {
      throw new TypeError('Settings are never changed once they have been read.')
    }
    for (const name of ['add', 'set', 'delete', 'clear']) Object.assign(value, { [name]: refuse })
    for (const member of value.values()) frozen(member)
  }
  for (const member of Object.values(value)) frozen(member)
  return Object.freeze(value)
}

type Fault = (name: SettingName, what: string) => void
type Setting = (name: SettingName) => string | undefined

function readPublicUrl(text: string | undefined, port: number, development: boolean, fault: Fault): URL {
  const fallback = new URL(`http://localhost:${port}`)
  if (text === undefined) {
    if (!development)
      fault(
        'PUBLIC_URL',
        'is missing: the origin that users and providers see, such as https://gatepass.example.com.',
      )
    return fallback
  }
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (
    url === undefined ||
    !['http:', 'https:'].includes(url.protocol) ||
    url.username !== '' ||
    url.password !== ''
  ) {
    fault('PUBLIC_URL', 'must be an http or https URL such as https://gatepass.example.com.')
    return fallback
  }
  if (!isConfidential(url, development))
    fault(
      'PUBLIC_URL',
      `must be https: over plain http://, everybody on the way reads the codes and cookies of users, and browsers refuse the cookies and headers that tell their clicks from another site's. Put TLS before Gatepass and name its https origin; only a loopback host (localhost, 127.0.0.1) may be http.`,
    )
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    fault('PUBLIC_URL', `must be an origin alone, without a path: ${url.origin}.`)
  return new URL(url.origin)
}

/** The URL may hold a password: a fault does not repeat it. */
/** The database that a URL names, for commands that need nothing else. Throws `ConfigError`. */
export function parseDatabaseUrl(text: string): DatabasePlace {
  const faults: string[] = []
  const place = readDatabase(text, (_, what) => void faults.push(`The database URL ${what}`))
  if (faults.length > 0) throw new ConfigError(faults)
  return place
}

function readDatabase(text: string, fault: Fault): DatabasePlace {
  const fallback: DatabasePlace = { kind: 'sqlite', path: 'gatepass.db' }
  if (text.startsWith('file:') && text.length > 5)
    return { kind: 'sqlite', path: text.slice(5).replace(/^\/\/(?=\/)/, '') }
  if (!/^postgres(ql)?:/.test(text)) {
    fault('DATABASE_URL', 'must be file:<path>, such as file:gatepass.db, or a postgres:// URL.')
    return fallback
  }
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (
    url === undefined ||
    (url.hostname === '' && !url.searchParams.has('host')) ||
    url.pathname.length < 2
  ) {
    fault(
      'DATABASE_URL',
      'must be like postgres://user:password@host:5432/database; a special character in the password is percent-encoded.',
    )
    return fallback
  }
  return { kind: 'postgres', url: text }
}

function readVerifier(setting: Setting, development: boolean, fault: Fault): Verifier {
  const open: Verifier = { kind: 'open' }
  const text = setting('USER_VERIFIER')
  if (text === undefined) {
    if (!development)
      fault(
        'USER_VERIFIER',
        "is missing: the URL of your application's page that confirms users, `oidc:<issuer>` to let users log in there, or `open` to let the browser binding alone do.",
      )
    return open
  }
  if (text === 'open') return open
  if (text.startsWith('oidc:'))
    return readOidcVerifier(text.slice('oidc:'.length), setting, development, fault)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !isConfidential(url, development)) {
    fault(
      'USER_VERIFIER',
      'must be `open`, `oidc:<issuer>`, or an https URL of your application (http for a loopback host).',
    )
    return open
  }
  if (url.username !== '' || url.password !== '') {
    fault('USER_VERIFIER', 'must have no credentials: every browser that comes back is sent there.')
    return open
  }
  if (url.search !== '' || url.hash !== '') {
    fault(
      'USER_VERIFIER',
      'must have no query and no fragment: the page is visited with flow_id as its only parameter.',
    )
    return open
  }
  return { kind: 'caller', url }
}

/** Whether nobody on the way reads what is sent there. In development that is not asked for. */
function isConfidential(url: URL, development: boolean): boolean {
  const plain = development || isLoopback(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && plain)
}

/** The hosts that browsers trust without TLS (Secure Contexts section 3.1), as `URL` spells them. */
function isLoopback(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname)
}

function readOidcVerifier(issuer: string, setting: Setting, development: boolean, fault: Fault): Verifier {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined
  // RFC 8414 section 2: https, without query and fragment
  if (
    url === undefined ||
    !isConfidential(url, development) ||
    url.username !== '' ||
    url.password !== '' ||
    /[?#]/.test(issuer)
  )
    fault(
      'USER_VERIFIER',
      'must have an https URL without credentials, query and fragment after `oidc:`, exactly as the issuer calls itself, such as oidc:https://accounts.google.com.',
    )
  const clientId = setting('OIDC_CLIENT_ID')
  const clientSecret = setting('OIDC_CLIENT_SECRET')
  const claim = setting('OIDC_USER_CLAIM') ?? 'sub'
  const scopes = (setting('OIDC_SCOPES') ?? (claim === 'email' ? 'openid email' : 'openid')).split(/\s+/)
  if (clientId === undefined)
    fault(
      'OIDC_CLIENT_ID',
      'is missing: the client id that the issuer of GATEPASS_USER_VERIFIER gave this Gatepass, registered with the redirect URI <public URL>/login/callback.',
    )
  if (!/^[\x21-\x7e]{1,200}$/.test(claim))
    fault('OIDC_USER_CLAIM', 'must be the name of one claim, such as `sub`.')
  if (!scopes.includes('openid') || scopes.some((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope)))
    fault('OIDC_SCOPES', 'must be scopes separated by spaces, `openid` among them.')
  return {
    kind: 'oidc',
    issuer,
    client: { clientId: clientId ?? '', ...(clientSecret !== undefined && { clientSecret }) },
    scopes,
    claim,
  }
}

/** Where development keeps its master key: beside the SQLite file, else where it is started. */
export function masterKeyFile(database: DatabasePlace): string {
  return database.kind === 'sqlite' ? `${database.path}.key` : 'gatepass.key'
}

/** Development makes a key beside the database when there is none; production never makes one up. */
function readMasterKeys(
  text: string | undefined,
  database: DatabasePlace,
  { development, make }: { readonly development: boolean; readonly make: 'now' | 'not yet' | 'never' },
  fault: Fault,
): Buffer[] {
  if (text !== undefined) {
    const keys = list(text)
    return (keys.length > 0 ? keys : [text]).flatMap((one) => readMasterKey(one, fault) ?? [])
  }
  if (!development) {
    fault(
      'MASTER_KEY',
      'is missing: 32 bytes in base64, or file:/path to them. Make one with `openssl rand -base64 32`, and keep it apart from backups of the database.',
    )
    return []
  }
  const path = masterKeyFile(database)
  if (!existsSync(path)) {
    const databasePath = database.kind === 'sqlite' ? database.path : undefined
    const begun =
      databasePath !== undefined && (statSync(databasePath, { throwIfNoEntry: false })?.size ?? 0) > 0
    if (begun)
      fault('MASTER_KEY', `is missing, and so is ${path}: set the key that ${databasePath} was sealed with.`)
    else if (make === 'never')
      fault(
        'MASTER_KEY',
        `is missing, and there is no ${path} either: start Gatepass first, or set GATEPASS_DATABASE_URL and GATEPASS_MASTER_KEY as its server has them.`,
      )
    if (begun || make !== 'now') return []
    try {
      writeFileSync(path, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
    } catch {
      if (databasePath === undefined)
        fault('MASTER_KEY', `is missing, and ${path} cannot be written: check the directory.`)
      else
        fault(
          'DATABASE_URL',
          `names ${databasePath}, beside which ${path} cannot be written: check the directory.`,
        )
      return []
    }
  }
  return [readMasterKey(`file:${path}`, fault)].filter((key) => key !== undefined)
}

function readMasterKey(text: string, fault: Fault): Buffer | undefined {
  let encoded = text
  if (text.startsWith('file:')) {
    try {
      encoded = readFileSync(text.slice(5), 'utf8').trim()
    } catch {
      fault('MASTER_KEY', `names a file that cannot be read: ${text.slice(5)}.`)
      return undefined
    }
  }
  const key = Buffer.from(encoded, 'base64')
  if (/^[A-Za-z0-9+/_-]+={0,2}$/.test(encoded) && key.length === 32) return key
  fault(
    'MASTER_KEY',
    'must be 32 bytes in base64 (`openssl rand -base64 32`), or file:/path to them; several separated by commas, newest first.',
  )
  return undefined
}

function readToolModules(names: readonly string[], fault: Fault): string[] {
  const files = [...new Set(names.map((name) => resolve(name)))]
  for (const file of files)
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
      fault('TOOLS', `names ${file}, which is no file: give the paths of modules, separated by commas.`)
  return files
}

function readProviderClients(environment: Environment): Config['providerClients'] {
  const clients = new Map<string, { clientId?: string; clientSecret?: string }>()
  for (const [name, value] of Object.entries(environment)) {
    const [, key, what] = /^(GATEPASS_PROVIDER_[A-Z0-9_]+)_CLIENT_(ID|SECRET)$/.exec(name) ?? []
    if (key === undefined || value === undefined || value === '') continue
    clients.set(key, {
      ...clients.get(key),
      ...(what === 'ID' ? { clientId: value } : { clientSecret: value }),
    })
  }
  return clients
}

function list(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)
}
