import { and, getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Sealed } from '../domain/sealed.ts'
import type { Database } from './database.ts'
import {
  ENVELOPE_PATTERN,
  keyOf,
  rowIdOf,
  type SealedColumn,
  type StoredEnvelope,
  storedEnvelope,
} from './protection.ts'
import { variantsOf } from './statement.ts'
import { VISITED_AT_ONCE } from './sweep.ts'

/** The sealed values of all tables, for a rotation of the master key. Each statement reads a part of a table. */
export interface Envelopes {
  /** How many envelopes each column has, by the id of their key. */
  countByKey(): Promise<readonly EnvelopeCount[]>
  /** The envelopes that are not sealed with this key, in the order of the primary key, beginning after the row `after`. */
  ofOtherKeys(
    column: SealedColumn,
    keyId: string,
    after: string,
    limit: number,
  ): Promise<readonly StoredEnvelope[]>
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

/** The values of primary keys that a statement binds, one for each column of the key. */
type KeyValues = Readonly<Record<`${KeyName}${number}`, string>>
type KeyName = 'after' | 'upTo' | 'row'

interface VisitedRow {
  readonly rowId: string
  readonly keyId: string | undefined
}

export function createEnvelopes(
  { tables, query, statement, read, write }: Database,
  columns: readonly SealedColumn[],
): Envelopes {
  const statementsOf = variantsOf((sealed: SealedColumn) => {
    const table = tables[sealed.table] as typeof tables.facts // drizzle's calls are the same for every table
    const columns = Object.entries(getTableColumns(table))
    const column = (name: string): SQL => {
      const found = columns.find(([, { name: known }]) => known === name)
      if (found === undefined) throw new Error(`${sealed.table} has no column ${name}`)
      return sql`${found[1]}`
    }
    const member = columns.find(([, { name }]) => name === sealed.column)?.[0] ?? sealed.column
    const [id, envelope] = [column(sealed.id), column(sealed.column)]
    const within: Record<string, SQL> =
      sealed.within === undefined ? {} : { [sealed.within]: column(sealed.within) }
    const key = [...Object.values(within), id]
    const list = (values: readonly unknown[]) =>
      sql`(${sql.join(
        values.map((value) => sql`${value}`),
        sql`, `,
      )})`
    const keyNamed = (name: KeyName, p: KeyValues) => list(key.map((_, i) => p[`${name}${i}`]))
    const keyId = sql<string>`substr(${envelope}, 4, 8)`
    // only some facts are envelopes; any other column has envelopes only, and opening reports a value that is not one
    const isEnvelope =
      sealed.table === 'facts' ? sql`${envelope} like ${ENVELOPE_PATTERN}` : sql`${envelope} is not null`
    const needed = Object.fromEntries(sealed.needs.map((name) => [name, column(name)]))

    return {
      visit: statement((p: KeyValues) =>
        query
          .select({ ...within, id, keyId: sql<string | null>`case when ${isEnvelope} then ${keyId} end` })
          .from(table)
          .where(sql`${list(key)} > ${keyNamed('after', p)}`)
          .orderBy(...key)
          .limit(VISITED_AT_ONCE),
      ),
      ofOtherKeys: statement((p: KeyValues & { keyId: string; limit: number }) =>
        query
          .select({ ...needed, id, sealed: envelope })
          .from(table)
          .where(
            and(
              isEnvelope,
              sql`${keyId} <> ${p.keyId}`,
              sql`${list(key)} > ${keyNamed('after', p)}`,
              sql`${list(key)} <= ${keyNamed('upTo', p)}`,
            ),
          )
          .orderBy(...key)
          .limit(p.limit),
      ),
      exchange: statement((p: KeyValues & { from: Sealed; to: Sealed }) =>
        query
          .update(table)
          .set({ [member]: p.to })
          .where(sql`${list(key)} = ${keyNamed('row', p)} and ${envelope} = ${p.from}`)
          .returning({ id }),
      ),
    }
  })

  const bind = (column: SealedColumn, name: KeyName, rowId: string): KeyValues =>
    Object.fromEntries(keyOf(column, rowId).map((value, i) => [`${name}${i}`, value]))

  /** Yields all rows in slices, in primary key order, each with the id of the key that sealed its envelope. */
  async function* rowsOf(column: SealedColumn, after: string): AsyncGenerator<readonly VisitedRow[]> {
    for (let from = after; ; ) {
      const found = await read(statementsOf(column).visit(bind(column, 'after', from)))
      const rows = found.map((row) => ({ rowId: rowIdOf(column, row), keyId: row.keyId }))
      const last = rows.at(-1)
      if (last === undefined) return
      yield rows
      from = last.rowId
    }
  }

  return {
    async countByKey() {
      const counts: EnvelopeCount[] = []
      for (const column of columns) {
        const counted = new Map<string, number>()
        for await (const rows of rowsOf(column, ''))
          for (const { keyId } of rows)
            if (keyId !== undefined) counted.set(keyId, (counted.get(keyId) ?? 0) + 1)
        for (const [keyId, count] of counted)
          counts.push({ table: column.table, column: column.column, keyId, count })
      }
      return counts
    },
    async ofOtherKeys(column, keyId, after, limit) {
      let begin = after
      for await (const rows of rowsOf(column, after)) {
        const end = rows.at(-1)?.rowId ?? begin
        if (rows.some((row) => row.keyId !== undefined && row.keyId !== keyId)) {
          const range = { ...bind(column, 'after', begin), ...bind(column, 'upTo', end) }
          const found = await read(statementsOf(column).ofOtherKeys({ ...range, keyId, limit }))
          if (found.length > 0) return found.map((row) => storedEnvelope(column, row))
        }
        begin = end
      }
      return []
    },
    async exchange(column, exchanges) {
      const { exchange } = statementsOf(column)
      return write(undefined, function* (announce) {
        let done = 0
        for (const { rowId, from, to } of exchanges)
          done += (yield* exchange({ ...bind(column, 'row', rowId), from, to })).length
        if (done > 0 && column.change !== undefined) announce(column.change)
        return done
      })
    },
  }
}
