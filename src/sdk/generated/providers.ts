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
  | 'enterprise.groups:read'
  | 'schema.bases:read'
  | 'schema.bases:write'
  | 'user.email:read'
  | 'webhook:manage'
  | 'workspacesAndBases:read'

export type AppleScope = 'email' | 'name'

export type AsanaScope =
  | 'attachments:delete'
  | 'attachments:read'
  | 'attachments:write'
  | 'custom_fields:read'
  | 'custom_fields:write'
  | 'default'
  | 'email'
  | 'goals:read'
  | 'openid'
  | 'portfolios:read'
  | 'portfolios:write'
  | 'profile'
  | 'project_templates:read'
  | 'projects:delete'
  | 'projects:read'
  | 'projects:write'
  | 'stories:read'
  | 'stories:write'
  | 'tags:read'
  | 'tags:write'
  | 'task_templates:read'
  | 'tasks:delete'
  | 'tasks:read'
  | 'tasks:write'
  | 'team_memberships:read'
  | 'teams:read'
  | 'time_tracking_entries:read'
  | 'users:read'
  | 'webhooks:read'
  | 'webhooks:write'
  | 'workspaces:read'

export type AtlassianScope =
  | 'manage:confluence-configuration'
  | 'manage:jira-configuration'
  | 'manage:jira-project'
  | 'manage:jira-webhook'
  | 'offline_access'
  | 'read:account'
  | 'read:confluence-content.all'
  | 'read:confluence-content.summary'
  | 'read:confluence-groups'
  | 'read:confluence-space.summary'
  | 'read:confluence-user'
  | 'read:jira-user'
  | 'read:jira-work'
  | 'read:me'
  | 'read:servicedesk-request'
  | 'search:confluence'
  | 'write:confluence-content'
  | 'write:confluence-file'
  | 'write:confluence-space'
  | 'write:jira-work'
  | 'write:servicedesk-request'

export type AttioScope =
  | 'call_recording:read'
  | 'comment:read'
  | 'comment:read-write'
  | 'list_configuration:read'
  | 'list_configuration:read-write'
  | 'list_entry:read'
  | 'list_entry:read-write'
  | 'meeting:read'
  | 'note:read'
  | 'note:read-write'
  | 'object_configuration:read'
  | 'object_configuration:read-write'
  | 'record_permission:read'
  | 'record_permission:read-write'
  | 'task:read'
  | 'task:read-write'
  | 'user_management:read'
  | 'webhook:read'
  | 'webhook:read-write'

export type Auth0Scope = 'email' | 'offline_access' | 'openid' | 'profile'

export type BambooHRScope = 'company:info' | 'email' | 'employee' | 'offline_access' | 'openid' | 'webhooks'

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
  | 'base_explorer'
  | 'base_upload'
  | 'item_download'
  | 'item_upload'
  | 'manage_app_users'
  | 'manage_groups'
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
  | 'asset:delete'
  | 'asset:read'
  | 'asset:write'
  | 'brandtemplate:content:read'
  | 'brandtemplate:meta:read'
  | 'comment:read'
  | 'comment:write'
  | 'design:content:read'
  | 'design:content:write'
  | 'design:meta:read'
  | 'design:permission:read'
  | 'design:permission:write'
  | 'email'
  | 'folder:read'
  | 'folder:write'
  | 'openid'
  | 'profile'
  | 'profile:read'

export type DatabricksScope = 'all-apis' | 'offline_access' | 'sql'

export type DigitalOceanScope = 'read' | 'write'

export type DiscordScope =
  | 'activities.read'
  | 'applications.commands'
  | 'bot'
  | 'connections'
  | 'dm_channels.read'
  | 'email'
  | 'guilds'
  | 'guilds.join'
  | 'guilds.members.read'
  | 'identify'
  | 'messages.read'
  | 'relationships.read'
  | 'webhook.incoming'

export type DocuSignJWTBearerScope = 'impersonation' | 'signature'

export type DocuSignScope =
  | 'account_read'
  | 'aow_manage'
  | 'click.manage'
  | 'click.send'
  | 'dtr.documents.read'
  | 'dtr.rooms.read'
  | 'dtr.rooms.write'
  | 'extended'
  | 'group_read'
  | 'impersonation'
  | 'openid'
  | 'organization_read'
  | 'signature'
  | 'user_read'
  | 'user_write'

export type DropboxScope =
  | 'account_info.read'
  | 'account_info.write'
  | 'contacts.read'
  | 'contacts.write'
  | 'email'
  | 'files.content.read'
  | 'files.content.write'
  | 'files.metadata.read'
  | 'files.metadata.write'
  | 'members.read'
  | 'openid'
  | 'profile'
  | 'sharing.read'
  | 'sharing.write'
  | 'team_info.read'

export type FacebookScope =
  | 'ads_management'
  | 'ads_read'
  | 'business_management'
  | 'catalog_management'
  | 'email'
  | 'instagram_basic'
  | 'instagram_content_publish'
  | 'instagram_manage_comments'
  | 'instagram_manage_insights'
  | 'instagram_manage_messages'
  | 'leads_retrieval'
  | 'pages_manage_ads'
  | 'pages_manage_engagement'
  | 'pages_manage_metadata'
  | 'pages_manage_posts'
  | 'pages_messaging'
  | 'pages_read_engagement'
  | 'pages_read_user_content'
  | 'pages_show_list'
  | 'public_profile'
  | 'read_insights'
  | 'user_birthday'
  | 'user_photos'
  | 'user_posts'
  | 'user_videos'
  | 'whatsapp_business_management'
  | 'whatsapp_business_messaging'

export type FigmaScope =
  | 'current_user:read'
  | 'file_comments:read'
  | 'file_comments:write'
  | 'file_content:read'
  | 'file_dev_resources:write'
  | 'file_metadata:read'
  | 'file_versions:read'
  | 'files:read'
  | 'projects:read'
  | 'webhooks:read'
  | 'webhooks:write'

export type GitHubAppInstallationScope =
  | 'actions:read'
  | 'actions:write'
  | 'administration:read'
  | 'administration:write'
  | 'checks:read'
  | 'checks:write'
  | 'contents:read'
  | 'contents:write'
  | 'deployments:read'
  | 'deployments:write'
  | 'discussions:read'
  | 'discussions:write'
  | 'issues:read'
  | 'issues:write'
  | 'members:read'
  | 'members:write'
  | 'packages:read'
  | 'packages:write'
  | 'pages:read'
  | 'pages:write'
  | 'pull_requests:read'
  | 'pull_requests:write'
  | 'repository_hooks:read'
  | 'repository_hooks:write'
  | 'repository_projects:read'
  | 'repository_projects:write'
  | 'secrets:read'
  | 'secrets:write'
  | 'statuses:read'
  | 'statuses:write'
  | 'workflows:write'

export type GitHubDeviceCodeScope =
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
  | 'delete:packages'
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
  | 'delete:packages'
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
  | 'admin_mode'
  | 'api'
  | 'email'
  | 'openid'
  | 'profile'
  | 'read_api'
  | 'read_registry'
  | 'read_repository'
  | 'read_user'
  | 'sudo'
  | 'write_registry'
  | 'write_repository'

export type GoogleDeviceCodeScope =
  | 'email'
  | 'https://mail.google.com/'
  | 'https://www.googleapis.com/auth/admin.directory.group'
  | 'https://www.googleapis.com/auth/admin.directory.group.readonly'
  | 'https://www.googleapis.com/auth/admin.directory.user'
  | 'https://www.googleapis.com/auth/admin.directory.user.readonly'
  | 'https://www.googleapis.com/auth/adwords'
  | 'https://www.googleapis.com/auth/analytics.readonly'
  | 'https://www.googleapis.com/auth/bigquery'
  | 'https://www.googleapis.com/auth/bigquery.readonly'
  | 'https://www.googleapis.com/auth/calendar'
  | 'https://www.googleapis.com/auth/calendar.calendarlist.readonly'
  | 'https://www.googleapis.com/auth/calendar.events'
  | 'https://www.googleapis.com/auth/calendar.events.readonly'
  | 'https://www.googleapis.com/auth/calendar.freebusy'
  | 'https://www.googleapis.com/auth/calendar.readonly'
  | 'https://www.googleapis.com/auth/chat.messages'
  | 'https://www.googleapis.com/auth/chat.messages.create'
  | 'https://www.googleapis.com/auth/chat.messages.readonly'
  | 'https://www.googleapis.com/auth/classroom.courses'
  | 'https://www.googleapis.com/auth/classroom.courses.readonly'
  | 'https://www.googleapis.com/auth/classroom.rosters.readonly'
  | 'https://www.googleapis.com/auth/cloud-platform'
  | 'https://www.googleapis.com/auth/cloud-platform.read-only'
  | 'https://www.googleapis.com/auth/contacts'
  | 'https://www.googleapis.com/auth/contacts.readonly'
  | 'https://www.googleapis.com/auth/devstorage.full_control'
  | 'https://www.googleapis.com/auth/devstorage.read_only'
  | 'https://www.googleapis.com/auth/devstorage.read_write'
  | 'https://www.googleapis.com/auth/directory.readonly'
  | 'https://www.googleapis.com/auth/documents'
  | 'https://www.googleapis.com/auth/documents.readonly'
  | 'https://www.googleapis.com/auth/drive'
  | 'https://www.googleapis.com/auth/drive.appdata'
  | 'https://www.googleapis.com/auth/drive.file'
  | 'https://www.googleapis.com/auth/drive.metadata'
  | 'https://www.googleapis.com/auth/drive.metadata.readonly'
  | 'https://www.googleapis.com/auth/drive.readonly'
  | 'https://www.googleapis.com/auth/forms.body'
  | 'https://www.googleapis.com/auth/forms.body.readonly'
  | 'https://www.googleapis.com/auth/forms.responses.readonly'
  | 'https://www.googleapis.com/auth/gmail.compose'
  | 'https://www.googleapis.com/auth/gmail.labels'
  | 'https://www.googleapis.com/auth/gmail.metadata'
  | 'https://www.googleapis.com/auth/gmail.modify'
  | 'https://www.googleapis.com/auth/gmail.readonly'
  | 'https://www.googleapis.com/auth/gmail.send'
  | 'https://www.googleapis.com/auth/gmail.settings.basic'
  | 'https://www.googleapis.com/auth/meetings.space.readonly'
  | 'https://www.googleapis.com/auth/presentations'
  | 'https://www.googleapis.com/auth/presentations.readonly'
  | 'https://www.googleapis.com/auth/spreadsheets'
  | 'https://www.googleapis.com/auth/spreadsheets.readonly'
  | 'https://www.googleapis.com/auth/tasks'
  | 'https://www.googleapis.com/auth/tasks.readonly'
  | 'https://www.googleapis.com/auth/user.birthday.read'
  | 'https://www.googleapis.com/auth/user.emails.read'
  | 'https://www.googleapis.com/auth/userinfo.email'
  | 'https://www.googleapis.com/auth/userinfo.profile'
  | 'https://www.googleapis.com/auth/youtube'
  | 'https://www.googleapis.com/auth/youtube.force-ssl'
  | 'https://www.googleapis.com/auth/youtube.readonly'
  | 'https://www.googleapis.com/auth/youtube.upload'
  | 'https://www.googleapis.com/auth/yt-analytics.readonly'
  | 'openid'
  | 'profile'

export type GoogleScope =
  | 'email'
  | 'https://mail.google.com/'
  | 'https://www.googleapis.com/auth/admin.directory.group'
  | 'https://www.googleapis.com/auth/admin.directory.group.readonly'
  | 'https://www.googleapis.com/auth/admin.directory.user'
  | 'https://www.googleapis.com/auth/admin.directory.user.readonly'
  | 'https://www.googleapis.com/auth/adwords'
  | 'https://www.googleapis.com/auth/analytics.readonly'
  | 'https://www.googleapis.com/auth/bigquery'
  | 'https://www.googleapis.com/auth/bigquery.readonly'
  | 'https://www.googleapis.com/auth/calendar'
  | 'https://www.googleapis.com/auth/calendar.calendarlist'
  | 'https://www.googleapis.com/auth/calendar.calendarlist.readonly'
  | 'https://www.googleapis.com/auth/calendar.events'
  | 'https://www.googleapis.com/auth/calendar.events.readonly'
  | 'https://www.googleapis.com/auth/calendar.freebusy'
  | 'https://www.googleapis.com/auth/calendar.readonly'
  | 'https://www.googleapis.com/auth/chat.messages'
  | 'https://www.googleapis.com/auth/chat.messages.create'
  | 'https://www.googleapis.com/auth/chat.messages.readonly'
  | 'https://www.googleapis.com/auth/classroom.courses'
  | 'https://www.googleapis.com/auth/classroom.courses.readonly'
  | 'https://www.googleapis.com/auth/classroom.rosters.readonly'
  | 'https://www.googleapis.com/auth/cloud-platform'
  | 'https://www.googleapis.com/auth/cloud-platform.read-only'
  | 'https://www.googleapis.com/auth/contacts'
  | 'https://www.googleapis.com/auth/contacts.readonly'
  | 'https://www.googleapis.com/auth/devstorage.full_control'
  | 'https://www.googleapis.com/auth/devstorage.read_only'
  | 'https://www.googleapis.com/auth/devstorage.read_write'
  | 'https://www.googleapis.com/auth/directory.readonly'
  | 'https://www.googleapis.com/auth/documents'
  | 'https://www.googleapis.com/auth/documents.readonly'
  | 'https://www.googleapis.com/auth/drive'
  | 'https://www.googleapis.com/auth/drive.appdata'
  | 'https://www.googleapis.com/auth/drive.file'
  | 'https://www.googleapis.com/auth/drive.metadata'
  | 'https://www.googleapis.com/auth/drive.metadata.readonly'
  | 'https://www.googleapis.com/auth/drive.readonly'
  | 'https://www.googleapis.com/auth/forms.body'
  | 'https://www.googleapis.com/auth/forms.body.readonly'
  | 'https://www.googleapis.com/auth/forms.responses.readonly'
  | 'https://www.googleapis.com/auth/gmail.compose'
  | 'https://www.googleapis.com/auth/gmail.labels'
  | 'https://www.googleapis.com/auth/gmail.metadata'
  | 'https://www.googleapis.com/auth/gmail.modify'
  | 'https://www.googleapis.com/auth/gmail.readonly'
  | 'https://www.googleapis.com/auth/gmail.send'
  | 'https://www.googleapis.com/auth/gmail.settings.basic'
  | 'https://www.googleapis.com/auth/meetings.space.readonly'
  | 'https://www.googleapis.com/auth/presentations'
  | 'https://www.googleapis.com/auth/presentations.readonly'
  | 'https://www.googleapis.com/auth/spreadsheets'
  | 'https://www.googleapis.com/auth/spreadsheets.readonly'
  | 'https://www.googleapis.com/auth/tasks'
  | 'https://www.googleapis.com/auth/tasks.readonly'
  | 'https://www.googleapis.com/auth/user.birthday.read'
  | 'https://www.googleapis.com/auth/user.emails.read'
  | 'https://www.googleapis.com/auth/userinfo.email'
  | 'https://www.googleapis.com/auth/userinfo.profile'
  | 'https://www.googleapis.com/auth/youtube'
  | 'https://www.googleapis.com/auth/youtube.force-ssl'
  | 'https://www.googleapis.com/auth/youtube.readonly'
  | 'https://www.googleapis.com/auth/youtube.upload'
  | 'https://www.googleapis.com/auth/yt-analytics.readonly'
  | 'openid'
  | 'profile'

export type HerokuScope = 'global' | 'identity' | 'read' | 'read-protected' | 'write' | 'write-protected'

export type HubSpotScope =
  | 'automation'
  | 'business-intelligence'
  | 'content'
  | 'conversations.read'
  | 'conversations.write'
  | 'crm.export'
  | 'crm.lists.read'
  | 'crm.lists.write'
  | 'crm.objects.companies.read'
  | 'crm.objects.companies.write'
  | 'crm.objects.contacts.read'
  | 'crm.objects.contacts.write'
  | 'crm.objects.custom.read'
  | 'crm.objects.custom.write'
  | 'crm.objects.deals.read'
  | 'crm.objects.deals.write'
  | 'crm.objects.invoices.read'
  | 'crm.objects.leads.read'
  | 'crm.objects.leads.write'
  | 'crm.objects.marketing_events.read'
  | 'crm.objects.marketing_events.write'
  | 'crm.objects.orders.read'
  | 'crm.objects.orders.write'
  | 'crm.objects.owners.read'
  | 'crm.objects.products.read'
  | 'crm.objects.products.write'
  | 'crm.objects.quotes.read'
  | 'crm.objects.quotes.write'
  | 'crm.objects.users.read'
  | 'crm.schemas.companies.read'
  | 'crm.schemas.contacts.read'
  | 'crm.schemas.custom.read'
  | 'crm.schemas.deals.read'
  | 'e-commerce'
  | 'files'
  | 'files.ui_hidden.read'
  | 'forms'
  | 'hubdb'
  | 'marketing-email'
  | 'oauth'
  | 'sales-email-read'
  | 'settings.users.read'
  | 'settings.users.teams.read'
  | 'settings.users.write'
  | 'social'
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
  | 'customer:read'
  | 'customer:write'
  | 'initiative:read'
  | 'initiative:write'
  | 'issues:create'
  | 'read'
  | 'timeSchedule:write'
  | 'write'

export type LinkedInScope =
  | 'email'
  | 'openid'
  | 'profile'
  | 'r_ads'
  | 'r_ads_reporting'
  | 'r_basicprofile'
  | 'r_emailaddress'
  | 'r_liteprofile'
  | 'r_member_social'
  | 'r_organization_admin'
  | 'r_organization_social'
  | 'rw_ads'
  | 'rw_organization_admin'
  | 'w_member_social'
  | 'w_organization_social'

export type MicrosoftPowerBIScope =
  | 'Calendars.Read'
  | 'Calendars.ReadBasic'
  | 'Calendars.ReadWrite'
  | 'Files.Read'
  | 'Files.Read.All'
  | 'Files.ReadWrite'
  | 'Files.ReadWrite.All'
  | 'Mail.Read'
  | 'Mail.ReadBasic'
  | 'Mail.ReadWrite'
  | 'https://analysis.windows.net/powerbi/api/Dashboard.Read.All'
  | 'https://analysis.windows.net/powerbi/api/Dataset.Read.All'
  | 'https://analysis.windows.net/powerbi/api/Dataset.ReadWrite.All'
  | 'https://analysis.windows.net/powerbi/api/Report.Read.All'
  | 'https://analysis.windows.net/powerbi/api/Workspace.Read.All'
  | 'offline_access'

export type MicrosoftScope =
  | 'AuditLog.Read.All'
  | 'Calendars.Read'
  | 'Calendars.Read.Shared'
  | 'Calendars.ReadBasic'
  | 'Calendars.ReadWrite'
  | 'Calendars.ReadWrite.Shared'
  | 'Channel.ReadBasic.All'
  | 'ChannelMessage.Read.All'
  | 'ChannelMessage.Send'
  | 'Chat.Create'
  | 'Chat.Read'
  | 'Chat.ReadBasic'
  | 'Chat.ReadWrite'
  | 'ChatMessage.Read'
  | 'ChatMessage.Send'
  | 'Contacts.Read'
  | 'Contacts.ReadWrite'
  | 'Directory.AccessAsUser.All'
  | 'Directory.Read.All'
  | 'Directory.ReadWrite.All'
  | 'Files.Read'
  | 'Files.Read.All'
  | 'Files.ReadWrite'
  | 'Files.ReadWrite.All'
  | 'Files.ReadWrite.AppFolder'
  | 'Group.Read.All'
  | 'Group.ReadWrite.All'
  | 'GroupMember.Read.All'
  | 'Mail.Read'
  | 'Mail.Read.Shared'
  | 'Mail.ReadBasic'
  | 'Mail.ReadWrite'
  | 'Mail.Send'
  | 'MailboxSettings.Read'
  | 'MailboxSettings.ReadWrite'
  | 'Notes.Read'
  | 'Notes.Read.All'
  | 'Notes.ReadWrite'
  | 'Notes.ReadWrite.All'
  | 'OnlineMeetingRecording.Read.All'
  | 'OnlineMeetingTranscript.Read.All'
  | 'OnlineMeetings.Read'
  | 'OnlineMeetings.ReadWrite'
  | 'People.Read'
  | 'Presence.Read'
  | 'Sites.FullControl.All'
  | 'Sites.Read.All'
  | 'Sites.ReadWrite.All'
  | 'Tasks.Read'
  | 'Tasks.ReadWrite'
  | 'Team.ReadBasic.All'
  | 'User.Read'
  | 'User.Read.All'
  | 'User.ReadBasic.All'
  | 'User.ReadWrite'
  | 'User.ReadWrite.All'
  | 'email'
  | 'https://outlook.office.com/IMAP.AccessAsUser.All'
  | 'https://outlook.office.com/POP.AccessAsUser.All'
  | 'https://outlook.office.com/SMTP.Send'
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
  | 'docs:read'
  | 'docs:write'
  | 'me:read'
  | 'notifications:write'
  | 'tags:read'
  | 'teams:read'
  | 'teams:write'
  | 'updates:read'
  | 'updates:write'
  | 'users:read'
  | 'users:write'
  | 'webhooks:read'
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
  | 'goals:full'
  | 'goals:read'
  | 'leads:full'
  | 'leads:read'
  | 'mail:full'
  | 'mail:read'
  | 'products:full'
  | 'products:read'
  | 'projects:full'
  | 'projects:read'
  | 'users:admin'
  | 'users:read'
  | 'webhooks:full'
  | 'webhooks:read'

export type QuickBooksScope =
  | 'address'
  | 'com.intuit.quickbooks.accounting'
  | 'com.intuit.quickbooks.payment'
  | 'com.intuit.quickbooks.payroll'
  | 'com.intuit.quickbooks.payroll.timetracking'
  | 'email'
  | 'openid'
  | 'phone'
  | 'profile'

export type RedditScope =
  | 'account'
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
  | 'wikiread'

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
  | 'address'
  | 'api'
  | 'cdp_query_api'
  | 'chatter_api'
  | 'email'
  | 'full'
  | 'id'
  | 'offline_access'
  | 'openid'
  | 'pardot_api'
  | 'phone'
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
  | 'read_checkouts'
  | 'read_content'
  | 'read_customers'
  | 'read_discounts'
  | 'read_draft_orders'
  | 'read_files'
  | 'read_fulfillments'
  | 'read_gift_cards'
  | 'read_inventory'
  | 'read_locations'
  | 'read_marketing_events'
  | 'read_metaobjects'
  | 'read_online_store_pages'
  | 'read_orders'
  | 'read_price_rules'
  | 'read_product_listings'
  | 'read_products'
  | 'read_reports'
  | 'read_shopify_payments_disputes'
  | 'read_shopify_payments_payouts'
  | 'read_themes'
  | 'read_translations'
  | 'read_users'
  | 'write_content'
  | 'write_customers'
  | 'write_discounts'
  | 'write_draft_orders'
  | 'write_files'
  | 'write_fulfillments'
  | 'write_gift_cards'
  | 'write_inventory'
  | 'write_locations'
  | 'write_marketing_events'
  | 'write_metaobjects'
  | 'write_online_store_pages'
  | 'write_orders'
  | 'write_price_rules'
  | 'write_products'
  | 'write_themes'
  | 'write_translations'

export type SlackScope =
  | 'app_mentions:read'
  | 'bookmarks:read'
  | 'bookmarks:write'
  | 'calls:read'
  | 'calls:write'
  | 'canvases:read'
  | 'canvases:write'
  | 'channels:history'
  | 'channels:join'
  | 'channels:manage'
  | 'channels:read'
  | 'channels:write'
  | 'chat:write'
  | 'commands'
  | 'dnd:read'
  | 'dnd:write'
  | 'emoji:read'
  | 'files:read'
  | 'files:write'
  | 'groups:history'
  | 'groups:read'
  | 'groups:write'
  | 'identity.avatar'
  | 'identity.basic'
  | 'identity.email'
  | 'identity.team'
  | 'im:history'
  | 'im:read'
  | 'im:write'
  | 'incoming-webhook'
  | 'lists:read'
  | 'lists:write'
  | 'mpim:history'
  | 'mpim:read'
  | 'mpim:write'
  | 'pins:read'
  | 'pins:write'
  | 'reactions:read'
  | 'reactions:write'
  | 'reminders:read'
  | 'reminders:write'
  | 'search:read'
  | 'stars:read'
  | 'stars:write'
  | 'team:read'
  | 'usergroups:read'
  | 'usergroups:write'
  | 'users.profile:read'
  | 'users.profile:write'
  | 'users:read'
  | 'users:read.email'
  | 'users:write'

export type SnapchatScope =
  | 'https://auth.snapchat.com/oauth2/api/user.display_name'
  | 'https://auth.snapchat.com/oauth2/api/user.external_id'
  | 'snapchat-marketing-api'

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
  | 'analytics:read:extensions'
  | 'analytics:read:games'
  | 'bits:read'
  | 'channel:manage:broadcast'
  | 'channel:manage:moderators'
  | 'channel:manage:redemptions'
  | 'channel:manage:schedule'
  | 'channel:moderate'
  | 'channel:read:redemptions'
  | 'channel:read:stream_key'
  | 'channel:read:subscriptions'
  | 'chat:edit'
  | 'chat:read'
  | 'clips:edit'
  | 'moderator:manage:banned_users'
  | 'moderator:manage:chat_messages'
  | 'moderator:read:chatters'
  | 'moderator:read:followers'
  | 'user:edit'
  | 'user:manage:blocked_users'
  | 'user:manage:whispers'
  | 'user:read:blocked_users'
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
  | 'block.read'
  | 'block.write'
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
  | 'mute.read'
  | 'mute.write'
  | 'offline.access'
  | 'tweet.moderate.write'
  | 'tweet.read'
  | 'tweet.write'
  | 'users.email'
  | 'users.read'

export type XeroScope =
  | 'accounting.attachments'
  | 'accounting.attachments.read'
  | 'accounting.contacts'
  | 'accounting.contacts.read'
  | 'accounting.reports.read'
  | 'accounting.settings'
  | 'accounting.settings.read'
  | 'accounting.transactions'
  | 'accounting.transactions.read'
  | 'assets'
  | 'assets.read'
  | 'email'
  | 'files'
  | 'files.read'
  | 'offline_access'
  | 'openid'
  | 'payroll.employees'
  | 'payroll.employees.read'
  | 'payroll.payruns'
  | 'payroll.payruns.read'
  | 'payroll.payslip'
  | 'payroll.payslip.read'
  | 'payroll.timesheets'
  | 'payroll.timesheets.read'
  | 'profile'
  | 'projects'
  | 'projects.read'

export type ZendeskScope =
  | 'any_channel:write'
  | 'auditlogs:read'
  | 'automations:read'
  | 'automations:write'
  | 'hc:read'
  | 'hc:write'
  | 'impersonate'
  | 'macros:read'
  | 'macros:write'
  | 'organizations:read'
  | 'organizations:write'
  | 'read'
  | 'requests:read'
  | 'requests:write'
  | 'tickets:read'
  | 'tickets:write'
  | 'triggers:read'
  | 'triggers:write'
  | 'users:read'
  | 'users:write'
  | 'webhooks:read'
  | 'webhooks:write'
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
  | 'chat_channel:read'
  | 'chat_message:read'
  | 'chat_message:write'
  | 'cloud_recording:read:list_user_recordings'
  | 'cloud_recording:read:meeting_transcript'
  | 'cloud_recording:read:recording'
  | 'contact:read'
  | 'meeting:delete:meeting'
  | 'meeting:read'
  | 'meeting:read:admin'
  | 'meeting:read:list_meetings'
  | 'meeting:read:list_past_participants'
  | 'meeting:read:meeting'
  | 'meeting:read:meeting_summary'
  | 'meeting:read:past_meeting'
  | 'meeting:update:meeting'
  | 'meeting:write'
  | 'meeting:write:admin'
  | 'meeting:write:meeting'
  | 'phone:read'
  | 'recording:read'
  | 'recording:read:admin'
  | 'recording:write'
  | 'team_chat:read:list_user_messages'
  | 'team_chat:write:user_message'
  | 'user:read'
  | 'user:read:admin'
  | 'user:read:email'
  | 'user:read:user'
  | 'user:write'
  | 'user:write:admin'
  | 'webinar:read'
  | 'webinar:read:list_webinars'
  | 'webinar:read:webinar'
  | 'webinar:write'
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
export function Attio(options?: Scopes<AttioScope>): AuthProvider<'attio'> {
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

/** Box (client credentials): the provider `box-client-credentials`. Without scopes, its default. */
export function BoxClientCredentials(options?: Scopes<never>): AuthProvider<'box-client-credentials'> {
  return provider('box-client-credentials', options)
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

/** DocuSign (JWT bearer): the provider `docusign-jwt`. Without scopes, its default. */
export function DocuSignJWTBearer(options?: Scopes<DocuSignJWTBearerScope>): AuthProvider<'docusign-jwt'> {
  return provider('docusign-jwt', options)
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

/** GitHub (App installation): the provider `github-app`. Without scopes, its default. */
export function GitHubAppInstallation(
  options?: Scopes<GitHubAppInstallationScope>,
): AuthProvider<'github-app'> {
  return provider('github-app', options)
}

/** GitHub (device code): the provider `github-device`. Without scopes, its default. */
export function GitHubDeviceCode(options?: Scopes<GitHubDeviceCodeScope>): AuthProvider<'github-device'> {
  return provider('github-device', options)
}

/** GitHub: the provider `github`. Without scopes, its default. */
export function GitHub(options?: Scopes<GitHubScope>): AuthProvider<'github'> {
  return provider('github', options)
}

/** GitLab: the provider `gitlab`. Without scopes, its default. */
export function GitLab(options?: Scopes<GitLabScope>): AuthProvider<'gitlab'> {
  return provider('gitlab', options)
}

/** Google (device code): the provider `google-device`. Without scopes, its default. */
export function GoogleDeviceCode(options?: Scopes<GoogleDeviceCodeScope>): AuthProvider<'google-device'> {
  return provider('google-device', options)
}

/** Google (service account): the provider `google-service-account`. Without scopes, its default. */
export function GoogleServiceAccount(options?: Scopes<never>): AuthProvider<'google-service-account'> {
  return provider('google-service-account', options)
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

/** Salesforce (JWT bearer): the provider `salesforce-jwt`. Without scopes, its default. */
export function SalesforceJWTBearer(options?: Scopes<never>): AuthProvider<'salesforce-jwt'> {
  return provider('salesforce-jwt', options)
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

/** Zoom (whole account): the provider `zoom-account`. Without scopes, its default. */
export function ZoomWholeAccount(options?: Scopes<never>): AuthProvider<'zoom-account'> {
  return provider('zoom-account', options)
}

/** Zoom: the provider `zoom`. Without scopes, its default. */
export function Zoom(options?: Scopes<ZoomScope>): AuthProvider<'zoom'> {
  return provider('zoom', options)
}
