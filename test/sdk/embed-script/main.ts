import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { EMBED_FILE, embedModule } from './current.ts'

// `npm run embed-script` writes the script that Gatepass serves to the pages of applications.

await writeFile(EMBED_FILE, await embedModule())
execFileSync('npx', ['biome', 'format', '--write', EMBED_FILE])
