import { execFile } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const LIST = 'src/features/features.ts'
const compiler = resolve('node_modules/typescript/bin/tsc')

export const featureNames: readonly string[] = readdirSync('src/features', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

export interface SourceCopy {
  /** What the compiler says of the copy without the folder of the feature and its line in `features.ts`. */
  faultsWithout(feature: string): Promise<string>
  remove(): void
}

/** Copies `src`, and compiles it once, so that the compiler then checks only what a missing folder can change. */
export async function copySources(): Promise<SourceCopy> {
  const copy = mkdtempSync('.without-') // in the checkout, where the compiler finds the packages
  cpSync('src', join(copy, 'src'), { recursive: true })
  for (const file of ['tsconfig.json', 'package.json']) cpSync(file, join(copy, file))
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  const settings = { extends: './tsconfig.json', include: ['src/**/*.ts'] }
  writeFileSync(join(copy, 'tsconfig.src.json'), JSON.stringify(settings))
  const faults = await faultsOf(copy)
  if (faults !== '') throw new Error(`src does not compile:\n${faults}`)
  const [list, whole] = [join(copy, LIST), join(copy, 'whole.tsbuildinfo')]
  const text = readFileSync(list, 'utf8')
  cpSync(buildInfo(copy), whole)
  mkdirSync(join(copy, 'removed'))
  return {
    async faultsWithout(feature) {
      const [folder, aside] = [join(copy, 'src/features', feature), join(copy, 'removed', feature)]
      renameSync(folder, aside)
      writeFileSync(list, withoutFeature(text, feature))
      cpSync(whole, buildInfo(copy))
      const faults = await faultsOf(copy)
      renameSync(aside, folder)
      writeFileSync(list, text)
      return faults
    },
    remove: () => rmSync(copy, { recursive: true }),
  }
}

/** The list of features without its lines for one of them. */
function withoutFeature(list: string, feature: string): string {
  const [line = '', exported] =
    new RegExp(`^import { (\\w+) } from './${feature}/feature\\.ts'\\n`, 'm').exec(list) ?? []
  if (exported === undefined) throw new Error(`${LIST} does not import the feature ${feature}`)
  return list.replace(line, '').replace(new RegExp(`\\b${exported}\\b,?\\s*`), '')
}

const buildInfo = (copy: string) => join(copy, 'src.tsbuildinfo')

async function faultsOf(copy: string): Promise<string> {
  const args = [
    '--noEmit',
    '--incremental',
    '--tsBuildInfoFile',
    'src.tsbuildinfo',
    '-p',
    'tsconfig.src.json',
  ]
  const compile = promisify(execFile)(process.execPath, [compiler, ...args], { cwd: copy })
  return compile.then(
    ({ stdout }) => stdout,
    ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
  )
}
