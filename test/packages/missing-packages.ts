import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'
import { ROOT } from '../../build/bundle.ts'

const { dependencies } = JSON.parse(readFileSync(join(import.meta.dirname, 'package.json'), 'utf8'))

/** Names the command that installs a package which a test imports and `npm ci` does not install. */
export const missingPackages: Plugin = {
  name: 'gatepass:missing-packages',
  enforce: 'pre',
  resolveId(id) {
    const name = Object.keys(dependencies).find((one) => id === one || id.startsWith(`${one}/`))
    if (name !== undefined && !existsSync(join(ROOT, 'node_modules', name)))
      throw new Error(`${name} is not installed: run \`npm run packages\` once.`)
    return null
  },
}
