import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { operations } from '../../../src/operations/operations.ts'
import type { Gatepass } from '../../gatepass.ts'
import { generateOperations, generateWireTypes } from './generate.ts'
import { generateInputs, generateOutputs } from './generate-inputs.ts'
import { generateMethods } from './generate-methods.ts'
import { generatePython } from './generate-python.ts'

export const WIRE_TYPES = fileURLToPath(new URL('../../../src/sdk/generated/wire.ts', import.meta.url))
const OPERATIONS = fileURLToPath(new URL('../../../src/sdk/generated/operations.ts', import.meta.url))
const METHODS = fileURLToPath(new URL('../../../src/sdk/generated/methods.ts', import.meta.url))
const INPUTS = fileURLToPath(new URL('../../../src/cli/generated/inputs.json', import.meta.url))
const OUTPUTS = fileURLToPath(new URL('../../../src/cli/generated/outputs.json', import.meta.url))
const PYTHON = fileURLToPath(new URL('../../../src/sdk/python/gatepass.py', import.meta.url))
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** The generated files of the SDK and of the commands, made from the document of this server and formatted by Biome. */
export async function currentWireFiles(gatepass: Gatepass): Promise<ReadonlyMap<string, string>> {
  const { body } = await gatepass.call('GET', '/openapi.json', undefined, { key: null })
  return new Map([
    [WIRE_TYPES, formatted(generateWireTypes(body), WIRE_TYPES)],
    [OPERATIONS, formatted(generateOperations(body, repetitions()), OPERATIONS)],
    [METHODS, formatted(generateMethods(body, operations), METHODS)],
    [INPUTS, formatted(generateInputs(body), INPUTS)],
    [OUTPUTS, formatted(generateOutputs(body), OUTPUTS)],
    [PYTHON, generatePython(readFileSync(PYTHON, 'utf8'), body, repetitions())],
  ])
}

function repetitions(): ReadonlyMap<string, string> {
  return new Map(
    operations.map(({ id, takesIdempotencyKey = false, repetition = 'safe' }) => [
      id,
      takesIdempotencyKey ? 'by_key' : repetition,
    ]),
  )
}

function formatted(text: string, file: string): string {
  const biome = spawnSync('node_modules/.bin/biome', ['format', `--stdin-file-path=${file}`], {
    cwd: ROOT,
    input: text,
    encoding: 'utf8',
  })
  if (biome.status !== 0) throw new Error(`biome cannot format the types: ${biome.stderr}`)
  return biome.stdout
}
