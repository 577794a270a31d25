// `npm run build:image -- <folder>`: the program as deploy/Dockerfile and deploy/systemd run it: the built program, the
// migrations, and of node_modules only the packages that the built program imports. Nothing else is needed beside Node.

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { ROOT } from './bundle.ts'

type Versions = Readonly<Record<string, string>>

interface Manifest {
  readonly dependencies?: Versions
  readonly optionalDependencies?: Versions
  readonly peerDependencies?: Versions
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

const FILES = ['bin', 'drizzle', 'package.json', 'LICENSE', 'README.md']
/** Parts of packages that only other systems or a compiler need: half of the packages' size. */
const NOT_NEEDED = [/^better-sqlite3\/(?:deps|src|binding\.gyp)/, /^@types\//, /\.(?:[cm]?tsx?|map|md|flow)$/]
const PREBUILD = /^better-sqlite3\/prebuilds\/(.+)\.node$/

const [folder] = process.argv.slice(2)
if (folder === undefined) throw new Error('Name the folder to write: npm run build:image -- <folder>')

mkdirSync(folder, { recursive: true })
const isRead = (file: string) => !file.endsWith('.ts')
for (const file of FILES) cpSync(join(ROOT, file), join(folder, file), { recursive: true, filter: isRead })
execFileSync(process.execPath, [join(ROOT, 'build/main.ts'), join(folder, 'dist')], { stdio: 'inherit' })
for (const path of closure(namedByProgram(folder)))
  cpSync(join(ROOT, path), join(folder, path), { recursive: true, filter: isNeeded })

function isNeeded(file: string): boolean {
  const [, inside = ''] = /node_modules\/(.*)$/.exec(relative(ROOT, file)) ?? []
  const [, system] = PREBUILD.exec(inside) ?? []
  if (system !== undefined) return system === `${process.platform}-${process.arch}`
  // a package's own packages are named by their own paths
  return !inside.includes('node_modules') && !NOT_NEEDED.some((one) => one.test(inside))
}

/** Direct dependencies that the built program imports, or whose files it looks up. The others are in its own files. */
function namedByProgram(folder: string): string[] {
  const { dependencies, optionalDependencies } = readManifest('package.json')
  const program = globSync('{bin,dist}/**/*.js', { cwd: folder })
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n')
  return Object.keys({ ...dependencies, ...optionalDependencies }).filter((name) =>
    new RegExp(`(?:from|import|import\\(|require\\(|resolve\\()\\s*["'\`]${name}["'\`/]`).test(program),
  )
}

/** The paths of these packages and of all that they depend on, each found as Node finds it. */
function closure(names: readonly string[]): Set<string> {
  const paths = new Set<string>()
  const pending = names.map((name) => ({ name, from: '' }))
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const path = placeOf(next.name, next.from)
    if (paths.has(path)) continue
    paths.add(path)
    pending.push(...neededBy(readManifest(join(path, 'package.json'))).map((name) => ({ name, from: path })))
  }
  return paths
}

function neededBy({ dependencies, peerDependencies = {}, peerDependenciesMeta = {} }: Manifest): string[] {
  const peers = Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true)
  return [...Object.keys(dependencies ?? {}), ...peers]
}

function placeOf(name: string, from: string): string {
  const own = join(from, 'node_modules', name)
  if (existsSync(join(ROOT, own, 'package.json'))) return own
  if (from === '') throw new Error(`${name} is not installed: npm ci`)
  const at = from.lastIndexOf('node_modules')
  return placeOf(name, from.slice(0, Math.max(0, at - 1)))
}

function readManifest(path: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
}
