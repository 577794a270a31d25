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
  /** What the compiler says of the copy without the folders of these features and their lines in `features.ts`. */
  faultsWithout(features: readonly string[]): Promise<string>
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
    async faultsWithout(features) {
      const folder = (feature: string) => join(copy, 'src/features', feature)
      const aside = (feature: string) => join(copy, 'removed', feature)
      for (const feature of features) renameSync(folder(feature), aside(feature))
      writeFileSync(list, features.reduce(withoutFeature, text))
      cpSync(whole, buildInfo(copy))
      const faults = await faultsOf(copy)
      for (const feature of features) renameSync(aside(feature), folder(feature))
      writeFileSync(list, text)
      return faults
    },
    remove: () => rmSync(copy, { recursive: true }),
  }
}

/**
 * Few sets of the names, such that for any two names a set has the first and not the second: each name is in the same
 * number of sets, and no two are in the same ones.
 */
export function separatingSets(names: readonly string[]): readonly (readonly string[])[] {
  for (let count = 2; ; count++) {
    // bit i of a place: whether its name is in set i
    const places = Array.from({ length: 2 ** count }, (_, place) => place).filter(
      (place) => place.toString(2).replaceAll('0', '').length === Math.floor(count / 2),
    )
    if (places.length < names.length) continue
    return Array.from({ length: count }, (_, i) => names.filter((_, n) => ((places[n] ?? 0) >> i) & 1))
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
    '--singleThreaded', // half of the processor time, since threads check types that others have checked
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
