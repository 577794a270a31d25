#!/usr/bin/env node
// Plain JavaScript that every Node can read. It checks the version before any native module is loaded, because
// better-sqlite3 crashes on Node 20 without a message.
import { existsSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { join } from 'node:path'
import v8 from 'node:v8'

const OLDEST = [22, 19]
const [major, minor] = process.versions.node.split('.').map(Number)

if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  console.error(
    `Gatepass needs Node ${OLDEST.join('.')} or newer; this is ${process.versions.node}. In a checkout, \`npm start\` and \`npm run gatepass -- <command>\` use a current one by themselves; elsewhere \`npm install node@26\` puts one beside it, and \`npx gatepass\` uses that.`,
  )
  process.exit(2)
}

// Names are looked up in at most half of libuv's threads, of which Node starts four: two names whose servers do not answer
// would delay new connections to every host. The threads start when they are first used, so this comes before the imports.
process.env.UV_THREADPOOL_SIZE ||= '16'

// The start leaves much garbage, for which V8 would make the young generation of the heap so large that an idle server
// takes 20 MB more. V8 reads this factor each time it would grow; `serve` sets it back when it serves.
if (process.argv[2] === 'serve') v8.setFlagsFromString('--semi-space-growth-factor=1')

// Node's compile cache halves the time that a command needs to start. It is kept in the user's own cache folder, because
// other users of the machine could write to Node's default, which is below the system's temporary folder. Where the
// folder cannot be written, commands start without the cache.
const { HOME, XDG_CACHE_HOME } = process.env
const caches = XDG_CACHE_HOME || (HOME && join(HOME, '.cache'))
if (caches) nodeModule.enableCompileCache?.(join(caches, 'gatepass', 'compiled'))

await import('./import-hook.js')
const source = new URL('../src/main.ts', import.meta.url)
const built = new URL('../dist/main.js', import.meta.url)
// a checkout runs its sources, a published package what was built from them
await import(existsSync(source) ? source.href : built.href)
