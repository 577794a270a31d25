import type { Broker } from '../broker.ts'
import type { Config } from '../config.ts'
import { ConfigError } from '../config-error.ts'
import type { AuditAction } from '../domain/audit.ts'
import { BrokerError } from '../domain/errors.ts'
import { DEFAULT_PROJECT } from '../domain/project.ts'
import { createLog } from '../log.ts'
import { openBroker } from '../open-broker.ts'
import { inContext } from '../services/request-context.ts'
import type { DatabaseLocation } from '../store/database-location.ts'
import { pendingMigrations } from '../store/open-store.ts'
import type { Shell } from './shell.ts'
import { readSettings } from './with-broker.ts'

/**
 * Records in the audit trail of a database what a command did, then calls `also` with the opened broker. The command
 * itself works without the master key; the function returns `false`, and records nothing, if the key is missing or
 * migrations are pending.
 */
export async function recordInAuditTrail(
  { environment, command = 'gatepass' }: Shell,
  database: DatabaseLocation,
  event: { readonly action: AuditAction; readonly subject: string },
  also: (broker: Broker) => Promise<void> = async () => {},
): Promise<boolean> {
  let config: Config
  try {
    config = readSettings(environment, { makeKey: false })
    if ((await pendingMigrations(database)) > 0) return false
    const broker = await openBroker(
      { ...config, database },
      { log: createLog('error', { writes: 'at once' }) },
    )
    try {
      const project = await broker.store.projects.ensure(DEFAULT_PROJECT, broker.now())
      await inContext({ actor: { kind: 'cli' }, purpose: command }, () =>
        broker.audit.record(project.id, event),
      )
      await also(broker)
      return true
    } finally {
      await broker.close()
    }
  } catch (error) {
    if (error instanceof ConfigError || error instanceof BrokerError) return false
    throw error
  }
}
