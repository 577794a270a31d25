import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { glob, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Plugin } from 'vite'
import { bundle, ROOT } from '../build/bundle.ts'

const BUNDLES = join(ROOT, 'node_modules/.cache/gatepass-program')
/** Bundles of other sources are removed when no run has used them for so long. */
const UNUSED_MS = 3_600_000
/** Modules of tools import these from the checkout, and Gatepass must have the same classes. */
const SHARED_WITH_TOOLS = [join(ROOT, 'src/sdk/'), join(ROOT, 'src/tools/module/define-tool.ts')]

/**
 * The tests start the program some 350 times, from a few files that are made here once of the same sources and the same
 * locked packages (`build/bundle.ts`). `test/cli/main-job.test.ts` runs the sources, as a checkout does, and
 * `test/cli/package.test.ts` what is published.
 */
export default async function setup(): Promise<void> {
  const folder = join(BUNDLES, await hashOfSources())
  const isNew = !existsSync(folder)
  if (isNew) await makeBundle(folder)
  await removeUnused(folder)
  process.env.TEST_PROGRAM = join(folder, 'main.js')
  if (isNew) await compile()
}

/** A start that finds no compiled modules takes 0.2 s more of a processor, and a process that is killed leaves none. */
async function compile(): Promise<void> {
  const { serveProcess } = await import('./served.ts') // it reads TEST_PROGRAM
  await using served = await serveProcess()
  await served.stop()
}

async function removeUnused(folder: string): Promise<void> {
  const now = new Date()
  await utimes(folder, now, now)
  for (const name of await readdir(BUNDLES)) {
    const other = join(BUNDLES, name)
    const usedAt = (await stat(other).catch(() => undefined))?.mtimeMs ?? Date.now() // another run may remove it
    if (Date.now() - usedAt > UNUSED_MS) await rm(other, { recursive: true, force: true })
  }
}

async function hashOfSources(): Promise<string> {
  const paths = [
    fileURLToPath(import.meta.url),
    join(ROOT, 'build/bundle.ts'),
    join(ROOT, 'package-lock.json'),
  ]
  for await (const path of glob(join(ROOT, 'src/**/*.ts'))) paths.push(path)
  const hash = createHash('sha256')
  for (const path of paths.sort()) hash.update(path).update(await readFile(path))
  return hash.digest('hex').slice(0, 16)
}

async function makeBundle(folder: string): Promise<void> {
  const unfinished = `${folder}.${process.pid}`
  await bundle({ entries: ['main', 'code/sandbox-thread'], outDir: unfinished, plugins: [asInSources] })
  try {
    await rename(unfinished, folder)
  } catch (error) {
    await rm(unfinished, { recursive: true })
    if (!existsSync(folder)) throw error // another run has made the same bundle meanwhile
  }
}

/** A module finds its threads, migrations and assets from where its source is. */
const asInSources: Plugin = {
  name: 'gatepass:as-in-sources',
  enforce: 'pre',
  async resolveId(source, importer) {
    if (!source.startsWith('.') || importer === undefined) return null
    const resolved = await this.resolve(source, importer, { skipSelf: true })
    const isShared = SHARED_WITH_TOOLS.some((path) => resolved?.id.startsWith(path))
    return resolved !== null && isShared ? { id: pathToFileURL(resolved.id).href, external: true } : resolved
  },
  transform(code, id) {
    if (!id.startsWith(join(ROOT, 'src/'))) return null
    return code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
  },
}

/**
 * Code runs in the thread of the bundle too, because a thread that is started from sources loads Node's type stripping:
 * 70 ms of processor time, of which a published package spends 35.
 */
export const sandboxThreadOfBundle: Plugin = {
  name: 'gatepass:sandbox-thread-of-bundle',
  enforce: 'pre',
  transform(code, id) {
    if (id !== join(ROOT, 'src/code/sandbox.ts')) return null
    // read as it runs: what this returns is kept in a cache, and another run has another bundle
    const thread = `new URL('code/sandbox-thread.js', 'file://' + process.env.TEST_PROGRAM)`
    const changed = code.replace(/^const THREAD = .*$/m, `const THREAD = ${thread}`)
    if (changed === code)
      throw new Error('sandbox.ts no longer names its thread in one line "const THREAD = …".')
    return changed
  },
}
