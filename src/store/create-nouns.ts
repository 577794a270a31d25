import { randomUUID } from 'node:crypto'
import { createAnswers } from './answers.ts'
import { createApiKeys } from './api-keys.ts'
import { type AuditTrail, createAuditReader } from './audit-trail.ts'
import { createAuthorizations } from './authorizations.ts'
import { createChains } from './chains.ts'
import { createConnections } from './connections.ts'
import type { Database } from './database.ts'
import { createEnvelopes } from './envelopes.ts'
import { createExecutions } from './executions.ts'
import { createFacts, PROBE_FACT } from './facts.ts'
import { createPolicies } from './policies.ts'
import { createProcesses } from './processes.ts'
import { createProjects } from './projects.ts'
import { createProviders } from './providers.ts'
import { retrying } from './retry.ts'
import { createSecrets } from './secrets.ts'
import { createSettleRestore } from './settle-restore.ts'
import type { Store } from './store.ts'
import { createTools } from './tools.ts'
import { createWorkers } from './workers.ts'

/** What a database itself adds to the nouns. */
type OfDatabase = 'audit' | 'catchUp' | 'onChange' | 'figures' | 'close'

/** All nouns on one database. Each of their methods is tried again while the database is busy or away. */
export function createNouns(
  database: Database,
  appending: Pick<AuditTrail, 'append' | 'release'>,
): Omit<Store, Exclude<OfDatabase, 'audit'>> {
  const { retries } = database.dialect
  const facts = createFacts(database)
  const retried = <Noun extends object>(noun: Noun) => retrying(noun, retries)
  return {
    projects: retried(createProjects(database)),
    apiKeys: retried(createApiKeys(database)),
    providers: retried(createProviders(database)),
    authorizations: retried(createAuthorizations(database)),
    connections: retried(createConnections(database)),
    tools: retried(createTools(database)),
    workers: retried(createWorkers(database)),
    secrets: retried(createSecrets(database)),
    facts: retried(facts),
    envelopes: retried(createEnvelopes(database)),
    answers: retried(createAnswers(database)),
    policies: retried(createPolicies(database)),
    processes: retried(createProcesses(database)),
    executions: retried(createExecutions(database)),
    chains: retried(createChains(database)),
    audit: retried({ ...appending, ...createAuditReader(database) }),
    ...retried({
      // a database whose disk is full reads well; and SQLite does not write a value that is there already
      probe: () => facts.put(PROBE_FACT, randomUUID()),
      settleRestore: createSettleRestore(database),
    }),
  }
}
