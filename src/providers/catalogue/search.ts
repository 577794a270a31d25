import { foldName } from '../../domain/nearest.ts'
import type { Definition } from '../definition/read-definition.ts'
import { type GrantSettings, PROVIDER_TYPES, type ProviderType, typeOf } from '../provider.ts'
import { isUserless } from '../provider-grant.ts'
import { definitionTexts } from './definition-texts.ts'

/** A definition of the catalogue as lists show it. */
export interface CatalogueEntry {
  readonly id: string
  readonly name: string
  readonly alsoKnownAs: readonly string[]
  readonly category: string
  /** Whether two sources or a document support its endpoints. */
  readonly isVerified: boolean
  readonly type: ProviderType
  /** Tokens come without a user's part (`isUserless`). */
  readonly isUserless: boolean
  /** The id of another definition of the same service (`second_way_of`). */
  readonly secondWayOf?: string | undefined
  /** What an operator has to give besides the client: the names of variables without a value. */
  readonly asksFor: readonly string[]
  readonly documentation?: string | undefined
  /** The name of its logo (`findLogo`). */
  readonly logo?: string | undefined
}

/** What lists need of a definition's JSON. The test of the catalogue reads each file by the whole definition. */
interface Asking {
  readonly grant?: GrantSettings
  readonly variables?: Readonly<Record<string, { readonly value?: string }>>
}

interface Shown {
  readonly name: string
  readonly also_known_as?: readonly string[]
  readonly category: string
  readonly verified: boolean
  readonly second_way_of?: string
  readonly documentation?: string
  readonly logo?: string
  readonly oauth2?: Asking
  readonly oauth1?: Asking
  readonly credentials?: Asking
}

export interface CatalogueFilter {
  /** A part of the id, of the name or of another name. */
  readonly search?: string | undefined
  readonly category?: string | undefined
  readonly isVerified?: boolean | undefined
}

let entries: readonly CatalogueEntry[] | undefined

/** All definitions by their names. */
export function catalogueEntries(): readonly CatalogueEntry[] {
  entries ??= [...definitionTexts()].map(([id, text]) => entryOf(id, JSON.parse(text))).sort(byName)
  return entries
}

/** All definitions with the operator's own, which take the place of shipped ones of the same id. */
export function entriesWith(own: readonly Definition[]): readonly CatalogueEntry[] {
  if (own.length === 0) return catalogueEntries()
  const replaced = new Set(own.map(({ id }) => id))
  return [...own.map(entryOfOwn), ...catalogueEntries().filter(({ id }) => !replaced.has(id))].sort(byName)
}

/** Those that fit, the exact name first, then names that begin with the searched text. */
export function searchCatalogue(
  all: readonly CatalogueEntry[],
  { search, category, isVerified }: CatalogueFilter,
): readonly CatalogueEntry[] {
  const wanted = foldName(search ?? '')
  return all
    .filter((entry) => category === undefined || entry.category === category)
    .filter((entry) => isVerified === undefined || entry.isVerified === isVerified)
    .map((entry) => ({ entry, rank: rankOf(entry, wanted) }))
    .filter(({ rank }) => rank !== undefined)
    .sort((one, other) => (one.rank ?? 0) - (other.rank ?? 0))
    .map(({ entry }) => entry)
}

function byName(one: CatalogueEntry, other: CatalogueEntry): number {
  return one.name.toLowerCase() < other.name.toLowerCase() ? -1 : 1
}

function rankOf({ id, name, alsoKnownAs }: CatalogueEntry, wanted: string): number | undefined {
  const names = [id, name, ...alsoKnownAs].map(foldName)
  if (names.includes(wanted)) return 0
  if (names.some((other) => other.startsWith(wanted))) return 1
  return names.some((other) => other.includes(wanted)) ? 2 : undefined
}

function entryOf(id: string, shown: Shown): CatalogueEntry {
  const { name, also_known_as = [], category, verified, second_way_of: secondWayOf } = shown
  const { documentation, logo, oauth2, oauth1, credentials } = shown
  const asksFor = Object.entries((oauth2 ?? oauth1 ?? credentials)?.variables ?? {}).filter(
    ([, { value }]) => value === undefined,
  )
  return {
    id,
    name,
    alsoKnownAs: also_known_as,
    category,
    isVerified: verified,
    type: PROVIDER_TYPES.find((type) => shown[type] !== undefined) ?? 'oauth2',
    isUserless: isUserless(oauth2 ?? {}),
    secondWayOf,
    asksFor: asksFor.map(([variable]) => variable),
    documentation,
    logo,
  }
}

/** The operator's own definition counts as verified unless it says otherwise. */
function entryOfOwn({ id, provider, facts }: Definition): CatalogueEntry {
  const { name, also_known_as: alsoKnownAs = [], category = 'other', verified = true } = facts
  const { documentation, logo, second_way_of: secondWayOf } = facts
  const asksFor = Object.entries(provider.variables ?? {}).filter(([, { isExample }]) => isExample === true)
  return {
    id,
    name,
    alsoKnownAs,
    category,
    isVerified: verified,
    type: typeOf(provider),
    isUserless: isUserless(provider),
    secondWayOf,
    asksFor: asksFor.map(([variable]) => variable),
    documentation,
    logo,
  }
}
