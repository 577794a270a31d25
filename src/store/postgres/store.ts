import { randomUUID } from 'node:crypto'
import { and, eq } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import type pg from 'pg'
import { BrokerError } from '../../domain/errors.ts'
import type { Facts, Store, StoreChange } from '../store.ts'
import { listen } from './announcements.ts'
import { postgresAnswers } from './answers.ts'
import { postgresApiKeys } from './api-keys.ts'
import { postgresAudit } from './audit.ts'
import { postgresAuthorizations } from './authorizations.ts'
import { postgresChains } from './chains.ts'
import { postgresConnections } from './connections.ts'
import { clientConfig, createWrite, openPool, type PostgresContext } from './database.ts'
import { postgresEnvelopes } from './envelopes.ts'
import { postgresExecutions } from './executions.ts'
import { asked, patiently, steady } from './failures.ts'
import { migrateDatabase, readFacts } from './migrations.ts'
import { postgresPolicies } from './policies.ts'
import { refuseTransactionPooling } from './pooling.ts'
import { postgresProcesses } from './processes.ts'
import { postgresProjects } from './projects.ts'
import { postgresProviders } from './providers.ts'
import { postgresSettleRestore } from './restore.ts'
import { facts } from './schema.ts'
import { postgresSecrets } from './secrets.ts'
import { postgresTools } from './tools.ts'
import { postgresWorkers } from './workers.ts'

export interface OpeningOptions {
  /** Looks at what there is before anything is written, not even a migration; throws to refuse it. */
  readonly admit?: (facts: ReadonlyMap<string, string>) => void
}

/**
 * The store on a PostgreSQL database, which any number of nodes may share. Migrates it first. Needs PostgreSQL 13 or
 * newer; on compatible servers without NOTIFY or `pg_xact_status` it does without, and keeps nothing that it has read. A
 * pooler that lends its connections by transaction is refused.
 */
export async function openPostgresStore(url: string, { admit }: OpeningOptions = {}): Promise<Store> {
  await refuseTransactionPooling(clientConfig(url))
  admit?.(await readFacts(url))
  await migrateDatabase(url)
  const pool = openPool(url)
  const listeners: ((change: StoreChange) => void)[] = []
  const tell = (change: StoreChange) => {
    for (const listener of listeners) listener(change)
  }
  const announcements = await listen(clientConfig(url), randomUUID(), tell)

  async function close(): Promise<void> {
    await announcements.close()
    await pool.end()
  }

  try {
    const { announces, tellsOutcome } = await patiently(() => examine(pool))
    const context: PostgresContext = {
      db: drizzle(pool),
      write: createWrite({ pool, announces, payloadOf: announcements.payloadOf, tellsOutcome, tell }),
      tell,
    }
    return {
      projects: steady(postgresProjects(context)),
      apiKeys: steady(postgresApiKeys(context)),
      providers: steady(postgresProviders(context)),
      authorizations: steady(postgresAuthorizations(context)),
      connections: steady(postgresConnections(context)),
      tools: steady(postgresTools(context)),
      workers: steady(postgresWorkers(context)),
      secrets: steady(postgresSecrets(context)),
      facts: steady(postgresFacts(context)),
      envelopes: steady(postgresEnvelopes(context)),
      answers: steady(postgresAnswers(context)),
      policies: steady(postgresPolicies(context)),
      processes: steady(postgresProcesses(context)),
      executions: steady(postgresExecutions(context)),
      chains: steady(postgresChains(context)),
      audit: steady(postgresAudit(context)),
      catchUp: announcements.missed,
      onChange: (listener) => void listeners.push(listener),
      ...steady({
        async probe() {
          // what writes nothing does not notice a full disk
          await put(context, PROBE_FACT, '')
        },
        settleRestore: postgresSettleRestore(context),
      }),
      figures: () => ({
        connections: {
          used: pool.totalCount - pool.idleCount,
          idle: pool.idleCount,
          waiting: pool.waitingCount,
        },
      }),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** What the server can do. Refuses one that would lose commits it has answered. */
async function examine(pool: pg.Pool) {
  const { rows } = await asked(
    pool.query<{ functions: string[]; synchronous_commit: string }>(
      `select current_setting('synchronous_commit') as synchronous_commit,
        array(select distinct proname::text from pg_proc
          where proname in ('pg_notify', 'pg_xact_status', 'pg_current_xact_id_if_assigned')) as functions`,
    ),
  )
  const [{ functions, synchronous_commit } = { functions: [] as string[], synchronous_commit: 'on' }] = rows
  if (synchronous_commit === 'off')
    throw new BrokerError(
      'store_unavailable',
      'PostgreSQL has synchronous_commit off: a crash would lose refresh tokens that were just rotated. Set it to on for the database or user of Gatepass.',
    )
  const has = (name: string) => functions.includes(name)
  return {
    announces: has('pg_notify'),
    tellsOutcome: has('pg_xact_status') && has('pg_current_xact_id_if_assigned'),
  }
}

const PROBE_FACT = 'probe'

async function put({ write }: PostgresContext, name: string, value: string): Promise<void> {
  await write(undefined, (tx) =>
    tx.insert(facts).values({ name, value }).onConflictDoUpdate({ target: facts.name, set: { value } }),
  )
}

function postgresFacts(context: PostgresContext): Facts {
  const { db, write } = context
  const get = async (name: string) => (await db.select().from(facts).where(eq(facts.name, name)))[0]?.value
  return {
    get,
    async settle(name, value) {
      const known = await get(name)
      if (known !== undefined) return known
      await write(undefined, (tx) => tx.insert(facts).values({ name, value }).onConflictDoNothing())
      return (await get(name)) ?? value
    },
    async exchange(name, from, to) {
      const { rowCount } = await write(undefined, (tx) =>
        from === undefined
          ? tx.insert(facts).values({ name, value: to }).onConflictDoNothing()
          : tx
              .update(facts)
              .set({ value: to })
              .where(and(eq(facts.name, name), eq(facts.value, from))),
      )
      return (rowCount ?? 0) > 0
    },
    put: (name, value) => put(context, name, value),
    async delete(name) {
      await write(undefined, (tx) => tx.delete(facts).where(eq(facts.name, name)))
    },
  }
}
