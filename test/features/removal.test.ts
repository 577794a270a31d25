import { execFile } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const LIST = 'src/features/features.ts'
const names = readdirSync('src/features', { withFileTypes: true })
  .filter((one) => one.isDirectory())
  .map(({ name }) => name)

/** Every import of src, of types too, as the file and the path it imports. */
const imports = globSync('src/**/*.ts').flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/(?:\bfrom|\bimport\(?|\brequire\()\s*['"](\.[^'"]*)['"]/g)].map(
    ([, path = '']) => ({ file, imported: join(dirname(file), path) }),
  ),
)

// Only an import can tie a file to a folder that is removed. So a compiler that runs once, without all features, shows
// for each of them what it would show without that one.

test.each(names)('without the feature %s and its line in the list, src compiles', (name) => {
  const folder = `src/features/${name}/`
  const outside = imports.filter(
    ({ file, imported }) => imported.startsWith(folder) && !file.startsWith(folder),
  )
  expect(outside).toEqual([{ file: LIST, imported: `${folder}feature.ts` }])
})

test('without all features src compiles', async () => {
  const copy = mkdtempSync('.without-')
  onTestFinished(() => rmSync(copy, { recursive: true }))
  cpSync('src', join(copy, 'src'), { recursive: true })
  for (const file of ['tsconfig.json', 'package.json']) cpSync(file, join(copy, file))
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  for (const name of names) rmSync(join(copy, 'src/features', name), { recursive: true })
  const list = readFileSync(LIST, 'utf8')
    .replaceAll(/^import .* from '\.\/[^/]+\/feature\.ts'\n/gm, '')
    .replace(/= \[[^\]]*\]/, '= []')
  expect(list).not.toMatch(/from '\.\/[a-z-]+\//)
  writeFileSync(join(copy, LIST), list)
  expect(await faultsOf(copy)).toBe('')
})

/** What the compiler says of `src` in this folder. */
async function faultsOf(folder: string): Promise<string> {
  const config = join(folder, 'tsconfig.src.json')
  writeFileSync(config, JSON.stringify({ extends: './tsconfig.json', include: ['src/**/*.ts'] }))
  const compile = promisify(execFile)(process.execPath, [
    'node_modules/typescript/bin/tsc',
    '--noEmit',
    '-p',
    config,
  ])
  return compile.then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
  )
}
