// The module `gatepass/tools`: in a checkout the sources, in a published package the files built from them.
import { existsSync } from 'node:fs'

const source = new URL('../src/sdk/tools/index.ts', import.meta.url)
const built = new URL('../dist/sdk/tools/index.js', import.meta.url)
const module = await import(existsSync(source) ? source.href : built.href)

export const { ToolApp, tool, defineTool, OAuth2, anyOf } = module
export const { ToolError, RetryableToolError, UpstreamError, FatalToolError, ContextRequiredError } = module
export const { SlackErrorAdapter, GoogleErrorAdapter, MicrosoftGraphErrorAdapter } = module
export const { HTTPErrorAdapter, GraphQLErrorAdapter } = module
export const { Airtable, Apple, Asana, Atlassian, Attio, Auth0, BambooHR, Bitbucket, Box, Calcom } = module
export const { Calendly, Canva, ClickUp, Databricks, DigitalOcean, Discord, DocuSign, Dropbox } = module
export const { Facebook, Figma, Garmin, GitHub, GitLab, Google, Gusto, Heroku, HubSpot, Instagram } = module
export const { Intercom, Linear, LinkedIn, Mailchimp, MicrosoftPowerBI, Microsoft, Miro } = module
export const { mondaycom, Notion, Okta, PagerDuty, PayPal, Pinterest, Pipedrive, QuickBooks } = module
export const { Reddit, RingCentral, Salesforce, Sentry, ServiceNow, Shopify, Slack, Snapchat } = module
export const { Snowflake, Spotify, Square, Strava, Stripe, SurveyMonkey, TikTok, Todoist, Twitch } = module
export const { Typeform, Vercel, Webex, WordPresscom, Workday, X, Xero, Zendesk, Zoho, Zoom } = module
export const { BoxClientCredentials, DocuSignJWTBearer, GoogleServiceAccount } = module
export const { SalesforceJWTBearer, ZoomWholeAccount } = module
export const { GitHubAppInstallation, GitHubDeviceCode, GoogleDeviceCode } = module
