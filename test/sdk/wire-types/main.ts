import { writeFile } from 'node:fs/promises'
import { startGatepass } from '../../gatepass.ts'
import { currentWireFiles } from './current.ts'

// `npm run wire-types` writes src/sdk/generated/wire.ts and operations.ts.

await using gatepass = await startGatepass()
for (const [file, text] of await currentWireFiles(gatepass)) await writeFile(file, text)
