import { existsSync, globSync } from 'node:fs'
import { expect, test } from 'vitest'
import { FEATURES } from './house/removed-features.ts'
import { coverageOf, SHORT, shortFiles } from './sets.ts'

test('every file of npm test exists, except those of features that were removed', () => {
  const missing = shortFiles.filter((file) => globSync(file).length === 0)
  const isComplete = FEATURES.every((feature) => existsSync(`src/features/${feature}`))
  expect(isComplete ? missing : missing.filter((file) => !file.startsWith('test/features/*/'))).toEqual([])
  expect(new Set(shortFiles).size).toBe(shortFiles.length)
})

test('each of the two commands says what it covers, and together they run every file', () => {
  const [, short = '', all = ''] = /^npm test: (\d+) of (\d+) files\./.exec(coverageOf('short')) ?? []
  expect(coverageOf('rest')).toContain(`the ${Number(all) - Number(short)} of ${all} files`)
  for (const subject of Object.keys(SHORT)) expect(coverageOf('short')).toContain(subject)
})
