import { afterAll, beforeAll, expect, test } from 'vitest'
import { copySources, featureNames, type SourceCopy, separatingSets } from './without-feature.ts'

let sources: SourceCopy
beforeAll(async () => {
  sources = await copySources()
})
afterAll(() => sources.remove())

// Several features at a time, which takes a third of the compilations: what refers to a feature that is removed, in the core
// or in another feature, is still there in one of them, and its fault is printed.
const SETS = separatingSets(featureNames)

test('of any two features, one set of the next test has the first and not the second', () => {
  const pairs = featureNames.flatMap((one) => featureNames.map((other) => [one, other] as const))
  const isSeparated = ([one, other]: (typeof pairs)[number]) =>
    one === other || SETS.some((set) => set.includes(one) && !set.includes(other))
  expect(pairs.filter((pair) => !isSeparated(pair))).toEqual([])
})

test.each(SETS.map((set) => [set.join(', '), set] as const))(
  'without the features %s and their lines in the list, src compiles',
  async (_, set) => {
    expect(await sources.faultsWithout(set)).toBe('')
  },
)
