// `npm run build`: writes the published program into dist/, without the type declarations. The bench names another folder.

import { globSync, readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import type { Plugin } from 'vite'
import { createIndex } from '../src/providers/catalogue/definition-index.ts'
import { bundle, ROOT } from './bundle.ts'

/** Programs and threads that are started by their file, and the module that `gatepass/tools` exports. */
const ENTRIES = [
  'main',
  'cli/tools-dev-process',
  'sdk/tools/index',
  'store/dialects/sqlite/checkpoint-thread',
  'tools/pool-thread',
]
const SOURCES = join(ROOT, 'src/')
/** Threads of features, and the modules that run in threads of the pool (src/tools/thread-pool.ts). */
const FOUND = globSync(['features/*/*-thread.ts', '**/*-task.ts'], { cwd: SOURCES }).map((file) =>
  file.replace(/\.ts$/, ''),
)
const PLACE = /__PLACE_IN_DIST__\("([^"]+)"\)/g

/**
 * A module finds threads, migrations and package.json relative to its own file. In a bundle that is another file, so
 * `import.meta.url` becomes the place where the module would be below dist/ if it had a file of its own.
 */
const placesOfModules: Plugin = {
  name: 'gatepass:places-of-modules',
  enforce: 'pre',
  transform(code, id) {
    if (!id.startsWith(SOURCES)) return null
    const place = relative(SOURCES, id).replace(/\.tsx?$/, '.js')
    return code.replaceAll('import.meta.url', `__PLACE_IN_DIST__("${place}")`)
  },
  renderChunk(code, { fileName }) {
    const toDist = '../'.repeat(fileName.split('/').length - 1) || './'
    return code.replace(PLACE, (_, place) => `new URL("${toDist}${place}", import.meta.url).href`)
  },
}

const CATALOGUE = 'providers/catalogue'

/**
 * The definitions of providers as one file, each as the text of its JSON, the index of their hosts, and the logos. Each is
 * read when it is needed.
 */
const catalogueFiles: Plugin = {
  name: 'gatepass:catalogue-files',
  generateBundle() {
    const folder = join(SOURCES, CATALOGUE)
    const definitions = globSync('definitions/*.json', { cwd: folder })
      .sort()
      .map((file) => [basename(file, '.json'), withoutSpace(join(folder, file))] as const)
    const written = {
      'definitions.json': JSON.stringify(Object.fromEntries(definitions)),
      'definition-index.json': JSON.stringify(createIndex(new Map(definitions))),
      'logos.json': withoutSpace(join(folder, 'logos.json')),
    }
    for (const [name, source] of Object.entries(written))
      this.emitFile({ type: 'asset', fileName: `${CATALOGUE}/${name}`, source })
  },
}

/** What scopes mean and what pages say, in each language, the examples of `/docs`, and tool packs. Each is read when a reader needs it. */
const TEXTS = [
  `${CATALOGUE}/scope-sentences/*.json`,
  'http/pages/texts/*/*.json',
  'features/*/texts/*.json',
  'features/packs/library/*/*.json',
  'http/reference/generated/examples.json',
]

const textFiles: Plugin = {
  name: 'gatepass:text-files',
  generateBundle() {
    for (const fileName of globSync(TEXTS, { cwd: SOURCES }))
      this.emitFile({ type: 'asset', fileName, source: withoutSpace(join(SOURCES, fileName)) })
    for (const fileName of globSync('{http,features}/**/*.css', { cwd: SOURCES }))
      this.emitFile({ type: 'asset', fileName, source: readFileSync(join(SOURCES, fileName)) })
  },
}

function withoutSpace(file: string): string {
  return JSON.stringify(JSON.parse(readFileSync(file, 'utf8')))
}

const [outDir = join(ROOT, 'dist')] = process.argv.slice(2)
await bundle({
  entries: [...ENTRIES, ...FOUND],
  outDir,
  plugins: [placesOfModules, catalogueFiles, textFiles],
})
