import { sql } from 'drizzle-orm'
import type { Role } from '../domain/api-key.ts'
import type { Authorization, FailureReason, Step } from '../domain/authorization.ts'
import type { NeedsAuthorizationReason } from '../domain/connection.ts'
import type { BegunRun } from '../domain/execution.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { Provider } from '../providers/provider.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import { describeTrailTables } from './audit-schema.ts'
import { describeConnectionTools } from './connection-tools-schema.ts'
import { describeFileTables } from './file-schema.ts'
import { describeMcpTables } from './mcp-schema.ts'
import { describePageTables } from './page-schema.ts'
import type { PartTables } from './part-types.ts'
import type { SchemaKit } from './schema-kit.ts'
import { describeSharedConnections } from './shared-connections-schema.ts'
import { describeToolTables } from './tool-schema.ts'

/** The tables of the core. */
export type CoreTables = ReturnType<typeof describeTables>

export type Tables = CoreTables & PartTables

/**
 * The tables of the core, which both databases have, made by the functions of one database (`kit`). Times are epoch seconds. Every
 * secret is stored as an envelope (`Sealed`) or as a hash.
 */
export function describeTables(kit: SchemaKit) {
  const { table, text, integer, whole, flag, json, index, uniqueIndex, primaryKey } = kit
  const { uniqueName, isTrue, ownerColumns } = kit
  const sealed = (name: string) => text(name).$type<Sealed>()

  const facts = table('facts', {
    name: text('name').primaryKey(),
    value: text('value').notNull(),
  })

  const projects = table('projects', {
    id: text('id').primaryKey(),
    name: text('name').notNull().unique(uniqueName('projects_name')),
    createdAt: whole('created_at').notNull(),
    /** Raised by each write of the project's policies, and compared before a token is released. */
    policiesVersion: whole('policies_version').notNull().default(0),
  })

  const ofProject = () =>
    text('project_id')
      .notNull()
      .references(() => projects.id)

  const apiKeys = table(
    'api_keys',
    {
      id: text('id').primaryKey(),
      projectId: ofProject(),
      name: text('name').notNull(),
      role: text('role').$type<Role>().notNull(),
      hash: text('hash').notNull().unique(uniqueName('api_keys_hash')),
      mac: text('mac'),
      createdAt: whole('created_at').notNull(),
      expiresAt: whole('expires_at'),
      rateLimit: integer('rate_limit'),
      /** The only user that the key may act for. */
      userId: text('user_id'),
      /** Of approvers: the groups for which the key decides. */
      groups: json<readonly string[]>('approver_groups'),
      /** The operator who made the key, by the subject at the issuer of the console. */
      createdBy: text('created_by'),
      replacedBy: text('replaced_by'),
      lastUsedAt: whole('last_used_at'),
      revokedAt: whole('revoked_at'),
    },
    (t) => [
      index('api_keys_of_project').on(t.projectId, t.id),
      index('api_keys_of_user').on(t.projectId, t.userId, t.id),
    ],
  )

  const providers = table(
    'providers',
    {
      uid: text('uid').primaryKey(),
      projectId: ofProject(),
      id: text('id').notNull(),
      name: text('name').notNull(),
      wellKnownId: text('well_known_id'),
      description: text('description'),
      externalId: text('external_id'),
      status: text('status').$type<'active' | 'inactive'>().notNull(),
      source: text('source').$type<ProviderEntry['source']>().notNull(),
      provider: json<Provider>('provider').notNull(),
      clientId: text('client_id'),
      clientSecret: sealed('client_secret'),
      mac: text('mac'),
      createdAt: whole('created_at').notNull(),
      updatedAt: whole('updated_at').notNull(),
    },
    (t) => [
      uniqueIndex('providers_id').on(t.projectId, t.id),
      index('providers_project').on(t.projectId, t.uid),
    ],
  )

  const authorizations = table(
    'authorizations',
    {
      id: text('id').primaryKey(),
      projectId: ofProject(),
      userId: text('user_id').notNull(),
      status: text('status').$type<Authorization['status']>().notNull(),
      /**
       * Equal for authorizations with the same user, providers, scopes and account. Cleared when the authorization is
       * settled, so that the unique index has unsettled authorizations only.
       */
      shareKey: text('share_key').unique(uniqueName('authorizations_share_key')),
      steps: json<readonly Step[]>('steps').notNull(),
      step: integer('step').notNull(),
      requester: text('requester'),
      account: text('account'),
      nextUri: text('next_uri'),
      connectSessionId: text('connect_session_id'),
      /** The user's name to show to people, as the caller gave it. */
      userDisplay: text('user_display'),
      lang: text('lang'),
      stateHash: text('state_hash').unique(uniqueName('authorizations_state_hash')),
      browserHash: text('browser_hash'),
      secrets: sealed('secrets'),
      startedAt: whole('started_at'),
      flowHash: text('flow_hash').unique(uniqueName('authorizations_flow_hash')),
      response: sealed('response'),
      /** How often typed credentials were checked. Null: never. */
      credentialTries: whole('credential_tries'),
      deadline: whole('deadline'),
      /** When the provider is next asked for the tokens of a device code, and how many seconds lie between two requests. */
      pollAt: whole('poll_at'),
      pollSeconds: integer('poll_seconds'),
      /** The right to send that request. */
      leaseOwner: text('lease_owner'),
      leaseUntil: whole('lease_until'),
      /** The process that redeems the code: see `processes`. */
      claimedBy: text('claimed_by'),
      reason: text('reason').$type<FailureReason>(),
      message: text('message'),
      createdAt: whole('created_at').notNull(),
      expiresAt: whole('expires_at').notNull(),
      completedAt: whole('completed_at'),
      /** When the link was first opened. Written in batches, so a crash may lose it. */
      openedAt: whole('opened_at'),
      /** What happened, for `explain`: lines of `domain/trail.ts`. */
      trail: text('trail'),
      ...ownerColumns(),
    },
    (t) => [
      // the user comes first: else SQLite would use this index for the lists of a project, and sort
      index('authorizations_of_user').on(t.userId, t.projectId, t.id),
      index('authorizations_expiry').on(t.expiresAt),
      index('authorizations_claimed').on(t.claimedBy).where(sql`status = 'exchanging'`),
      index('authorizations_held').on(t.deadline).where(sql`response is not null`),
      index('authorizations_poll').on(t.pollAt).where(sql`poll_at is not null`),
      index('authorizations_live').on(t.projectId, t.userId, t.expiresAt).where(sql`share_key is not null`),
      index('authorizations_pending').on(t.projectId, t.expiresAt).where(sql`share_key is not null`),
      index('authorizations_ended').on(t.projectId, t.expiresAt).where(sql`completed_at is not null`),
      index('authorizations_of_project').on(t.projectId, t.id),
      index('authorizations_of_status').on(t.projectId, t.status, t.id),
    ],
  )

  /**
   * The processes that may hold claims. `beatAt` is in milliseconds by the database's clock. A process without heartbeats
   * counts as dead, and its row is deleted.
   */
  const processes = table('processes', {
    id: text('id').primaryKey(),
    beatAt: whole('beat_at').notNull(),
  })

  /** The server processes that run, each with the ids of its master keys, newest first. `beatAt` as in `processes`. */
  const servers = table('servers', {
    id: text('id').primaryKey(),
    name: text('name').notNull(),
    keyIds: json<readonly [string, ...string[]]>('key_ids').notNull(),
    beatAt: whole('beat_at').notNull(),
  })

  const connections = table(
    'connections',
    {
      id: text('id').primaryKey(),
      projectId: ofProject(),
      providerUid: text('provider_uid')
        .notNull()
        .references(() => providers.uid, { onDelete: 'cascade' }),
      userId: text('user_id').notNull(),
      accountId: text('account_id').notNull(),
      accountName: text('account_name').notNull(),
      scopes: json<readonly string[]>('scopes').notNull(),
      status: text('status').$type<'active' | 'needs_authorization'>().notNull(),
      statusReason: text('status_reason').$type<NeedsAuthorizationReason>(),
      tokenType: text('token_type').notNull(),
      receivedAt: whole('received_at').notNull(),
      expiresAt: whole('expires_at'),
      refreshExpiresAt: whole('refresh_expires_at'),
      refreshAt: whole('refresh_at'),
      access: sealed('access').notNull(),
      refresh: sealed('refresh'),
      providerIdentity: text('provider_identity').notNull(),
      isDefault: flag('is_default').notNull(),
      generation: integer('generation').notNull(),
      leaseOwner: text('lease_owner'),
      leaseUntil: whole('lease_until'),
      /** Raised before a refresh token is sent, and lowered again when the outcome of the request is known. */
      unansweredRefreshes: integer('unanswered_refreshes').notNull().default(0),
      unansweredSince: whole('unanswered_since'),
      createdAt: whole('created_at').notNull(),
      consentedAt: whole('consented_at').notNull().default(0),
      withheldScopes: json<Readonly<Record<string, number>>>('withheld_scopes').notNull().default(sql`'{}'`),
      lastUsedAt: whole('last_used_at'),
      /** When the API first refused the typed credential; null once it takes it again. */
      refusedAt: whole('refused_at'),
      /** The number of its last event that a feature reports. */
      eventSeq: whole('event_seq'),
      /** The failed refreshes since the last good one, and why a consent is needed: lines of `domain/trail.ts`. */
      trail: text('trail'),
      ...ownerColumns(),
    },
    (t) => [
      uniqueIndex('connections_account').on(t.projectId, t.providerUid, t.userId, t.accountId),
      uniqueIndex('connections_default').on(t.projectId, t.providerUid, t.userId).where(isTrue('is_default')),
      // an id begins with its time, so each index has its rows oldest first
      index('connections_of_project').on(t.projectId, t.id),
      index('connections_of_user').on(t.projectId, t.userId, t.id),
      index('connections_of_status').on(t.projectId, t.status, t.id),
      index('connections_of_provider').on(t.providerUid, t.id),
      index('connections_identity').on(t.providerUid, t.providerIdentity),
      index('connections_refresh_at')
        .on(t.refreshAt)
        .where(sql`status = 'active' and refresh_at is not null`),
      index('connections_expiry').on(t.expiresAt).where(sql`status = 'active' and refresh is not null`),
      index('connections_troubled').on(t.projectId, t.id).where(sql`trail is not null`),
    ],
  )

  /** Idempotency keys, with the answers that repeated requests get. */
  const answers = table(
    'answers',
    {
      /** The hash of one key of one caller. */
      keyHash: text('place').primaryKey(),
      projectId: ofProject(),
      owner: text('owner').notNull(),
      request: text('request').notNull(),
      /** The process that carries out the request (`processes`), while there is no answer. */
      claimedBy: text('claimed_by'),
      /** The run that the process was about to begin, which must not be begun twice. */
      begun: json<BegunRun>('begun'),
      answer: sealed('answer'),
      until: whole('until').notNull(),
    },
    (t) => [index('answers_until').on(t.until)],
  )

  const auditBlocks = table(
    'audit_blocks',
    {
      projectId: text('project_id').notNull(),
      firstSeq: whole('first_seq').notNull(),
      count: integer('count').notNull(),
      at: whole('at').notNull(),
      text: text('text').notNull(),
      previous: text('previous').notNull(),
      hash: text('hash').notNull(),
    },
    (t) => [primaryKey({ columns: [t.projectId, t.firstSeq] })],
  )

  return {
    ...describeToolTables(kit, () => projects.id),
    ...describeMcpTables(kit, () => projects.id),
    ...describeConnectionTools(kit, () => projects.id),
    ...describeSharedConnections(
      kit,
      () => projects.id,
      () => providers.uid,
    ),
    ...describePageTables(kit, () => projects.id),
    ...describeFileTables(kit, () => projects.id),
    ...describeTrailTables(kit),
    facts,
    projects,
    apiKeys,
    providers,
    authorizations,
    processes,
    servers,
    connections,
    answers,
    auditBlocks,
  }
}
