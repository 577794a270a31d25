import { type EndpointRole, endpointsOf, originAndPath, type Provider } from '../provider.ts'
import { airtable } from './airtable.ts'
import { asana } from './asana.ts'
import { atlassian } from './atlassian.ts'
import { attio } from './attio.ts'
import { clickup } from './clickup.ts'
import type { BuiltInProvider } from './define.ts'
import { discord } from './discord.ts'
import { dropbox } from './dropbox.ts'
import { figma } from './figma.ts'
import { github } from './github.ts'
import { gitlab } from './gitlab.ts'
import { google } from './google.ts'
import { hubspot } from './hubspot.ts'
import { linear } from './linear.ts'
import { linkedin } from './linkedin.ts'
import { microsoft } from './microsoft.ts'
import { microsoftPowerbi } from './microsoft-powerbi.ts'
import { notion } from './notion.ts'
import { pagerduty } from './pagerduty.ts'
import { reddit } from './reddit.ts'
import { salesforce } from './salesforce.ts'
import { slack } from './slack.ts'
import { spotify } from './spotify.ts'
import { strava } from './strava.ts'
import { twitch } from './twitch.ts'
import { x } from './x.ts'
import { zoom } from './zoom.ts'

export type { BuiltInProvider, OfflineAccess } from './define.ts'

/** If two providers share endpoints, the endpoints identify the first: a new provider comes after the older one. */
const ALL: readonly BuiltInProvider[] = [
  airtable,
  asana,
  atlassian,
  attio,
  clickup,
  discord,
  dropbox,
  figma,
  github,
  gitlab,
  google,
  hubspot,
  linear,
  linkedin,
  microsoft,
  microsoftPowerbi,
  notion,
  pagerduty,
  reddit,
  salesforce,
  slack,
  spotify,
  strava,
  twitch,
  x,
  zoom,
]

const BY_ID: ReadonlyMap<string, BuiltInProvider> = new Map(ALL.map((one) => [one.id, one]))

/** The ids of the catalogue, Arcade's well-known `provider_id`s among them. */
export const BUILT_IN_IDS: readonly string[] = [...BY_ID.keys()]

/** The provider of that id, in any case. */
export function builtIn(id: string): BuiltInProvider | undefined {
  return BY_ID.get(id.toLowerCase())
}

/** A provider of the catalogue, as endpoints name it. */
export interface CatalogueMatch {
  readonly builtIn: BuiltInProvider
  /** The values of the catalogue's variables in the endpoints, such as `tenant`. */
  readonly variables: Readonly<Record<string, string>>
  /** Whether the provider has that endpoint in that role, for the same variables. */
  has(role: EndpointRole, endpoint: string): boolean
}

/** The provider that both endpoints belong to, each in its role; what merely shares a host with it is another one. */
export function builtInByEndpoints(
  authorizationEndpoint: string,
  tokenEndpoint: string,
): CatalogueMatch | undefined {
  return matches(authorizationEndpoint, tokenEndpoint)[0]
}

/** As `builtInByEndpoints`, for an entry. */
export function catalogueOf({ authorizationRequest, tokenRequest }: Provider): CatalogueMatch | undefined {
  return builtInByEndpoints(authorizationRequest.endpoint, tokenRequest.endpoint)
}

/** Whether every endpoint of the entry is one of that provider of the catalogue. */
export function isWhollyOf(provider: Provider, id: string): boolean {
  const { authorizationRequest, tokenRequest } = provider
  const match = matches(authorizationRequest.endpoint, tokenRequest.endpoint).find(
    (one) => one.builtIn.id === id,
  )
  return (
    match !== undefined &&
    Object.entries(endpointsOf(provider)).every(([role, url]) => match.has(role as EndpointRole, url))
  )
}

function matches(authorizationEndpoint: string, tokenEndpoint: string): CatalogueMatch[] {
  if (!URL.canParse(authorizationEndpoint) || !URL.canParse(tokenEndpoint)) return []
  const [authorization, token] = [originAndPath(authorizationEndpoint), originAndPath(tokenEndpoint)]
  return ALL.flatMap((builtIn) => {
    const variables = variablesOf(builtIn, 'authorization', authorization)
    if (variables === undefined) return []
    const match: CatalogueMatch = {
      builtIn,
      variables,
      has(role, endpoint) {
        // refresh tokens may be sent to the token endpoint where the catalogue names another one
        const roles = role === 'refresh' ? (['refresh', 'token'] as const) : [role]
        return roles.some((one) => {
          const found = variablesOf(builtIn, one, endpoint, variables)
          return found !== undefined
        })
      },
    }
    return match.has('token', token) ? [match] : []
  })
}

/** The values of the variables if the endpoint is one of the provider's; the `given` ones have to be the same. */
function variablesOf(
  { endpoints }: BuiltInProvider,
  role: EndpointRole,
  endpoint: string,
  given: Readonly<Record<string, string>> = {},
): Record<string, string> | undefined {
  for (const known of endpoints[role] ?? []) {
    const values = matchPattern(known, endpoint)
    if (values === undefined) continue
    if (Object.entries(given).every(([name, value]) => values[name] === undefined || values[name] === value))
      return values
  }
  return undefined
}

/** Compares segment by segment; `{name}` matches any that is not empty. */
function matchPattern(pattern: string, endpoint: string): Record<string, string> | undefined {
  const [expected, actual] = [pattern.split('/'), endpoint.split('/')]
  if (expected.length !== actual.length) return undefined
  const values: Record<string, string> = {}
  for (const [i, part] of expected.entries()) {
    const name = /^\{([a-z_]+)\}$/.exec(part)?.[1]
    if (name === undefined ? part !== actual[i] : !/^[\w.-]+$/.test(actual[i] ?? '')) return undefined
    if (name !== undefined) values[name] = actual[i] ?? ''
  }
  return values
}

/** The provider with its request for a refresh token, if it needs one: for use by the id alone. */
export function withOfflineAccess({ provider, offlineAccess }: BuiltInProvider): Provider {
  if (offlineAccess === undefined) return provider
  const { authorizationRequest } = provider
  const params = { ...authorizationRequest.params, ...offlineAccess.params }
  for (const [name, template] of Object.entries(params)) {
    if (template.includes('{{scopes}}')) params[name] = [template, ...(offlineAccess.scopes ?? [])].join(' ')
  }
  return { ...provider, authorizationRequest: { ...authorizationRequest, params } }
}
