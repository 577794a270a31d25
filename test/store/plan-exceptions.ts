/** Tables with at most one row for each object that an administrator has created. All others grow with use. */
export const SMALL = new Set([
  'facts',
  'projects',
  'providers',
  'tools',
  'pinned_tools', // at most a row for each tool
  'tool_aliases',
  'tool_names', // at most a row for each name that a tool has ever had
  'workers',
  'secrets',
  'shared_connections',
  'policies',
  'brandings', // at most a row for each project
  'toolsets',
  'webhooks',
  'processes',
  'commits', // at most some rows for each process of the last month
  'servers',
  'audit_heads',
  'audit_progress', // a row for each project
  'schema_migrations',
  'sqlite_master',
])

export interface Exception {
  readonly statement: RegExp
  readonly reason: string
  /** The only database that needs it. */
  readonly only?: 'sqlite' | 'postgres'
  /** It may sort the rows that it found by an index, but must not scan. */
  readonly sorts?: true
}

/** Statements that may read or sort more than an index gives them. */
export const EXCEPTIONS: readonly Exception[] = [
  {
    statement: /^update "connections" set "unanswered_refreshes" = \S+, "unanswered_since" = .+ limit /s,
    reason: 'it looks at all connections once when the database has lost commits, a limited number at a time',
  },
  {
    statement: /^select now\.snapshot, own\.number as own_commit, news\.body.+ order by xid limit 5001\b/s,
    reason: 'it sorts the changes since the last read, which an index finds, and keeps 5,001 of them',
    only: 'postgres',
    sorts: true,
  },
  {
    statement: /^select .+ from "audit_blocks" where .+ as one\)\) order by "audit_blocks"."first_seq" asc$/s,
    reason: 'it sorts the blocks of the entries on one page, which are at most as many',
    only: 'postgres',
    sorts: true,
  },
  {
    statement: /^select [^()]+ from "connections"$/,
    reason: 'connections of several owners: only PostgreSQL has the condition and runs the statement',
    only: 'sqlite',
  },
  {
    statement: /^select "id".+ from "api_keys" where "api_keys"."project_id" = \S+ order by "api_keys"."id"$/,
    reason: 'a diagnosis reads all keys of a project, to find altered ones',
  },
  {
    statement: /^(insert into|delete from) "(projects|providers)"/,
    reason: 'foreign keys: the plan of SQLite has the search for rows that refer to the written row',
    only: 'sqlite',
  },
  {
    statement:
      /^delete from "(access_requests|approvals|chains|paused_code|connect_sessions|suspended_calls|mcp_consents|page_sessions|portal_tickets)" returning/,
    reason: 'the first start on a restored backup',
  },
  {
    statement: /^delete from "standing_approvals" where "standing_approvals"."kind" = 'approval'/,
    reason: 'the first start on a restored backup',
  },
  {
    statement:
      /^update "executions" set "status" = 'scheduled' where "executions"."status" = 'waiting_for_approval'/,
    reason: 'the first start on a restored backup',
  },
  {
    statement: /^delete from "mcp_records" where "mcp_records"."model" <> 'Client'/,
    reason: 'the first start on a restored backup',
  },
  {
    statement: /^delete from "mcp_records" where .+ group by "mcp_records"."network"/,
    reason:
      'it reads and sorts the unapproved clients in their index, at most 10,000, for a registration beyond them',
  },
  {
    statement: /^select count\(\*\) from "mcp_records" where "mcp_records"."network" is not null$/,
    reason: 'it counts the unapproved clients in their index, at most 10,000, at most once a second',
    only: 'postgres',
  },
  {
    statement: /^select .+ from "mcp_consents" where \("mcp_consents"."grant_id" is not null and/,
    reason: 'a diagnosis looks for approvals that another verifier made possible',
    only: 'postgres',
  },
]
