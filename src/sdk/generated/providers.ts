// Written by `npm run tool-providers` from src/providers/catalogue; do not edit.

import type { AuthProvider } from '../tools/auth.ts'

/** A name that is known, or any other. */
type Scopes<Known extends string> = { readonly scopes?: readonly (Known | (string & {}))[] }

function provider<const Name extends string>(name: Name, options: Scopes<string> = {}): AuthProvider<Name> {
  return { provider: name, scopes: options.scopes ?? [] }
}

export type AirtableScope =
  | 'data.recordComments:read'
  | 'data.recordComments:write'
  | 'data.records:read'
  | 'data.records:write'
  | 'schema.bases:read'
  | 'schema.bases:write'
  | 'user.email:read'
  | 'webhook:manage'

export type AppleScope = 'email' | 'name'

export type AsanaScope =
  | 'default'
  | 'email'
  | 'openid'
  | 'profile'
  | 'projects:read'
  | 'projects:write'
  | 'tasks:delete'
  | 'tasks:read'
  | 'tasks:write'
  | 'users:read'
  | 'workspaces:read'

export type AtlassianScope =
  | 'manage:jira-configuration'
  | 'manage:jira-project'
  | 'offline_access'
  | 'read:confluence-content.all'
  | 'read:confluence-space.summary'
  | 'read:jira-user'
  | 'read:jira-work'
  | 'read:me'
  | 'search:confluence'
  | 'write:confluence-content'
  | 'write:jira-work'

export type Auth0Scope = 'email' | 'offline_access' | 'openid' | 'profile'

export type BambooHRScope = 'email' | 'offline_access' | 'openid'

export type BitbucketScope =
  | 'account'
  | 'issue'
  | 'issue:write'
  | 'pipeline'
  | 'pullrequest'
  | 'pullrequest:write'
  | 'repository'
  | 'repository:admin'
  | 'repository:write'
  | 'webhook'

export type BoxScope =
  | 'manage_managed_users'
  | 'manage_webhook'
  | 'root_readonly'
  | 'root_readwrite'
  | 'sign_requests.readwrite'

export type CalcomScope =
  | 'BOOKING_READ'
  | 'BOOKING_WRITE'
  | 'EVENT_TYPE_READ'
  | 'EVENT_TYPE_WRITE'
  | 'PROFILE_READ'
  | 'SCHEDULE_READ'
  | 'SCHEDULE_WRITE'

export type CalendlyScope =
  | 'availability:read'
  | 'event_types:read'
  | 'event_types:write'
  | 'scheduled_events:read'
  | 'scheduled_events:write'
  | 'users:read'
  | 'webhooks:write'

export type CanvaScope =
  | 'asset:read'
  | 'asset:write'
  | 'comment:read'
  | 'comment:write'
  | 'design:content:read'
  | 'design:content:write'
  | 'design:meta:read'
  | 'folder:read'
  | 'folder:write'
  | 'profile:read'

export type DatabricksScope = 'all-apis' | 'offline_access' | 'sql'

export type DigitalOceanScope = 'read' | 'write'

export type DiscordScope =
  | 'bot'
  | 'connections'
  | 'email'
  | 'guilds'
  | 'guilds.join'
  | 'guilds.members.read'
  | 'identify'
  | 'messages.read'

export type DocuSignScope = 'click.manage' | 'extended' | 'impersonation' | 'openid' | 'signature'

export type DropboxScope =
  | 'account_info.read'
  | 'files.content.read'
  | 'files.content.write'
  | 'files.metadata.read'
  | 'files.metadata.write'
  | 'sharing.read'
  | 'sharing.write'

export type FacebookScope =
  | 'ads_management'
  | 'ads_read'
  | 'business_management'
  | 'email'
  | 'instagram_basic'
  | 'leads_retrieval'
  | 'pages_manage_posts'
  | 'pages_messaging'
  | 'pages_read_engagement'
  | 'pages_show_list'
  | 'public_profile'

export type FigmaScope =
  | 'current_user:read'
  | 'file_comments:read'
  | 'file_comments:write'
  | 'file_content:read'
  | 'file_dev_resources:write'
  | 'file_metadata:read'
  | 'file_versions:read'
  | 'projects:read'
  | 'webhooks:write'

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
  | 'delete_repo'
  | 'gist'
  | 'manage_billing:copilot'
  | 'manage_billing:enterprise'
  | 'manage_runners:enterprise'
  | 'manage_runners:org'
  | 'notifications'
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
  | 'workflow'
  | 'write:discussion'
  | 'write:gpg_key'
  | 'write:org'
  | 'write:packages'
  | 'write:public_key'
  | 'write:repo_hook'
  | 'write:ssh_signing_key'

export type GitLabScope =
  | 'api'
  | 'email'
  | 'openid'
  | 'profile'
  | 'read_api'
  | 'read_registry'
  | 'read_repository'
  | 'read_user'
  | 'write_repository'

export type GoogleScope =
  | 'email'
  | 'https://mail.google.com/'
  | 'https://www.googleapis.com/auth/adwords'
  | 'https://www.googleapis.com/auth/analytics.readonly'
  | 'https://www.googleapis.com/auth/calendar'
  | 'https://www.googleapis.com/auth/calendar.events'
  | 'https://www.googleapis.com/auth/calendar.events.readonly'
  | 'https://www.googleapis.com/auth/calendar.readonly'
  | 'https://www.googleapis.com/auth/cloud-platform'
  | 'https://www.googleapis.com/auth/contacts'
  | 'https://www.googleapis.com/auth/contacts.readonly'
  | 'https://www.googleapis.com/auth/documents'
  | 'https://www.googleapis.com/auth/documents.readonly'
  | 'https://www.googleapis.com/auth/drive'
  | 'https://www.googleapis.com/auth/drive.file'
  | 'https://www.googleapis.com/auth/drive.metadata.readonly'
  | 'https://www.googleapis.com/auth/drive.readonly'
  | 'https://www.googleapis.com/auth/gmail.compose'
  | 'https://www.googleapis.com/auth/gmail.labels'
  | 'https://www.googleapis.com/auth/gmail.modify'
  | 'https://www.googleapis.com/auth/gmail.readonly'
  | 'https://www.googleapis.com/auth/gmail.send'
  | 'https://www.googleapis.com/auth/presentations'
  | 'https://www.googleapis.com/auth/spreadsheets'
  | 'https://www.googleapis.com/auth/spreadsheets.readonly'
  | 'https://www.googleapis.com/auth/tasks'
  | 'https://www.googleapis.com/auth/userinfo.email'
  | 'https://www.googleapis.com/auth/userinfo.profile'
  | 'https://www.googleapis.com/auth/youtube.readonly'
  | 'https://www.googleapis.com/auth/youtube.upload'
  | 'openid'
  | 'profile'

export type HerokuScope = 'global' | 'identity' | 'read' | 'read-protected' | 'write' | 'write-protected'

export type HubSpotScope =
  | 'automation'
  | 'content'
  | 'crm.lists.read'
  | 'crm.objects.companies.read'
  | 'crm.objects.companies.write'
  | 'crm.objects.contacts.read'
  | 'crm.objects.contacts.write'
  | 'crm.objects.deals.read'
  | 'crm.objects.deals.write'
  | 'crm.objects.owners.read'
  | 'files'
  | 'forms'
  | 'oauth'
  | 'tickets'

export type InstagramScope =
  | 'instagram_business_basic'
  | 'instagram_business_content_publish'
  | 'instagram_business_manage_comments'
  | 'instagram_business_manage_insights'
  | 'instagram_business_manage_messages'

export type LinearScope =
  | 'admin'
  | 'app:assignable'
  | 'app:mentionable'
  | 'comments:create'
  | 'issues:create'
  | 'read'
  | 'timeSchedule:write'
  | 'write'

export type LinkedInScope =
  | 'email'
  | 'openid'
  | 'profile'
  | 'r_ads_reporting'
  | 'r_organization_social'
  | 'rw_ads'
  | 'rw_organization_admin'
  | 'w_member_social'
  | 'w_organization_social'

export type MicrosoftPowerBIScope =
  | 'https://analysis.windows.net/powerbi/api/Dashboard.Read.All'
  | 'https://analysis.windows.net/powerbi/api/Dataset.Read.All'
  | 'https://analysis.windows.net/powerbi/api/Dataset.ReadWrite.All'
  | 'https://analysis.windows.net/powerbi/api/Report.Read.All'
  | 'https://analysis.windows.net/powerbi/api/Workspace.Read.All'
  | 'offline_access'

export type MicrosoftScope =
  | 'Calendars.Read'
  | 'Calendars.ReadWrite'
  | 'ChannelMessage.Read.All'
  | 'ChannelMessage.Send'
  | 'Chat.Read'
  | 'Chat.ReadWrite'
  | 'Contacts.Read'
  | 'Contacts.ReadWrite'
  | 'Directory.Read.All'
  | 'Files.Read'
  | 'Files.Read.All'
  | 'Files.ReadWrite'
  | 'Files.ReadWrite.All'
  | 'Mail.Read'
  | 'Mail.ReadWrite'
  | 'Mail.Send'
  | 'Notes.Read'
  | 'Notes.ReadWrite'
  | 'OnlineMeetings.ReadWrite'
  | 'Sites.Read.All'
  | 'Sites.ReadWrite.All'
  | 'Tasks.ReadWrite'
  | 'Team.ReadBasic.All'
  | 'User.Read'
  | 'User.ReadBasic.All'
  | 'email'
  | 'offline_access'
  | 'openid'
  | 'profile'

export type MiroScope =
  | 'boards:read'
  | 'boards:write'
  | 'identity:read'
  | 'identity:write'
  | 'organizations:read'
  | 'team:read'

export type mondaycomScope =
  | 'account:read'
  | 'assets:read'
  | 'boards:read'
  | 'boards:write'
  | 'me:read'
  | 'notifications:write'
  | 'updates:read'
  | 'updates:write'
  | 'users:read'
  | 'webhooks:write'
  | 'workspaces:read'
  | 'workspaces:write'

export type OktaScope =
  | 'email'
  | 'groups'
  | 'offline_access'
  | 'okta.groups.read'
  | 'okta.users.manage'
  | 'okta.users.read'
  | 'openid'
  | 'profile'

export type PagerDutyScope =
  | 'incidents.read'
  | 'incidents.write'
  | 'oncalls.read'
  | 'openid'
  | 'read'
  | 'schedules.read'
  | 'services.read'
  | 'users.read'
  | 'write'

export type PayPalScope =
  | 'address'
  | 'email'
  | 'https://uri.paypal.com/services/invoicing'
  | 'openid'
  | 'profile'

export type PinterestScope =
  | 'ads:read'
  | 'ads:write'
  | 'boards:read'
  | 'boards:read_secret'
  | 'boards:write'
  | 'catalogs:read'
  | 'pins:read'
  | 'pins:read_secret'
  | 'pins:write'
  | 'user_accounts:read'

export type PipedriveScope =
  | 'activities:full'
  | 'activities:read'
  | 'base'
  | 'contacts:full'
  | 'contacts:read'
  | 'deals:full'
  | 'deals:read'
  | 'leads:full'
  | 'leads:read'
  | 'mail:read'
  | 'users:read'

export type QuickBooksScope =
  | 'address'
  | 'com.intuit.quickbooks.accounting'
  | 'com.intuit.quickbooks.payment'
  | 'email'
  | 'openid'
  | 'phone'
  | 'profile'

export type RedditScope =
  | 'edit'
  | 'flair'
  | 'history'
  | 'identity'
  | 'modposts'
  | 'mysubreddits'
  | 'privatemessages'
  | 'read'
  | 'save'
  | 'submit'
  | 'subscribe'
  | 'vote'

export type RingCentralScope =
  | 'Contacts'
  | 'EditMessages'
  | 'Meetings'
  | 'ReadAccounts'
  | 'ReadCallLog'
  | 'ReadMessages'
  | 'RingOut'
  | 'SMS'
  | 'SubscriptionWebhook'

export type SalesforceScope =
  | 'api'
  | 'chatter_api'
  | 'email'
  | 'full'
  | 'id'
  | 'openid'
  | 'profile'
  | 'refresh_token'
  | 'wave_api'
  | 'web'

export type SentryScope =
  | 'email'
  | 'event:read'
  | 'event:write'
  | 'member:read'
  | 'openid'
  | 'org:read'
  | 'org:write'
  | 'profile'
  | 'project:read'
  | 'project:releases'
  | 'project:write'
  | 'team:read'

export type ServiceNowScope = 'useraccount'

export type ShopifyScope =
  | 'read_all_orders'
  | 'read_analytics'
  | 'read_content'
  | 'read_customers'
  | 'read_discounts'
  | 'read_fulfillments'
  | 'read_inventory'
  | 'read_orders'
  | 'read_products'
  | 'read_themes'
  | 'write_content'
  | 'write_customers'
  | 'write_discounts'
  | 'write_fulfillments'
  | 'write_inventory'
  | 'write_orders'
  | 'write_products'

export type SlackScope =
  | 'channels:history'
  | 'channels:read'
  | 'channels:write'
  | 'chat:write'
  | 'files:read'
  | 'files:write'
  | 'groups:history'
  | 'groups:read'
  | 'identity.basic'
  | 'identity.email'
  | 'im:history'
  | 'im:read'
  | 'im:write'
  | 'mpim:history'
  | 'reactions:read'
  | 'reactions:write'
  | 'reminders:write'
  | 'search:read'
  | 'team:read'
  | 'users.profile:read'
  | 'users.profile:write'
  | 'users:read'
  | 'users:read.email'

export type SnapchatScope = 'snapchat-marketing-api'

export type SnowflakeScope = 'refresh_token' | 'session:role:ANALYST' | 'session:role:PUBLIC'

export type SpotifyScope =
  | 'playlist-modify-private'
  | 'playlist-modify-public'
  | 'playlist-read-collaborative'
  | 'playlist-read-private'
  | 'streaming'
  | 'user-follow-modify'
  | 'user-follow-read'
  | 'user-library-modify'
  | 'user-library-read'
  | 'user-modify-playback-state'
  | 'user-read-currently-playing'
  | 'user-read-email'
  | 'user-read-playback-state'
  | 'user-read-private'
  | 'user-read-recently-played'
  | 'user-top-read'

export type SquareScope =
  | 'CUSTOMERS_READ'
  | 'CUSTOMERS_WRITE'
  | 'EMPLOYEES_READ'
  | 'INVENTORY_READ'
  | 'INVENTORY_WRITE'
  | 'INVOICES_READ'
  | 'INVOICES_WRITE'
  | 'ITEMS_READ'
  | 'ITEMS_WRITE'
  | 'MERCHANT_PROFILE_READ'
  | 'ORDERS_READ'
  | 'ORDERS_WRITE'
  | 'PAYMENTS_READ'
  | 'PAYMENTS_WRITE'

export type StravaScope =
  | 'activity:read'
  | 'activity:read_all'
  | 'activity:write'
  | 'profile:read_all'
  | 'profile:write'
  | 'read'
  | 'read_all'

export type StripeScope = 'read_only' | 'read_write'

export type SurveyMonkeyScope =
  | 'collectors_read'
  | 'collectors_write'
  | 'responses_read'
  | 'responses_read_detail'
  | 'surveys_read'
  | 'surveys_write'
  | 'users_read'
  | 'webhooks_write'

export type TikTokScope =
  | 'user.info.basic'
  | 'user.info.profile'
  | 'user.info.stats'
  | 'video.list'
  | 'video.publish'
  | 'video.upload'

export type TodoistScope = 'data:delete' | 'data:read' | 'data:read_write' | 'project:delete' | 'task:add'

export type TwitchScope =
  | 'bits:read'
  | 'channel:manage:broadcast'
  | 'channel:manage:redemptions'
  | 'channel:read:redemptions'
  | 'channel:read:subscriptions'
  | 'chat:edit'
  | 'chat:read'
  | 'clips:edit'
  | 'moderator:read:followers'
  | 'user:read:chat'
  | 'user:read:email'
  | 'user:read:follows'
  | 'user:write:chat'

export type TypeformScope =
  | 'accounts:read'
  | 'forms:read'
  | 'forms:write'
  | 'images:read'
  | 'offline'
  | 'responses:read'
  | 'responses:write'
  | 'themes:read'
  | 'webhooks:read'
  | 'webhooks:write'
  | 'workspaces:read'

export type VercelScope = 'email' | 'offline_access' | 'openid' | 'profile'

export type WebexScope =
  | 'meeting:recordings_read'
  | 'meeting:schedules_read'
  | 'meeting:schedules_write'
  | 'spark:all'
  | 'spark:memberships_read'
  | 'spark:messages_read'
  | 'spark:messages_write'
  | 'spark:people_read'
  | 'spark:rooms_read'
  | 'spark:rooms_write'

export type WordPresscomScope =
  | 'auth'
  | 'comments'
  | 'global'
  | 'media'
  | 'posts'
  | 'sites'
  | 'stats'
  | 'users'

export type XScope =
  | 'bookmark.read'
  | 'bookmark.write'
  | 'dm.read'
  | 'dm.write'
  | 'follows.read'
  | 'follows.write'
  | 'like.read'
  | 'like.write'
  | 'list.read'
  | 'list.write'
  | 'media.write'
  | 'offline.access'
  | 'tweet.read'
  | 'tweet.write'
  | 'users.read'

export type XeroScope =
  | 'accounting.attachments'
  | 'accounting.contacts'
  | 'accounting.contacts.read'
  | 'accounting.reports.read'
  | 'accounting.settings'
  | 'accounting.settings.read'
  | 'accounting.transactions'
  | 'accounting.transactions.read'
  | 'email'
  | 'files'
  | 'offline_access'
  | 'openid'
  | 'payroll.employees'
  | 'profile'

export type ZendeskScope =
  | 'hc:read'
  | 'hc:write'
  | 'impersonate'
  | 'organizations:read'
  | 'read'
  | 'tickets:read'
  | 'tickets:write'
  | 'users:read'
  | 'users:write'
  | 'write'

export type ZohoScope =
  | 'AaaServer.profile.Read'
  | 'Desk.tickets.ALL'
  | 'ZohoBooks.fullaccess.all'
  | 'ZohoCRM.modules.ALL'
  | 'ZohoCRM.modules.READ'
  | 'ZohoCRM.settings.READ'
  | 'ZohoCRM.users.READ'
  | 'ZohoMail.accounts.READ'
  | 'ZohoMail.messages.ALL'
  | 'ZohoProjects.projects.ALL'

export type ZoomScope =
  | 'cloud_recording:read:list_user_recordings'
  | 'meeting:delete:meeting'
  | 'meeting:read:list_meetings'
  | 'meeting:read:meeting'
  | 'meeting:write:meeting'
  | 'team_chat:read:list_user_messages'
  | 'team_chat:write:user_message'
  | 'user:read:email'
  | 'user:read:user'
  | 'webinar:read:webinar'
  | 'webinar:write:webinar'

/** Airtable: the provider `airtable`. Without scopes, its default. */
export function Airtable(options?: Scopes<AirtableScope>): AuthProvider<'airtable'> {
  return provider('airtable', options)
}

/** Apple: the provider `apple`. Without scopes, its default. */
export function Apple(options?: Scopes<AppleScope>): AuthProvider<'apple'> {
  return provider('apple', options)
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

/** Auth0: the provider `auth0`. Without scopes, its default. */
export function Auth0(options?: Scopes<Auth0Scope>): AuthProvider<'auth0'> {
  return provider('auth0', options)
}

/** BambooHR: the provider `bamboohr`. Without scopes, its default. */
export function BambooHR(options?: Scopes<BambooHRScope>): AuthProvider<'bamboohr'> {
  return provider('bamboohr', options)
}

/** Bitbucket: the provider `bitbucket`. Without scopes, its default. */
export function Bitbucket(options?: Scopes<BitbucketScope>): AuthProvider<'bitbucket'> {
  return provider('bitbucket', options)
}

/** Box: the provider `box`. Without scopes, its default. */
export function Box(options?: Scopes<BoxScope>): AuthProvider<'box'> {
  return provider('box', options)
}

/** Cal.com: the provider `calcom`. Without scopes, its default. */
export function Calcom(options?: Scopes<CalcomScope>): AuthProvider<'calcom'> {
  return provider('calcom', options)
}

/** Calendly: the provider `calendly`. Without scopes, its default. */
export function Calendly(options?: Scopes<CalendlyScope>): AuthProvider<'calendly'> {
  return provider('calendly', options)
}

/** Canva: the provider `canva`. Without scopes, its default. */
export function Canva(options?: Scopes<CanvaScope>): AuthProvider<'canva'> {
  return provider('canva', options)
}

/** ClickUp: the provider `clickup`. Without scopes, its default. */
export function ClickUp(options?: Scopes<never>): AuthProvider<'clickup'> {
  return provider('clickup', options)
}

/** Databricks: the provider `databricks`. Without scopes, its default. */
export function Databricks(options?: Scopes<DatabricksScope>): AuthProvider<'databricks'> {
  return provider('databricks', options)
}

/** DigitalOcean: the provider `digitalocean`. Without scopes, its default. */
export function DigitalOcean(options?: Scopes<DigitalOceanScope>): AuthProvider<'digitalocean'> {
  return provider('digitalocean', options)
}

/** Discord: the provider `discord`. Without scopes, its default. */
export function Discord(options?: Scopes<DiscordScope>): AuthProvider<'discord'> {
  return provider('discord', options)
}

/** DocuSign: the provider `docusign`. Without scopes, its default. */
export function DocuSign(options?: Scopes<DocuSignScope>): AuthProvider<'docusign'> {
  return provider('docusign', options)
}

/** Dropbox: the provider `dropbox`. Without scopes, its default. */
export function Dropbox(options?: Scopes<DropboxScope>): AuthProvider<'dropbox'> {
  return provider('dropbox', options)
}

/** Facebook: the provider `facebook`. Without scopes, its default. */
export function Facebook(options?: Scopes<FacebookScope>): AuthProvider<'facebook'> {
  return provider('facebook', options)
}

/** Figma: the provider `figma`. Without scopes, its default. */
export function Figma(options?: Scopes<FigmaScope>): AuthProvider<'figma'> {
  return provider('figma', options)
}

/** Garmin: the provider `garmin`. Without scopes, its default. */
export function Garmin(options?: Scopes<never>): AuthProvider<'garmin'> {
  return provider('garmin', options)
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

/** Gusto: the provider `gusto`. Without scopes, its default. */
export function Gusto(options?: Scopes<never>): AuthProvider<'gusto'> {
  return provider('gusto', options)
}

/** Heroku: the provider `heroku`. Without scopes, its default. */
export function Heroku(options?: Scopes<HerokuScope>): AuthProvider<'heroku'> {
  return provider('heroku', options)
}

/** HubSpot: the provider `hubspot`. Without scopes, its default. */
export function HubSpot(options?: Scopes<HubSpotScope>): AuthProvider<'hubspot'> {
  return provider('hubspot', options)
}

/** Instagram: the provider `instagram`. Without scopes, its default. */
export function Instagram(options?: Scopes<InstagramScope>): AuthProvider<'instagram'> {
  return provider('instagram', options)
}

/** Intercom: the provider `intercom`. Without scopes, its default. */
export function Intercom(options?: Scopes<never>): AuthProvider<'intercom'> {
  return provider('intercom', options)
}

/** Linear: the provider `linear`. Without scopes, its default. */
export function Linear(options?: Scopes<LinearScope>): AuthProvider<'linear'> {
  return provider('linear', options)
}

/** LinkedIn: the provider `linkedin`. Without scopes, its default. */
export function LinkedIn(options?: Scopes<LinkedInScope>): AuthProvider<'linkedin'> {
  return provider('linkedin', options)
}

/** Mailchimp: the provider `mailchimp`. Without scopes, its default. */
export function Mailchimp(options?: Scopes<never>): AuthProvider<'mailchimp'> {
  return provider('mailchimp', options)
}

/** Microsoft Power BI: the provider `microsoft-powerbi`. Without scopes, its default. */
export function MicrosoftPowerBI(options?: Scopes<MicrosoftPowerBIScope>): AuthProvider<'microsoft-powerbi'> {
  return provider('microsoft-powerbi', options)
}

/** Microsoft: the provider `microsoft`. Without scopes, its default. */
export function Microsoft(options?: Scopes<MicrosoftScope>): AuthProvider<'microsoft'> {
  return provider('microsoft', options)
}

/** Miro: the provider `miro`. Without scopes, its default. */
export function Miro(options?: Scopes<MiroScope>): AuthProvider<'miro'> {
  return provider('miro', options)
}

/** monday.com: the provider `monday`. Without scopes, its default. */
export function mondaycom(options?: Scopes<mondaycomScope>): AuthProvider<'monday'> {
  return provider('monday', options)
}

/** Notion: the provider `notion`. Without scopes, its default. */
export function Notion(options?: Scopes<never>): AuthProvider<'notion'> {
  return provider('notion', options)
}

/** Okta: the provider `okta`. Without scopes, its default. */
export function Okta(options?: Scopes<OktaScope>): AuthProvider<'okta'> {
  return provider('okta', options)
}

/** PagerDuty: the provider `pagerduty`. Without scopes, its default. */
export function PagerDuty(options?: Scopes<PagerDutyScope>): AuthProvider<'pagerduty'> {
  return provider('pagerduty', options)
}

/** PayPal: the provider `paypal`. Without scopes, its default. */
export function PayPal(options?: Scopes<PayPalScope>): AuthProvider<'paypal'> {
  return provider('paypal', options)
}

/** Pinterest: the provider `pinterest`. Without scopes, its default. */
export function Pinterest(options?: Scopes<PinterestScope>): AuthProvider<'pinterest'> {
  return provider('pinterest', options)
}

/** Pipedrive: the provider `pipedrive`. Without scopes, its default. */
export function Pipedrive(options?: Scopes<PipedriveScope>): AuthProvider<'pipedrive'> {
  return provider('pipedrive', options)
}

/** QuickBooks: the provider `quickbooks`. Without scopes, its default. */
export function QuickBooks(options?: Scopes<QuickBooksScope>): AuthProvider<'quickbooks'> {
  return provider('quickbooks', options)
}

/** Reddit: the provider `reddit`. Without scopes, its default. */
export function Reddit(options?: Scopes<RedditScope>): AuthProvider<'reddit'> {
  return provider('reddit', options)
}

/** RingCentral: the provider `ringcentral`. Without scopes, its default. */
export function RingCentral(options?: Scopes<RingCentralScope>): AuthProvider<'ringcentral'> {
  return provider('ringcentral', options)
}

/** Salesforce: the provider `salesforce`. Without scopes, its default. */
export function Salesforce(options?: Scopes<SalesforceScope>): AuthProvider<'salesforce'> {
  return provider('salesforce', options)
}

/** Sentry: the provider `sentry`. Without scopes, its default. */
export function Sentry(options?: Scopes<SentryScope>): AuthProvider<'sentry'> {
  return provider('sentry', options)
}

/** ServiceNow: the provider `servicenow`. Without scopes, its default. */
export function ServiceNow(options?: Scopes<ServiceNowScope>): AuthProvider<'servicenow'> {
  return provider('servicenow', options)
}

/** Shopify: the provider `shopify`. Without scopes, its default. */
export function Shopify(options?: Scopes<ShopifyScope>): AuthProvider<'shopify'> {
  return provider('shopify', options)
}

/** Slack: the provider `slack`. Without scopes, its default. */
export function Slack(options?: Scopes<SlackScope>): AuthProvider<'slack'> {
  return provider('slack', options)
}

/** Snapchat: the provider `snapchat`. Without scopes, its default. */
export function Snapchat(options?: Scopes<SnapchatScope>): AuthProvider<'snapchat'> {
  return provider('snapchat', options)
}

/** Snowflake: the provider `snowflake`. Without scopes, its default. */
export function Snowflake(options?: Scopes<SnowflakeScope>): AuthProvider<'snowflake'> {
  return provider('snowflake', options)
}

/** Spotify: the provider `spotify`. Without scopes, its default. */
export function Spotify(options?: Scopes<SpotifyScope>): AuthProvider<'spotify'> {
  return provider('spotify', options)
}

/** Square: the provider `square`. Without scopes, its default. */
export function Square(options?: Scopes<SquareScope>): AuthProvider<'square'> {
  return provider('square', options)
}

/** Strava: the provider `strava`. Without scopes, its default. */
export function Strava(options?: Scopes<StravaScope>): AuthProvider<'strava'> {
  return provider('strava', options)
}

/** Stripe: the provider `stripe`. Without scopes, its default. */
export function Stripe(options?: Scopes<StripeScope>): AuthProvider<'stripe'> {
  return provider('stripe', options)
}

/** SurveyMonkey: the provider `surveymonkey`. Without scopes, its default. */
export function SurveyMonkey(options?: Scopes<SurveyMonkeyScope>): AuthProvider<'surveymonkey'> {
  return provider('surveymonkey', options)
}

/** TikTok: the provider `tiktok`. Without scopes, its default. */
export function TikTok(options?: Scopes<TikTokScope>): AuthProvider<'tiktok'> {
  return provider('tiktok', options)
}

/** Todoist: the provider `todoist`. Without scopes, its default. */
export function Todoist(options?: Scopes<TodoistScope>): AuthProvider<'todoist'> {
  return provider('todoist', options)
}

/** Twitch: the provider `twitch`. Without scopes, its default. */
export function Twitch(options?: Scopes<TwitchScope>): AuthProvider<'twitch'> {
  return provider('twitch', options)
}

/** Typeform: the provider `typeform`. Without scopes, its default. */
export function Typeform(options?: Scopes<TypeformScope>): AuthProvider<'typeform'> {
  return provider('typeform', options)
}

/** Vercel: the provider `vercel`. Without scopes, its default. */
export function Vercel(options?: Scopes<VercelScope>): AuthProvider<'vercel'> {
  return provider('vercel', options)
}

/** Webex: the provider `webex`. Without scopes, its default. */
export function Webex(options?: Scopes<WebexScope>): AuthProvider<'webex'> {
  return provider('webex', options)
}

/** WordPress.com: the provider `wordpress`. Without scopes, its default. */
export function WordPresscom(options?: Scopes<WordPresscomScope>): AuthProvider<'wordpress'> {
  return provider('wordpress', options)
}

/** Workday: the provider `workday`. Without scopes, its default. */
export function Workday(options?: Scopes<never>): AuthProvider<'workday'> {
  return provider('workday', options)
}

/** X: the provider `x`. Without scopes, its default. */
export function X(options?: Scopes<XScope>): AuthProvider<'x'> {
  return provider('x', options)
}

/** Xero: the provider `xero`. Without scopes, its default. */
export function Xero(options?: Scopes<XeroScope>): AuthProvider<'xero'> {
  return provider('xero', options)
}

/** Zendesk: the provider `zendesk`. Without scopes, its default. */
export function Zendesk(options?: Scopes<ZendeskScope>): AuthProvider<'zendesk'> {
  return provider('zendesk', options)
}

/** Zoho: the provider `zoho`. Without scopes, its default. */
export function Zoho(options?: Scopes<ZohoScope>): AuthProvider<'zoho'> {
  return provider('zoho', options)
}

/** Zoom: the provider `zoom`. Without scopes, its default. */
export function Zoom(options?: Scopes<ZoomScope>): AuthProvider<'zoom'> {
  return provider('zoom', options)
}
