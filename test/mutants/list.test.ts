import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { stringLiteralsOf } from '../string-literals.ts'
import { mutations } from './list.ts'
import { mutate } from './mutation.ts'

// `npm run mutants` takes minutes and is run by hand. Every run of the tests checks that the list fits the sources.

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')

const known = new Map<string, readonly string[]>()

/** The texts that name the tests of a file, with those of the suites that it imports or gets from features. */
function namesIn(file: string): readonly string[] {
  const names = known.get(file) ?? findNames(file)
  known.set(file, names)
  return names
}

function findNames(file: string): readonly string[] {
  const found = new Set([file])
  for (const one of found) {
    for (const [, suite = ''] of read(one).matchAll(/featureParts(?:<.+>)?\('([\w-]+)'\)/g))
      for (const part of globSync(`test/features/*/${suite}.ts`, { cwd: ROOT })) found.add(part)
    for (const [, path = ''] of read(one).matchAll(/^import .* from '(\.\.?\/[^']+)'$/gm)) {
      const imported = join(dirname(one), path)
      // generators hold imports of other files as text
      if (imported.startsWith('test/') && existsSync(imported)) found.add(imported)
    }
  }
  return [...found].flatMap((one) => stringLiteralsOf(one, read(one)))
}

describe('the mutations', () => {
  test.each(mutations)('$file: $fault', (mutation) => {
    expect(() => mutate(read(mutation.file), mutation)).not.toThrow()
    const isNamed = namesIn(`test/${mutation.test}`).some((literal) => literal.includes(mutation.name))
    expect(isNamed, `"${mutation.name}" in test/${mutation.test}`).toBe(true)
  })

  test('there is one at least for every row of docs/evidence/threats.md', () => {
    const rows = [...read('docs/evidence/threats.md').matchAll(/^\| ([PR]?\d+[a-d]?) \|/gm)].map(
      ([, row = '']) => row,
    )
    const covered = new Set(mutations.flatMap((one) => one.rows))
    expect(rows.filter((row) => !covered.has(row))).toEqual([])
    expect([...covered].filter((row) => !rows.includes(row))).toEqual([])
  })

  test('no two are the same', () => {
    const all = mutations.map(({ file, from, to }) => `${file}\n${from}\n${to}`)
    expect(all.filter((one, i) => all.indexOf(one) !== i)).toEqual([])
  })
})

test('a mutation that no longer applies is an error', () => {
  const mutation = { rows: [], fault: '', file: 'a.ts', from: 'x', to: 'y', test: '', name: '' }
  expect(mutate('1 x 2', mutation)).toBe('1 y 2')
  expect(() => mutate('1 2', mutation)).toThrow('0 times')
  expect(() => mutate('x x', mutation)).toThrow('2 times')
  expect(() => mutate('x', { ...mutation, to: 'x' })).toThrow('changes nothing')
})
