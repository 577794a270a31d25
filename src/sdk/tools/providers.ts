// Written by `npm run tool-providers` from src/providers/catalogue; do not edit.

import type { AuthProvider } from './auth.ts'

/** A name that is known, or any other. */
type Scopes<Known extends string> = { readonly scopes?: readonly (Known | (string & {}))[] }

function provider<const Name extends string>(name: Name, options: Scopes<string> = {}): AuthProvider<Name> {
  return { provider: name, scopes: options.scopes ?? [] }
}

export type AsanaScope = 'default'

export type AtlassianScope = 'offline_access'

export type DiscordScope = 'identify'

export type FigmaScope = 'current_user:read'

export type GitHubScope =
  | 'admin:enterprise'
  | 'admin:gpg_key'
  | 'admin:org'
  | 'admin:public_key'
  | 'admin:repo_hook'
  | 'admin:ssh_signing_key'
  | 'audit_log'
  | 'codespace'
  | 'codespace:secrets'
  | 'copilot'
  | 'manage_billing:copilot'
  | 'manage_billing:enterprise'
  | 'manage_runners:enterprise'
  | 'manage_runners:org'
  | 'project'
  | 'public_repo'
  | 'read:audit_log'
  | 'read:discussion'
  | 'read:enterprise'
  | 'read:gpg_key'
  | 'read:org'
  | 'read:packages'
  | 'read:project'
  | 'read:public_key'
  | 'read:repo_hook'
  | 'read:ssh_signing_key'
  | 'read:user'
  | 'repo'
  | 'repo:invite'
  | 'repo:status'
  | 'repo_deployment'
  | 'security_events'
  | 'user'
  | 'user:email'
  | 'user:follow'
  | 'write:discussion'
  | 'write:gpg_key'
  | 'write:org'
  | 'write:packages'
  | 'write:public_key'
  | 'write:repo_hook'
  | 'write:ssh_signing_key'

export type GitLabScope = 'read_user'

export type GoogleScope =
  | 'email'
  | 'https://www.googleapis.com/auth/userinfo.email'
  | 'https://www.googleapis.com/auth/userinfo.profile'
  | 'openid'
  | 'profile'

export type HubSpotScope = 'oauth'

export type LinearScope = 'read'

export type LinkedInScope = 'email' | 'openid' | 'profile'

export type MicrosoftScope = 'User.Read' | 'offline_access'

export type MicrosoftPowerBIScope = 'offline_access'

export type RedditScope = 'identity'

export type SalesforceScope = 'refresh_token'

export type StravaScope = 'read'

export type XScope = 'offline.access' | 'tweet.read' | 'users.read'

/** Airtable: the provider `airtable`. Without scopes, its default. */
export function Airtable(options?: Scopes<never>): AuthProvider<'airtable'> {
  return provider('airtable', options)
}

/** Asana: the provider `asana`. Without scopes, its default. */
export function Asana(options?: Scopes<AsanaScope>): AuthProvider<'asana'> {
  return provider('asana', options)
}

/** Atlassian: the provider `atlassian`. Without scopes, its default. */
export function Atlassian(options?: Scopes<AtlassianScope>): AuthProvider<'atlassian'> {
  return provider('atlassian', options)
}

/** Attio: the provider `attio`. Without scopes, its default. */
export function Attio(options?: Scopes<never>): AuthProvider<'attio'> {
  return provider('attio', options)
}

/** ClickUp: the provider `clickup`. Without scopes, its default. */
export function ClickUp(options?: Scopes<never>): AuthProvider<'clickup'> {
  return provider('clickup', options)
}

/** Discord: the provider `discord`. Without scopes, its default. */
export function Discord(options?: Scopes<DiscordScope>): AuthProvider<'discord'> {
  return provider('discord', options)
}

/** Dropbox: the provider `dropbox`. Without scopes, its default. */
export function Dropbox(options?: Scopes<never>): AuthProvider<'dropbox'> {
  return provider('dropbox', options)
}

/** Figma: the provider `figma`. Without scopes, its default. */
export function Figma(options?: Scopes<FigmaScope>): AuthProvider<'figma'> {
  return provider('figma', options)
}

/** GitHub: the provider `github`. Without scopes, its default. */
export function GitHub(options?: Scopes<GitHubScope>): AuthProvider<'github'> {
  return provider('github', options)
}

/** GitLab: the provider `gitlab`. Without scopes, its default. */
export function GitLab(options?: Scopes<GitLabScope>): AuthProvider<'gitlab'> {
  return provider('gitlab', options)
}

/** Google: the provider `google`. Without scopes, its default. */
export function Google(options?: Scopes<GoogleScope>): AuthProvider<'google'> {
  return provider('google', options)
}

/** HubSpot: the provider `hubspot`. Without scopes, its default. */
export function HubSpot(options?: Scopes<HubSpotScope>): AuthProvider<'hubspot'> {
  return provider('hubspot', options)
}

/** Linear: the provider `linear`. Without scopes, its default. */
export function Linear(options?: Scopes<LinearScope>): AuthProvider<'linear'> {
  return provider('linear', options)
}

/** LinkedIn: the provider `linkedin`. Without scopes, its default. */
export function LinkedIn(options?: Scopes<LinkedInScope>): AuthProvider<'linkedin'> {
  return provider('linkedin', options)
}

/** Microsoft: the provider `microsoft`. Without scopes, its default. */
export function Microsoft(options?: Scopes<MicrosoftScope>): AuthProvider<'microsoft'> {
  return provider('microsoft', options)
}

/** Microsoft Power BI: the provider `microsoft-powerbi`. Without scopes, its default. */
export function MicrosoftPowerBI(options?: Scopes<MicrosoftPowerBIScope>): AuthProvider<'microsoft-powerbi'> {
  return provider('microsoft-powerbi', options)
}

/** Notion: the provider `notion`. Without scopes, its default. */
export function Notion(options?: Scopes<never>): AuthProvider<'notion'> {
  return provider('notion', options)
}

/** PagerDuty: the provider `pagerduty`. Without scopes, its default. */
export function PagerDuty(options?: Scopes<never>): AuthProvider<'pagerduty'> {
  return provider('pagerduty', options)
}

/** Reddit: the provider `reddit`. Without scopes, its default. */
export function Reddit(options?: Scopes<RedditScope>): AuthProvider<'reddit'> {
  return provider('reddit', options)
}

/** Salesforce: the provider `salesforce`. Without scopes, its default. */
export function Salesforce(options?: Scopes<SalesforceScope>): AuthProvider<'salesforce'> {
  return provider('salesforce', options)
}

/** Slack: the provider `slack`. Without scopes, its default. */
export function Slack(options?: Scopes<never>): AuthProvider<'slack'> {
  return provider('slack', options)
}

/** Spotify: the provider `spotify`. Without scopes, its default. */
export function Spotify(options?: Scopes<never>): AuthProvider<'spotify'> {
  return provider('spotify', options)
}

/** Strava: the provider `strava`. Without scopes, its default. */
export function Strava(options?: Scopes<StravaScope>): AuthProvider<'strava'> {
  return provider('strava', options)
}

/** Twitch: the provider `twitch`. Without scopes, its default. */
export function Twitch(options?: Scopes<never>): AuthProvider<'twitch'> {
  return provider('twitch', options)
}

/** X: the provider `x`. Without scopes, its default. */
export function X(options?: Scopes<XScope>): AuthProvider<'x'> {
  return provider('x', options)
}

/** Zoom: the provider `zoom`. Without scopes, its default. */
export function Zoom(options?: Scopes<never>): AuthProvider<'zoom'> {
  return provider('zoom', options)
}
