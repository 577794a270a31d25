import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { isOfRemovedFeature } from './house/removed-features.ts'
import { stringLiteralsOf } from './string-literals.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const document = read('docs/evidence/threats.md')

function read(path: string): string {
  return readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
}

/** Each row's number and the tests it names, as file and (the beginning of a) name. */
function rowsOf(text: string): [string, readonly (readonly [string, string])[]][] {
  return text
    .split('\n')
    .filter((line) => /^\| (P?R?\d+[a-d]?) \|/.test(line))
    .map((line) => {
      const cells = line.split(' | ')
      const shown = cells.at(-1) ?? ''
      const tests: [string, string][] = []
      let file = ''
      for (const [, path, name] of shown.matchAll(/`(test\/[^`]+)`|"([^"]+)"/g)) {
        if (path !== undefined) file = path
        else if (name !== undefined) tests.push([file, name])
      }
      return [(cells[0] ?? '').replace('| ', ''), tests]
    })
}

const rows = rowsOf(document)

describe('docs/evidence/threats.md', () => {
  test('has every promise, threat and failure', () => {
    const numbers = (prefix: string, last: number) =>
      Array.from({ length: last }, (_, i) => `${prefix}${i + 1}`)
    const subs = ['14a', '14b', '14c', '14d']
    const expected = [...numbers('P', 8), ...numbers('', 87), ...subs, ...numbers('R', 25)]
    expect(rows.map(([number]) => number).sort()).toEqual(expected.sort())
  })

  test.each(rows)('%s names tests that are there, and none is skipped', (_, tests) => {
    expect(tests.length).toBeGreaterThan(0)
    for (const [file, name] of tests.filter(([one]) => !isOfRemovedFeature(ROOT, one))) {
      expect(existsSync(new URL(`../${file}`, import.meta.url)), file).toBe(true)
      const text = read(file)
      // in code: a comment that still speaks of a test shows nothing
      const literals = stringLiteralsOf(file, text)
      expect(
        literals.some((literal) => literal.includes(name)),
        `${file}: ${name}`,
      ).toBe(true)
      expect(text, file).not.toMatch(/\b(test|it|describe)\.(skip|todo|only)\b/)
    }
  })
})
