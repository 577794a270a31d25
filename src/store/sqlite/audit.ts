import type Database from 'better-sqlite3'
import { and, asc, desc, eq, gte, lte, sql } from 'drizzle-orm'
import type { AuditBlock } from '../../domain/audit.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { Connection } from '../../domain/connection.ts'
import type { AuditEntries, AuditedRelease, AuditTrail, StoreChange } from '../store.ts'
import type { SqliteContext } from './database.ts'
import { apiKeys, auditBlocks, connections, projects, providers } from './schema.ts'

/** Appends a block, inside the transaction of whatever it tells of. */
export type AppendAudit = (entries: AuditEntries) => void

export function sqliteAppendAudit(client: Database.Database): AppendAudit {
  // not by drizzle: every release waits for these two
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

export function sqliteAudit(
  { db, write, catchUp, onChange }: SqliteContext,
  appendAudit: AppendAudit,
): AuditTrail {
  const stands = groundsCheck(db, onChange)

  return {
    async append(entries) {
      write(undefined, () => appendAudit(entries))
    },

    async release(releases, at, link) {
      return write(undefined, (_, announce) => {
        // nobody else can write from here on: what is current now is current when this is committed
        catchUp()
        const standing = releases.map((one) => stands(one, at, announce))
        for (const [projectId, lines] of linesByProject(releases, standing))
          appendAudit({ projectId, at, lines, link })
        return standing
      })
    },

    async blocks(projectId, { fromSeq, toSeq, since, until, containing = [], order, limit }) {
      const { firstSeq, count, text } = auditBlocks
      return db
        .select()
        .from(auditBlocks)
        .where(
          and(
            eq(auditBlocks.projectId, projectId),
            fromSeq === undefined ? undefined : sql`${firstSeq} + ${count} > ${fromSeq}`,
            toSeq === undefined ? undefined : lte(firstSeq, toSeq),
            since === undefined ? undefined : gte(auditBlocks.at, since),
            until === undefined ? undefined : lte(auditBlocks.at, until),
            ...containing.map((part) => sql`instr(${text}, ${part}) > 0`),
          ),
        )
        .orderBy(order === 'oldest first' ? asc(firstSeq) : desc(firstSeq))
        .limit(limit)
        .all() satisfies AuditBlock[]
    },

    async head(projectId) {
      const head = db
        .select()
        .from(auditBlocks)
        .where(eq(auditBlocks.projectId, projectId))
        .orderBy(desc(auditBlocks.firstSeq))
        .limit(1)
        .get()
      return head && { lastSeq: head.firstSeq + head.count - 1, hash: head.hash }
    },
  }
}

/** The lines of the releases that stand, apart for each project: a chain is one project's. */
function linesByProject(
  releases: readonly AuditedRelease[],
  standing: readonly boolean[],
): Map<string, string[]> {
  const byProject = new Map<string, string[]>()
  releases.forEach(({ projectId, line }, i) => {
    if (!standing[i]) return
    const lines = byProject.get(projectId)
    if (lines === undefined) byProject.set(projectId, [line])
    else lines.push(line)
  })
  return byProject
}

/**
 * Whether what a release rests on is still what the database says. A row is looked at once after each change of its
 * noun, by whichever process, and believed until the next.
 */
function groundsCheck(db: SqliteContext['db'], onChange: SqliteContext['onChange']) {
  const generationOf = db
    .select({ generation: connections.generation, status: connections.status })
    .from(connections)
    .where(eq(connections.id, sql.placeholder('id')))
    .prepare()
  const updateOf = db
    .select({ updatedAt: providers.updatedAt, status: providers.status })
    .from(providers)
    .where(eq(providers.uid, sql.placeholder('uid')))
    .prepare()
  const keyOf = db
    .select({ revokedAt: apiKeys.revokedAt, expiresAt: apiKeys.expiresAt })
    .from(apiKeys)
    .where(eq(apiKeys.id, sql.placeholder('id')))
    .prepare()

  const versionOf = db
    .select({ version: projects.policiesVersion })
    .from(projects)
    .where(eq(projects.id, sql.placeholder('id')))
    .prepare()

  const changed = { connection: 0, provider: 0, api_key: 0, policy: 0 }
  const looked = new WeakMap<object, number>()
  onChange(({ noun }) => {
    if (noun in changed) changed[noun as keyof typeof changed]++
  })

  function holds(of: object, noun: keyof typeof changed, look: () => boolean): boolean {
    if (looked.get(of) === changed[noun]) return true
    if (!look()) return false
    looked.set(of, changed[noun])
    return true
  }

  function isCurrent({ id, generation, status }: Connection): boolean {
    const row = generationOf.get({ id })
    return row !== undefined && row.generation === generation && row.status === status
  }

  return (
    { projectId, connection, entry, apiKey, policies }: AuditedRelease,
    at: EpochSeconds,
    announce: (change: StoreChange) => void,
  ): boolean => {
    if (!holds(connection, 'connection', () => isCurrent(connection))) {
      announce({ noun: 'connection', id: connection.id, owner: connection })
      return false
    }
    const isEntryCurrent = () => {
      const row = updateOf.get({ uid: entry.uid })
      return row !== undefined && row.updatedAt === entry.updatedAt && row.status === entry.status
    }
    if (!holds(entry, 'provider', isEntryCurrent)) {
      announce({ noun: 'provider' })
      return false
    }
    const isKeyCurrent = () => {
      const row = apiKey && keyOf.get({ id: apiKey.id })
      // a rotation may have given it an end since
      return row !== undefined && row.revokedAt === null && (row.expiresAt === null || row.expiresAt > at)
    }
    if (apiKey !== undefined && !holds(apiKey, 'api_key', isKeyCurrent)) {
      announce({ noun: 'api_key' })
      return false
    }
    if (!holds(policies, 'policy', () => versionOf.get({ id: projectId })?.version === policies.version)) {
      announce({ noun: 'policy' })
      return false
    }
    return true
  }
}
