import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)

/** The files of `npm run packages` that the program of a tsconfig.json reads. */
async function packageFilesOf(config: string): Promise<readonly string[]> {
  const args = ['-p', config, '--listFilesOnly']
  const { stdout } = await run('node_modules/.bin/tsc', args, { maxBuffer: 2 ** 24 })
  return stdout.split('\n').filter((file) => file.includes('/.packages/'))
}

test('`npm run types` needs no package beside those of `npm ci`; `npm run types:all` reads them', async () => {
  expect(await packageFilesOf('tsconfig.core.json')).toEqual([])
  expect((await packageFilesOf('tsconfig.json')).length).toBeGreaterThan(0)
})

/** A checkout whose lock for tests has the package `@of/one`, with a program in place of npm that installs it. */
function checkout() {
  const root = mkdtempSync(join(tmpdir(), 'gatepass-packages-'))
  const folder = join(root, 'test/packages')
  const modules = join(root, 'node_modules')
  const bin = join(root, 'bin')
  for (const one of [folder, modules, bin]) mkdirSync(one, { recursive: true })
  cpSync('test/packages/install.ts', join(folder, 'install.ts'))
  const lock = (version: string) =>
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ version }))
  writeFileSync(join(folder, 'package.json'), '{"type": "module", "dependencies": {"@of/one": "1.0.0"}}')
  const calls = join(root, 'calls')
  writeFileSync(calls, '')
  const npm = (exitCode: number) =>
    writeFileSync(
      join(bin, 'npm'),
      `#!/bin/sh\necho "$1" >>${calls}\nmkdir -p ${modules}/.packages/node_modules/@of/one\nexit ${exitCode}\n`,
      { mode: 0o755 },
    )
  lock('1')
  npm(0)
  const PATH = `${bin}:${process.env.PATH}`
  return {
    modules,
    lock,
    npm,
    install: () => run(process.execPath, [join(folder, 'install.ts')], { env: { PATH } }),
    installs: () => readFileSync(calls, 'utf8').split('\n').filter(Boolean),
    [Symbol.dispose]: () => rmSync(root, { recursive: true }),
  }
}

test('installs once for each lock, and again what was interrupted', async () => {
  using packages = checkout()
  packages.npm(1)
  await expect(packages.install()).rejects.toThrow()
  packages.npm(0)
  await packages.install()
  await packages.install()
  expect(packages.installs()).toEqual(['ci', 'ci'])
  packages.lock('2')
  await packages.install()
  expect(packages.installs()).toEqual(['ci', 'ci', 'ci'])
})

test('what is imported is its package, whatever was installed under the name before', async () => {
  using packages = checkout()
  const place = join(packages.modules, '@of/one')
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'package.json'), '{"version": "0.9.0"}')
  await packages.install()
  expect(realpathSync(place)).toBe(realpathSync(join(packages.modules, '.packages/node_modules/@of/one')))
})
