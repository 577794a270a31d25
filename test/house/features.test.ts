import { afterAll, beforeAll, expect, test } from 'vitest'
import { copySources, featureNames, type SourceCopy } from './without-feature.ts'

let sources: SourceCopy
beforeAll(async () => {
  sources = await copySources()
})
afterAll(() => sources.remove())

test.each(featureNames)('without the feature %s and its line in the list, src compiles', async (feature) => {
  expect(await sources.faultsWithout(feature)).toBe('')
})
