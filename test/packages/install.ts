// `npm run packages`: installs the packages of this folder's lock in `node_modules/.packages`, unless they are there and
// current. Links beside those of `npm ci` let sources, examples and tests import them by their names.

import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'

const MODULES = join(import.meta.dirname, '../../node_modules')
/** Not in this folder: what reads all files below `test/` would find the packages' own tests. `npm ci` removes it. */
const FOLDER = join(MODULES, '.packages')
/** The lock of the installed packages. Written last, so that an interrupted install is done again. */
const RECORD = join(FOLDER, 'installed-lock.json')

const lock = readFileSync(join(import.meta.dirname, 'package-lock.json'), 'utf8')
const { dependencies } = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8'))

if (installedLock() !== lock) install()
for (const name of Object.keys(dependencies)) link(name)

function installedLock(): string | undefined {
  try {
    return readFileSync(RECORD, 'utf8')
  } catch {
    return undefined
  }
}

function install(): void {
  mkdirSync(FOLDER, { recursive: true })
  rmSync(RECORD, { force: true })
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(join(import.meta.dirname, file), join(FOLDER, file))
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  execFileSync('npm', ['ci', ...flags, '--prefix', FOLDER], {
    stdio: 'inherit',
    shell: process.platform === 'win32', // npm is a batch file there
  })
  writeFileSync(RECORD, lock)
}

function link(name: string): void {
  const place = join(MODULES, name)
  const target = join(FOLDER, 'node_modules', name)
  if (existsSync(place) && realpathSync(place) === realpathSync(target)) return
  rmSync(place, { recursive: true, force: true }) // what `npm ci` of an older checkout installed
  mkdirSync(dirname(place), { recursive: true })
  symlinkSync(process.platform === 'win32' ? target : relative(dirname(place), target), place, 'junction')
}
