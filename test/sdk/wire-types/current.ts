import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Gatepass } from '../../gatepass.ts'
import { generateWireTypes } from './generate.ts'

export const WIRE_TYPES = fileURLToPath(new URL('../../../src/sdk/wire.ts', import.meta.url))
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** The text of `src/sdk/wire.ts`, made from the document of this server and formatted by Biome. */
export async function currentWireTypes(gatepass: Gatepass): Promise<string> {
  const { body } = await gatepass.call('GET', '/openapi.json', undefined, { key: null })
  const biome = spawnSync('node_modules/.bin/biome', ['format', '--stdin-file-path=src/sdk/wire.ts'], {
    cwd: ROOT,
    input: generateWireTypes(body),
    encoding: 'utf8',
  })
  if (biome.status !== 0) throw new Error(`biome cannot format the types: ${biome.stderr}`)
  return biome.stdout
}
