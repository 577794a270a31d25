import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ServedMcp, serveMcp } from '../../../src/sdk/mcp/mcp.ts'
import { conformanceApp } from './conformance-app.ts'

// The official suite, in a process of its own, against an app on a port.

const SUITE = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
)
let served: ServedMcp
let folder: string
beforeAll(async () => {
  served = await serveMcp(conformanceApp(), { port: 0 })
  folder = mkdtempSync(join(tmpdir(), 'gatepass-conformance-'))
})
afterAll(async () => {
  await served.close()
  rmSync(folder, { recursive: true, force: true })
})

test.each(['2025-11-25', '2026-07-28'])(
  'passes every scenario that %s requires',
  { timeout: 120_000 },
  async (revision) => {
    const args = [SUITE, 'server', '--url', served.url ?? '', '--requirements', revision]
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text))
    const code = await new Promise((resolve) => child.once('exit', resolve))
    if (process.env.SHOW) console.log(output)
    expect(code, output).toBe(0)
  },
)
