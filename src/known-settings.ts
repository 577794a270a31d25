import { nearest } from './domain/nearest.ts'

// Which `GATEPASS_…` variables there are. One that does not exist stops the start: a misspelled setting would
// otherwise leave its default in force without a word.

/** Without `GATEPASS_`. A setting that is not here cannot be read. */
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
  'NEXT_URIS',
  'AUTHORIZATION_TTL',
  'CONNECT_PAGE',
  'RATE_LIMIT',
  'MAX_PENDING',
  'MAX_WAITERS',
  'LOG_LEVEL',
  'METRICS',
  'TOOLS',
] as const
export type SettingName = (typeof SETTINGS)[number]

/** Read by commands that talk to a server; they may stand in the environment of the server too. */
const OF_COMMANDS = ['URL'] as const

const PREFIX = 'GATEPASS_'
const PROVIDER = 'GATEPASS_PROVIDER_'
const SUFFIXES = ['CLIENT_ID', 'CLIENT_SECRET'] as const

/** What Kubernetes and Docker set in every container beside a service that is named `gatepass`. */
const OF_SERVICE =
  /^GATEPASS_(?:SERVICE_(?:HOST|PORT)(?:_\w+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/

/** `GATEPASS_PORT` as Kubernetes and Docker set it for such a service: it is no setting of ours. */
export function isServiceLink(name: SettingName, value: string): boolean {
  return name === 'PORT' && /^(?:tcp|udp|sctp):\/\//.test(value)
}

/** A fault for each variable that does not exist, with the nearest one that does. */
export function unknownSettings(names: readonly string[]): string[] {
  const known: readonly string[] = [...SETTINGS, ...OF_COMMANDS]
  return names
    .filter(
      (name) =>
        name.startsWith(PREFIX) && !known.includes(name.slice(PREFIX.length)) && !OF_SERVICE.test(name),
    )
    .flatMap((name) => {
      if (!name.startsWith(PROVIDER)) {
        const meant = nearest(name.slice(PREFIX.length), known)
        const hint = meant === undefined ? '' : ` Did you mean "${PREFIX}${meant}"?`
        return [`${name} is no setting.${hint} docs/settings.md lists them.`]
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

/** The provider's name may have `_` in it too, so every end is tried. */
function unknownSuffix(name: string): string {
  const parts = name.slice(PROVIDER.length).split('_')
  const meant = parts
    .map((_, at) => ({
      provider: parts.slice(0, at).join('_'),
      suffix: nearest(parts.slice(at).join('_'), SUFFIXES),
    }))
    .findLast(({ provider, suffix }) => provider !== '' && suffix !== undefined)
  const hint = meant === undefined ? '' : ` Did you mean "${PROVIDER}${meant.provider}_${meant.suffix}"?`
  return `${name} is no setting: after the name of the provider comes _CLIENT_ID or _CLIENT_SECRET.${hint}`
}

export interface UnknownProvider {
  /** `GATEPASS_PROVIDER_<NAME>` as it is set. */
  readonly variable: string
  /** The one that was probably meant; without it, a provider may yet be added whose client this is. */
  readonly meant?: string
}

/**
 * Those that name neither a provider of the catalogue nor an entry. A name that is one edit away from a known one is
 * taken for a misspelling; a further one of the same provider (`GITHUB_2`) is not.
 */
export function unknownProviders(
  variables: Iterable<string>,
  known: readonly string[],
): readonly UnknownProvider[] {
  return [...variables]
    .filter((variable) => !known.includes(variable))
    .map((variable) => {
      const near = misspelled(variable, known)
      const isFurther = near !== undefined && variable.startsWith(`${near}_`)
      return { variable, ...(near !== undefined && !isFurther && { meant: near }) }
    })
}

/** Of short names, one edit makes another word. */
const LEAST_LENGTH = 4

function misspelled(variable: string, known: readonly string[]): string | undefined {
  const said = variable.slice(PROVIDER.length)
  if (said.length < LEAST_LENGTH) return undefined
  const meant = nearest(
    said,
    known.map((one) => one.slice(PROVIDER.length)),
    { most: 1 },
  )
  return meant === undefined ? undefined : `${PROVIDER}${meant}`
}
