import { writeFile } from 'node:fs/promises'
import { currentModuleFile, currentProvidersFile, MODULE_FILE, PROVIDERS_FILE } from './current.ts'

// `npm run tool-providers` writes src/sdk/generated/providers.ts, and bin/tools.js after it.

await writeFile(PROVIDERS_FILE, currentProvidersFile())
await writeFile(MODULE_FILE, await currentModuleFile())
