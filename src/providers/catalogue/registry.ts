import type { Provider } from '../provider.ts'
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

/** Where two share their hosts, the first is the one that hosts alone name. */
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

/** The provider that both endpoints belong to; what merely shares one host with it is another one. */
export function builtInByHosts(
  authorizationEndpoint: string,
  tokenEndpoint: string,
): BuiltInProvider | undefined {
  if (!URL.canParse(authorizationEndpoint) || !URL.canParse(tokenEndpoint)) return undefined
  const hosts = [new URL(authorizationEndpoint).host, new URL(tokenEndpoint).host]
  return ALL.find((one) => hosts.every((host) => one.hosts.includes(host)))
}

/** The provider as it is used by its id alone: it asks for a refresh token wherever there is one to be had. */
export function withOfflineAccess({ provider, offlineAccess }: BuiltInProvider): Provider {
  if (offlineAccess === undefined) return provider
  const { authorizationRequest } = provider
  const params = { ...authorizationRequest.params, ...offlineAccess.params }
  for (const [name, template] of Object.entries(params)) {
    if (template.includes('{{scopes}}')) params[name] = [template, ...(offlineAccess.scopes ?? [])].join(' ')
  }
  return { ...provider, authorizationRequest: { ...authorizationRequest, params } }
}
