import { surviveClosedPipes } from './cli/print.ts'
import { runProgram } from './cli/program.ts'

surviveClosedPipes()
process.exitCode = await runProgram(process.argv, { environment: process.env })
