import pg from 'pg'
import { fromDriver } from './failures.ts'
import type { Transact } from './write.ts'

/** The SQLSTATE of a server whose disk is full. */
const DISK_FULL = '53100'
/** Random text, which is not compressed: more than what a table usually has free inside its file. */
const TAKE_SPACE = `insert into facts (name, value)
  select 'space', string_agg(md5(random()::text), '') from generate_series(1, 32768)`

/**
 * Notices that the server's disk is full. A small write may still find room in a file while all others fail, so after a
 * failure for lack of space `check` fails until a transaction, which is rolled back, can take a megabyte.
 */
export interface Space {
  /** The same, with its failures noticed. */
  watch(transact: Transact): Transact
  check(): Promise<void>
}

export function createSpace(): Space {
  let isFull = false
  let watched: Transact | undefined

  return {
    watch(transact) {
      watched = async (audit, body) => {
        try {
          return await transact(audit, body)
        } catch (error) {
          if (error instanceof pg.DatabaseError && error.code === DISK_FULL) isFull = true
          throw error
        }
      }
      return watched
    },
    async check() {
      if (!isFull) return
      const taken = new Error('the space was there')
      await watched?.(undefined, async (client) => {
        await fromDriver(client.query(TAKE_SPACE))
        throw taken // rolls back
      }).catch((error: unknown) => {
        if (error !== taken) throw error
      })
      isFull = false
    },
  }
}
