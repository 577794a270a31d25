import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'

// Users paste the commands of the documents unchanged into bash and zsh.

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...globSync('docs/**/*.md', { cwd: ROOT })]

function blocksOf(document: string): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8')
  return [...text.matchAll(/^ *```(?:sh|bash|zsh)\n([\s\S]*?)^ *```/gm)].map(([, block = '']) => block)
}

/** The text without its quoted parts, which the shell does not interpret. */
function unquoted(block: string): string {
  return block.replaceAll(/'[^']*'|"(?:[^"\\]|\\.)*"/g, 'quoted')
}

test('the walk with a real provider has commands for a clone and for the package', () => {
  expect(blocksOf('docs/guides/github.md').length).toBeGreaterThan(6)
})

describe.each(DOCUMENTS)('%s', (document) => {
  const blocks = blocksOf(document)
  test('its commands are read by the shell', async () => {
    for (const block of blocks) await run('bash', ['-n', '-c', block])
  })
  test('its commands have no comment, which zsh takes for an argument, and no placeholder in angle brackets', () => {
    for (const block of blocks) {
      expect(unquoted(block)).not.toMatch(/(^|\s)#/m)
      expect(unquoted(block)).not.toMatch(/<[a-z][^>\n]*>/i)
    }
  })
})
