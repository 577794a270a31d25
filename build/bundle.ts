import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'vite'
import type { Feature } from '../src/features/feature.ts'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Database drivers, which stay packages: one is native, and tests put faults into both (`test/faults/kill-at.ts`). */
const DRIVERS = ['better-sqlite3', 'pg']
/**
 * Packages that few installations load: when the first MCP client registers, where a collector is set, or for documents of
 * Swagger 2.0. OpenTelemetry's API is not among them, because prom-client loads it always.
 */
const RARELY_USED = [
  'oidc-provider',
  '@scalar/openapi-upgrader',
  '@opentelemetry/otlp-transformer',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/sdk-trace',
]

/**
 * Modules that each command loads (`start`), then those of each command on a database, and what they import, as one file a
 * line. The modules of a line may await the features of the lines before it: a file that awaited a feature in itself would
 * never end loading.
 */
const TOGETHER = {
  start: 'cli/(commands|program)',
  store: 'features/[^/]+/store[^/]*',
  settings: 'features/[^/]+/settings',
  tools: loadedFor('toolSelections', 'runLater', 'toolFormat', 'workers'),
  operations: 'features/[^/]+/operations[^/]*',
  features: loadedFor('approvals', 'endpoints', 'gate', 'trailIndex', 'look', 'sites', 'openers', 'ownPage'),
  broker: 'open-broker|http/api',
}

/** A pattern for the modules that features load for these members. */
function loadedFor(...members: readonly (keyof Feature)[]): string {
  const modules = globSync('src/features/*/feature.ts', { cwd: ROOT }).flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split(/^ {2}(?=\w+:)/m)
      .filter((text) => members.some((member) => text.startsWith(`${member}:`)))
      .flatMap((text) => [...text.matchAll(/import\('\.\/([^']+)\.ts'\)/g)])
      .map(([, module]) => `${basename(dirname(file))}/${module}`),
  )
  return `features/(${modules.join('|')})`
}

/**
 * What is used of two packages whose entry modules import all that they have: undici has a fetch, caches and web sockets
 * (Gatepass uses its agent), zod its messages in 50 languages. Without the rest an idle server uses 9 MB less.
 */
const PARTS: Readonly<Record<string, string>> = {
  'undici/index.js': `export { default as Agent } from './lib/dispatcher/agent.js'
export { default as buildConnector } from './lib/core/connect.js'`,
  'zod/v4/locales/index.js': "export { default as en } from './en.js'",
}

const usedParts: Plugin = {
  name: 'gatepass:used-parts',
  enforce: 'pre',
  load(id) {
    const [, file = ''] = /\/node_modules\/([^?]+)/.exec(id) ?? []
    return PARTS[file] ?? null
  },
}

/**
 * V8 keeps the source of a module as long as the module, in two bytes for each character if one of them is not ASCII: a
 * single ’ would double 1 MB. Such characters are written as escapes, which mean the same in strings, templates and
 * patterns. An idle server uses 6 MB less.
 */
const oneByteSources: Plugin = {
  name: 'gatepass:one-byte-sources',
  generateBundle(_, files) {
    for (const file of Object.values(files)) if (file.type === 'chunk') file.code = withEscapes(file.code)
  },
}

function withEscapes(code: string): string {
  const raw = /(String\.raw`[^`]*|\\)[^\0-\x7f]/.exec(code)
  if (raw !== null) throw new Error(`An escape would be another text in ${raw[0]}`)
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export interface Bundle {
  /** Entry modules, by their path below `src/` without the extension; each becomes a file of that path. */
  readonly entries: readonly string[]
  readonly outDir: string
  readonly plugins: readonly Plugin[]
}

/**
 * Writes the program as a few files: finding and reading its 1,400 modules is half of the processor time of a start and
 * a quarter of the memory of an idle server. Each file costs a start 0.4 ms.
 */
export async function bundle({ entries, outDir, plugins }: Bundle): Promise<void> {
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    plugins: [...plugins, usedParts, oneByteSources],
    ssr: { noExternal: true, external: [...DRIVERS, ...RARELY_USED] },
    build: {
      ssr: true,
      rolldownOptions: {
        input: Object.fromEntries(entries.map((entry) => [entry, join(ROOT, 'src', `${entry}.ts`)])),
        output: {
          entryFileNames: '[name].js',
          // the name of a group that several entries share continues with theirs
          chunkFileNames: ({ name }) => `chunks/${name.replace(/~.*/s, '')}-[hash].js`,
          codeSplitting: {
            groups: [
              // the highest priority: threads load what they import, and nothing of the broker's
              { name: 'shared', tags: ['$initial'], minShareCount: 2, entriesAware: true, priority: 30 },
              ...Object.entries(TOGETHER).map(([name, modules], line) => ({
                name,
                test: new RegExp(`/src/(${modules})\\.ts$`),
                priority: 20 - line,
              })),
            ],
          },
          comments: { legal: true, jsdoc: false, annotation: false },
        },
      },
      outDir,
      emptyOutDir: true,
      target: 'node22',
      minify: false,
    },
  })
}
