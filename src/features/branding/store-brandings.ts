import { isDeepStrictEqual } from 'node:util'
import { eq, getTableColumns } from 'drizzle-orm'
import type { EpochSeconds } from '../../domain/clock.ts'
import type { AuditEntries } from '../../store/audit-entries.ts'
import type { Database } from '../../store/database.ts'
import { type OfProject, placeholdersOf } from '../../store/statement.ts'
import type { Branding, Logo } from './domain.ts'

export interface Brandings {
  find(projectId: string): Promise<Branding | undefined>
  /** The colours of any project whose style sheet has this hash. */
  findStyle(styleHash: string): Promise<Pick<Branding, 'accent' | 'accentDark'> | undefined>
  /** The image of that hash, if it is still the project's logo. */
  findLogo(projectId: string, logoHash: string): Promise<Logo | undefined>
  /**
   * Replaces the project's branding `from` (`undefined`: it has none) except for its domain, which `store-domains.ts` writes.
   * `false`, with nothing written, when the branding is no longer `from`. `logo` replaces the image. Without
   * `logo` the image stays if `to` has a `logoHash`, and is removed otherwise.
   */
  replace(from: Branding | undefined, to: Branding, logo?: Logo, audit?: AuditEntries): Promise<boolean>
}

interface DomainColumns {
  readonly domain?: string
  readonly domainChallenge?: string
  readonly domainProvedAt?: EpochSeconds
}

function toBranding<Row extends DomainColumns>({ domain, domainChallenge, domainProvedAt, ...shown }: Row) {
  if (domain === undefined || domainChallenge === undefined) return shown
  const proved = domainProvedAt !== undefined && { provedAt: domainProvedAt }
  return { ...shown, domain: { name: domain, challenge: domainChallenge, ...proved } }
}

/** The members that `replace` compares: those that it writes, without the time of the last change. */
function looksOf(branding: Branding | undefined): object {
  if (branding === undefined) return {}
  const { projectId: _, domain: __, updatedAt: ___, ...looks } = branding
  return looks
}

export function createBrandings({ tables, query, statement, read, write, dialect }: Database): Brandings {
  const { brandings } = tables
  const { logo: image, logoType, domainMac: _, ...looks } = getTableColumns(brandings)

  // without the image, which is served by a request of its own
  const selectLooks = (p: OfProject) =>
    query.select(looks).from(brandings).where(eq(brandings.projectId, p.projectId))
  const byProject = statement(selectLooks)
  const locked = statement((p: OfProject) => dialect.lock(selectLooks(p), 'for no key update'))
  const byStyle = statement((p: { styleHash: string }) =>
    query
      .select({ accent: brandings.accent, accentDark: brandings.accentDark })
      .from(brandings)
      .where(eq(brandings.styleHash, p.styleHash))
      .limit(1),
  )
  const imageOf = statement((p: OfProject) =>
    query
      .select({ logoHash: brandings.logoHash, type: logoType, data: image })
      .from(brandings)
      .where(eq(brandings.projectId, p.projectId)),
  )
  // a project without branding has no row to lock
  const insert = statement((p: OfProject & { updatedAt: EpochSeconds }) =>
    query
      .insert(brandings)
      .values({ projectId: p.projectId, updatedAt: p.updatedAt })
      .onConflictDoNothing()
      .returning({ projectId: brandings.projectId }),
  )
  const update = statement((p: typeof brandings.$inferInsert) => {
    const { domain, domainChallenge, domainProvedAt, domainMac, ...row } = placeholdersOf(brandings)
    return query
      .update(brandings)
      .set(row)
      .where(eq(brandings.projectId, p.projectId))
      .returning({ projectId: brandings.projectId })
  })

  return {
    async find(projectId) {
      const [found] = await read(byProject({ projectId }))
      return found && toBranding(found)
    },
    async findStyle(styleHash) {
      return (await read(byStyle({ styleHash })))[0]
    },
    async findLogo(projectId, logoHash) {
      const [found] = await read(imageOf({ projectId }))
      if (found?.type === undefined || found.data === undefined || found.logoHash !== logoHash)
        return undefined
      return { type: found.type, data: found.data }
    },
    async replace(from, to, logo, audit) {
      return write(audit, function* () {
        if (from === undefined) yield* insert(to)
        const [current] = yield* locked(to)
        if (!isDeepStrictEqual(looksOf(current && toBranding(current)), looksOf(from))) return false
        const { domain: _, logoHash, ...shown } = to
        const [kept] = logo === undefined ? yield* imageOf(to) : []
        yield* update({
          ...shown,
          ...(logoHash !== undefined && {
            logoHash,
            logoType: logo?.type ?? kept?.type,
            logo: logo?.data ?? kept?.data,
          }),
        })
        return true
      })
    },
  }
}
