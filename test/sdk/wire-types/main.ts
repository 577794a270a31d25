import { writeFile } from 'node:fs/promises'
import { startGatepass } from '../../gatepass.ts'
import { currentWireTypes, WIRE_TYPES } from './current.ts'

// `npm run wire-types` writes src/sdk/wire.ts.

await using gatepass = await startGatepass()
await writeFile(WIRE_TYPES, await currentWireTypes(gatepass))
