import { sql } from 'drizzle-orm'
import type { CoreTables } from '../../store/schema.ts'
import type { SchemaKit } from '../../store/schema-kit.ts'
import type { Branding, Logo } from './domain.ts'

/** The look of a project's pages: at most one row per project. */
export function describeBrandingTables(
  { table, text, whole, json, index, uniqueIndex }: SchemaKit,
  { projects }: Pick<CoreTables, 'projects'>,
) {
  const brandings = table(
    'brandings',
    {
      projectId: text('project_id')
        .primaryKey()
        .references(() => projects.id),
      appName: text('app_name'),
      lang: text('lang'),
      accent: text('accent'),
      accentDark: text('accent_dark'),
      styleHash: text('style_hash'),
      appUrl: text('app_url'),
      privacyUrl: text('privacy_url'),
      supportUrl: text('support_url'),
      texts: json<NonNullable<Branding['texts']>>('texts'),
      logoHash: text('logo_hash'),
      logoType: text('logo_type').$type<Logo['type']>(),
      logo: text('logo'),
      domain: text('domain'),
      domainChallenge: text('domain_challenge'),
      domainProvedAt: whole('domain_proved_at'),
      domainMac: text('domain_mac'),
      updatedAt: whole('updated_at').notNull(),
    },
    (t) => [
      index('brandings_style').on(t.styleHash),
      index('brandings_domain').on(t.domain),
      // several projects may name the same domain, but only one can have proved it
      uniqueIndex('brandings_proved_domain').on(t.domain).where(sql`domain_proved_at is not null`),
    ],
  )
  return { brandings }
}
