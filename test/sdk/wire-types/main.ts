import { writeFile } from 'node:fs/promises'
import { startGatepass } from '../../gatepass.ts'
import { currentWireFiles } from './current.ts'

// `npm run wire-types` writes the files of src/sdk/generated, the generated part of
// src/sdk/python/gatepass.py, and the inputs and outputs in src/cli/generated.

await using gatepass = await startGatepass()
for (const [file, text] of await currentWireFiles(gatepass)) await writeFile(file, text)
