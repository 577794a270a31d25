/** The longest tag, in characters. */
const MAX_LENGTH = 64
const MAX_TAGS = 20

/**
 * Normalizes tags for search: lower case, of `[a-z0-9-_.]`, without duplicates, in their order. Drops tags that become
 * empty or are too many, and cuts tags that are too long.
 */
export function normalizeTags(tags: readonly string[]): string[] {
  const normal = tags.map(normalizeTag).filter((tag) => tag !== '')
  return [...new Set(normal)].slice(0, MAX_TAGS)
}

function normalizeTag(tag: string): string {
  const plain = tag.toLowerCase().trim().replaceAll(/\s+/g, '-')
  return plain.replaceAll(/[^a-z0-9\-_.]/g, '').slice(0, MAX_LENGTH)
}
