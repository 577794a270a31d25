import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const SUITE = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
)

export interface SuiteEnd {
  /** 0: all that is required has passed. */
  readonly code: number | null
  readonly output: string
}

/** Runs the official suite for MCP in a process and a folder of its own; `SHOW=1` prints what it writes. */
export async function runConformanceSuite(
  args: readonly string[],
  onOutput: (output: string) => void = () => {},
): Promise<SuiteEnd> {
  const folder = mkdtempSync(join(tmpdir(), 'gatepass-conformance-'))
  try {
    const child = spawn(process.execPath, [SUITE, ...args], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
        onOutput(output)
      })
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    if (process.env.SHOW) console.log(output)
    return { code, output }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
