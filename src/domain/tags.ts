const MAX_TAGS = 20
const MAX_TAG = 64

/**
 * Tags as tools are found by: lower case, blanks as `-`, nothing outside `[a-z0-9-_.]`, each once, in their order, at
 * most 20 of at most 64 characters.
 */
export function normalizeTags(tags: readonly string[]): string[] {
  const plain = tags.map((tag) =>
    tag
      .trim()
      .toLowerCase()
      .replaceAll(/\s+/g, '-')
      .replaceAll(/[^a-z0-9\-_.]/g, '')
      .slice(0, MAX_TAG),
  )
  return [...new Set(plain.filter((tag) => tag !== ''))].slice(0, MAX_TAGS)
}
