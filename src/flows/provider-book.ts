import type { ProviderEntry } from '../providers/provider-entry.ts'

/** The provider entries of a project, by all the names that requirements use for them. */
export interface ProviderBook {
  readonly entries: readonly ProviderEntry[]
  byUid(uid: string): ProviderEntry | undefined
  /** The entry with this id: in the same case, else in any case. */
  byId(id: string): ProviderEntry | undefined
  /** The entries with this well-known id or name, in any case. */
  byKind(kind: string): readonly ProviderEntry[]
}

const books = new WeakMap<readonly ProviderEntry[], ProviderBook>()

/** Returns the same book for the same array; the cache returns the same array until an entry changes. */
export function providerBook(entries: readonly ProviderEntry[]): ProviderBook {
  const known = books.get(entries)
  if (known !== undefined) return known
  const made = createBook(entries)
  books.set(entries, made)
  return made
}

function createBook(entries: readonly ProviderEntry[]): ProviderBook {
  const uids = new Map<string, ProviderEntry>()
  const ids = new Map<string, ProviderEntry>()
  const idsInAnyCase = new Map<string, ProviderEntry>()
  const kinds = new Map<string, ProviderEntry[]>()
  for (const entry of entries) {
    uids.set(entry.uid, entry)
    ids.set(entry.id, entry)
    const id = entry.id.toLowerCase()
    if (!idsInAnyCase.has(id)) idsInAnyCase.set(id, entry)
    for (const kind of new Set([entry.wellKnownId?.toLowerCase(), entry.name.toLowerCase()])) {
      if (kind === undefined) continue
      const known = kinds.get(kind)
      if (known === undefined) kinds.set(kind, [entry])
      else known.push(entry)
    }
  }
  return {
    entries,
    byUid: (uid) => uids.get(uid),
    byId: (id) => ids.get(id) ?? idsInAnyCase.get(id.toLowerCase()),
    byKind: (kind) => kinds.get(kind.toLowerCase()) ?? [],
  }
}
