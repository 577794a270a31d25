// Written by `npm run tool-providers` from src/sdk/tools; do not edit.
// The module `gatepass/tools`: in a checkout the sources, in a published package the files built from them.
import { existsSync } from 'node:fs'

const source = new URL('../src/sdk/tools/index.ts', import.meta.url)
const built = new URL('../dist/sdk/tools/index.js', import.meta.url)
const module = await import(existsSync(source) ? source.href : built.href)

export const { Airtable, Apple, Asana, Atlassian, Attio, Auth0, BambooHR, Bitbucket, Box } = module
export const { BoxClientCredentials, Calcom, Calendly, Canva, ClickUp, ContextRequiredError } = module
export const { Databricks, DigitalOcean, Discord, DocuSign, DocuSignJWTBearer, Dropbox, Facebook } = module
export const { FatalToolError, Figma, Garmin, GitHub, GitHubAppInstallation, GitHubDeviceCode } = module
export const { GitLab, Google, GoogleDeviceCode, GoogleErrorAdapter, GoogleServiceAccount } = module
export const { GraphQLErrorAdapter, Gusto, HTTPErrorAdapter, Heroku, HubSpot, Instagram, Intercom } = module
export const { Linear, LinkedIn, Mailchimp, Microsoft, MicrosoftGraphErrorAdapter, MicrosoftPowerBI } = module
export const { Miro, Notion, OAuth2, Okta, PagerDuty, PayPal, Pinterest, Pipedrive, QuickBooks } = module
export const { Reddit, RetryableToolError, RingCentral, Salesforce, SalesforceJWTBearer, Sentry } = module
export const { ServiceNow, Shopify, Slack, SlackErrorAdapter, Snapchat, Snowflake, Spotify, Square } = module
export const { Strava, Stripe, SurveyMonkey, TikTok, Todoist, ToolApp, ToolError, Twitch, Typeform } = module
export const { UpstreamError, Vercel, Webex, WordPresscom, Workday, X, Xero, Zendesk, Zoho, Zoom } = module
export const { ZoomWholeAccount, anyOf, defineTool, mondaycom, tool } = module
