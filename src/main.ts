import { constants } from 'node:os'
import { COMMANDS } from './cli/commands.ts'
import { ignoreClosedPipes } from './cli/print.ts'
import { runProgram } from './cli/program.ts'
import { lowerPriority } from './services/lower-priority.ts'

ignoreClosedPipes()
if (COMMANDS.some(({ name, isLong }) => isLong && name === process.argv[2]))
  lowerPriority(constants.priority.PRIORITY_BELOW_NORMAL)
process.exitCode = await runProgram(process.argv, { environment: process.env })
