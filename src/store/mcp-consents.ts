import { and, count, desc, eq, lt, or, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../domain/clock.ts'
import type { McpConsent } from '../domain/mcp-consent.ts'
import type { AuditEntries } from './audit-entries.ts'
import type { Announce } from './changes.ts'
import type { Database } from './database.ts'
import { createPages, type Page, type PageRequest } from './page.ts'
import { hasIdInProject, isOfUser } from './row-conditions.ts'
import { type InProject, type OfUser, placeholdersOf, type Steps, variantsOf } from './statement.ts'
import { inSlices } from './sweep.ts'

/** How many approvals a sweep reads at once. Each is deleted in a transaction of its own, with its announcement. */
const SWEPT_AT_ONCE = 20

type Identity = Pick<McpConsent, 'projectId' | 'userId' | 'clientId' | 'redirectUri'>

/** Users' approvals of MCP clients, and the grants that belong to them. */
export interface McpConsents {
  /**
   * Adds the approval. If there is one for this user, client and redirect URI, its scopes, grant and client name are
   * replaced, and who identified the user. Access tokens of a grant that was replaced are refused.
   */
  put(consent: McpConsent, audit?: AuditEntries): Promise<void>
  find(identity: Identity): Promise<McpConsent | undefined>
  findById(projectId: string, id: string): Promise<McpConsent | undefined>
  /** The approval whose tokens belong to this grant; `undefined` once the grant has ended. */
  findByGrant(grantId: string): Promise<McpConsent | undefined>
  /** The newest first; of one user, or of all. */
  list(projectId: string, filter: { readonly userId?: string }, page: PageRequest): Promise<Page<McpConsent>>
  /** All approvals of one user, the newest first. */
  ofUser(projectId: string, userId: string): Promise<readonly McpConsent[]>
  /** Some approvals whose users another verifier identified, and how many there are. */
  ofOtherVerifiers(
    verifier: string,
    limit: number,
  ): Promise<{ readonly total: number; readonly some: readonly McpConsent[] }>
  /** Records that the client got an access token. */
  used(grantId: string, now: EpochSeconds): Promise<void>
  /** Deletes the approval with its grant, codes and refresh tokens, so that the client's access tokens are refused. */
  delete(projectId: string, id: string, audit?: AuditEntries): Promise<boolean>
  /** Ends a grant with its codes and refresh tokens; the approval is kept without a grant. */
  endGrant(grantId: string, audit?: AuditEntries): Promise<boolean>
  /** Deletes the approvals that were given and last used before `before`, with their grants; returns how many. */
  sweep(before: EpochSeconds): Promise<number>
}

export function createMcpConsents(database: Database): McpConsents {
  const { tables, query, statement, read, write, writeRepeatable, dialect } = database
  const { mcpConsents, mcpRecords } = tables
  const hasIdentity = (p: Identity) =>
    and(
      isOfUser(mcpConsents, p),
      eq(mcpConsents.clientId, p.clientId),
      eq(mcpConsents.redirectUri, p.redirectUri),
    )

  const insert = statement((_: McpConsent) => {
    const { projectId, userId, clientId, redirectUri, id } = mcpConsents
    return query
      .insert(mcpConsents)
      .values(placeholdersOf(mcpConsents))
      .onConflictDoNothing({ target: [projectId, userId, clientId, redirectUri] })
      .returning({ id })
  })
  const lockedGrant = statement((p: Identity) =>
    dialect.lock(
      query.select({ grantId: mcpConsents.grantId }).from(mcpConsents).where(hasIdentity(p)),
      'for update',
    ),
  )
  const replace = statement((p: McpConsent) => {
    const { clientName, scopes, grantId, verifier } = placeholdersOf(mcpConsents)
    return query
      .update(mcpConsents)
      .set({ clientName, scopes, grantId, verifier })
      .where(hasIdentity(p))
      .returning({ id: mcpConsents.id })
  })
  const byIdentity = statement((p: Identity) => query.select().from(mcpConsents).where(hasIdentity(p)))
  const byId = statement((p: InProject) =>
    query.select().from(mcpConsents).where(hasIdInProject(mcpConsents, p)),
  )
  const byGrant = statement((p: { grantId: string }) =>
    query.select().from(mcpConsents).where(eq(mcpConsents.grantId, p.grantId)),
  )
  const listed = variantsOf((filter: 'all' | 'of user') =>
    createPages(database, {
      table: mcpConsents,
      key: mcpConsents.id,
      order: 'descending',
      matching: (p: OfUser) =>
        filter === 'of user' ? isOfUser(mcpConsents, p) : eq(mcpConsents.projectId, p.projectId),
      select: (where, order) => query.select().from(mcpConsents).where(where).orderBy(order),
      keyOf: ({ id }) => id,
    }),
  )
  const ofUser = statement((p: OfUser) =>
    query.select().from(mcpConsents).where(isOfUser(mcpConsents, p)).orderBy(desc(mcpConsents.id)),
  )
  const hasOtherVerifier = (p: { verifier: string }) =>
    and(
      sql`${mcpConsents.grantId} is not null`,
      or(sql`${mcpConsents.verifier} is null`, sql`${mcpConsents.verifier} <> ${p.verifier}`),
    )
  const countOther = statement((p: { verifier: string }) =>
    query.select({ total: count() }).from(mcpConsents).where(hasOtherVerifier(p)),
  )
  const someOther = statement((p: { verifier: string; limit: number }) =>
    query.select().from(mcpConsents).where(hasOtherVerifier(p)).limit(p.limit),
  )
  const used = statement((p: { grantId: string; now: EpochSeconds }) =>
    query
      .update(mcpConsents)
      .set({ lastUsedAt: p.now })
      .where(eq(mcpConsents.grantId, p.grantId))
      .returning({ id: mcpConsents.id }),
  )
  const remove = statement((p: InProject) =>
    query
      .delete(mcpConsents)
      .where(hasIdInProject(mcpConsents, p))
      .returning({ grantId: sql<string | null>`${mcpConsents.grantId}` }),
  )
  const unlinkGrant = statement((p: { grantId: string }) =>
    query
      .update(mcpConsents)
      .set({ grantId: null })
      .where(eq(mcpConsents.grantId, p.grantId))
      .returning({ id: mcpConsents.id }),
  )
  const removeRecords = statement((p: { grantId: string }) =>
    query
      .delete(mcpRecords)
      .where(
        or(
          eq(mcpRecords.grantId, p.grantId),
          and(eq(mcpRecords.model, 'Grant'), eq(mcpRecords.id, p.grantId)),
        ),
      )
      .returning({ id: mcpRecords.id }),
  )
  const { lastUsedAt, createdAt } = mcpConsents
  const unused = statement((p: { before: EpochSeconds }) =>
    query
      .select({ id: mcpConsents.id, projectId: mcpConsents.projectId })
      .from(mcpConsents)
      .where(
        and(
          sql`(case when ${lastUsedAt} is null then ${createdAt} else ${lastUsedAt} end) < ${p.before}`, // as in the index
          lt(createdAt, p.before),
        ),
      )
      .limit(SWEPT_AT_ONCE),
  )

  function* removeWithGrant(announce: Announce, { projectId, id }: InProject): Steps<boolean> {
    const [removed] = yield* remove({ projectId, id })
    if (removed === undefined) return false
    const { grantId } = removed
    if (grantId !== undefined && grantId !== null) {
      yield* removeRecords({ grantId })
      announce({ noun: 'mcp_grant', id: grantId })
    }
    return true
  }

  return {
    async put(consent, audit) {
      await write(audit, function* (announce) {
        while ((yield* insert(consent)).length === 0) {
          const [former] = yield* lockedGrant(consent)
          if (former === undefined) continue // deleted meanwhile
          yield* replace(consent)
          const { grantId: id } = former
          if (id !== undefined && id !== consent.grantId) announce({ noun: 'mcp_grant', id })
          break
        }
        if (consent.grantId !== undefined) announce({ noun: 'mcp_grant', id: consent.grantId })
        return true
      })
    },
    async find(identity) {
      return (await read(byIdentity(identity)))[0]
    },
    async findById(projectId, id) {
      return (await read(byId({ projectId, id })))[0]
    },
    async findByGrant(grantId) {
      return (await read(byGrant({ grantId })))[0]
    },
    async list(projectId, { userId }, page) {
      const pageOf = listed(userId === undefined ? 'all' : 'of user')
      return pageOf({ projectId, userId: userId ?? '' }, page)
    },
    async ofUser(projectId, userId) {
      return read(ofUser({ projectId, userId }))
    },
    async ofOtherVerifiers(verifier, limit) {
      const [counted] = await read(countOther({ verifier }))
      return { total: counted?.total ?? 0, some: await read(someOther({ verifier, limit })) }
    },
    async used(grantId, now) {
      await writeRepeatable(used({ grantId, now }))
    },
    async delete(projectId, id, audit) {
      return write(audit, (announce) => removeWithGrant(announce, { projectId, id }))
    },
    async endGrant(grantId, audit) {
      return write(audit, function* (announce) {
        const unlinked = yield* unlinkGrant({ grantId })
        const removed = yield* removeRecords({ grantId })
        announce({ noun: 'mcp_grant', id: grantId })
        return unlinked.length + removed.length > 0
      })
    },
    async sweep(before) {
      return inSlices(async () => {
        const found = await read(unused({ before }))
        for (const consent of found) await write(undefined, (announce) => removeWithGrant(announce, consent))
        return found
      })
    },
  }
}
