import { writeFile } from 'node:fs/promises'
import { EXAMPLES_FILE, examplesText } from './current.ts'
import { recordExamples, toExamples } from './record.ts'
import { startExampleWorld } from './world.ts'

// `npm run docs-examples` writes the examples of the API reference.

await using world = await startExampleWorld()
await writeFile(EXAMPLES_FILE, examplesText(toExamples(world, await recordExamples(world))))
