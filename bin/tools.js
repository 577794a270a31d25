// The module `gatepass/tools`: in a checkout the sources, in a published package the files built from them.
import { existsSync } from 'node:fs'

const source = new URL('../src/sdk/tools/index.ts', import.meta.url)
const built = new URL('../dist/sdk/tools/index.js', import.meta.url)
const module = await import(existsSync(source) ? source.href : built.href)

export const { ToolApp, tool, defineTool, OAuth2, anyOf } = module
export const { ToolError, RetryableToolError, UpstreamError, FatalToolError, ContextRequiredError } = module
export const { SlackErrorAdapter, GoogleErrorAdapter, MicrosoftGraphErrorAdapter } = module
export const { HTTPErrorAdapter, GraphQLErrorAdapter } = module
export const { Airtable, Asana, Atlassian, Attio, ClickUp, Discord, Dropbox } = module
export const { Figma, GitHub, GitLab, Google, HubSpot, Linear, LinkedIn } = module
export const { Microsoft, MicrosoftPowerBI, Notion, PagerDuty, Reddit, Salesforce, Slack } = module
export const { Spotify, Strava, Twitch, X, Zoom } = module
