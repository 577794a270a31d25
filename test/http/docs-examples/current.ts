import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Example } from '../../../src/http/reference/example.ts'

export const EXAMPLES_FILE = fileURLToPath(
  new URL('../../../src/http/reference/examples.ts', import.meta.url),
)
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** The text of the module of examples, in the format of the house. */
export function examplesModule(examples: Readonly<Record<string, Example>>): string {
  const text = `import type { Example } from './example.ts'

/** A recorded exchange of each operation, by its id. Written by \`npm run docs-examples\`; do not edit. */
export const EXAMPLES: Readonly<Record<string, Example>> = ${JSON.stringify(examples)}
`
  const biome = spawnSync('node_modules/.bin/biome', ['format', `--stdin-file-path=${EXAMPLES_FILE}`], {
    cwd: ROOT,
    input: text,
    encoding: 'utf8',
  })
  if (biome.status !== 0) throw new Error(`biome cannot format the examples: ${biome.stderr}`)
  return biome.stdout
}
