import { ignoreClosedPipes } from './cli/print.ts'
import { runProgram } from './cli/program.ts'

ignoreClosedPipes()
process.exitCode = await runProgram(process.argv, { environment: process.env })
