import { type SQL, sql } from 'drizzle-orm'
import { ENVELOPE_PATTERN, placed, SEALED_COLUMNS, type SealedColumn } from '../sealed-columns.ts'
import type { EnvelopeCount, Envelopes, StoreChange } from '../store.ts'
import type { PostgresContext } from './database.ts'

/**
 * What others have read and may write back whole: they must read it again. Nobody writes the envelope of a connection
 * back, and what is held of one opens with either key.
 */
const READ_AND_WRITTEN_BACK: Partial<Record<SealedColumn['table'], StoreChange>> = {
  providers: { noun: 'provider' },
  workers: { noun: 'worker' },
  secrets: { noun: 'secret' },
  policies: { noun: 'policy' },
}

export function postgresEnvelopes({ db, write }: PostgresContext): Envelopes {
  return {
    async census() {
      const counts: EnvelopeCount[] = []
      for (const one of SEALED_COLUMNS) {
        const { rows } = await db.execute<{ keyId: string; count: string }>(
          sql`select substr(${columnOf(one)}, 4, 8) as "keyId", count(*) as "count" from ${tableOf(one)} where ${isEnvelope(one)} group by 1`,
        )
        for (const { keyId, count } of rows)
          counts.push({ table: one.table, column: one.column, keyId, count: Number(count) })
      }
      return counts
    },
    async ofOtherKeys(one, keyId, after, limit) {
      const id = sql.identifier(one.id)
      const needs = one.needs.map((name) => sql`${sql.identifier(name)}, `)
      const { rows } = await db.execute(
        sql`select ${sql.join(needs)}${id} as "id", ${columnOf(one)} as "sealed" from ${tableOf(one)} where ${isEnvelope(one)} and substr(${columnOf(one)}, 4, 8) <> ${keyId} and ${id} > ${after} order by ${id} limit ${limit}`,
      )
      return rows.map((row) => placed(one, row))
    },
    async exchange(one, exchanges) {
      const [column, id] = [columnOf(one), sql.identifier(one.id)]
      return write(undefined, async (tx, announce) => {
        let done = 0
        for (const { rowId, from, to } of exchanges) {
          const { rowCount } = await tx.execute(
            sql`update ${tableOf(one)} set ${column} = ${to} where ${id} = ${rowId} and ${column} = ${from}`,
          )
          done += rowCount ?? 0
        }
        const change = READ_AND_WRITTEN_BACK[one.table]
        if (done > 0 && change !== undefined) announce(change)
        return done
      })
    },
  }
}

function isEnvelope(one: SealedColumn): SQL {
  // whatever else may stand in the others is no envelope any more, and is found by who opens it
  return one.table === 'facts'
    ? sql`${columnOf(one)} like ${ENVELOPE_PATTERN}`
    : sql`${columnOf(one)} is not null`
}

const tableOf = ({ table }: SealedColumn) => sql.identifier(table)
const columnOf = ({ column }: SealedColumn) => sql.identifier(column)
