import { and, count, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Sealed } from '../domain/sealed.ts'
import type { StoreChange } from './changes.ts'
import type { Database } from './database.ts'
import {
  ENVELOPE_PATTERN,
  type PlacedEnvelope,
  placedEnvelope,
  SEALED_COLUMNS,
  type SealedColumn,
} from './sealed-columns.ts'
import { variantsOf } from './statement.ts'

/** The sealed values of all tables, for a rotation of the master key. */
export interface Envelopes {
  /** How many envelopes each column has, by the id of their key. */
  countByKey(): Promise<readonly EnvelopeCount[]>
  /** The envelopes that are not sealed with this key, in the order of their rows' ids, beginning after the row `after`. */
  ofOtherKeys(
    column: SealedColumn,
    keyId: string,
    after: string,
    limit: number,
  ): Promise<readonly PlacedEnvelope[]>
  /** Replaces each `from` that is still stored by `to`, in one transaction; returns how many were replaced. */
  exchange(
    column: SealedColumn,
    exchanges: readonly { readonly rowId: string; readonly from: Sealed; readonly to: Sealed }[],
  ): Promise<number>
}

export interface EnvelopeCount {
  readonly table: SealedColumn['table']
  readonly column: string
  readonly keyId: string
  readonly count: number
}

/**
 * The nouns that other processes cache and may write back as a whole, so that they must read them again. Connections are
 * not among them: no process writes their cached envelopes back, and a cached envelope opens with either key.
 */
const CACHED_AND_WRITTEN_BACK: Partial<Record<SealedColumn['table'], StoreChange>> = {
  providers: { noun: 'provider' },
  workers: { noun: 'worker' },
  secrets: { noun: 'secret' },
  policies: { noun: 'policy' },
}

export function createEnvelopes({ tables, query, statement, read, write }: Database): Envelopes {
  const statementsOf = variantsOf((one: SealedColumn) => {
    const table = tables[one.table] as typeof tables.facts // drizzle's calls are the same for every table
    const columns = Object.entries(getTableColumns(table))
    const column = (name: string): SQL => {
      const found = columns.find(([, { name: known }]) => known === name)
      if (found === undefined) throw new Error(`${one.table} has no column ${name}`)
      return sql`${found[1]}`
    }
    const member = columns.find(([, { name }]) => name === one.column)?.[0] ?? one.column
    const [id, envelope] = [column(one.id), column(one.column)]
    const keyId = sql<string>`substr(${envelope}, 4, 8)`
    // other columns hold nothing but envelopes, and opening one reports what is not; only some facts are envelopes
    const isEnvelope =
      one.table === 'facts' ? sql`${envelope} like ${ENVELOPE_PATTERN}` : sql`${envelope} is not null`
    const needed = Object.fromEntries(one.needs.map((name) => [name, column(name)]))

    return {
      countByKey: statement((_: object) =>
        query.select({ keyId, count: count() }).from(table).where(isEnvelope).groupBy(keyId),
      ),
      ofOtherKeys: statement((p: { keyId: string; after: string; limit: number }) =>
        query
          .select({ ...needed, id, sealed: envelope })
          .from(table)
          .where(and(isEnvelope, sql`${keyId} <> ${p.keyId}`, sql`${id} > ${p.after}`))
          .orderBy(id)
          .limit(p.limit),
      ),
      exchange: statement((p: { rowId: string; from: Sealed; to: Sealed }) =>
        query
          .update(table)
          .set({ [member]: p.to })
          .where(sql`${id} = ${p.rowId} and ${envelope} = ${p.from}`)
          .returning({ id }),
      ),
    }
  })

  return {
    async countByKey() {
      const counts: EnvelopeCount[] = []
      for (const one of SEALED_COLUMNS)
        for (const counted of await read(statementsOf(one).countByKey({})))
          counts.push({ table: one.table, column: one.column, ...counted })
      return counts
    },
    async ofOtherKeys(one, keyId, after, limit) {
      const rows = await read(statementsOf(one).ofOtherKeys({ keyId, after, limit }))
      return rows.map((row) => placedEnvelope(one, row))
    },
    async exchange(one, exchanges) {
      const { exchange } = statementsOf(one)
      return write(undefined, function* (announce) {
        let done = 0
        for (const each of exchanges) done += (yield* exchange(each)).length
        const change = CACHED_AND_WRITTEN_BACK[one.table]
        if (done > 0 && change !== undefined) announce(change)
        return done
      })
    },
  }
}
