import { coveredScopes } from '../../domain/scopes.ts'
import type { Policy } from './domain.ts'
import { createPatternMap, keyOf, type PatternMap } from './pattern-map.ts'
import { providerIds, spellingsOf, type UseOfProvider } from './policy-match.ts'

/** Finds the rules that may apply to a use by the names in their `match`, so that the other rules cost nothing. */
export interface PolicyIndex {
  readonly allows: readonly Policy[]
  /** Whether a rule is about arguments. */
  readonly hasArguments: boolean
  /** The rules that may apply to one of the parts, in the order of the list. All other rules apply to no part. */
  candidates(parts: readonly UseOfProvider[]): readonly Policy[]
}

/** A member of `match` by which rules can be found. */
interface Dimension {
  /** `undefined`: the rule does not restrict this member, or cannot be found by it. */
  readonly patterns: (policy: Policy) => readonly string[] | undefined
  /** The values of the use in this dimension. A rule that names the dimension never applies to a use without a value. */
  readonly texts: (use: UseOfProvider) => Iterable<string>
}

const DIMENSIONS: readonly Dimension[] = [
  {
    patterns: ({ match }) => match.users,
    texts: ({ userId }) => (userId === undefined ? [] : [userId]),
  },
  {
    patterns: ({ match }) => match.tools?.map(lower),
    texts: ({ tool }) => tool?.aliases.map(lower) ?? [],
  },
  {
    patterns: ({ match }) => match.workers,
    texts: ({ worker }) => (worker === undefined ? [] : [worker]),
  },
  {
    patterns: ({ match }) => match.hosts?.map(lower),
    texts: ({ hosts }) => hosts.flatMap(spellingsOf),
  },
  {
    // an `allow` rule with scopes also applies to a use that needs none
    patterns: ({ effect, match }) => (effect === 'allow' ? undefined : match.scopes),
    texts: ({ provider }) => (provider === undefined ? [] : coveredScopes(provider.scopes, provider.meaning)),
  },
  {
    patterns: ({ match }) => match.providers,
    texts: ({ provider }) => (provider === undefined ? [] : providerIds(provider)),
  },
  {
    patterns: ({ match }) => match.uses,
    texts: ({ use }) => [use],
  },
]

const indexes = new WeakMap<readonly Policy[], PolicyIndex>()

/** Returns the index of a list of rules. It is made once for each array, so the array must not change afterwards. */
export function indexOf(policies: readonly Policy[]): PolicyIndex {
  const known = indexes.get(policies)
  if (known !== undefined) return known
  const made = createIndex(policies)
  indexes.set(policies, made)
  return made
}

function createIndex(policies: readonly Policy[]): PolicyIndex {
  const cost = costs(policies)
  const maps = DIMENSIONS.map((): PatternMap => createPatternMap())
  const unrestricted: number[] = []
  for (const [at, policy] of policies.entries()) {
    const [best] = DIMENSIONS.flatMap(({ patterns }, i) => {
      const named = patterns(policy)
      return named === undefined ? [] : [{ i, named, cost: cost(i, named) }]
    }).sort((a, b) => a.cost - b.cost)
    if (best === undefined) unrestricted.push(at)
    else for (const pattern of best.named) maps[best.i]?.add(pattern, at)
  }

  return {
    allows: policies.filter(({ effect }) => effect === 'allow'),
    hasArguments: policies.some(({ match }) => match.arguments !== undefined),
    candidates(parts) {
      const found = new Set(unrestricted)
      for (const [i, { texts }] of DIMENSIONS.entries()) {
        const map = maps[i]
        if (map === undefined || map.isEmpty) continue
        for (const part of parts) for (const text of texts(part)) map.find(text, found)
      }
      if (found.size === 0) return NONE
      return [...found].sort((a, b) => a - b).flatMap((at) => policies[at] ?? [])
    },
  }
}

const NONE: readonly Policy[] = []

/**
 * Returns a function that counts the rules that share a rule's patterns in a dimension. Each rule is indexed by the
 * dimension with the lowest count.
 */
function costs(policies: readonly Policy[]) {
  const sharing = DIMENSIONS.map(({ patterns }) => {
    const counts = new Map<string, number>()
    for (const policy of policies)
      for (const pattern of patterns(policy) ?? []) {
        const key = keyOf(pattern)
        counts.set(key, (counts.get(key) ?? 0) + 1)
      }
    return counts
  })
  return (dimension: number, named: readonly string[]) =>
    named.reduce((sum, pattern) => {
      const key = keyOf(pattern)
      return sum + (key === '' ? policies.length : (sharing[dimension]?.get(key) ?? 0))
    }, 0)
}

function lower(text: string): string {
  return text.toLowerCase()
}
