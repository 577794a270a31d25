import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { FEATURES } from './removed-features.ts'
import { wordFaults } from './words.ts'

function repository(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'gatepass-words-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), text)
  }
  return root
}

describe('comments and pages', () => {
  test('of this repository name only files that it has, and have no word that hides who acts', () => {
    expect(wordFaults('.')).toEqual([])
  })

  test.each([
    ['a foreign file', 'src/a.ts', '/** As decided (reference/toolexec.md B2). */', 'reference/toolexec.md'],
    ['a foreign file by its number', 'src/a.ts', "// seeds/002's RunResult", 'seeds/002'],
    ['an issue of a tracker that readers cannot see', 'test/a.ts', '// issue 12 wants it', 'issue 12'],
    ['a file that was moved', 'src/a.ts', '/** As `flows/refreshes.ts` does. */', 'flows/refreshes.ts'],
    ['a page that is not there', 'README.md', 'See [the guide](docs/guide.md).', 'docs/guide.md'],
    ['a file of no feature that ever was', 'docs/a.md', '`test/features/rules/api.test.ts`', 'rules/api'],
    ['a word that hides who does what', 'src/a.ts', '/** Whoever asks gets it. */', 'Whoever'],
    ['such a word on a page', 'docs/a.md', 'Nobody gets the token.', 'Nobody'],
    ['a metaphor in place of a term', 'src/a.ts', '/** `*` stands for any characters. */', 'stands'],
  ])('may not name %s', (_, file, text, named) => {
    expect(wordFaults(repository({ [file]: text }))).toEqual([expect.stringContaining(`${file}:1: `)])
    expect(wordFaults(repository({ [file]: text }))[0]).toContain(named)
  })

  test.each([
    ['a file by its name alone', '// what `outgoing.ts` refuses'],
    ['a file by the end of its path', '// what `egress/outgoing.ts` refuses'],
    ['a page', '// docs/security.md says why'],
    ['an address', '// https://example.com/reference/shared/a.md'],
    ['a foreign file in a string, which is no comment', "export const a = 'reference/arcade.md'"],
  ])('may name %s', (_, text) => {
    const files = { 'src/egress/outgoing.ts': '', 'docs/security.md': '', 'src/a.ts': text }
    expect(wordFaults(repository(files))).toEqual([])
  })

  test('may name the files of a feature that was removed, and of others only those that exist', () => {
    const files = { 'docs/a.md': '`test/features/policies/api.test.ts`' }
    expect(wordFaults(repository(files))).toEqual([])
    const here = { ...files, 'src/features/policies/feature.ts': '' }
    expect(wordFaults(repository(here))).toEqual([expect.stringContaining('policies/api.test.ts')])
    const features = readdirSync('src/features', { withFileTypes: true }).filter((one) => one.isDirectory())
    expect(features.map(({ name }) => name).filter((name) => !FEATURES.includes(name))).toEqual([])
  })
})
