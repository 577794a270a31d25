import { and, count, eq, isNotNull, ne, sql } from 'drizzle-orm'
import { type Authorization, authorizationAt, type Pending } from '../domain/authorization.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import { BrokerError } from '../domain/errors.ts'
import { authorizationConditions } from './authorization-conditions.ts'
import { createExpiry } from './authorization-failures.ts'
import { type AuthorizationRow, toAuthorization } from './authorization-row.ts'
import type { Database } from './database.ts'
import { conflictTarget, inPartition } from './partitions.ts'
import { type OfProject, placeholdersOf } from './statement.ts'

/** The part of `Authorizations` that adds them. */
export interface Beginning {
  /**
   * Adds the authorization, or returns the live (neither settled nor expired) authorization with the same `shareKey`:
   * two racing calls get the same one. The live authorization takes over `nextUri`, `userDisplay` and `lang`, where
   * they are given. Throws `too_many_pending` instead of adding the authorization when the user has `most` live
   * authorizations at one of its providers; racing calls of several nodes may exceed this by a few.
   */
  begin(fresh: Pending, shareKey: string, now: EpochSeconds, most?: number): Promise<Authorization>
  /** How many authorizations of the project are neither settled nor expired. */
  countLive(projectId: string, now: EpochSeconds): Promise<number>
}

export function createBeginning(database: Database): Beginning {
  const { tables, query, statement, read, write } = database
  const { authorizations } = tables
  const expire = createExpiry(database)
  const { unexpired } = authorizationConditions(database)
  const isLive = (p: OfProject & { now: EpochSeconds }) =>
    and(eq(authorizations.projectId, p.projectId), isNotNull(authorizations.shareKey), unexpired(p.now))

  const liveCount = statement((p: OfProject & { now: EpochSeconds }) =>
    query.select({ live: count() }).from(authorizations).where(isLive(p)),
  )
  const otherLive = statement((p: Pick<Pending, 'id' | 'projectId' | 'userId'> & { now: EpochSeconds }) =>
    query
      .select({ steps: authorizations.steps, expiresAt: authorizations.expiresAt })
      .from(authorizations)
      .where(
        and(
          isLive(p),
          eq(authorizations.userId, p.userId),
          ne(authorizations.id, p.id),
          inPartition(authorizations, p),
        ),
      ),
  )
  // one INSERT, so that the database decides which of two racing calls adds the row
  const addOrJoin = statement((_: typeof authorizations.$inferInsert) =>
    query
      .insert(authorizations)
      .values(placeholdersOf(authorizations))
      .onConflictDoUpdate({
        target: conflictTarget(authorizations, authorizations.shareKey),
        set: {
          nextUri: sql`coalesce(excluded.next_uri, ${authorizations.nextUri})`,
          userDisplay: sql`coalesce(excluded.user_display, ${authorizations.userDisplay})`,
          lang: sql`coalesce(excluded.lang, ${authorizations.lang})`,
        },
      })
      .returning(),
  )

  return {
    async begin({ attempt: _, ...fresh }, shareKey, now, most) {
      const row = await write(undefined, function* (announce) {
        for (;;) {
          const [begun] = yield* addOrJoin({ ...fresh, shareKey })
          if (begun === undefined) throw new Error(`authorization ${fresh.id} was neither added nor found`)
          if (begun.id === fresh.id) {
            if (most !== undefined) refuseTooMany(fresh, yield* otherLive({ ...fresh, now }), now, most)
            return begun
          }
          if (authorizationAt(toAuthorization(begun), now).status !== 'failed') return begun
          yield* expire(announce, begun)
        }
      })
      return toAuthorization(row)
    },
    async countLive(projectId, now) {
      const [row] = await read(liveCount({ projectId, now }))
      return row?.live ?? 0
    },
  }
}

/** The longest `Retry-After` of a refusal. */
const LONGEST_RETRY_SECONDS = 60

/** Throws `too_many_pending` when the user already has `most` live authorizations at one of the providers. */
function refuseTooMany(
  fresh: Pick<Pending, 'steps'>,
  live: readonly Pick<AuthorizationRow, 'steps' | 'expiresAt'>[],
  now: EpochSeconds,
  most: number,
): void {
  for (const { providerUid } of fresh.steps) {
    const rivals = live.filter(({ steps }) => steps.some((step) => step.providerUid === providerUid))
    if (rivals.length < most) continue
    const next = Math.min(now + LONGEST_RETRY_SECONDS, ...rivals.map(({ expiresAt }) => expiresAt))
    throw new BrokerError(
      'too_many_pending',
      'The user has too many pending authorizations at one provider. Let the user finish one, or wait until one expires.',
      { retryAfter: Math.max(next - now, 1) },
    )
  }
}
