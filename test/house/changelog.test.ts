import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { changelogFaults } from './changelog.ts'

describe('the changelog', () => {
  test('has few lines for each release', () => {
    expect(changelogFaults('.')).toEqual([])
  })

  test.each([
    [40, []],
    [41, [expect.stringContaining('0.3.0 has 41 lines')]],
  ])('with %i lines for one', (lines, faults) => {
    const root = mkdtempSync(join(tmpdir(), 'gatepass-changelog-'))
    onTestFinished(() => rmSync(root, { recursive: true }))
    const release = (title: string, count: number) =>
      `## ${title}\n\n### Added\n\n${'- One\n'.repeat(count)}\n`
    writeFileSync(
      join(root, 'CHANGELOG.md'),
      `# Changelog\n\n${release('0.3.0', lines)}${release('0.2.0', 39)}`,
    )
    expect(changelogFaults(root)).toEqual(faults)
  })
})
