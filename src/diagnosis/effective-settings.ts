import type { DashboardRule, OidcVerifier } from '../broker.ts'
import type { Config } from '../config.ts'
import { loadFeatures } from '../features/load-features.ts'
import type { ShownSetting } from '../services/feature-settings.ts'
import { SETTINGS, type SettingName } from '../settings/names.ts'
import { databaseName } from '../store/database-location.ts'

type Show = (config: Config) => string | undefined

const list = (texts: Iterable<string>) => [...texts].join(', ') || 'none'
const loginOf = (verifier: Config['verifier']) => (verifier.kind === 'oidc' ? verifier : undefined)
const ruleText = ({ claim, value, role, group, project }: DashboardRule) =>
  `${claim}=${value} ${role}${group === undefined ? '' : `:${group}`} on ${project}`
const secretOf = (login: Pick<OidcVerifier, 'client'> | undefined) =>
  login && isSet(login.client.clientSecret)
const isSet = (value: unknown) => (value === undefined ? 'not set' : 'set')

/** How each setting is shown. Of a secret only `set` or `not set` is shown. A setting without a line is not shown. */
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
  OIDC_CLIENT_ID: ({ verifier }) => loginOf(verifier)?.client.clientId,
  OIDC_CLIENT_SECRET: ({ verifier }) => secretOf(loginOf(verifier)),
  OIDC_USER_CLAIM: ({ verifier }) => loginOf(verifier)?.claim,
  OIDC_SCOPES: ({ verifier }) => loginOf(verifier)?.scopes.join(' '),
  ALLOWED_HOSTS: ({ allowedHosts }) => list(new Set(allowedHosts)),
  TRUSTED_PROXIES: ({ trustedProxies }) => list(trustedProxies),
  NEXT_URIS: ({ nextOrigins }) => list(nextOrigins),
  AUTHORIZATION_TTL: ({ authorizationTtlSeconds }) => `${authorizationTtlSeconds} seconds`,
  CONNECT_PAGE: ({ connectPage }) => connectPage,
  RATE_LIMIT: ({ requestsPerSecond }) => (requestsPerSecond === 0 ? 'none' : `${requestsPerSecond} a second`),
  MAX_PENDING: ({ maxPending }) => String(maxPending),
  MAX_WAITERS: ({ maxWaiters }) => String(maxWaiters),
  CACHE_SIZE: ({ cacheBytes }) => `${Math.round(cacheBytes / 1_000_000)} MB`,
  LOG_LEVEL: ({ logLevel }) => logLevel,
  METRICS: ({ metrics }) => metrics,
  TOOLS: ({ toolModules }) => list(toolModules),
  PROVIDERS: ({ providerFolder }) => providerFolder ?? 'none',
  MCP_PROJECT: ({ mcp }) => mcp.project,
  MCP_ISSUER: ({ mcp }) => mcp.issuer?.issuer ?? 'none',
  MCP_AUDIENCE: ({ mcp }) => mcp.issuer && (mcp.issuer.audience ?? 'the URL of the resource'),
  MCP_USER_CLAIM: ({ mcp }) => mcp.issuer?.userClaim,
  MCP_ORIGINS: ({ mcp }) => list(mcp.origins),
  MCP_REGISTRATION: ({ mcp }) => mcp.registration,
  MCP_CLIENT_DOCUMENTS: ({ mcp }) => mcp.clientDocuments,
  MCP_CLIENT_HOSTS: ({ mcp }) => list(mcp.clientHosts),
  DASHBOARD: ({ dashboard }) => dashboard.serve,
  DASHBOARD_ISSUER: ({ dashboard }) => dashboard.issuer?.issuer ?? 'none',
  DASHBOARD_CLIENT_ID: ({ dashboard }) => dashboard.issuer?.client.clientId,
  DASHBOARD_CLIENT_SECRET: ({ dashboard }) => secretOf(dashboard.issuer),
  DASHBOARD_SCOPES: ({ dashboard }) => dashboard.issuer?.scopes.join(' '),
  DASHBOARD_ROLES: ({ dashboard }) => dashboard.issuer && list(dashboard.issuer.rules.map(ruleText)),
}

const ofFeatures = await loadFeatures('settings')

/** The settings in force, without secrets: in the order of `SETTINGS`, then those of the features. */
export function effectiveSettings(config: Config): readonly ShownSetting[] {
  const shown = SETTINGS.flatMap((setting) => {
    const value = SHOWN[setting]?.(config)
    return value === undefined ? [] : [{ name: `GATEPASS_${setting}`, value }]
  })
  const clients = [...config.providerClients].flatMap(([variable, { clientId, clientSecret }]) => [
    ...(clientId === undefined ? [] : [{ name: `${variable}_CLIENT_ID`, value: clientId }]),
    ...(clientSecret === undefined ? [] : [{ name: `${variable}_CLIENT_SECRET`, value: 'set' }]),
  ])
  return [
    { name: 'Mode', value: config.development ? 'development' : 'production' },
    ...shown,
    ...clients,
    ...ofFeatures.flatMap((settings) => settings.show(config.of(settings))),
  ]
}
