import { and, count, eq, gt, lte, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { StoredFile } from '../domain/stored-file.ts'
import type { Database } from './database.ts'
import { hasIdInProject, isOfUser } from './row-conditions.ts'
import { type InProject, type OfProject, type OfUser, placeholdersOf } from './statement.ts'
import { deleteInSlices } from './sweep.ts'

/** Files that tools answered with. */
export interface StoredFiles {
  add(file: StoredFile): Promise<void>
  /** `undefined` once the file has expired. */
  find(projectId: string, id: string, now: EpochSeconds): Promise<StoredFile | undefined>
  /** How many files of the project have not expired; `most` if there are more. */
  count(projectId: string, most: number, now: EpochSeconds): Promise<number>
  forgetUser(user: OfUser): Promise<unknown>
  /** Deletes those that have expired; returns how many. */
  sweep(now: EpochSeconds): Promise<number>
}

export function createStoredFiles(database: Database): StoredFiles {
  const { tables, query, statement, read, write } = database
  const { storedFiles } = tables
  const id = { id: storedFiles.id }

  const insert = statement((_: StoredFile) =>
    query.insert(storedFiles).values(placeholdersOf(storedFiles)).returning(id),
  )
  const live = statement((p: InProject & { now: EpochSeconds }) =>
    query
      .select()
      .from(storedFiles)
      .where(and(hasIdInProject(storedFiles, p), gt(storedFiles.expiresAt, p.now))),
  )
  const counted = statement((p: OfProject & { most: number; now: EpochSeconds }) =>
    query.select({ total: count() }).from(
      query
        .select({ one: sql`1`.as('one') })
        .from(storedFiles)
        .where(and(eq(storedFiles.projectId, p.projectId), gt(storedFiles.expiresAt, p.now)))
        .limit(p.most)
        .as('counted'),
    ),
  )
  const forget = statement((p: OfUser) =>
    query.delete(storedFiles).where(isOfUser(storedFiles, p)).returning(id),
  )
  const sweep = deleteInSlices(database, storedFiles, id, (p: { now: EpochSeconds }) =>
    lte(storedFiles.expiresAt, p.now),
  )

  return {
    async add(file) {
      await write(undefined, () => insert(file))
    },
    async find(projectId, id, now) {
      return (await read(live({ projectId, id, now })))[0]
    },
    async count(projectId, most, now) {
      return (await read(counted({ projectId, most, now })))[0]?.total ?? 0
    },
    forgetUser: (user) => write(undefined, () => forget(user)),
    sweep: (now) => sweep({ now }),
  }
}
