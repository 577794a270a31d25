import { and, count, eq, inArray, isNull, sql } from 'drizzle-orm'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { Sealed } from '../../domain/sealed.ts'
import type { AuditEntries } from '../../store/audit-entries.ts'
import type { Database } from '../../store/database.ts'
import { hasIdInProject } from '../../store/row-conditions.ts'
import { sameMembers } from '../../store/same-members.ts'
import { type InProject, type OfProject, placeholdersOf } from '../../store/statement.ts'
import type { DisabledReason, Webhook } from './domain.ts'

/** The columns that `change` compares and writes. The others are those of secrets and of deliveries. */
const SETTINGS = [
  'url',
  'description',
  'types',
  'enabled',
  'disabledReason',
  'disabledAt',
] as const satisfies readonly (keyof Webhook)[]

/** The secrets after a rotation. */
export interface RotatedSecret extends InProject {
  /** The envelope of the secret before the rotation. */
  readonly from: Sealed
  readonly secret: Sealed
  readonly previousSecret: Sealed
  readonly previousUntil: EpochSeconds
  readonly updatedAt: EpochSeconds
}

export interface Webhooks {
  /**
   * Adds the webhook; `false`, with nothing written, when its project has `most` already. Racing calls of several nodes may
   * exceed this by a few.
   */
  add(webhook: Webhook, most: number, audit?: AuditEntries): Promise<boolean>
  find(projectId: string, id: string): Promise<Webhook | undefined>
  /** The oldest first. */
  list(projectId: string): Promise<readonly Webhook[]>
  /**
   * Replaces the settings and returns the row. `undefined`, with nothing written, when its settings are no longer those of
   * `from`, or it was deleted. A webhook that the change enables counts as healthy, and its deliveries are due at once.
   */
  change(from: Webhook, to: Webhook, audit?: AuditEntries): Promise<Webhook | undefined>
  /** `false`, with nothing written, when the secret is no longer `from`, or the webhook was deleted. */
  rotate(secrets: RotatedSecret, audit?: AuditEntries): Promise<boolean>
  /** Disables the webhook unless it is disabled already. */
  disable(
    webhook: InProject & { readonly reason: DisabledReason },
    now: EpochSeconds,
    audit?: AuditEntries,
  ): Promise<boolean>
  /** Deletes the webhook. Its deliveries stay until `Events.sweep` deletes them. */
  delete(projectId: string, id: string, audit?: AuditEntries): Promise<boolean>
}

export function createWebhooks(database: Database): Webhooks {
  const { tables, query, statement, read, write, dialect } = database
  const { webhooks } = tables
  const named = (p: InProject) => hasIdInProject(webhooks, p)
  const id = { id: webhooks.id }

  const selectOne = (p: InProject) => query.select().from(webhooks).where(named(p))
  const byId = statement(selectOne)
  const locked = statement((p: InProject) => dialect.lock(selectOne(p), 'for no key update'))
  const ofProject = statement((p: OfProject) =>
    query.select().from(webhooks).where(eq(webhooks.projectId, p.projectId)).orderBy(webhooks.id),
  )
  const total = statement((p: OfProject) =>
    query.select({ total: count() }).from(webhooks).where(eq(webhooks.projectId, p.projectId)),
  )
  const insert = statement((_: Webhook) =>
    query.insert(webhooks).values(placeholdersOf(webhooks)).returning(id),
  )
  const update = statement((p: Webhook) => {
    const { url, description, types, enabled, disabledReason, disabledAt, updatedAt, mac } =
      placeholdersOf(webhooks)
    return query
      .update(webhooks)
      .set({ url, description, types, enabled, disabledReason, disabledAt, updatedAt, mac })
      .where(named(p))
      .returning()
  })
  const heal = statement((p: InProject) =>
    query
      .update(webhooks)
      .set({ failures: 0, failingSince: null, probeAt: null })
      .where(named(p))
      .returning(id),
  )
  const hasten = hastenStatement(database)
  const rotate = statement((p: RotatedSecret) =>
    query
      .update(webhooks)
      .set({
        secret: p.secret,
        previousSecret: p.previousSecret,
        previousUntil: p.previousUntil,
        updatedAt: p.updatedAt,
      })
      .where(and(named(p), eq(webhooks.secret, p.from)))
      .returning(id),
  )
  const disable = statement((p: InProject & { reason: DisabledReason; now: EpochSeconds }) =>
    query
      .update(webhooks)
      .set({ enabled: false, disabledReason: p.reason, disabledAt: p.now, updatedAt: p.now })
      .where(and(named(p), eq(webhooks.enabled, true)))
      .returning(id),
  )
  const remove = statement((p: InProject) => query.delete(webhooks).where(named(p)).returning(id))

  return {
    async add(webhook, most, audit) {
      return write(audit, function* () {
        const [known] = yield* total(webhook)
        if ((known?.total ?? 0) >= most) return false
        yield* insert(webhook)
        return true
      })
    },
    async find(projectId, id) {
      return (await read(byId({ projectId, id })))[0]
    },
    async list(projectId) {
      return read(ofProject({ projectId }))
    },
    async change(from, to, audit) {
      const { id, projectId } = from
      return write(audit, function* (announce) {
        const [current] = yield* locked({ id, projectId })
        if (current === undefined || !sameMembers(current, from, SETTINGS)) return undefined
        if (to.enabled && !current.enabled) {
          yield* heal({ id, projectId })
          yield* hasten({ webhookId: id, now: to.updatedAt })
          announce({ noun: 'delivery' })
        }
        const [changed] = yield* update({ ...to, id, projectId })
        return changed
      })
    },
    async rotate(secrets, audit) {
      return write(audit, function* () {
        return (yield* rotate(secrets)).length > 0
      })
    },
    async disable(webhook, now, audit) {
      return write(audit, function* () {
        return (yield* disable({ ...webhook, now })).length > 0
      })
    },
    async delete(projectId, id, audit) {
      return write(audit, function* () {
        return (yield* remove({ projectId, id })).length > 0
      })
    },
  }
}

/** The most retries that one statement makes due: more than a failing webhook can have. */
const HASTENED_AT_ONCE = 1_000

/** Makes the retries of a webhook due at once, because it answers again. */
export function hastenStatement({ tables: { deliveries }, query, statement, dialect }: Database) {
  return statement((p: { webhookId: string; now: EpochSeconds }) => {
    const now = dialect.sharedNow(p.now)
    const isLater = and(
      eq(deliveries.webhookId, p.webhookId),
      eq(deliveries.state, 'waiting'),
      sql`${deliveries.dueAt} > (select ${now})`,
      isNull(deliveries.leaseOwner),
    )
    const some = query
      .select({ eventId: deliveries.eventId })
      .from(deliveries)
      .where(isLater)
      .orderBy(deliveries.dueAt)
      .limit(HASTENED_AT_ONCE)
    return query
      .update(deliveries)
      .set({ dueAt: now })
      .where(and(inArray(deliveries.eventId, some), isLater))
      .returning({ eventId: deliveries.eventId })
  })
}
