import { LRUCache } from 'lru-cache'
import type { ShownTool } from '../../tools/catalogue/shown-tools.ts'
import { inSlice } from '../../tools/slices.ts'

// The search that models use. A model describes in words what it needs; few tools have all of these words, so the tools
// are ranked.

/** A word counts more in a tool's name than in its description. */
const WEIGHTS = { name: 4, tags: 2, description: 1 } as const
/** The factor for a word that begins with the wanted word, or the other way round: `mail` finds `mails`. */
const PREFIX_FACTOR = 0.5
/** Shorter words are not used as prefixes: too many words begin with them. */
const MIN_PREFIX = 3
/** The most longer words that a word of a query finds: the first in alphabetical order. */
const MAX_LONGER_WORDS = 50
/** The most words of a query that count. */
const MAX_WORDS = 20
/** The most characters of a description that are searched. */
const MAX_DESCRIPTION = 500

/** Which tools have a word, with the weight of the place where it occurs. */
type Postings = ReadonlyMap<ShownTool, number>

interface Index {
  readonly size: number
  readonly postings: ReadonlyMap<string, Postings>
  /** All words, sorted, so that words with the same prefix are neighbours. */
  readonly words: readonly string[]
}

/** Cached by list. The cache is small, because the gate may give each user another list, and an index is large. */
const indexes = new LRUCache<readonly ShownTool[], Promise<Index>>({ max: 50 })

/** The tools that fit the query best, the best first. `total` counts all that have one of its words. */
export async function rankTools(
  tools: readonly ShownTool[],
  query: string,
  limit: number,
): Promise<{ readonly found: readonly ShownTool[]; readonly total: number }> {
  const index = await indexOf(tools)
  const scores = new Map<ShownTool, number>()
  for (const word of [...new Set(wordsOf(query))].slice(0, MAX_WORDS)) {
    const matches = toolsWith(index, word)
    // a word that many tools have counts less (inverse document frequency)
    const rarity = Math.log(1 + index.size / (1 + matches.size))
    for (const [tool, weight] of matches) scores.set(tool, (scores.get(tool) ?? 0) + weight * rarity)
  }
  // of two tools with the same score, the one with the shorter name is probably the more general
  const ranked = [...scores].sort(([a, x], [b, y]) => y - x || a.name.length - b.name.length)
  return { found: ranked.slice(0, limit).map(([tool]) => tool), total: ranked.length }
}

/** The tools that have the word, a longer word that begins with it, or a prefix of it. */
function toolsWith({ postings, words }: Index, word: string): Postings {
  const found = new Map(postings.get(word))
  const addPrefix = (other: string) => {
    for (const [tool, weight] of postings.get(other) ?? []) {
      const counted = weight * PREFIX_FACTOR
      if (counted > (found.get(tool) ?? 0)) found.set(tool, counted)
    }
  }
  if (word.length < MIN_PREFIX) return found
  const first = firstFrom(words, word)
  for (const other of words.slice(first, first + MAX_LONGER_WORDS))
    if (other.startsWith(word)) addPrefix(other)
  for (let length = MIN_PREFIX; length < word.length; length++) addPrefix(word.slice(0, length))
  return found
}

/** The index of the first word that is not before `word`. */
function firstFrom(words: readonly string[], word: string): number {
  let [low, high] = [0, words.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((words[middle] ?? '') < word) low = middle + 1
    else high = middle
  }
  return low
}

function indexOf(tools: readonly ShownTool[]): Promise<Index> {
  const known = indexes.get(tools)
  if (known !== undefined) return known
  const made = makeIndex(tools)
  indexes.set(tools, made)
  return made
}

async function makeIndex(tools: readonly ShownTool[]): Promise<Index> {
  const postings = new Map<string, Map<ShownTool, number>>()
  const add = (tool: ShownTool, text: string, weight: number) => {
    for (const word of wordsOf(text)) {
      const weights = postings.get(word) ?? new Map<ShownTool, number>()
      weights.set(tool, Math.max(weights.get(tool) ?? 0, weight))
      postings.set(word, weights)
    }
  }
  const addTool = (shown: ShownTool) => {
    const { name, tool } = shown
    add(shown, tool.description.slice(0, MAX_DESCRIPTION), WEIGHTS.description)
    add(shown, tool.tags.join(' '), WEIGHTS.tags)
    add(shown, `${name} ${tool.title} ${tool.namespace}`, WEIGHTS.name)
  }
  await Promise.all(tools.map((shown) => inSlice(() => addTool(shown))))
  return { size: tools.length, postings, words: [...postings.keys()].sort() }
}

/** `getUserEmails`, `get_user_emails` and `Get user emails` have the same words. */
function wordsOf(text: string): string[] {
  const apart = text.replaceAll(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2').toLowerCase()
  return apart.match(/[\p{L}\p{N}]+/gu) ?? []
}
