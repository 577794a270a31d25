import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import type { DatabaseLocation } from '../store/database-location.ts'
import { type AddFault, splitList } from './read.ts'

/** The file of development's master key: beside the SQLite file, else in the working directory. */
export function masterKeyFile(database: DatabaseLocation): string {
  return database.kind === 'sqlite' ? `${database.path}.key` : 'gatepass.key'
}

/**
 * Reads the keys, 32 bytes each, newest first. `make` says whether development creates a missing key file. `not yet`:
 * other settings have faults, so this start will fail. `never`: a command needs the key of an existing server.
 */
export function readMasterKeys(
  text: string | undefined,
  database: DatabaseLocation,
  { development, make }: { readonly development: boolean; readonly make: 'now' | 'not yet' | 'never' },
  addFault: AddFault,
): Buffer[] {
  if (text !== undefined) {
    const keys = splitList(text)
    return (keys.length > 0 ? keys : [text]).flatMap((key) => readMasterKey(key, addFault) ?? [])
  }
  if (!development) {
    addFault(
      'MASTER_KEY',
      'is missing: 32 bytes in base64, or file:/path to them. Make one with `openssl rand -base64 32`, and keep it apart from backups of the database.',
    )
    return []
  }
  const path = masterKeyFile(database)
  if (!existsSync(path)) {
    const databasePath = database.kind === 'sqlite' ? database.path : undefined
    const hasData = databasePath !== undefined && mayHaveData(databasePath)
    if (hasData)
      addFault(
        'MASTER_KEY',
        `is missing, and so is ${path}: set the key that ${databasePath} was sealed with.`,
      )
    else if (make === 'never')
      addFault(
        'MASTER_KEY',
        `is missing, and there is no ${path} either: start Gatepass first, or set GATEPASS_DATABASE_URL and GATEPASS_MASTER_KEY as its server has them.`,
      )
    if (hasData || make !== 'now') return []
    try {
      writeFileSync(path, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
    } catch {
      if (databasePath === undefined)
        addFault('MASTER_KEY', `is missing, and ${path} cannot be written: check the directory.`)
      else
        addFault(
          'DATABASE_URL',
          `names ${databasePath}, beside which ${path} cannot be written: check the directory.`,
        )
      return []
    }
  }
  return [readMasterKey(`file:${path}`, addFault)].filter((key) => key !== undefined)
}

/** Whether the file has data, or cannot be examined: a new key must not be made beside data that another key sealed. */
function mayHaveData(path: string): boolean {
  try {
    return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0
  } catch {
    return true
  }
}

function readMasterKey(text: string, addFault: AddFault): Buffer | undefined {
  let encoded = text
  if (text.startsWith('file:')) {
    try {
      encoded = readFileSync(text.slice(5), 'utf8').trim()
    } catch {
      addFault('MASTER_KEY', `names a file that cannot be read: ${text.slice(5)}.`)
      return undefined
    }
  }
  const key = Buffer.from(encoded, 'base64')
  if (/^[A-Za-z0-9+/_-]+={0,2}$/.test(encoded) && key.length === 32) return key
  addFault(
    'MASTER_KEY',
    'must be 32 bytes in base64 (`openssl rand -base64 32`), or file:/path to them; several separated by commas, newest first.',
  )
  return undefined
}
