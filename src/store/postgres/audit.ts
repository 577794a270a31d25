import { and, asc, desc, eq, gte, lte, sql } from 'drizzle-orm'
import type pg from 'pg'
import type { AuditHead } from '../../domain/audit.ts'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { AuditEntries, AuditedRelease, AuditTrail, StoreChange } from '../store.ts'
import type { PostgresContext } from './database.ts'
import { asked } from './failures.ts'
import { auditBlocks, auditHeads } from './schema.ts'

/** Appends a block within the transaction of whatever it tells of, after everything else that it locks. */
export async function appendAudit(client: pg.ClientBase, entries: AuditEntries): Promise<void> {
  const head = await lockHead(client, entries.projectId)
  await appendTo(head, client, entries)
}

/** The end of the project's chain, which nobody else can go on from until this transaction ends. */
async function lockHead(client: pg.ClientBase, projectId: string): Promise<AuditHead> {
  for (;;) {
    const { rows } = await asked(
      client.query<{ last_seq: string; hash: string }>({
        name: 'lock_audit_head',
        text: 'select last_seq, hash from audit_heads where project_id = $1 for update',
        values: [projectId],
      }),
    )
    const [head] = rows
    if (head !== undefined) return { lastSeq: Number(head.last_seq), hash: head.hash }
    await asked(
      client.query("insert into audit_heads values ($1, 0, '') on conflict (project_id) do nothing", [
        projectId,
      ]),
    )
  }
}

async function appendTo(
  head: AuditHead,
  client: pg.ClientBase,
  { projectId, at, lines, link }: AuditEntries,
): Promise<void> {
  const count = lines.length
  const block = {
    projectId,
    firstSeq: head.lastSeq + 1,
    count,
    at,
    text: lines.join('\n'),
    previous: head.hash,
  }
  await asked(
    client.query({
      name: 'append_audit_block',
      text: `with block as (
          insert into audit_blocks (project_id, first_seq, count, at, text, previous, hash)
          values ($1, $2, $3, $4, $5, $6, $7)
        )
        update audit_heads set last_seq = $8, hash = $7 where project_id = $1`,
      values: [
        projectId,
        block.firstSeq,
        count,
        at,
        block.text,
        block.previous,
        link(block),
        head.lastSeq + count,
      ],
    }),
  )
}

export function postgresAudit({ db, write, tell }: PostgresContext): AuditTrail {
  return {
    async append(entries) {
      await write(entries, async () => true)
    },

    async release(releases, at, link) {
      const { stale, standing } = await write(undefined, async ({ $client: client }) => {
        // whoever changes what a release rests on writes to the same chain: by the head it is one before the other
        const heads = new Map<string, AuditHead>()
        for (const projectId of [...new Set(releases.map((one) => one.projectId))].sort())
          heads.set(projectId, await lockHead(client, projectId))
        const found = await groundsOf(client, releases)
        const stale = releases.map((one) => staleGround(one, found, at))
        for (const [projectId, head] of heads) {
          const lines = releases
            .filter((one, i) => one.projectId === projectId && stale[i] === undefined)
            .map(({ line }) => line)
          if (lines.length > 0) await appendTo(head, client, { projectId, at, lines, link })
        }
        return { stale, standing: stale.map((change) => change === undefined) }
      })
      for (const change of stale) if (change !== undefined) tell(change)
      return standing
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
            ...containing.map((part) => sql`strpos(${text}, ${part}) > 0`),
          ),
        )
        .orderBy(order === 'oldest first' ? asc(firstSeq) : desc(firstSeq))
        .limit(limit)
    },

    async head(projectId) {
      const [head] = await db
        .select({ lastSeq: auditHeads.lastSeq, hash: auditHeads.hash })
        .from(auditHeads)
        .where(eq(auditHeads.projectId, projectId))
      return head
    },
  }
}

/** What the database says now of everything that the releases rest on, by noun and id. */
type Grounds = ReadonlyMap<string, { readonly version: number; readonly status: string }>

async function groundsOf(client: pg.ClientBase, releases: readonly AuditedRelease[]): Promise<Grounds> {
  const { rows } = await asked(
    client.query<{ noun: string; id: string; version: string; status: string }>({
      name: 'grounds_of_releases',
      text: `select 'connection' as noun, id, generation::bigint as version, status
          from connections where id = any($1::text[])
        union all
        select 'provider', uid, updated_at, status from providers where uid = any($2::text[])
        union all
        select 'api_key', id, coalesce(expires_at, 0), case when revoked_at is null then 'active' else 'revoked' end
          from api_keys where id = any($3::text[])
        union all
        select 'policies', id, policies_version, '' from projects where id = any($4::text[])`,
      values: [
        [...new Set(releases.map(({ connection }) => connection.id))],
        [...new Set(releases.map(({ entry }) => entry.uid))],
        [...new Set(releases.flatMap(({ apiKey }) => apiKey?.id ?? []))],
        [...new Set(releases.map(({ projectId }) => projectId))],
      ],
    }),
  )
  return new Map(
    rows.map(({ noun, id, version, status }) => [`${noun} ${id}`, { version: Number(version), status }]),
  )
}

/** The change that the release does not know of, if there is one. */
function staleGround(
  { connection, entry, apiKey, policies }: AuditedRelease,
  grounds: Grounds,
  at: EpochSeconds,
): StoreChange | undefined {
  const { id, projectId, providerUid, userId } = connection
  const tokens = grounds.get(`connection ${id}`)
  if (tokens?.version !== connection.generation || tokens.status !== connection.status)
    return { noun: 'connection', id, owner: { projectId, providerUid, userId } }
  const provider = grounds.get(`provider ${entry.uid}`)
  if (provider?.version !== entry.updatedAt || provider.status !== entry.status) return { noun: 'provider' }
  if (apiKey !== undefined) {
    const key = grounds.get(`api_key ${apiKey.id}`)
    // a rotation may have given it an end since
    const isOver = key !== undefined && key.version > 0 && key.version <= at
    if (key?.status !== 'active' || isOver) return { noun: 'api_key' }
  }
  if (grounds.get(`policies ${projectId}`)?.version !== policies.version) return { noun: 'policy' }
  return undefined
}
