import { execFile, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../ports.ts'

// The package that `npm pack` builds, in a folder without the sources.

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'gatepass-package-'))
const modules = join(folder, 'node_modules')

beforeAll(async () => {
  await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT })
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  const inside = join(modules, 'gatepass')
  mkdirSync(inside, { recursive: true })
  await run('tar', ['-xzf', join(folder, tarball), '--strip-components=1', '-C', inside])
  // as `npm install` would do from a registry: what the package depends on, and nothing else
  const { dependencies } = JSON.parse(readFileSync(join(inside, 'package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
  }
  cpSync(join(inside, 'examples'), join(folder, 'examples'), { recursive: true })
})
afterAll(() => rmSync(folder, { recursive: true }))

test('has what the README speaks of, and no sources and tests', () => {
  const inside = readdirSync(join(modules, 'gatepass'))
  expect(inside).toEqual(
    expect.arrayContaining(['README.md', 'SECURITY.md', 'bin', 'dist', 'docs', 'drizzle', 'examples']),
  )
  for (const absent of ['src', 'test', 'bench', 'node_modules']) expect(inside).not.toContain(absent)
})

test('does the main job with the commands that it prints, at the first start and the second', async () => {
  const port = await freePort()
  for (const start of ['first', 'second']) {
    const server = spawn(process.execPath, [join(modules, 'gatepass/bin/gatepass.js'), 'dev'], {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HOME: folder,
        GATEPASS_PORT: String(port),
        GATEPASS_TOOLS: 'examples/local-tools.ts',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    try {
      const steps = await printedSteps(server.stdout)
      const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', steps], { cwd: folder })
      expect(stdout.trim().split('\n').at(-1), start).toContain('"message":"Hello Ada Lovelace"')
      const [, key = ''] = /^KEY='(.*)'$/m.exec(steps) ?? []
      const dice = await fetch(`http://localhost:${port}/v1/tools/run`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: '{"toolId": "local-tools:Dice", "args": {"sides": 20}}',
      })
      expect(await dice.text()).toContain('"rolled":')
    } finally {
      const ended = new Promise((resolve) => server.once('exit', resolve))
      server.kill()
      await ended
    }
  }
})

async function printedSteps(output: AsyncIterable<unknown>): Promise<string> {
  let text = ''
  for await (const piece of output) {
    text += String(piece)
    const [steps] = /^echo '0\.[\s\S]*^echo '5\.[^\n]*\n[^\n]+\n/m.exec(text) ?? []
    if (steps !== undefined) return steps
  }
  throw new Error(`it ended without its commands: ${text}`)
}
