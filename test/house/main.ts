import { changelogFaults } from './changelog.ts'
import { commitFaults } from './commits.ts'
import { wrongImports } from './layers.ts'
import { shortWaits } from './waits.ts'
import { wordFaults } from './words.ts'

// Part of `npm run lint`: the rules of this repository that Biome cannot check.
const faults = [
  ...wrongImports('src'),
  ...wordFaults('.'),
  ...shortWaits('.'),
  ...commitFaults('.'),
  ...changelogFaults('.'),
]
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exitCode = 1
