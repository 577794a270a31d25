import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Secret } from '../domain/secret.ts'
import type { AuditEntries } from './audit-entries.ts'
import type { Database } from './database.ts'
import { createLastUse, type WriteLastUse } from './last-use.ts'
import { hasIdInProject } from './row-conditions.ts'
import { type InProject, type OfProject, placeholdersOf } from './statement.ts'
import { writeRow } from './write-row.ts'

export interface Secrets {
  /**
   * Adds the secret, or replaces the one with that key (upper and lower case are the same) and id. `undefined` when the
   * key has another id, since another process has added it.
   */
  put(secret: Secret, audit?: AuditEntries): Promise<Secret | undefined>
  find(projectId: string, key: string): Promise<Secret | undefined>
  list(projectId: string): Promise<readonly Secret[]>
  /** The keys of all secrets, in lower case. */
  keys(projectId: string): Promise<ReadonlySet<string>>
  /** Writes when each secret was last read, by id. A later time that is already stored stays. */
  readonly used: WriteLastUse
  delete(projectId: string, id: string, audit?: AuditEntries): Promise<boolean>
}

interface OfKey extends OfProject {
  /** In lower case. */
  readonly key: string
}

export function createSecrets(database: Database): Secrets {
  const { tables, query, statement, read, write } = database
  const { secrets } = tables
  const ofKey = (p: OfKey): SQL | undefined =>
    and(eq(secrets.projectId, p.projectId), sql`lower(${secrets.key}) = ${p.key}`)

  const byKey = statement((p: OfKey) => query.select().from(secrets).where(ofKey(p)))
  const ofProject = statement((p: OfProject) =>
    query.select().from(secrets).where(eq(secrets.projectId, p.projectId)).orderBy(secrets.id),
  )
  const keysOfProject = statement((p: OfProject) =>
    query.select({ key: secrets.key }).from(secrets).where(eq(secrets.projectId, p.projectId)),
  )
  const insert = statement((_: Secret) =>
    query.insert(secrets).values(placeholdersOf(secrets)).onConflictDoNothing().returning(),
  )
  // only the row with this id, since the value is sealed for it
  const update = statement((p: Omit<Secret, 'description'> & { description: string | undefined }) =>
    query
      .update(secrets)
      .set({ value: p.value, updatedAt: p.updatedAt, description: p.description })
      .where(and(ofKey(p), eq(secrets.id, p.id)))
      .returning(),
  )
  const remove = statement((p: InProject) =>
    query.delete(secrets).where(hasIdInProject(secrets, p)).returning({ id: secrets.id }),
  )

  return {
    async put(secret, audit) {
      const { description, key } = secret
      return writeRow(write, audit, { noun: 'secret' }, function* () {
        const added = yield* insert(secret)
        return added.length > 0 ? added : yield* update({ ...secret, description, key: key.toLowerCase() })
      })
    },
    async find(projectId, key) {
      return (await read(byKey({ projectId, key: key.toLowerCase() })))[0]
    },
    async list(projectId) {
      return read(ofProject({ projectId }))
    },
    async keys(projectId) {
      return new Set((await read(keysOfProject({ projectId }))).map(({ key }) => key.toLowerCase()))
    },
    used: createLastUse(database, secrets, 'lastAccessedAt'),
    async delete(projectId, id, audit) {
      return (await writeRow(write, audit, { noun: 'secret' }, () => remove({ projectId, id }))) !== undefined
    },
  }
}
