import type pg from 'pg'
import type { AuditEntries } from '../../audit-entries.ts'
import type { Announce, StoreChange } from '../../changes.ts'
import type { Announcements } from './announcements.ts'
import { appendAudit } from './audit-chain.ts'
import type { Commits, OwnTransaction } from './commits.ts'
import { confirmed, fromDriver, isUnusable, RetryableError } from './failures.ts'

/** `Database.write` with a body that gets the connection of its transaction. */
export type Transact = <T>(
  audit: AuditEntries | undefined,
  body: (client: pg.PoolClient, announce: Announce) => Promise<Changed<T>>,
) => Promise<T>

/** What a body returns, and whether it has written anything. */
export interface Changed<T> {
  readonly done: T
  readonly hasWritten: boolean
}

export interface WriterParts {
  readonly pool: pg.Pool
  readonly announcements: Pick<Announcements, 'append' | 'wake'>
  readonly commits: Commits
  /** The SQL with which a transaction begins. By default `begin`. */
  readonly opening?: string
  readonly notify: (change: StoreChange) => void
  /** Receives the changes before their commit is sent too. */
  readonly notifyBefore?: ((change: StoreChange) => void) | undefined
}

export function createTransact(parts: WriterParts): Transact {
  const { pool, announcements, commits, notify, notifyBefore, opening } = parts
  return async (audit, body) => {
    const client = await fromDriver(pool.connect())
    let isBroken = false
    let own: OwnTransaction | undefined
    try {
      own = await commits.begin(client, opening)
      const changes: StoreChange[] = []
      const { done, hasWritten } = await body(client, (change) => void changes.push(change))
      if (changes.length > 0) await announcements.append(client, changes)
      if (notifyBefore !== undefined) changes.forEach(notifyBefore)
      // the head of the audit chain is locked last, since all writers of a project wait for this lock
      const isAudited = audit !== undefined && done !== undefined && done !== false
      if (isAudited) await appendAudit(client, audit)
      // without a write there is nothing for the disk, and no outcome that could be lost
      const end = hasWritten || isAudited || changes.length > 0 ? 'commit' : 'rollback'
      try {
        await confirmed(client, () => client.query(end))
      } catch (error) {
        isBroken = isUnusable(error)
        if (!isBroken || end === 'rollback') throw error
        if (!(await commits.wasCommitted(own))) throw new RetryableError('the transaction was rolled back')
      }
      commits.ended(own, end === 'commit' ? 'committed' : 'rolled back')
      for (const change of changes) notify(change)
      if (changes.length > 0) announcements.wake()
      return done
    } catch (error) {
      isBroken ||= isUnusable(error) || !(await isRolledBack(client))
      if (!isBroken && own !== undefined) commits.ended(own, 'rolled back')
      throw error
    } finally {
      client.release(isBroken)
    }
  }
}

async function isRolledBack(client: pg.PoolClient): Promise<boolean> {
  return client.query('rollback').then(
    () => true,
    () => false,
  )
}
