import { and, eq } from 'drizzle-orm'
import type { Database } from './database.ts'

/** Marks a database as a backup that no server has started yet. The value begins with the time at which it was taken. */
export const BACKUP_FACT = 'backup_taken_at'
/** The time at which the last backup of this database was taken. */
export const LAST_BACKUP_FACT = 'last_backup_at'
/** Marks a database whose installation was moved to another one. The value is the time of the move. */
export const MOVED_FACT = 'moved_at'
/** What the lease clock of an SQLite file adds to the steady clock of the machine, for one start of the machine. */
export const LEASE_CLOCK_FACT = 'lease_clock'
/** The fact that `Store.probe` writes. */
export const PROBE_FACT = 'probe'

/** Key-value pairs about the installation, such as the check value of the master key. */
export interface Facts {
  find(name: string): Promise<string | undefined>
  /**
   * Compare-and-set: replaces the value by `to` if it is `from`. With `from` as `undefined` it adds `to` if there is no
   * value. Returns whether it wrote `to`.
   */
  exchange(name: string, from: string | undefined, to: string): Promise<boolean>
  /** Adds the value if there is none yet; returns the stored value. */
  settle(name: string, value: string): Promise<string>
  put(name: string, value: string): Promise<void>
  delete(name: string): Promise<void>
}

interface Fact {
  readonly name: string
  readonly value: string
}

export function createFacts({ tables, query, statement, read, write }: Database): Facts {
  const { facts } = tables

  const byName = statement((p: { name: string }) => query.select().from(facts).where(eq(facts.name, p.name)))
  const insert = statement((p: Fact) =>
    query
      .insert(facts)
      .values({ name: p.name, value: p.value })
      .onConflictDoNothing()
      .returning({ name: facts.name }),
  )
  const upsert = statement((p: Fact) =>
    query
      .insert(facts)
      .values({ name: p.name, value: p.value })
      .onConflictDoUpdate({ target: facts.name, set: { value: p.value } })
      .returning({ name: facts.name }),
  )
  const exchange = statement((p: Fact & { from: string }) =>
    query
      .update(facts)
      .set({ value: p.value })
      .where(and(eq(facts.name, p.name), eq(facts.value, p.from)))
      .returning({ name: facts.name }),
  )
  const remove = statement((p: { name: string }) =>
    query.delete(facts).where(eq(facts.name, p.name)).returning({ name: facts.name }),
  )

  const find = async (name: string) => (await read(byName({ name })))[0]?.value

  return {
    find,
    async settle(name, value) {
      const known = await find(name)
      if (known !== undefined) return known
      await write(undefined, () => insert({ name, value }))
      return (await find(name)) ?? value
    },
    async exchange(name, from, to) {
      const done = await write(undefined, () =>
        from === undefined ? insert({ name, value: to }) : exchange({ name, from, value: to }),
      )
      return done.length > 0
    },
    async put(name, value) {
      await write(undefined, () => upsert({ name, value }))
    },
    async delete(name) {
      await write(undefined, () => remove({ name }))
    },
  }
}
