import { wrongImports } from './layers.ts'
import { wordFaults } from './words.ts'

// Part of `npm run lint`: what Biome cannot say of this repository.
const faults = wrongImports('src')
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
// until the last of them are gone: `node test/house/main.ts --words` lists them
const words = wordFaults('.')
if (process.argv.includes('--words')) for (const fault of words) console.error(fault)
else if (words.length > 0)
  console.error(`${words.length} comments to rewrite: node test/house/main.ts --words`)
