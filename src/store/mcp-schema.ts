import { sql } from 'drizzle-orm'
import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Sealed } from '../domain/sealed.ts'
import type { SchemaKit } from './schema-kit.ts'

/** The part of `describeTables` for `/mcp`: the authorization server for MCP clients, and suspended calls. */
export function describeMcpTables(kit: SchemaKit, projectId: () => AnySQLiteColumn) {
  const { table, text, whole, json, index, primaryKey } = kit
  const ofProject = () => text('project_id').notNull().references(projectId)
  const sealed = (name: string) => text(name).$type<Sealed>()

  /** The records of oidc-provider: clients, grants, codes and refresh tokens, by their model. */
  const mcpRecords = table(
    'mcp_records',
    {
      model: text('model').notNull(),
      /** The hash of the id where that is a secret, such as a code or a refresh token. */
      id: text('id').notNull(),
      payload: sealed('payload').notNull(),
      grantId: text('grant_id'),
      /** Of a session: the identifier by which interactions find it. */
      uid: text('uid'),
      consumedAt: whole('consumed_at'),
      expiresAt: whole('expires_at'),
      /** Of a client that no user has approved yet: the network that registered it. */
      network: text('network'),
    },
    (t) => [
      primaryKey({ columns: [t.model, t.id] }),
      index('mcp_records_network').on(t.network, t.expiresAt, t.id).where(sql`network is not null`),
      index('mcp_records_grant').on(t.grantId).where(sql`grant_id is not null`),
      index('mcp_records_uid').on(t.uid).where(sql`uid is not null`),
      index('mcp_records_expiry').on(t.expiresAt).where(sql`expires_at is not null`),
    ],
  )

  /** Users' approvals of MCP clients: one for each user, client and redirect URI. */
  const mcpConsents = table(
    'mcp_consents',
    {
      id: text('id').primaryKey(),
      projectId: ofProject(),
      userId: text('user_id').notNull(),
      clientId: text('client_id').notNull(),
      redirectUri: text('redirect_uri').notNull(),
      clientName: text('client_name').notNull(),
      scopes: json<readonly string[]>('scopes').notNull(),
      /** The grant of oidc-provider that the approval made. */
      grantId: text('grant_id'),
      /** Who identified the user (`verifierName`). The approval permits nothing once the settings name another. */
      verifier: text('verifier'),
      createdAt: whole('created_at').notNull(),
      lastUsedAt: whole('last_used_at'),
    },
    (t) => [
      kit.uniqueIndex('mcp_consents_identity').on(t.projectId, t.userId, t.clientId, t.redirectUri),
      index('mcp_consents_grant').on(t.grantId).where(sql`grant_id is not null`),
      index('mcp_consents_of_project').on(t.projectId, t.id),
      index('mcp_consents_of_user').on(t.projectId, t.userId, t.id),
      // no `coalesce`: drizzle-kit would split the index at its comma
      index('mcp_consents_last_use').on(
        sql`(case when last_used_at is null then created_at else last_used_at end)`,
      ),
    ],
  )

  /**
   * Tool calls that wait for an answer of the user. Through the row, the process that runs the tool and the processes that
   * receive the answers exchange questions and answers.
   */
  const suspendedCalls = table(
    'suspended_calls',
    {
      id: text('id').primaryKey(),
      projectId: ofProject(),
      /** The process that runs the tool (`processes`). */
      processId: text('process_id').notNull(),
      status: text('status').$type<'asking' | 'answered' | 'ended'>().notNull(),
      /** The question, its answer or the result of the call, by `status`. */
      payload: sealed('payload').notNull(),
      expiresAt: whole('expires_at').notNull(),
    },
    (t) => [index('suspended_calls_expiry').on(t.expiresAt)],
  )

  return { mcpRecords, mcpConsents, suspendedCalls }
}
