import { ConfigError } from '../config-error.ts'
import type { DatabaseLocation } from '../store/database-location.ts'
import type { AddFault } from './read.ts'

/** The database that a URL names, for commands that need no other setting. Throws `ConfigError`. */
export function parseDatabaseUrl(text: string): DatabaseLocation {
  const faults: string[] = []
  const location = readDatabase(text, (_, what) => void faults.push(`The database URL ${what}`))
  if (faults.length > 0) throw new ConfigError(faults)
  return location
}

/** Reads the database that a URL names. No fault repeats the URL, because it may contain a password. */
export function readDatabase(text: string, addFault: AddFault): DatabaseLocation {
  const fallback: DatabaseLocation = { kind: 'sqlite', path: 'gatepass.db' }
  if (text.startsWith('file:') && text.length > 5)
    return { kind: 'sqlite', path: text.slice(5).replace(/^\/\/(?=\/)/, '') }
  if (!/^postgres(ql)?:/.test(text)) {
    addFault('DATABASE_URL', 'must be file:<path>, such as file:gatepass.db, or a postgres:// URL.')
    return fallback
  }
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (
    url === undefined ||
    (url.hostname === '' && !url.searchParams.has('host')) ||
    url.pathname.length < 2
  ) {
    addFault(
      'DATABASE_URL',
      'must be like postgres://user:password@host:5432/database; a special character in the password is percent-encoded.',
    )
    return fallback
  }
  return { kind: 'postgres', url: text }
}
