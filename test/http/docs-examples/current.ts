import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Example } from '../../../src/http/reference/example.ts'

export const EXAMPLES_FILE = fileURLToPath(
  new URL('../../../src/http/reference/generated/examples.json', import.meta.url),
)
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** The text of the file of examples, formatted by Biome. */
export function examplesText(examples: Readonly<Record<string, Example>>): string {
  const biome = spawnSync('node_modules/.bin/biome', ['format', `--stdin-file-path=${EXAMPLES_FILE}`], {
    cwd: ROOT,
    input: JSON.stringify(examples),
    encoding: 'utf8',
  })
  if (biome.status !== 0) throw new Error(`biome cannot format the examples: ${biome.stderr}`)
  return biome.stdout
}
