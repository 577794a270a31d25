import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const LIST = 'src/features/features.ts'
const names = readdirSync('src/features', { withFileTypes: true })
  .filter((one) => one.isDirectory())
  .map(({ name }) => name)

test.each(names)('without the feature %s and its line in the list, src compiles', async (name) => {
  const copy = mkdtempSync('.without-')
  onTestFinished(() => rmSync(copy, { recursive: true }))
  cpSync('src', join(copy, 'src'), { recursive: true })
  for (const file of ['tsconfig.json', 'package.json']) cpSync(file, join(copy, file))
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  rmSync(join(copy, 'src/features', name), { recursive: true })
  const list = readFileSync(LIST, 'utf8')
  const [, exported] = new RegExp(`^import { (\\w+) } from './${name}/feature\\.ts'$`, 'm').exec(list) ?? []
  const without = list
    .split('\n')
    .filter((line) => !line.includes(`'./${name}/`))
    .join('\n')
    .replace(new RegExp(`\\b${exported}\\b,? ?`), '')
  writeFileSync(join(copy, LIST), without)
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
