import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'

test('every file of a feature’s tests is a test, a part that a suite takes, or imported', () => {
  const texts = globSync('test/**/*.ts').map((file) => [file, readFileSync(file, 'utf8')] as const)
  const suites = texts.flatMap(([, text]) => [...text.matchAll(/featureParts(?:<.+>)?\(\s*'([\w-]+)'/g)])
  const taken = new Set(suites.map(([, suite]) => `${suite}.ts`))
  expect(taken.size).toBeGreaterThan(5)
  const imported = new Set(
    texts.flatMap(([file, text]) =>
      [...text.matchAll(/(?:from|import\() ?'(\.\.?\/[^']+)'/g)].map(([, path = '']) =>
        join(file, '..', path),
      ),
    ),
  )
  const unused = globSync('test/features/*/*.ts').filter(
    (file) => !file.endsWith('.test.ts') && !taken.has(basename(file)) && !imported.has(file),
  )
  expect(unused).toEqual([])
})
