import type pg from 'pg'
import { fromDriver } from './failures.ts'

const ASK = `select current_setting('synchronous_commit') as setting
  where current_setting('synchronous_standby_names') <> '' and current_setting('synchronous_commit') in ('local', 'remote_write')`

/** `local` or `remote_write`, where a commit is answered before the synchronous standby has it on its disk. */
export async function findWeakCommit(pool: pg.Pool): Promise<string | undefined> {
  const { rows } = await fromDriver(
    pool.query<{ readonly setting: string }>({ name: 'weak_commit', text: ASK }),
  )
  return rows[0]?.setting
}
