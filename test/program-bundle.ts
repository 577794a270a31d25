import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { glob, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Plugin } from 'vite'
import { bundle, ROOT } from '../build/bundle.ts'
import { serveProcess } from './served.ts'

const BUNDLES = join(ROOT, 'node_modules/.cache/gatepass-program')
/** After that time without a use, bundles of other sources are removed. */
const UNUSED_MS = 3_600_000
/** Modules of tools import these from the checkout, and Gatepass must have the same classes. */
const SHARED_WITH_TOOLS = [join(ROOT, 'src/sdk/'), join(ROOT, 'src/tools/module/define-tool.ts')]

/**
 * The tests start the program some 350 times, from a bundle of the sources and the locked packages (`build/bundle.ts`)
 * that is made here once; the answer is its path. `test/cli/main-job.test.ts` runs the sources, as a checkout does, and
 * `test/cli/package.test.ts` runs the published package.
 *
 * A new bundle is started once, so that Node.js keeps its compiled modules, which a process that is killed does not write.
 * Without them a start takes 0.2 s more of processor time.
 */
export async function programBundle(): Promise<string> {
  const { folder, isNew } = await bundleOf('main')
  const path = join(folder, 'main.js')
  if (isNew) {
    await using served = await serveProcess({ program: path })
    await served.stop()
  }
  return path
}

/**
 * The path of the thread that runs code, as a bundle: starting a thread from sources takes 70 ms of processor time, because
 * it loads the type stripping of Node.js; from a bundle, as in the published package, it takes 35 ms.
 */
export async function sandboxThreadBundle(): Promise<string> {
  const { folder } = await bundleOf('features/code/sandbox-thread')
  return join(folder, 'features/code/sandbox-thread.js')
}

async function bundleOf(entry: string): Promise<{ readonly folder: string; readonly isNew: boolean }> {
  const folder = join(BUNDLES, `${await hashOfSources()}-${basename(entry)}`)
  const isNew = !existsSync(folder)
  if (isNew) await makeBundle(entry, folder)
  await removeUnused(folder)
  return { folder, isNew }
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

async function makeBundle(entry: string, folder: string): Promise<void> {
  const unfinished = `${folder}.${process.pid}`
  await bundle({ entries: [entry], outDir: unfinished, plugins: [asInSources] })
  // without it, Node.js parses each file twice to find out that it is a module
  await writeFile(join(unfinished, 'package.json'), '{"type":"module"}')
  try {
    await rename(unfinished, folder)
  } catch (error) {
    await rm(unfinished, { recursive: true })
    if (!existsSync(folder)) throw error // another run has made the same bundle meanwhile
  }
}

/** Keeps `import.meta.url` of every module, so that it finds its threads, migrations and assets beside its source. */
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

/** Has code run in the bundle of its thread. */
export const sandboxThreadOfBundle: Plugin = {
  name: 'gatepass:sandbox-thread-of-bundle',
  enforce: 'pre',
  transform(code, id) {
    if (id !== join(ROOT, 'src/features/code/sandbox.ts')) return null
    // reads the variable when the module runs: the changed source is cached, and another run has another bundle
    const thread = `new URL('file://' + process.env.TEST_SANDBOX_THREAD)`
    const changed = code.replace(/^const THREAD = .*$/m, `const THREAD = ${thread}`)
    if (changed === code)
      throw new Error('sandbox.ts no longer names its thread in one line "const THREAD = …".')
    return changed
  },
}
