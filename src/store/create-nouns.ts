import { randomUUID } from 'node:crypto'
import { createApiKeys } from './api-keys.ts'
import { createAuditAnchors } from './audit-anchors.ts'
import { type AuditTrail, createAuditReader } from './audit-trail.ts'
import { createAuthorizations } from './authorizations.ts'
import type { ChangeHook } from './change-hook.ts'
import { createConnectionTools } from './connection-tools.ts'
import { createConnections } from './connections.ts'
import { createConsoleLists } from './console-lists.ts'
import { createCounters } from './counters.ts'
import type { Database } from './database.ts'
import { createEnvelopes } from './envelopes.ts'
import { createExecutions } from './executions.ts'
import { createFacts, PROBE_FACT } from './facts.ts'
import { createIdempotencyKeys } from './idempotency-keys.ts'
import { createMcpConsents } from './mcp-consents.ts'
import { createMcpRecords } from './mcp-records.ts'
import { createPageSessions } from './page-sessions.ts'
import type { PartNouns } from './part-types.ts'
import { createPinnedTools } from './pinned-tools.ts'
import { createProcesses } from './processes.ts'
import { createProjects } from './projects.ts'
import { sealedColumnsOf } from './protected-tables.ts'
import { createProviders } from './providers.ts'
import { retrying } from './retry.ts'
import { createSecrets } from './secrets.ts'
import { createServers } from './servers.ts'
import { createSettleRestore } from './settle-restore.ts'
import { createSharedConnections } from './shared-connections.ts'
import type { StorePart } from './store-part.ts'
import { createStoredFiles } from './stored-files.ts'
import { createSuspendedCalls } from './suspended-calls.ts'
import { createToolNames } from './tool-names.ts'
import { createTools } from './tools.ts'
import { createTrailLeases } from './trail-leases.ts'
import { createUsers } from './users.ts'
import { createWorkers } from './workers.ts'

export type Nouns = Readonly<ReturnType<typeof createCoreNouns>> & PartNouns

/** All nouns on one database. Their methods retry while the database is busy or unavailable. */
export function createNouns(
  opened: Omit<Database, 'followUp'>,
  appending: Pick<AuditTrail, 'append' | 'release' | 'confirm'>,
  parts: readonly StorePart[],
): Nouns {
  const hooks: ChangeHook[] = []
  const database: Database = {
    ...opened,
    *followUp(announce, change) {
      let number: number | undefined
      for (const hook of hooks) number = (yield* hook(announce, change)) ?? number
      return number
    },
  }
  for (const { hook } of parts) if (hook !== undefined) hooks.push(hook(database))
  const ofParts = parts.flatMap(({ nouns }) => Object.entries(nouns?.(database) ?? {}))
  return {
    ...createCoreNouns(database, appending, parts),
    ...(Object.fromEntries(
      ofParts.map(([name, noun]) => [name, retrying(noun, database.dialect.retries)]),
    ) as unknown as PartNouns), // the parts say which nouns they have
  }
}

function createCoreNouns(
  database: Database,
  appending: Pick<AuditTrail, 'append' | 'release' | 'confirm'>,
  parts: readonly StorePart[],
) {
  const { retries } = database.dialect
  const facts = createFacts(database)
  const retried = <Noun extends object>(noun: Noun) => retrying(noun, retries)
  return {
    projects: retried(createProjects(database)),
    apiKeys: retried(createApiKeys(database)),
    providers: retried(createProviders(database)),
    authorizations: retried(createAuthorizations(database)),
    connections: retried(createConnections(database)),
    connectionTools: retried(createConnectionTools(database)),
    sharedConnections: retried(createSharedConnections(database)),
    tools: retried(createTools(database)),
    toolNames: retried(createToolNames(database)),
    pinnedTools: retried(createPinnedTools(database)),
    workers: retried(createWorkers(database)),
    secrets: retried(createSecrets(database)),
    facts: retried(facts),
    envelopes: retried(createEnvelopes(database, sealedColumnsOf(parts))),
    idempotencyKeys: retried(createIdempotencyKeys(database)),
    processes: retried(createProcesses(database)),
    servers: retried(createServers(database)),
    executions: retried(createExecutions(database)),
    suspendedCalls: retried(createSuspendedCalls(database)),
    storedFiles: retried(createStoredFiles(database)),
    mcpRecords: retried(createMcpRecords(database)),
    mcpConsents: retried(createMcpConsents(database)),
    pageSessions: retried(createPageSessions(database)),
    consoleLists: retried(createConsoleLists(database)),
    counters: retried(createCounters(database)),
    users: retried(createUsers(database)),
    audit: retried<AuditTrail>({ ...appending, ...createAuditReader(database) }),
    auditAnchors: retried(createAuditAnchors(database)),
    trailLeases: retried(createTrailLeases(database)),
    ...retried({
      // writes, since a database whose disk is full can still be read; a new value, since SQLite skips an unchanged one
      probe: () => facts.put(PROBE_FACT, randomUUID()),
      settleRestore: createSettleRestore(database, parts),
    }),
  }
}
