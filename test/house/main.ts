import { wrongImports } from './layers.ts'
import { wordFaults } from './words.ts'

// Part of `npm run lint`: what Biome cannot say of this repository.
const faults = [...wrongImports('src'), ...wordFaults('.')]
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
