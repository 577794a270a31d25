import type { Config } from '../config.ts'
import { SETTINGS, type SettingName } from '../settings/names.ts'
import { databaseName } from '../store/database-place.ts'

type Show = (config: Config) => string | undefined

const list = (texts: Iterable<string>) => [...texts].join(', ') || 'none'
const isSet = (value: unknown) => (value === undefined ? 'not set' : 'set')

/** How each setting is shown. A secret is shown as set or not; a setting that is not here is not shown. */
const SHOWN: Readonly<Partial<Record<SettingName, Show>>> = {
  HOST: ({ host }) => host,
  PORT: ({ port }) => String(port),
  PUBLIC_URL: ({ publicUrl }) => publicUrl.origin,
  DATABASE_URL: ({ database }) => databaseName(database),
  MASTER_KEY: ({ masterKeys }) => (masterKeys.length === 1 ? 'set' : `set, ${masterKeys.length} keys`),
  API_KEY: ({ apiKey }) => isSet(apiKey),
  USER_VERIFIER: ({ verifier }) => {
    switch (verifier.kind) {
      case 'caller':
        return `${verifier.url.origin}${verifier.url.pathname}`
      case 'oidc':
        return `oidc:${verifier.issuer}`
      default:
        return verifier.kind
    }
  },
  ALLOWED_HOSTS: ({ allowedHosts }) => list(allowedHosts),
  NEXT_URIS: ({ nextOrigins }) => list(nextOrigins),
  AUTHORIZATION_TTL: ({ authorizationTtlSeconds }) => `${authorizationTtlSeconds} seconds`,
  CONNECT_PAGE: ({ connectPage }) => connectPage,
  RATE_LIMIT: ({ requestsPerSecond }) => (requestsPerSecond === 0 ? 'none' : `${requestsPerSecond} a second`),
  MAX_PENDING: ({ maxPending }) => String(maxPending),
  MAX_WAITERS: ({ maxWaiters }) => String(maxWaiters),
  CACHE_SIZE: ({ cacheBytes }) => `${Math.round(cacheBytes / 1_000_000)} MB`,
  AUDIT_RETENTION: ({ audit: { retention } }) =>
    retention === undefined ? 'for ever' : `${Math.round(retention.seconds / 86_400)} days`,
  AUDIT_ARCHIVE: ({ audit: { retention } }) => retention?.folder ?? 'none',
  LOG_LEVEL: ({ logLevel }) => logLevel,
  METRICS: ({ metrics }) => metrics,
  TOOLS: ({ toolModules }) => list(toolModules),
  PROVIDERS: ({ providerFolder }) => providerFolder ?? 'none',
  MCP_PROJECT: ({ mcp }) => mcp.project,
  MCP_ISSUER: ({ mcp }) => mcp.issuer?.issuer ?? 'none',
  MCP_ORIGINS: ({ mcp }) => list(mcp.origins),
  MCP_REGISTRATION: ({ mcp }) => mcp.registration,
  DASHBOARD_ISSUER: ({ dashboard }) => dashboard.issuer?.issuer ?? 'none',
}

/** The settings in force, in the order of their names, without secrets. */
export function effectiveSettings(config: Config): { readonly name: string; readonly value: string }[] {
  const shown = SETTINGS.flatMap((setting) => {
    const value = SHOWN[setting]?.(config)
    return value === undefined ? [] : [{ name: `GATEPASS_${setting}`, value }]
  })
  const clients = [...config.providerClients].flatMap(([variable, { clientId, clientSecret }]) => [
    ...(clientId === undefined ? [] : [{ name: `${variable}_CLIENT_ID`, value: clientId }]),
    ...(clientSecret === undefined ? [] : [{ name: `${variable}_CLIENT_SECRET`, value: 'set' }]),
  ])
  return [{ name: 'Mode', value: config.development ? 'development' : 'production' }, ...shown, ...clients]
}
