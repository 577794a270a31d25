/** In characters. */
const MAX_LENGTH = 64
const MAX_TAGS = 20

/** Tags as tools are found by: lower case, of `[a-z0-9-_.]`, each once, in their order; what nothing is left of is dropped. */
export function normalizeTags(tags: readonly string[]): string[] {
  const normal = tags.map(normalizeTag).filter((tag) => tag !== '')
  return [...new Set(normal)].slice(0, MAX_TAGS)
}

function normalizeTag(tag: string): string {
  const plain = tag.toLowerCase().trim().replaceAll(/\s+/g, '-')
  return plain.replaceAll(/[^a-z0-9\-_.]/g, '').slice(0, MAX_LENGTH)
}
