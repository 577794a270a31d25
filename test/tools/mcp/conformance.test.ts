import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Gatepass, startGatepass } from '../../gatepass.ts'
import { listen } from '../../loopback.ts'
import { runScenario, type Scenario } from './conformance-client.ts'

// The official suite, in a process of its own, against Gatepass as a client of MCP servers.

const SUITE = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')),
  'dist/index.js',
)
const CLIENT = fileURLToPath(new URL('conformance-client.mjs', import.meta.url))
/** What a gateway does otherwise, each line with its reason. */
const EXPECTED_FAILURES = fileURLToPath(new URL('conformance-expected.yml', import.meta.url))

let gatepass: Gatepass
let control: Awaited<ReturnType<typeof listen>>
let folder: string
beforeAll(async () => {
  gatepass = await startGatepass({ mode: 'development' })
  control = await listen(async (req, res) => {
    let body = ''
    for await (const piece of req.setEncoding('utf8')) body += piece
    try {
      res.end(JSON.stringify(await runScenario(gatepass, JSON.parse(body) as Scenario)))
    } catch (error) {
      res.writeHead(500).end(String(error))
    }
  })
  folder = mkdtempSync(join(tmpdir(), 'gatepass-conformance-'))
})
afterAll(async () => {
  await control.close()
  await gatepass.close()
  rmSync(folder, { recursive: true, force: true })
})

test.each(['2025-11-25', '2026-07-28'])(
  'passes every scenario that %s requires of a client, but for those that are listed with a reason',
  { timeout: 300_000 },
  async (revision) => {
    const command = `${process.execPath} ${CLIENT} ${control.url}`
    const args = [SUITE, 'client', '--command', command, '--requirements', revision]
    const child = spawn(process.execPath, [...args, '--expected-failures', EXPECTED_FAILURES], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
      })
    const code = await new Promise((resolve) => child.once('exit', resolve))
    expect(code, output).toBe(0)
  },
)
