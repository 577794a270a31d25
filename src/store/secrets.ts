import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Secret } from '../domain/secret.ts'
import type { AuditEntries } from './audit-entries.ts'
import type { Database } from './database.ts'
import { laterUse, type Uses, usedRows } from './last-use.ts'
import { type InProject, type OfProject, placeholdersOf } from './statement.ts'
import { writeRow } from './write-row.ts'

export interface Secrets {
  /** Sets the secret of that key (in any case). `undefined` when another process has set the key under another id. */
  put(secret: Secret, audit?: AuditEntries): Promise<Secret | undefined>
  find(projectId: string, key: string): Promise<Secret | undefined>
  list(projectId: string): Promise<readonly Secret[]>
  /** Writes when each secret was last read, by id. A later time that is already stored stays. */
  used(uses: ReadonlyMap<string, EpochSeconds>): Promise<void>
  delete(projectId: string, id: string, audit?: AuditEntries): Promise<boolean>
}

export function createSecrets({ tables, query, statement, read, write, dialect }: Database): Secrets {
  const { secrets } = tables
  const ofKey = (p: { projectId: string; key: string }): SQL | undefined =>
    and(eq(secrets.projectId, p.projectId), sql`lower(${secrets.key}) = ${p.key}`)

  const byKey = statement((p: { projectId: string; key: string }) =>
    query.select().from(secrets).where(ofKey(p)),
  )
  const ofProject = statement((p: OfProject) =>
    query.select().from(secrets).where(eq(secrets.projectId, p.projectId)).orderBy(secrets.id),
  )
  const insert = statement((_: Secret) =>
    query.insert(secrets).values(placeholdersOf(secrets)).onConflictDoNothing().returning(),
  )
  // by its own id, since the value is sealed for that row
  const update = statement((p: Omit<Secret, 'description'> & { description: string | undefined }) =>
    query
      .update(secrets)
      .set({ value: p.value, updatedAt: p.updatedAt, description: p.description })
      .where(and(ofKey(p), eq(secrets.id, p.id)))
      .returning(),
  )
  const use = statement((p: { uses: Uses }) =>
    query
      .update(secrets)
      .set({ lastAccessedAt: laterUse(secrets.lastAccessedAt) })
      .from(usedRows(dialect, p.uses))
      .where(sql`${secrets.id} = used.key`)
      .returning({ id: secrets.id }),
  )
  const remove = statement((p: InProject) =>
    query
      .delete(secrets)
      .where(and(eq(secrets.projectId, p.projectId), eq(secrets.id, p.id)))
      .returning({ id: secrets.id }),
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
    async used(uses) {
      await write(undefined, () => use({ uses: Object.fromEntries(uses) }))
    },
    async delete(projectId, id, audit) {
      return (await writeRow(write, audit, { noun: 'secret' }, () => remove({ projectId, id }))) !== undefined
    },
  }
}
