import { execFile, spawn } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { satisfies } from 'semver'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { onDemand } from '../on-demand/ask.ts'
import { freePort } from '../ports.ts'

// The packages that `npm pack` builds, in a folder without the sources. `.ci/run` has npm install them there; otherwise the
// test links what they depend on, which takes no network and no minute, and builds without a check of types, which is
// `npm run types`.

const run = promisify(execFile)
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TSC = join(ROOT, 'node_modules/.bin/tsc')
const folder = mkdtempSync(join(tmpdir(), 'gatepass-package-'))
const modules = join(folder, 'node_modules')

const isInstalled = process.env.PACKAGES === 'installed'
/** What the type declarations of the SDK's entries for frameworks import. */
const PEERS = [
  ...['ai', 'zod', '@langchain/core', '@langchain/langgraph', '@openai/agents'],
  ...['@modelcontextprotocol/server', '@types/node'],
]

async function buildServer(): Promise<void> {
  await run(process.execPath, [join(ROOT, 'build/main.ts')])
  await run(TSC, ['--singleThreaded', '-p', 'tsconfig.types.json'], { cwd: ROOT })
}

/** Without `isBuilt`, npm runs the package's own build first. */
async function pack(from: string, isBuilt: boolean): Promise<string> {
  const args = ['pack', '--silent', '--pack-destination', folder, ...(isBuilt ? ['--ignore-scripts'] : [])]
  const { stdout } = await run('npm', args, { cwd: from })
  return join(folder, stdout.trim().split('\n').at(-1) ?? '')
}

async function unpack(tarball: string, name: string): Promise<readonly string[]> {
  const inside = join(modules, name)
  mkdirSync(inside, { recursive: true })
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', inside])
  return Object.keys(manifestOf(name).dependencies ?? {})
}

/** The version with which the tests run. */
function versionOf(name: string): string {
  return JSON.parse(readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8')).version
}

function manifestOf(name: string) {
  return JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'))
}

beforeAll(async () => {
  if (!isInstalled) await buildServer()
  // other tests use the build of the SDK meanwhile, so npm must not make it again
  await onDemand('sdk')
  const sdk = await pack(join(ROOT, 'src/sdk'), !isInstalled)
  const server = await pack(ROOT, !isInstalled)
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  if (isInstalled) {
    const peers = PEERS.map((name) => `${name}@${versionOf(name)}`)
    await run('npm', ['install', '--no-audit', '--no-fund', server, sdk, ...peers], { cwd: folder })
  } else {
    const needed = [...(await unpack(server, 'gatepass')), ...(await unpack(sdk, '@gatepass/sdk')), ...PEERS]
    for (const name of new Set(needed)) {
      mkdirSync(dirname(join(modules, name)), { recursive: true })
      symlinkSync(join(ROOT, 'node_modules', name), join(modules, name))
    }
  }
  cpSync(join(modules, 'gatepass/examples'), join(folder, 'examples'), { recursive: true })
})
afterAll(() => rmSync(folder, { recursive: true }))

test('has what the README speaks of, and no sources and tests', () => {
  const inside = readdirSync(join(modules, 'gatepass'))
  expect(inside).toEqual(
    expect.arrayContaining(['README.md', 'SECURITY.md', 'bin', 'dist', 'docs', 'drizzle', 'examples']),
  )
  for (const absent of ['src', 'test', 'bench']) expect(inside).not.toContain(absent)
  // npm adds a folder of this name below the installed package when a peer needs another version of the same dependency
  if (!isInstalled) expect(inside).not.toContain('node_modules')
})

test('the packages hold what they need: no tests, no map without its source, nothing that has no source', () => {
  for (const name of ['gatepass', '@gatepass/sdk']) {
    const files = readdirSync(join(modules, name), { recursive: true, encoding: 'utf8' }).filter(
      (file) => !file.includes('node_modules'),
    )
    expect(files).toEqual(expect.arrayContaining(['package.json', 'LICENSE', 'README.md']))
    expect(files.filter((file) => /\.(?:test\.\w+|map|tsbuildinfo|db|key)$/.test(file))).toEqual([])
    const sources = join(ROOT, name === 'gatepass' ? 'src' : 'src/sdk')
    const isBuiltHere = isInstalled || name === 'gatepass'
    for (const file of files.filter((one) => isBuiltHere && /^dist\/(?!chunks\/).*\.js$/.test(one)))
      expect(existsSync(join(sources, file.slice(5).replace(/js$/, 'ts'))), `${name}: ${file}`).toBe(true)
  }
})

test('the SDK says which versions of the frameworks it works with, and installs without a script', () => {
  const { scripts, peerDependencies, peerDependenciesMeta } = manifestOf('@gatepass/sdk')
  // `prepare` would need a compiler where npm installs the package from a repository
  expect(Object.keys(scripts)).toEqual(['prepack'])
  expect(Object.keys(peerDependencies).sort()).toEqual(Object.keys(peerDependenciesMeta).sort())
  const readme = readFileSync(join(modules, '@gatepass/sdk/README.md'), 'utf8')
  const lines = readme.match(/(?<=^npm install @gatepass\/sdk ).+(?= #)/gm) ?? []
  const installed = new Map(lines.flatMap((line) => line.trim().split(' ').map(splitRange)))
  for (const [name, range] of Object.entries<string>(peerDependencies)) {
    const version = versionOf(name)
    expect(peerDependenciesMeta[name], name).toEqual({ optional: true })
    expect(satisfies(version, range), `${name}@${range}, tested with ${version}`).toBe(true)
    expect(satisfies(version, installed.get(name) ?? 'none'), `the line for ${name}`).toBe(true)
    expect(satisfies(`${Number.parseInt(version, 10) + 1}.0.0`, range), `${name}, the next major`).toBe(false)
  }
})

function splitRange(installed: string): [string, string] {
  const at = installed.lastIndexOf('@')
  return [installed.slice(0, at), installed.slice(at + 1)]
}

test('the declarations of every entry fit each other, in a strict program that checks them', async () => {
  const subpaths = Object.keys(manifestOf('@gatepass/sdk').exports).filter((one) => !one.endsWith('.json'))
  const entries = ['gatepass/tools', ...subpaths.map((one) => posix.join('@gatepass/sdk', one))]
  expect(entries).toEqual(expect.arrayContaining(['@gatepass/sdk', '@gatepass/sdk/tools']))
  for (const name of ['gatepass', '@gatepass/sdk']) declarationsAsSources(name)
  // declarations of frameworks name types of Node; without frameworks, none may be needed
  const plain = entries.filter((one) => !NEEDS_FRAMEWORK.test(one))
  expect([await typeFaults(plain, []), await typeFaults(entries, ['node'])]).toEqual(['', ''])
})

const NEEDS_FRAMEWORK = /\/(?:ai-sdk|openai-agents|langchain|mcp)$/

/**
 * Copies the declarations of the package to files that the compiler takes for sources: of declarations it checks either
 * all, those of frameworks too, or none.
 */
function declarationsAsSources(name: string): void {
  const dist = join(modules, name, 'dist')
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.d.ts')) continue
    const copy = join(folder, 'declared', name, 'dist', file.replace(/\.d\.ts$/, '.ts'))
    mkdirSync(dirname(copy), { recursive: true })
    copyFileSync(join(dist, file), copy)
  }
}

/** A parameter of a declared function is renamed and not used. */
const NO_FAULT_OF_DECLARATIONS = 'error TS2842:'

/** What the compiler says of a program that imports all of these, and of their declarations. */
async function typeFaults(entries: readonly string[], types: readonly string[]): Promise<string> {
  const imports = entries.map((name, i) => `import * as entry${i} from '${name}'`)
  const uses = entries.map((_, i) => `entry${i}`).join(', ')
  writeFileSync(join(folder, 'uses.ts'), `${imports.join('\n')}\nexport const used = [${uses}]\n`)
  const declared = entries.map((entry) => {
    const [, name = '', path = ''] = /^((?:@\w+\/)?\w+)(.*)$/.exec(entry) ?? []
    const { types: declaration } = manifestOf(name).exports[`.${path}`]
    return posix.join('declared', name, declaration.replace(/\.d\.ts$/, '.ts'))
  })
  const compilerOptions = {
    strict: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2024',
    types,
    lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable', 'dom.asynciterable'],
  }
  const files = ['uses.ts', ...declared]
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  return run(TSC, ['--singleThreaded', '-p', folder], { cwd: folder }).then(
    () => '',
    ({ stdout }) =>
      stdout
        .split('\n')
        .filter((line: string) => line !== '' && !line.includes(NO_FAULT_OF_DECLARATIONS))
        .join('\n'),
  )
}

/** Counts the files of the program that a command loads. */
async function filesOf(...command: readonly string[]): Promise<number> {
  const count = `import { registerHooks } from 'node:module'
    let files = 0
    registerHooks({ load: (url, context, next) => (url.includes('/dist/') && files++, next(url, context)) })
    process.on('exit', () => process.stderr.write('loaded ' + files))`
  const program = join(modules, 'gatepass/bin/gatepass.js')
  const args = ['--import', `data:text/javascript,${encodeURIComponent(count)}`, program]
  const { stderr } = await run(process.execPath, [...args, ...command], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      GATEPASS_DATABASE_URL: `file:${join(folder, 'files.db')}`,
      GATEPASS_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    },
  })
  return Number(/loaded (\d+)$/.exec(stderr)?.[1])
}

test('a command on the database loads the program from few files', async () => {
  const files = await filesOf('keys', 'create', '--role', 'admin')
  expect(files).toBeGreaterThan(0)
  expect(files).toBeLessThan(175) // each costs a start 0.4 ms; a feature with operations and tables adds three
})

test('a command that needs no database loads nothing of the broker', async () => {
  const files = await filesOf('--version')
  expect(files).toBeGreaterThan(0)
  expect(files).toBeLessThan(15)
})

test('does the main job with the commands that it prints, at the first start and the second', async () => {
  const port = await freePort()
  for (const start of ['first', 'second']) {
    const server = spawn(process.execPath, [join(modules, 'gatepass/bin/gatepass.js'), 'dev', '--commands'], {
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
      const [, key = ''] = /^export GATEPASS_URL=.* GATEPASS_API_KEY='(.*)'$/m.exec(steps) ?? []
      const page = await fetch(`http://localhost:${port}/connect/none?lang=ja`)
      expect(await page.text(), start).toContain('<html lang="ja"')
      expect((await fetch(`http://localhost:${port}/docs`)).status, start).toBe(200)
      const dice = await fetch(`http://localhost:${port}/v1/tools/run`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: '{"toolId": "local-tools:Dice", "args": {"sides": 20}}',
      })
      expect(await dice.text()).toContain('"rolled":')
      const program = `import { Gatepass } from '@gatepass/sdk'
        console.log(await new Gatepass().as('ada').tools.run('Sandbox_Profile', {}))`
      const env = { PATH: process.env.PATH, GATEPASS_URL: `http://localhost:${port}`, GATEPASS_API_KEY: key }
      const args = ['--input-type=module', '-e', program]
      const used = await run(process.execPath, args, { cwd: folder, env })
      expect(used.stdout, start).toContain("message: 'Hello Ada Lovelace'")
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
