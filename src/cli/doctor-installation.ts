import { statSync } from 'node:fs'
import { type Config, masterKeyFile } from '../config.ts'
import { BrokerError } from '../domain/errors.ts'
import { createLog } from '../log.ts'
import { openBroker } from '../open-broker.ts'
import { type DatabasePlace, databaseName } from '../store/database-place.ts'
import { isBegun, pendingMigrations } from '../store/open-store.ts'
import { UnknownKeyError, UnsealError } from '../store/seal.ts'
import type { Check } from './doctor.ts'
import { type Shell, typed } from './shell.ts'

export interface InstallationChecks {
  readonly checks: readonly Check[]
  /** Whether there is a database that opens, so that what it holds can be looked at. */
  readonly opens: boolean
}

/** The database and the key that opens it. Looking migrates nothing and makes nothing. */
export async function checkInstallation(shell: Shell, config: Config): Promise<InstallationChecks> {
  const { database } = config
  const called = databaseName(database)
  const name = 'database'
  try {
    if (!(await isBegun(database))) {
      const message = `${called} ${database.kind === 'sqlite' ? 'is not there yet' : 'is empty yet'}.`
      const fix = `The first start makes it. If there should be one, set GATEPASS_DATABASE_URL.`
      return { checks: [{ name, status: 'warning', message, fix }], opens: false }
    }
    const pending = await pendingMigrations(database)
    if (pending > 0) {
      const message = `${called} lacks ${pending} migration${pending === 1 ? '' : 's'} of this release.`
      const fix = `Make a backup, then run ${typed(shell, 'migrate')}; the next start does so too.`
      return { checks: [{ name, status: 'warning', message, fix }], opens: false }
    }
    const broker = await openBroker(config, { log: createLog('warn') })
    try {
      await broker.store.probe()
    } finally {
      await broker.close()
    }
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error
    if (error.cause instanceof UnsealError || error.cause instanceof UnknownKeyError)
      return {
        checks: [
          { name, status: 'ok', message: `${called} opens; its schema is up to date` },
          { name: 'master key', status: 'failed', message: error.message },
        ],
        opens: false,
      }
    return { checks: [{ name, status: 'failed', message: error.message }], opens: false }
  }
  return {
    checks: [
      { name, status: 'ok', message: `${called} can be written; its schema is up to date` },
      { name: 'master key', status: 'ok', message: 'opens what the database holds' },
      ...keyFiles(shell, database).map(checkKeyFile),
    ],
    opens: true,
  }
}

/** The files the master key is read from: those it names, else in development the one beside the database. */
function keyFiles({ environment }: Shell, database: DatabasePlace): string[] {
  const setting = environment.GATEPASS_MASTER_KEY?.trim()
  if (setting === undefined || setting === '') return [masterKeyFile(database)]
  return setting
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one.startsWith('file:'))
    .map((one) => one.slice('file:'.length))
}

function checkKeyFile(path: string): Check {
  const name = 'master key'
  const others = process.platform === 'win32' ? 0 : statSync(path).mode & 0o077
  if (others === 0) return { name, status: 'ok', message: `${path} can be read by its owner alone` }
  const message = `${path} can be read or written by other users of this machine (mode ${(statSync(path).mode & 0o777).toString(8)}).`
  return { name, status: 'failed', message, fix: `chmod 600 ${path}` }
}
