import { nearest } from '../domain/nearest.ts'

// The names of the `GATEPASS_…` variables that no feature reads. An unknown one stops the start, because a misspelled setting would otherwise
// leave the default in force unnoticed.

/** The names without the prefix `GATEPASS_`. `ReadSetting` accepts no other name. */
export const SETTINGS = [
  'HOST',
  'PORT',
  'PUBLIC_URL',
  'DATABASE_URL',
  'MASTER_KEY',
  'API_KEY',
  'USER_VERIFIER',
  'OIDC_CLIENT_ID',
  'OIDC_CLIENT_SECRET',
  'OIDC_USER_CLAIM',
  'OIDC_SCOPES',
  'ALLOWED_HOSTS',
  'TRUSTED_PROXIES',
  'NEXT_URIS',
  'AUTHORIZATION_TTL',
  'CONNECT_PAGE',
  'RATE_LIMIT',
  'MAX_PENDING',
  'MAX_WAITERS',
  'CACHE_SIZE',
  'LOG_LEVEL',
  'METRICS',
  'TOOLS',
  'PROVIDERS',
  'MCP_PROJECT',
  'MCP_ISSUER',
  'MCP_AUDIENCE',
  'MCP_USER_CLAIM',
  'MCP_ORIGINS',
  'MCP_REGISTRATION',
  'MCP_CLIENT_DOCUMENTS',
  'MCP_CLIENT_HOSTS',
  'DASHBOARD',
  'DASHBOARD_ISSUER',
  'DASHBOARD_CLIENT_ID',
  'DASHBOARD_CLIENT_SECRET',
  'DASHBOARD_SCOPES',
  'DASHBOARD_ROLES',
] as const
export type SettingName = (typeof SETTINGS)[number]

/** Read by commands that call a server; the server's own environment may contain them too. */
const OF_COMMANDS = ['URL'] as const

const PREFIX = 'GATEPASS_'
const PROVIDER = 'GATEPASS_PROVIDER_'
const SUFFIXES = ['CLIENT_ID', 'CLIENT_SECRET'] as const

/** Variables that Kubernetes and Docker set in every container that can reach a service named `gatepass`. */
const OF_SERVICE =
  /^GATEPASS_(?:SERVICE_(?:HOST|PORT)(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/

/** Whether Kubernetes or Docker set this `GATEPASS_PORT` for a service named `gatepass`: then the operator did not set it. */
export function isServiceLink(name: SettingName, value: string): boolean {
  return name === 'PORT' && /^(?:tcp|udp|sctp):\/\//.test(value)
}

/** One fault for each unknown variable, with the nearest known name. `ofFeatures`: the variables of the features. */
export function unknownSettings(names: readonly string[], ofFeatures: readonly string[]): string[] {
  const known = [...SETTINGS, ...OF_COMMANDS, ...ofFeatures.map((name) => name.replace(PREFIX, ''))]
  return names
    .filter(
      (name) =>
        name.startsWith(PREFIX) && !known.includes(name.slice(PREFIX.length)) && !OF_SERVICE.test(name),
    )
    .flatMap((name) => {
      if (!name.startsWith(PROVIDER)) {
        const meant = nearest(name.slice(PREFIX.length), known)
        const hint = meant === undefined ? '' : ` Did you mean "${PREFIX}${meant}"?`
        return [`${name} is not a setting.${hint} docs/reference/settings.md lists them.`]
      }
      if (
        SUFFIXES.some(
          (suffix) => name.endsWith(`_${suffix}`) && name.length > PROVIDER.length + suffix.length + 1,
        )
      )
        return []
      return [unknownSuffix(name)]
    })
}

/** The fault of a variable for a provider that ends in no known suffix. The provider's name may contain `_`, so each `_` is tried as its end. */
function unknownSuffix(name: string): string {
  const parts = name.slice(PROVIDER.length).split('_')
  const meant = parts
    .map((_, at) => ({
      provider: parts.slice(0, at).join('_'),
      suffix: nearest(parts.slice(at).join('_'), SUFFIXES),
    }))
    .findLast(({ provider, suffix }) => provider !== '' && suffix !== undefined)
  const hint = meant === undefined ? '' : ` Did you mean "${PROVIDER}${meant.provider}_${meant.suffix}"?`
  return `${name} is not a setting: after the name of the provider comes _CLIENT_ID or _CLIENT_SECRET.${hint}`
}

export interface UnknownProvider {
  /** `GATEPASS_PROVIDER_<NAME>` in the operator's spelling. */
  readonly variable: string
  /** The name that was probably meant; without it, the operator may add a provider of this name later. */
  readonly meant?: string
}

/**
 * The variables that name neither a provider of the catalogue nor a provider entry. A name that is one edit away from a
 * known one counts as a misspelling, except a second client of the same provider (`GITHUB_2`).
 */
export function unknownProviders(
  variables: Iterable<string>,
  known: readonly string[],
): readonly UnknownProvider[] {
  return [...variables]
    .filter((variable) => !known.includes(variable))
    .map((variable) => {
      const near = misspelled(variable, known)
      const isSecondClient = near !== undefined && variable.startsWith(`${near}_`)
      return { variable, ...(near !== undefined && !isSecondClient && { meant: near }) }
    })
}

/** Shorter names are not checked for misspellings: one edit makes another word of them. */
const LEAST_LENGTH = 5

function misspelled(variable: string, known: readonly string[]): string | undefined {
  const name = variable.slice(PROVIDER.length)
  if (name.length < LEAST_LENGTH) return undefined
  const meant = nearest(
    name,
    known.map((setting) => setting.slice(PROVIDER.length)),
    { most: 1 },
  )
  return meant === undefined ? undefined : `${PROVIDER}${meant}`
}
