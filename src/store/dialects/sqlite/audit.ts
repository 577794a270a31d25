import type Database from 'better-sqlite3'
import type { EpochSeconds } from '../../../domain/clock.ts'
import type { Connection } from '../../../domain/connection.ts'
import type { AuditEntries } from '../../audit-entries.ts'
import type { AuditedRelease, AuditTrail } from '../../audit-trail.ts'
import type { StoreChange } from '../../changes.ts'
import {
  type IsCurrent,
  PRECONDITIONS,
  type Precondition,
  type PreconditionNoun,
  staleChangeOf,
} from '../../preconditions.ts'
import type { Transact } from './runner.ts'

/** Appends a block, inside the transaction of the write that it records. */
export type AppendAudit = (entries: AuditEntries) => void

export function createAuditAppender(client: Database.Database): AppendAudit {
  const last = client.prepare<[string], { next_seq: number; hash: string }>(
    'select first_seq + count as next_seq, hash from audit_blocks where project_id = ? order by first_seq desc limit 1',
  )
  const insert = client.prepare<[string, number, number, number, string, string, string]>(
    'insert into audit_blocks (project_id, first_seq, count, at, text, previous, hash) values (?, ?, ?, ?, ?, ?, ?)',
  )

  return ({ projectId, at, lines, link }) => {
    const head = last.get(projectId)
    const firstSeq = head?.next_seq ?? 1
    const previous = head?.hash ?? ''
    const count = lines.length
    const text = lines.join('\n')
    const hash = link({ projectId, firstSeq, count, at, text, previous })
    insert.run(projectId, firstSeq, count, at, text, previous, hash)
  }
}

interface AuditParts {
  readonly transact: Transact
  readonly appendAudit: AppendAudit
  readonly catchUp: () => number
  readonly check: ReleaseCheck
}

export function sqliteAudit({
  transact,
  appendAudit,
  catchUp,
  check,
}: AuditParts): Pick<AuditTrail, 'append' | 'release'> {
  return {
    async append(entries) {
      transact(undefined, () => appendAudit(entries))
    },

    async release(releases, at, link) {
      return transact(undefined, (announce) => {
        // this transaction has the write lock: what is current now is current when it is committed
        catchUp()
        const isValid = releases.map((one) => {
          const stale = check.staleChangeOf(one, at)
          if (stale !== undefined) announce(stale)
          return stale === undefined
        })
        for (const [projectId, lines] of linesByProject(releases, isValid))
          appendAudit({ projectId, at, lines, link })
        return isValid
      })
    },
  }
}

/** The lines of the valid releases, apart for each project, since a chain is one project's. */
function linesByProject(
  releases: readonly AuditedRelease[],
  isValid: readonly boolean[],
): Map<string, string[]> {
  const byProject = new Map<string, string[]>()
  releases.forEach(({ projectId, line }, i) => {
    if (!isValid[i]) return
    const lines = byProject.get(projectId)
    if (lines === undefined) byProject.set(projectId, [line])
    else lines.push(line)
  })
  return byProject
}

/**
 * Compares what releases are based on with the database. A row is compared once after each change of its noun, by
 * whichever process, and is taken for current until the next change.
 */
export interface ReleaseCheck {
  /** The change that the release does not know of, or `undefined` when everything it is based on is current. */
  staleChangeOf(release: AuditedRelease, at: EpochSeconds): StoreChange | undefined
  /** Is called before connections are read; the returned function is called with each that was, and it is current. */
  beforeReading(): (connection: Connection) => void
  /** Changes may have been missed: everything is compared again. */
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
  }
  const changes = { connection: 0, provider: 0, api_key: 0, policy: 0 }
  const checked = new WeakMap<object, number>()
  onChange(({ noun }) => {
    if (noun in changes) changes[noun as PreconditionNoun]++
  })

  const isCurrent: IsCurrent = (noun, key, basis, matches) => {
    if (checked.get(basis) === changes[noun]) return true
    const row = rowOf[noun].get(key)
    if (row === undefined || !matches(row)) return false
    checked.set(basis, changes[noun])
    return true
  }

  return {
    staleChangeOf: (release, at) => staleChangeOf(release, at, isCurrent),
    beforeReading() {
      const before = changes.connection
      return (connection) => void checked.set(connection, before)
    },
    missed() {
      for (const noun of Object.keys(changes)) changes[noun as PreconditionNoun]++
    },
  }
}
