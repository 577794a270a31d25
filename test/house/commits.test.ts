import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { commitFaults } from './commits.ts'

const USER = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'commit.gpgSign=false']

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'gatepass-commits-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

function git(root: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: 'pipe' }).trim()
}

function repository(...subjects: string[]): { readonly root: string; readonly base: string } {
  const root = folder()
  git(root, 'init', '--quiet')
  const commit = (subject: string) => git(root, ...USER, 'commit', '--quiet', '--allow-empty', '-m', subject)
  commit(`A base, whose subject is longer than what the rule allows: ${'x'.repeat(72)}`)
  const base = git(root, 'rev-parse', 'HEAD')
  for (const subject of subjects) commit(subject)
  return { root, base }
}

describe('the subjects of commits', () => {
  test('of this repository are short, and none is a merge', () => {
    expect(commitFaults('.')).toEqual([])
  })

  test.each([
    ['a subject of 73 characters', 'x'.repeat(73), '73 characters'],
    ['a merge of a branch', "Merge branch 'main' into short", 'rebase'],
    ['a merge of a pull request', 'Merge pull request #7 from ada/short', 'rebase'],
  ])('may not be %s', (_, subject, words) => {
    const { root, base } = repository('Keep the first commit', subject, 'Keep the last commit')
    const hash = git(root, 'rev-parse', '--short', 'HEAD~1')
    expect(commitFaults(root, base)).toEqual([expect.stringContaining(words)])
    expect(commitFaults(root, base)[0]).toContain(hash)
  })

  test.each([
    ['72 characters', 'é'.repeat(72)],
    ['a sentence about merging', 'Merge two caches of tools into one'],
  ])('may be %s', (_, subject) => {
    const { root, base } = repository(subject)
    expect(commitFaults(root, base)).toEqual([])
  })

  test('are not checked in a shallow clone that lacks the base, nor in a folder without git', () => {
    const { root, base } = repository('x'.repeat(73), 'Keep the last commit')
    const shallow = folder()
    git(shallow, 'clone', '--quiet', '--depth', '1', `file://${root}`, '.')
    expect(commitFaults(shallow, base)).toEqual([])
    expect(commitFaults(folder(), base)).toEqual([])
  })
})
