import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStore } from '../src/store/open-store.ts'

let migrated: Promise<Buffer> | undefined

/** A database file with empty tables, made once: migrating takes more than half of the time of a start. */
export function migratedFile(): Promise<Buffer> {
  migrated ??= (async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gatepass-migrated-'))
    try {
      const path = join(folder, 'gatepass.db')
      const store = await openStore({ kind: 'sqlite', path })
      await store.close()
      return await readFile(path)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })()
  return migrated
}
