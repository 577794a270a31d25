import type Database from 'better-sqlite3'
import type { AuditBlock, AuditHead } from '../../../domain/audit.ts'
import type { EpochSeconds } from '../../../domain/clock.ts'
import type { Connection } from '../../../domain/connection.ts'
import { type AuditEntries, blockAfter } from '../../audit-entries.ts'
import type { AuditedRelease, AuditTrail, Precondition } from '../../audit-trail.ts'
import type { StoreChange } from '../../changes.ts'
import { type IsCurrent, PRECONDITIONS, type PreconditionNoun, staleChangeOf } from '../../preconditions.ts'
import type { Transact } from './runner.ts'

/** Appends a block in the transaction of the write that it records. */
export type AppendAudit = (entries: AuditEntries) => void

export function createAuditAppender(client: Database.Database): AppendAudit {
  const last = client.prepare<[string], AuditHead>(
    'select first_seq + count - 1 as lastSeq, hash from audit_blocks where project_id = ? order by first_seq desc limit 1',
  )
  const insert = client.prepare<[AuditBlock]>(
    `insert into audit_blocks (project_id, first_seq, count, at, text, previous, hash)
      values (@projectId, @firstSeq, @count, @at, @text, @previous, @hash)`,
  )

  return (entries) => {
    const head = last.get(entries.projectId) ?? { lastSeq: 0, hash: '' }
    insert.run(blockAfter(head, entries))
  }
}

interface AuditParts {
  readonly transact: Transact
  /** Commits in the same tick, since releases have been batched already. */
  readonly transactNow: Transact
  readonly appendAudit: AppendAudit
  readonly catchUp: () => number
  readonly check: ReleaseCheck
}

export function sqliteAudit({
  transact,
  transactNow,
  appendAudit,
  catchUp,
  check,
}: AuditParts): Pick<AuditTrail, 'append' | 'release'> {
  return {
    async append(entries) {
      await transact(undefined, () => appendAudit(entries))
    },

    async release(releases, at, link) {
      return transactNow(undefined, (announce) => {
        // this transaction has the write lock, so a row that is current now is current at the commit
        catchUp()
        const isValid = releases.map((release) => {
          const stale = check.staleChangeOf(release, at)
          if (stale !== undefined) announce(stale)
          return stale === undefined
        })
        const recorded = releases.filter((_, i) => isValid[i])
        // each project has a chain of its own
        for (const [projectId, ofProject] of Map.groupBy(recorded, (release) => release.projectId))
          appendAudit({ projectId, at, lines: ofProject.map(({ line }) => line), link })
        return isValid
      })
    },
  }
}

/**
 * Compares the rows that releases are based on with the database. A row is compared once, and then counts as current until
 * a process announces the next change of its noun. Keys with an expiry are compared for each release.
 */
export interface ReleaseCheck {
  /** The change that the release has missed, or `undefined` when all rows that it is based on are current. */
  staleChangeOf(release: AuditedRelease, at: EpochSeconds): StoreChange | undefined
  /** Call it before connections are read. Call the returned function with each of them: they count as current. */
  beforeReading(): (connection: Connection) => void
  /** Changes may have been missed: all rows are compared again. */
  missed(): void
}

export function createReleaseCheck(
  client: Database.Database,
  onChange: (listener: (change: StoreChange) => void) => void,
): ReleaseCheck {
  const prepared = (noun: PreconditionNoun) => {
    const { table, key, version, status } = PRECONDITIONS[noun]
    return client.prepare<[string], Precondition>(
      `select ${version} as version, ${status} as status from ${table} where ${key} = ?`,
    )
  }
  const rowOf = {
    connection: prepared('connection'),
    provider: prepared('provider'),
    api_key: prepared('api_key'),
    policy: prepared('policy'),
    shared_connection: prepared('shared_connection'),
  }
  const changes = { connection: 0, provider: 0, api_key: 0, policy: 0, shared_connection: 0 }
  const checked = new WeakMap<object, number>()
  onChange(({ noun }) => {
    if (noun in changes) changes[noun as PreconditionNoun]++
  })

  const isCurrent: IsCurrent = (noun, key, basis, matches) => {
    if (checked.get(basis) === changes[noun]) return true
    const row = rowOf[noun].get(key)
    if (row === undefined || !matches(row)) return false
    // a key that has an expiry is compared again each time: it expires without a change
    const expires = noun === 'api_key' && row.version !== 0
    if (!expires) checked.set(basis, changes[noun])
    return true
  }

  const isChecked = ({ connection, entry, apiKey, rules, shared }: AuditedRelease) =>
    checked.get(connection) === changes.connection &&
    checked.get(entry) === changes.provider &&
    (apiKey === undefined || checked.get(apiKey) === changes.api_key) &&
    (shared === undefined || checked.get(shared) === changes.shared_connection) &&
    rules.every((basis) => checked.get(basis) === changes.policy)

  return {
    staleChangeOf: (release, at) => (isChecked(release) ? undefined : staleChangeOf(release, at, isCurrent)),
    beforeReading() {
      const before = changes.connection
      return (connection) => void checked.set(connection, before)
    },
    missed() {
      for (const noun of Object.keys(changes)) changes[noun as PreconditionNoun]++
    },
  }
}
