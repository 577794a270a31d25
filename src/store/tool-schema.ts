import { sql } from 'drizzle-orm'
import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { EntryPoint, ExecutionRecord, ExecutionStatus } from '../domain/execution.ts'
import type { Pinning } from '../domain/pinned-tool.ts'
import type { Sealed } from '../domain/sealed.ts'
import type {
  JsonSchema,
  ToolAnnotations,
  ToolBinding,
  ToolRequirements,
  ToolSource,
} from '../domain/tool.ts'
import type { NeedsOfTools, WorkerType } from '../domain/worker.ts'
import type { WorkerNeeds } from '../domain/worker-needs.ts'
import type { SchemaKit } from './schema-kit.ts'

/** The part of `describeTables` for tools: their workers and secrets, and their runs. */
export function describeToolTables(kit: SchemaKit, projectId: () => AnySQLiteColumn) {
  const { table, text, integer, whole, flag, json, index, uniqueIndex, primaryKey } = kit
  const ofProject = () => text('project_id').notNull().references(projectId)
  const sealed = (name: string) => text(name).$type<Sealed>()

  const tools = table(
    'tools',
    {
      uid: text('uid').primaryKey(),
      projectId: ofProject(),
      namespace: text('namespace').notNull(),
      name: text('name').notNull(),
      /** Empty: the tool has no version. */
      version: text('version').notNull(),
      title: text('title').notNull(),
      description: text('description').notNull(),
      inputSchema: json<JsonSchema>('input_schema').notNull(),
      outputSchema: json<JsonSchema>('output_schema'),
      tags: json<readonly string[]>('tags').notNull().default(sql`'[]'`),
      annotations: json<ToolAnnotations>('annotations'),
      meta: json<Readonly<Record<string, unknown>>>('meta'),
      icons: json<readonly Readonly<Record<string, unknown>>[]>('icons'),
      requirements: json<ToolRequirements>('requirements').notNull(),
      source: json<ToolSource>('source').notNull(),
      workerUid: text('worker_uid'),
      binding: json<ToolBinding>('binding'),
      digest: text('digest').notNull(),
      held: text('held'),
      mac: text('mac'),
      bindingMac: text('binding_mac'),
      createdAt: whole('created_at').notNull(),
      updatedAt: whole('updated_at').notNull(),
    },
    (t) => [
      uniqueIndex('tools_identity').on(t.projectId, t.namespace, t.name, t.version),
      index('tools_worker').on(t.workerUid),
      index('tools_project').on(t.projectId, t.uid),
    ],
  )

  const toolAliases = table(
    'tool_aliases',
    {
      projectId: text('project_id').notNull(),
      alias: text('alias').notNull(),
      toolUid: text('tool_uid')
        .notNull()
        .references(() => tools.uid, { onDelete: 'cascade' }),
    },
    (t) => [
      primaryKey({ columns: [t.projectId, t.alias, t.toolUid] }),
      index('tool_aliases_tool').on(t.toolUid),
    ],
  )

  const toolNames = table(
    'tool_names',
    {
      projectId: ofProject(),
      identity: text('identity').notNull(),
      source: text('source').notNull(),
      since: whole('since').notNull(),
      mac: text('mac'),
    },
    (t) => [
      primaryKey({ columns: [t.projectId, t.identity] }),
      index('tool_names_source').on(t.projectId, t.source),
    ],
  )

  const workers = table(
    'workers',
    {
      uid: text('uid').primaryKey(),
      projectId: ofProject(),
      id: text('id').notNull(),
      type: text('type').$type<WorkerType>().notNull(),
      enabled: flag('enabled').notNull(),
      uri: text('uri').notNull(),
      secret: sealed('secret').notNull(),
      settings: json<Readonly<Record<string, unknown>>>('settings').notNull().default(sql`'{}'`),
      timeoutSeconds: integer('timeout_seconds').notNull(),
      retry: integer('retry').notNull(),
      mac: text('mac'),
      createdAt: whole('created_at').notNull(),
      updatedAt: whole('updated_at').notNull(),
      syncedAt: whole('synced_at'),
      syncError: text('sync_error'),
      unreachableSince: whole('unreachable_since'),
      pinning: text('pinning').$type<Pinning>(),
      accepted: json<NeedsOfTools>('accepted'),
      acceptedMac: text('accepted_mac'),
      /** The number of its last event that a feature reports. */
      eventSeq: whole('event_seq'),
    },
    (t) => [uniqueIndex('workers_id').on(t.projectId, t.id)],
  )

  const pinnedTools = table(
    'pinned_tools',
    {
      workerUid: text('worker_uid').notNull(),
      projectId: ofProject(),
      tool: text('tool').notNull(),
      accepted: text('accepted'),
      waiting: text('waiting'),
      listed: text('listed'),
      needs: json<WorkerNeeds>('needs'),
      isUnstable: flag('is_unstable').notNull(),
      since: whole('since').notNull(),
      definition: text('definition'),
      mac: text('mac'),
    },
    (t) => [
      primaryKey({ columns: [t.workerUid, t.tool] }),
      index('pinned_tools_waiting').on(t.projectId, t.workerUid).where(sql`waiting is not null`),
    ],
  )

  const secrets = table(
    'secrets',
    {
      id: text('id').primaryKey(),
      projectId: ofProject(),
      key: text('key').notNull(),
      description: text('description'),
      value: sealed('value').notNull(),
      createdAt: whole('created_at').notNull(),
      updatedAt: whole('updated_at').notNull(),
      lastAccessedAt: whole('last_accessed_at'),
    },
    (t) => [uniqueIndex('secrets_key').on(t.projectId, sql`lower(key)`)],
  )

  const executions = table(
    'executions',
    {
      id: text('id').primaryKey(),
      projectId: ofProject(),
      userId: text('user_id'),
      toolId: text('tool_id').notNull(),
      type: text('type').$type<ExecutionRecord['type']>().notNull(),
      entryPoint: text('entry_point').$type<EntryPoint>().notNull(),
      status: text('status').$type<ExecutionStatus>().notNull(),
      outcome: text('outcome').$type<NonNullable<ExecutionRecord['outcome']>>(),
      errorKind: text('error_kind'),
      apiKeyId: text('api_key_id'),
      runAt: whole('run_at'),
      approvalId: text('approval_id'),
      createdAt: whole('created_at').notNull(),
      updatedAt: whole('updated_at').notNull(),
      startedAt: whole('started_at'),
      finishedAt: whole('finished_at'),
      durationMs: whole('duration_ms'),
      attempts: integer('attempts').notNull(),
      request: sealed('request'),
      result: sealed('result'),
      leaseOwner: text('lease_owner'),
      leaseUntil: whole('lease_until'),
    },
    (t) => [
      // an id begins with its time, so each index has its rows in the order of time
      index('executions_project').on(t.projectId, t.id),
      index('executions_user').on(t.projectId, t.userId, t.id),
      index('executions_tool').on(t.projectId, t.toolId, t.id),
      index('executions_put_off').on(t.projectId, t.id).where(sql`type = 'scheduled'`),
      // nearly all runs have completed: they are found by the indexes above
      index('executions_status').on(t.projectId, t.status, t.id).where(sql`status <> 'completed'`),
      index('executions_due').on(t.runAt, t.id).where(sql`status = 'scheduled'`),
      index('executions_lease').on(t.leaseUntil).where(sql`status = 'running'`),
      index('executions_end').on(t.finishedAt),
      // an approval is for one run
      uniqueIndex('executions_approval').on(t.approvalId).where(sql`approval_id is not null`),
    ],
  )

  return { tools, toolAliases, toolNames, workers, pinnedTools, secrets, executions }
}
