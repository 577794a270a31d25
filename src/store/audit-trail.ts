import { and, asc, desc, eq, gt, gte, lte, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { ApiKey } from '../domain/api-key.ts'
import type { AuditBlock, AuditHead } from '../domain/audit.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { Connection } from '../domain/connection.ts'
import type { SharedConnection } from '../domain/shared-connection.ts'
import type { ProviderEntry } from '../providers/provider-entry.ts'
import type { AuditEntries, AuditLink } from './audit-entries.ts'
import type { ChangePosition } from './changes.ts'
import type { Database } from './database.ts'
import { type OfProject, variantsOf } from './statement.ts'

/** The audit entry of a token that is about to be released, and the rows that the decision was based on. */
export interface AuditedRelease {
  readonly projectId: string
  readonly line: string
  readonly connection: Connection
  readonly entry: ProviderEntry
  /** Absent in commands and background jobs, which need no key. */
  readonly apiKey?: ApiKey
  /** The connection of the project whose token it is, as it was shared. Absent: a user's own. */
  readonly shared?: SharedConnection | undefined
  /** The versions of the project's rules that permitted the release. */
  readonly rules: readonly RulesVersion[]
  /** What `AuditTrail.confirm` has returned. */
  readonly confirmed?: ConfirmedConnection
}

/** The compared values of a row on which a release is based. */
export interface Precondition {
  readonly version: number
  readonly status: string
}

/** The row of a connection at a position of the table of changes. */
export interface ConfirmedConnection {
  /** `undefined`: there is no such connection. */
  readonly row: Precondition | undefined
  /** All changes that are not visible at this position were made after the row was read, or while it was. */
  readonly position: ChangePosition
}

/** The version of a project's rules about uses of tokens, which each write of a rule raises. */
export interface RulesVersion {
  readonly version: number
}

export interface BlockRange {
  /** From the block that holds this entry on. */
  readonly fromSeq?: number
  /** To the block that holds this entry. */
  readonly toSeq?: number
  /** Only blocks whose first entry has a number greater than this. */
  readonly beyond?: number
  readonly since?: EpochSeconds
  readonly until?: EpochSeconds
  /** Only blocks whose text contains all of these. */
  readonly containing?: readonly string[]
  readonly order: 'oldest first' | 'newest first'
  readonly limit: number
}

/** One chain of blocks for each project. Blocks are appended, and only removed once they are archived. */
export interface AuditTrail {
  /** Appends entries without another write. They are durable when the promise resolves. */
  append(entries: AuditEntries): Promise<void>
  /**
   * Appends the releases that are still valid, in one commit, and returns for each whether it is. It is valid while the
   * connection is active and of the same generation, the provider entry is unchanged, the key is neither revoked nor
   * expired, the project's rules have the same version, and a shared connection is shared as before. For a release that is not valid a change is announced, so
   * that caches drop the stale row.
   */
  release(releases: readonly AuditedRelease[], at: EpochSeconds, link: AuditLink): Promise<readonly boolean[]>
  /**
   * Present on a database whose connections are on several servers: reads the connection before its release is appended, so
   * that `release` asks none of these servers, and one that does not answer fails only the releases of its own users. There
   * a release that was not confirmed is not valid (`confirmed`).
   */
  readonly confirm?: (release: AuditedRelease) => Promise<ConfirmedConnection>
  /** Blocks in the order of the chain, or the reverse. */
  blocks(projectId: string, range: BlockRange): Promise<readonly AuditBlock[]>
  /** The blocks that hold these entries, each once, in the order of the chain. */
  blocksOf(projectId: string, seqs: readonly number[]): Promise<readonly AuditBlock[]>
  head(projectId: string): Promise<AuditHead | undefined>
}

/** The releases with what `confirm` returns for each of them, where the database has it. */
export async function confirmed(
  { confirm }: Pick<AuditTrail, 'confirm'>,
  releases: readonly AuditedRelease[],
): Promise<readonly AuditedRelease[]> {
  if (confirm === undefined) return releases
  return Promise.all(releases.map(async (release) => ({ ...release, confirmed: await confirm(release) })))
}

/** Reads the audit trail. Appending is in `dialects/`, since each database locks the chain's end differently. */
export function createAuditReader({
  tables,
  query,
  statement,
  read,
  dialect,
}: Database): Pick<AuditTrail, 'blocks' | 'blocksOf' | 'head'> {
  const { auditBlocks } = tables
  const { firstSeq, count, at, text } = auditBlocks

  /** The number of the first entry in the block that holds an entry, found by the primary key. */
  const firstSeqOf = (projectId: SQLWrapper | string, seq: SQLWrapper | number): SQL =>
    sql`(select max(held.first_seq) from ${auditBlocks} as held
      where held.project_id = ${projectId} and held.first_seq <= ${seq})`

  /** One statement for each `shape`: the names of the given conditions and the order, separated by spaces. */
  const inRange = variantsOf((shape: string) => {
    const given = shape.split(' ')
    const parts = given.filter((name) => name.startsWith('part'))
    const when = (name: string, condition: () => SQL): SQL | undefined =>
      given.includes(name) ? condition() : undefined
    return statement((p: Record<string, string | number>) =>
      query
        .select()
        .from(auditBlocks)
        .where(
          and(
            eq(auditBlocks.projectId, p.projectId as string),
            when('fromSeq', () =>
              gte(firstSeq, sql`coalesce(${firstSeqOf(p.projectId as string, p.fromSeq as number)}, 0)`),
            ),
            when('toSeq', () => lte(firstSeq, p.toSeq as number)),
            when('beyond', () => gt(firstSeq, p.beyond as number)),
            when('since', () => gte(at, p.since as number)),
            when('until', () => lte(at, p.until as number)),
            ...parts.map((name) => dialect.contains(text, p[name] as string)),
          ),
        )
        .orderBy(given.includes('oldest') ? asc(firstSeq) : desc(firstSeq))
        .limit(p.limit as number),
    )
  })
  const holding = statement((p: OfProject & { seqs: readonly string[] }) =>
    query
      .select()
      .from(auditBlocks)
      .where(
        and(
          eq(auditBlocks.projectId, p.projectId),
          sql`${firstSeq} in (select ${firstSeqOf(p.projectId, sql`cast(one.value as bigint)`)}
            from ${dialect.elementsOf(p.seqs)} as one)`,
        ),
      )
      .orderBy(asc(firstSeq)),
  )
  const last = statement((p: OfProject) =>
    query
      .select({ firstSeq, count, hash: auditBlocks.hash })
      .from(auditBlocks)
      .where(eq(auditBlocks.projectId, p.projectId))
      .orderBy(desc(firstSeq))
      .limit(1),
  )

  return {
    async blocks(projectId, { containing = [], order, limit, ...bounds }) {
      const parts = Object.fromEntries(containing.map((part, i) => [`part${i}`, part]))
      const given = Object.entries({ ...bounds, ...parts }).filter(([, value]) => value !== undefined)
      const shape = [...given.map(([name]) => name), order === 'oldest first' ? 'oldest' : 'newest']
      return read(inRange(shape.join(' '))({ ...Object.fromEntries(given), projectId, limit }))
    },
    async blocksOf(projectId, seqs) {
      return read(holding({ projectId, seqs: seqs.map(String) }))
    },
    async head(projectId) {
      const [block] = await read(last({ projectId }))
      return block && { lastSeq: block.firstSeq + block.count - 1, hash: block.hash }
    },
  }
}
