import { and, eq, gt, isNotNull } from 'drizzle-orm'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { AuditEntries } from '../../store/audit-entries.ts'
import type { StoreChange } from '../../store/changes.ts'
import type { Database } from '../../store/database.ts'
import { type RowPage, rowPage } from '../../store/row-page.ts'
import type { OfProject } from '../../store/statement.ts'
import { writeRow } from '../../store/write-row.ts'
import type { OwnDomain, ProvedDomain } from './domain.ts'

/** The host names of projects. They are in columns of `brandings` that no other noun writes. */
export interface OwnDomains {
  /** Gives the project a name that is not proved yet, in place of its former one. */
  put(projectId: string, domain: OwnDomain, now: EpochSeconds, audit?: AuditEntries): Promise<void>
  /** `false` when the project has none. */
  remove(projectId: string, audit?: AuditEntries): Promise<boolean>
  /**
   * Records the proof of the name; `false` when the project no longer has this name with this challenge. Throws
   * `already_exists` when another project has proved the name.
   */
  prove(proved: ProvedDomain, challenge: string, audit?: AuditEntries): Promise<boolean>
  /** Deletes the proof of the name. The project keeps the name, which must be proved again. */
  unprove(projectId: string, domain: OwnDomain, audit?: AuditEntries): Promise<boolean>
  /** The name that the project has proved. */
  findProved(projectId: string): Promise<ProvedDomain | undefined>
  /** The project that has proved the name, and its challenge. */
  findHolder(name: string): Promise<{ readonly projectId: string; readonly challenge: string } | undefined>
  /** The proved names of all projects after the name `after`, in alphabetical order. */
  page(after: string, limit: number): Promise<RowPage<ProvedDomain>>
}

export function createOwnDomains({ tables, query, statement, read, write }: Database): OwnDomains {
  const { brandings } = tables
  const { projectId, domain, domainChallenge, domainProvedAt, domainMac } = brandings
  const isProved = isNotNull(domainProvedAt)
  const columns = { projectId, name: domain, provedAt: domainProvedAt, mac: domainMac }
  const none = { domain: null, domainChallenge: null, domainProvedAt: null, domainMac: null }

  const upsert = statement((p: OfProject & { name: string; challenge: string; updatedAt: EpochSeconds }) => {
    const set = { domain: p.name, domainChallenge: p.challenge, updatedAt: p.updatedAt }
    return query
      .insert(brandings)
      .values({ projectId: p.projectId, ...set })
      .onConflictDoUpdate({ target: projectId, set: { ...set, domainProvedAt: null, domainMac: null } })
      .returning({ projectId })
  })
  const clear = statement((p: OfProject) =>
    query
      .update(brandings)
      .set(none)
      .where(and(eq(projectId, p.projectId), isNotNull(domain)))
      .returning({ projectId }),
  )
  const isName = (p: OfProject & { name: string; challenge: string }) =>
    and(eq(projectId, p.projectId), eq(domain, p.name), eq(domainChallenge, p.challenge))
  const end = statement((p: OfProject & { name: string; challenge: string }) =>
    query
      .update(brandings)
      .set({ domainProvedAt: null, domainMac: null })
      .where(isName(p))
      .returning({ projectId }),
  )
  const record = statement(
    (p: OfProject & { name: string; challenge: string; provedAt: EpochSeconds; mac: string | undefined }) =>
      query
        .update(brandings)
        .set({ domainProvedAt: p.provedAt, domainMac: p.mac ?? null })
        .where(isName(p))
        .returning({ projectId }),
  )
  const ofProject = statement((p: OfProject) =>
    query
      .select(columns)
      .from(brandings)
      .where(and(eq(projectId, p.projectId), isProved)),
  )
  const ofName = statement((p: { name: string }) =>
    query
      .select({ projectId, challenge: domainChallenge })
      .from(brandings)
      .where(and(eq(domain, p.name), isProved)),
  )
  const pageOf = statement((p: { after: string; limit: number }) =>
    query
      .select(columns)
      .from(brandings)
      .where(and(gt(domain, p.after), isProved))
      .orderBy(domain)
      .limit(p.limit),
  )
  const changeOf = (row: OfProject): StoreChange => ({ noun: 'domain', projectId: row.projectId })

  return {
    async put(project, { name, challenge }, updatedAt, audit) {
      const row = { projectId: project, name, challenge, updatedAt }
      await writeRow(write, audit, changeOf, () => upsert(row))
    },
    async remove(project, audit) {
      return (await writeRow(write, audit, changeOf, () => clear({ projectId: project }))) !== undefined
    },
    async prove({ projectId: project, name, provedAt, mac }, challenge, audit) {
      const row = { projectId: project, name, challenge, provedAt, mac }
      const proved = await writeRow(write, audit, changeOf, () => record(row))
      return proved !== undefined
    },
    async unprove(project, { name, challenge }, audit) {
      const row = { projectId: project, name, challenge }
      return (await writeRow(write, audit, changeOf, () => end(row))) !== undefined
    },
    async findProved(project) {
      return (await read(ofProject({ projectId: project }))).map(toProved)[0]
    },
    async findHolder(name) {
      const [found] = await read(ofName({ name }))
      return found?.challenge === undefined
        ? undefined
        : { projectId: found.projectId, challenge: found.challenge }
    },
    async page(after, limit) {
      const rows = (await read(pageOf({ after, limit }))).map(toProved)
      return rowPage(rows, limit, ({ name }) => name)
    },
  }
}

interface ProvedRow extends OfProject {
  readonly name?: string
  readonly provedAt?: EpochSeconds
  readonly mac?: string
}

/** The statements read only rows in which the name and the time are set. */
function toProved({ projectId, name = '', provedAt = 0, mac }: ProvedRow): ProvedDomain {
  return { projectId, name, provedAt, ...(mac !== undefined && { mac }) }
}
