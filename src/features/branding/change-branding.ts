import type { Broker } from '../../broker.ts'
import { invalidMember } from '../../domain/errors.ts'
import { sha256 } from '../../domain/ids.ts'
import { mixedScriptWord, skeletonOf } from '../../domain/look-alike.ts'
import { catalogueEntries } from '../../providers/catalogue/search.ts'
import { withoutUndefined } from '../../sdk/without-undefined.ts'
import { changeRow } from '../../services/change-row.ts'
import { isReadable, nearestReadable } from './contrast.ts'
import type { Branding, Logo } from './domain.ts'
import { readLogo } from './logo-image.ts'

/** A change: absent members stay, `null` removes one. */
export interface BrandingChanges {
  readonly appName?: string | null | undefined
  readonly lang?: string | null | undefined
  readonly accent?: string | null | undefined
  readonly accentDark?: string | null | undefined
  readonly appUrl?: string | null | undefined
  readonly privacyUrl?: string | null | undefined
  readonly supportUrl?: string | null | undefined
  readonly texts?: Branding['texts'] | null | undefined
  /** A `data:` URL. */
  readonly logo?: string | null | undefined
}

export type ChangedBranding =
  | { readonly outcome: 'changed'; readonly branding: Branding }
  /** Links and buttons in this colour would be unreadable; `nearest` is a readable shade of it. Nothing was changed. */
  | { readonly outcome: 'unreadable'; readonly member: 'accent' | 'accent_dark'; readonly nearest: string }

/**
 * Changes how the pages of a project look. Throws `invalid_request` for a name that is a provider's, since its users
 * would take the application for that provider, and for a logo that is no image of an allowed kind.
 */
export async function changeBranding(
  broker: Broker,
  projectId: string,
  changes: BrandingChanges,
): Promise<ChangedBranding> {
  const read = () => broker.store.brandings.find(projectId)
  return changeRow('The branding of the project', await read(), read, (before) =>
    changeFrom(broker, projectId, before, changes),
  )
}

/** Returns `undefined` when the branding is no longer `before`. */
async function changeFrom(
  broker: Broker,
  projectId: string,
  before: Branding | undefined,
  changes: BrandingChanges,
): Promise<ChangedBranding | undefined> {
  const { store, now } = broker
  const logo = changes.logo == null ? undefined : readLogo(changes.logo)
  const { accent, accentDark, ...others } = merged(before, changes, logo)
  if (others.appName !== undefined) await refuseProviderName(broker, projectId, others.appName)
  if (accent !== undefined && !isReadable(accent, 'light'))
    return { outcome: 'unreadable', member: 'accent', nearest: nearestReadable(accent, 'light') }
  if (accentDark !== undefined && !isReadable(accentDark, 'dark'))
    return { outcome: 'unreadable', member: 'accent_dark', nearest: nearestReadable(accentDark, 'dark') }
  const colours = { ...(accent !== undefined && { accent }), ...(accentDark !== undefined && { accentDark }) }
  const hasColours = accent !== undefined || accentDark !== undefined
  const branding: Branding = {
    ...others,
    ...colours,
    ...(hasColours && { styleHash: shortHash(JSON.stringify([accent, accentDark])) }),
    projectId,
    updatedAt: now(),
  }
  const members = Object.keys(changes).filter((name) => changes[name as keyof BrandingChanges] !== undefined)
  const entries = broker.audit.of(projectId, {
    action: 'branding.set',
    subject: projectId,
    detail: members.join(' '),
  })
  const isStored = await store.brandings.replace(before, branding, logo, entries)
  return isStored ? { outcome: 'changed', branding } : undefined
}

function merged(before: Branding | undefined, changes: BrandingChanges, logo: Logo | undefined) {
  const pick = <T>(change: T | null | undefined, kept: T | undefined): T | undefined =>
    change === undefined ? kept : (change ?? undefined)
  // for an absent member the pages use Gatepass' own
  return withoutUndefined({
    appName: pick(changes.appName, before?.appName),
    lang: pick(changes.lang, before?.lang),
    accent: pick(changes.accent, before?.accent),
    accentDark: pick(changes.accentDark, before?.accentDark),
    appUrl: pick(changes.appUrl, before?.appUrl),
    privacyUrl: pick(changes.privacyUrl, before?.privacyUrl),
    supportUrl: pick(changes.supportUrl, before?.supportUrl),
    texts: pick(changes.texts, before?.texts),
    logoHash: pick(changes.logo === null ? null : logo && shortHash(logo.data), before?.logoHash),
  })
}

async function refuseProviderName(broker: Broker, projectId: string, appName: string): Promise<void> {
  const mixed = mixedScriptWord(appName)
  if (mixed !== undefined)
    throw invalidMember(
      'app_name',
      'not_allowed',
      `app_name mixes letters of two scripts within the word "${mixed}": some only look like Latin ones, as in names that imitate another. Write each word in one script.`,
    )
  const skeleton = skeletonOf(appName)
  const own = (await broker.store.providers.list(projectId)).map(({ provider }) => provider.displayName)
  const shipped = catalogueEntries().flatMap(({ name, alsoKnownAs }) => [name, ...alsoKnownAs])
  const known = [...own, ...shipped].find((candidate) => skeletonOf(candidate) === skeleton)
  if (known !== undefined)
    throw invalidMember(
      'app_name',
      'not_allowed',
      `app_name may not be the name of a provider or look like it, and ${known} is one: users would take your application for it. Give the name of your application.`,
    )
}

function shortHash(text: string): string {
  return sha256(text).replaceAll(/[-_]/g, '').slice(0, 24)
}
