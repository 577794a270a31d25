import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import type { TestContext } from 'vitest'

const run = promisify(execFile)
const LEAST = '3.9'

/**
 * Ends a test whose Python programs cannot run on this machine, and says so in the output: `python3` is missing or too old,
 * or has not the packages.
 */
export async function needsPython({ skip }: TestContext, packages: readonly string[] = []): Promise<void> {
  const missing = await missingIn('python3', packages)
  if (missing === undefined) return
  console.warn(`not run: ${missing}`)
  skip(`not run: ${missing}`)
}

/** Says what a command of Python has not; `undefined` if it has the packages. */
export async function missingIn(command: string, packages: readonly string[]): Promise<string | undefined> {
  const program = `import sys
from importlib.util import find_spec
print(*(["a newer version"] if sys.version_info < (${LEAST.replace('.', ', ')}) else []), *(name for name in sys.argv[1:] if find_spec(name) is None), sep=", ")`
  try {
    const { stdout } = await run(command, ['-c', program, ...packages])
    return stdout.trim() === '' ? undefined : `${command} has no ${stdout.trim()}`
  } catch {
    return `there is no ${command}`
  }
}

/** How a program of Python is started. */
export interface PythonProgram {
  readonly arguments: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** Is called once, with the first link of a connect page that it prints. */
  readonly approve?: (url: string) => Promise<unknown>
}

/** Runs a program of Python that can import our client, and returns what it printed. Rejects if it fails. */
export async function runPython({ arguments: given, environment, approve }: PythonProgram): Promise<string> {
  const { PATH, HOME } = process.env
  const child = spawn('python3', [...given], {
    env: {
      PATH,
      HOME,
      PYTHONPATH: resolve('src/sdk/python'),
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONUNBUFFERED: '1',
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  let failure = ''
  let approved: Promise<unknown> | undefined
  child.stdout.setEncoding('utf8').on('data', (text) => {
    printed += text
    const [url] = /http\S+\/connect\/\w+(?=\s)/.exec(printed) ?? []
    if (url !== undefined) approved ??= approve?.(url) ?? Promise.resolve()
  })
  child.stderr.setEncoding('utf8').on('data', (text) => {
    failure += text
  })
  const [code] = await once(child, 'close')
  await approved
  if (code !== 0) throw new Error(`python3 ended with ${code}: ${failure}\n${printed}`)
  return printed
}
