import { writeFile } from 'node:fs/promises'
import { currentProvidersFile, PROVIDERS_FILE } from './current.ts'

// `npm run tool-providers` writes src/sdk/generated/providers.ts.

await writeFile(PROVIDERS_FILE, currentProvidersFile())
