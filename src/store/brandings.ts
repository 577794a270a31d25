import { eq, getTableColumns } from 'drizzle-orm'
import type { Branding, Logo } from '../domain/branding.ts'
import type { EpochSeconds } from '../domain/clock.ts'
import type { AuditEntries } from './audit-entries.ts'
import type { Database } from './database.ts'
import { type OfProject, placeholdersOf } from './statement.ts'

export interface Brandings {
  find(projectId: string): Promise<Branding | undefined>
  /** The colours of any project whose style sheet has this hash. */
  findStyle(styleHash: string): Promise<Pick<Branding, 'accent' | 'accentDark'> | undefined>
  /** The image of that hash, if it is still the project's logo. */
  findLogo(projectId: string, logoHash: string): Promise<Logo | undefined>
  /**
   * Replaces the project's branding except for its domain, which `own-domains.ts` writes. `logo` replaces the image, which
   * `branding.logoHash` names, or removes it. Without it the image that is stored now stays, with its hash.
   */
  put(branding: Branding, logo?: Logo | 'removed', audit?: AuditEntries): Promise<void>
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

export function createBrandings({ tables, query, statement, read, write }: Database): Brandings {
  const { brandings } = tables
  const { logo: image, logoType, domainMac: _, ...looks } = getTableColumns(brandings)

  // without the image, which is served by a request of its own
  const byProject = statement((p: OfProject) =>
    query.select(looks).from(brandings).where(eq(brandings.projectId, p.projectId)),
  )
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
  const upsert = statement((_: typeof brandings.$inferInsert) => {
    const { domain, domainChallenge, domainProvedAt, domainMac, ...row } = placeholdersOf(brandings)
    return query
      .insert(brandings)
      .values(row)
      .onConflictDoUpdate({ target: brandings.projectId, set: row })
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
    async put(branding, logo, audit) {
      await write(audit, function* () {
        const { domain: _, logoHash, ...shown } = branding
        // another request may have replaced, added or removed the image since the branding was read
        const [kept] = logo === undefined ? yield* imageOf(branding) : []
        const stored = logo === undefined || logo === 'removed' ? kept : { logoHash, ...logo }
        yield* upsert({
          ...shown,
          logoHash: stored?.logoHash,
          logoType: stored?.type,
          logo: stored?.data,
        })
        return true // so that the audit entries are written
      })
    },
  }
}
