import { existsSync, statSync } from 'node:fs'
import type { Broker } from '../broker.ts'
import type { Config } from '../config.ts'
import { ConfigError } from '../config-error.ts'
import type { Check } from '../diagnosis/check.ts'
import { toTimestamp } from '../domain/clock.ts'
import { BrokerError } from '../domain/errors.ts'
import { createLog } from '../log.ts'
import { openBroker } from '../open-broker.ts'
import { checkTools, rehearseStart } from '../server.ts'
import { findAlteredRows, nameOfRow } from '../services/altered-rows.ts'
import { masterKeyFile } from '../settings/master-keys.ts'
import { type DatabaseLocation, databaseName } from '../store/database-location.ts'
import { LAST_BACKUP_FACT } from '../store/facts.ts'
import { isBegun, pendingMigrations } from '../store/open-store.ts'
import { UnknownKeyError, UnsealError } from '../store/seal.ts'
import { quantity } from './print.ts'
import { commandLine, type Shell } from './shell.ts'

const OLD_BACKUP_DAYS = 7

export interface InstallationChecks {
  readonly checks: readonly Check[]
  /** Whether the database opens, so that its content can be checked. */
  readonly opens: boolean
}

/**
 * Checks what a start reads: the database, the master key, and the files that the settings name. Migrates nothing and
 * creates nothing.
 */
export async function checkInstallation(shell: Shell, config: Config): Promise<InstallationChecks> {
  const { database } = config
  const label = databaseName(database)
  const name = 'database'
  const contentChecks: Check[] = []
  const log = createLog('warn', { writes: 'at once' })
  try {
    const isNew = !(await isBegun(database))
    await rehearseStart(config, { isNew })
    if (isNew) {
      const message = `${label} ${database.kind === 'sqlite' ? 'does not exist yet' : 'is still empty'}.`
      const fix = `The first start creates it. If it should exist, set GATEPASS_DATABASE_URL.`
      return { checks: [{ name, status: 'warning', message, fix }], opens: false }
    }
    const pending = await pendingMigrations(database)
    if (pending > 0) {
      const message = `${label} lacks ${quantity(pending, 'migration')} of this release.`
      const fix = `Make a backup, then run ${commandLine(shell, 'migrate')}; the next start does so too.`
      return { checks: [{ name, status: 'warning', message, fix }], opens: false }
    }
    const broker = await openBroker(config, { log })
    try {
      await checkTools(broker, config)
      await broker.store.probe()
      contentChecks.push(
        ...(await checkRows(broker)),
        ...(await checkKeyRing(shell, broker)),
        ...(await checkLastBackup(shell, broker)),
      )
    } finally {
      await broker.close()
    }
  } catch (error) {
    if (error instanceof ConfigError) return { checks: faultsAsChecks(error), opens: false }
    if (!(error instanceof BrokerError)) throw error
    if (error.cause instanceof UnsealError || error.cause instanceof UnknownKeyError)
      return {
        checks: [
          { name, status: 'ok', message: `${label} opens, and its schema is up to date` },
          { name: 'master key', status: 'failed', message: error.message },
        ],
        opens: false,
      }
    return { checks: [{ name, status: 'failed', message: error.message }], opens: false }
  }
  return {
    checks: [
      { name, status: 'ok', message: `${label} is writable, and its schema is up to date` },
      ...contentChecks,
      ...keyFiles(shell, database).map((path) => checkFile('master key', path)),
      ...databaseFiles(database).map((path) => checkFile('database', path)),
    ],
    opens: true,
  }
}

/** The faults of the settings as failed checks. Each fault begins with its variable. */
export function faultsAsChecks({ faults }: ConfigError): Check[] {
  return faults.map((fault) => {
    const [variable = ''] = fault.split(/[: ]/)
    const isFile = variable === 'GATEPASS_PROVIDERS' || variable === 'GATEPASS_TOOLS'
    const fix = isFile ? `Correct what ${variable} names.` : `Set ${variable} in the environment.`
    return { name: 'settings', status: 'failed', message: fault, fix }
  })
}

/** Whether a program other than Gatepass has written API keys, providers, workers or policies. */
async function checkRows(broker: Broker): Promise<Check[]> {
  const altered = await findAlteredRows(broker)
  if (altered.length === 0) return []
  return [
    {
      name: 'database',
      status: 'failed',
      message: `${altered.length} rows were changed by a program other than Gatepass and are ignored: ${altered.slice(0, 10).map(nameOfRow).join(', ')}.`,
      fix: 'Find out who can write to the database, then delete these rows or set them again.',
    },
  ]
}

/** Whether the master keys open all sealed values, and whether a rotation is unfinished. */
async function checkKeyRing(shell: Shell, { store, sealer }: Broker): Promise<Check[]> {
  const name = 'master key'
  const [newest, ...older] = sealer.keyIds
  const counts = await store.envelopes.countByKey()
  const sealedWith = (isOne: (id: string) => boolean) =>
    counts.filter(({ keyId }) => isOne(keyId)).reduce((sum, { count }) => sum + count, 0)
  const missing = sealedWith((id) => !sealer.keyIds.includes(id))
  const left = sealedWith((id) => older.includes(id))
  const checks: Check[] = []
  if (missing > 0)
    checks.push({
      name,
      status: 'failed',
      message: `${missing} sealed values do not open with any key that is set here.`,
      fix: `${commandLine(shell, 'rotate-key', '--status')} names their keys; add those to GATEPASS_MASTER_KEY.`,
    })
  if (left > 0)
    checks.push({
      name,
      status: 'warning',
      message: `an older key than ${newest} still seals ${quantity(left, 'value')}`,
      fix: `Run ${commandLine(shell, 'rotate-key')}.`,
    })
  else if (older.length > 0)
    checks.push({
      name,
      status: 'warning',
      message: `no sealed value needs ${older.join(', ')} anymore`,
      fix: 'Remove it from GATEPASS_MASTER_KEY, and keep it for backups from before the rotation.',
    })
  return checks.length > 0
    ? checks
    : [{ name, status: 'ok', message: `opens every sealed value of the database (key ${newest})` }]
}

/** Checks the age of the last backup. No check if `gatepass backup` was never run, because another tool may make the backups. */
async function checkLastBackup(shell: Shell, { store, now }: Broker): Promise<Check[]> {
  const takenAt = Number((await store.facts.find(LAST_BACKUP_FACT)) ?? Number.NaN)
  if (Number.isNaN(takenAt)) return []
  const days = Math.floor((now() - takenAt) / 86_400)
  const message = `the last one was taken ${toTimestamp(takenAt).slice(0, 16).replace('T', ' ')} UTC`
  if (days < OLD_BACKUP_DAYS) return [{ name: 'backup', status: 'ok', message }]
  const fix = `Run ${commandLine(shell, 'backup', '--to', 'gatepass-backup.db')} regularly.`
  return [{ name: 'backup', status: 'warning', message: `${message}, ${days} days ago`, fix }]
}

/** The files with the master keys: those of the setting, else the file that development makes beside the database. */
function keyFiles({ environment }: Shell, database: DatabaseLocation): string[] {
  const setting = environment.GATEPASS_MASTER_KEY?.trim()
  if (setting === undefined || setting === '') return [masterKeyFile(database)]
  return setting
    .split(',')
    .map((part) => part.trim())
    .filter((address) => address.startsWith('file:'))
    .map((address) => address.slice('file:'.length))
}

/** The files of a SQLite database, with its write-ahead log while a process has it open. */
function databaseFiles(database: DatabaseLocation): string[] {
  if (database.kind !== 'sqlite') return []
  const { path } = database
  return [path, `${path}-wal`, `${path}-shm`].filter((file) => existsSync(file))
}

function checkFile(name: string, path: string): Check {
  const mode = (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o777
  if (process.platform === 'win32' || (mode & 0o077) === 0)
    return { name, status: 'ok', message: `${path} can be read by its owner alone` }
  if (name === 'master key' && (mode & 0o077) === 0o040) {
    const message = `${path} can be read by its group too (mode ${mode.toString(8)}).`
    const fix =
      'Check that no other user of this machine is in that group. Secrets mounted by Kubernetes have this mode.'
    return { name, status: 'warning', message, fix }
  }
  const message = `${path} can be read or written by other users of this machine (mode ${mode.toString(8)}).`
  return { name, status: name === 'master key' ? 'failed' : 'warning', message, fix: `chmod 600 ${path}` }
}
