import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'

/**
 * The files of the server. The SDK runs in applications and in the processes of tool authors, and sends its own
 * requests. The file that is left out holds the text of the SDK's script for browsers.
 */
const SOURCES = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
  (name) => /^(?!sdk\/).*\.ts$/.test(name) && name !== 'features/embed/generated/embed-script.ts',
)

const OPENS_CONNECTIONS = new RegExp(
  [
    /from '(node:)?(undici|https|http2|tls|dgram|dns)(\/[^']*)?'/,
    // Dynamic imports may only name modules of the list, so that the other rules hold for them too. Exceptions: an
    // operator's own modules of tools and definitions, which are trusted code (docs/guides/writing-tools.md and
    // docs/reference/provider-definitions.md), and the tasks of the thread pool, whose modules thread-pool.ts names. oidc-provider fetches
    // clients' documents with the guarded client that it gets; nodemailer writes e-mails and fetches none of their parts;
    // OpenTelemetry's packages make spans, and
    // src/features/telemetry sends them with a guarded client. The converter of Swagger changes objects only.
    /(?<!\.)\bimport\((?!'(?:\.{1,2}\/|open'|oidc-provider'|nodemailer\/lib\/mail-composer'|yaml'|@scalar\/openapi-upgrader\/2\.0-to-3\.0'|@opentelemetry\/(?:api|otlp-transformer|resources|sdk-metrics|sdk-trace)')|toolModule\)|taskModule\)|definitionModule\))|\brequire\(/,
    /\bglobalThis\b/,
    /createRemoteJWKSet/,
    /import (\w+|\* as \w+) from '(node:)?(http|net)'/,
  ]
    .map(({ source }) => source)
    .join('|'),
)
/** The second runs in a process of its own, for `gatepass tools dev`. */
const LOADS_TOOLS = ['tools/module/load-module.ts', 'cli/tools-dev-process.ts']
/** The first opens connections, the second asks name servers. */
const REACH_OUT = ['egress/guarded-agent.ts', 'egress/txt-records.ts']
const LOADS_DEFINITIONS = 'settings/provider-files.ts'
const IMPORTS_OIDC_PROVIDER = 'mcp/authorization-server/oidc-provider.ts'
const IMPORTS_NODEMAILER = 'tools/openapi/templates/mail-message.ts'
const NAMED_IMPORTS = /import (?:type )?\{([^}]*)\} from '(?:node:)?(?:http|net)'/g
const OPENS_NOTHING =
  /^(BlockList|isIP(v[46])?|LookupFunction|createServer|IncomingMessage|(Incoming|Outgoing)HttpHeaders?|Server(Options|Response)?)$/

describe('threat 14: one guarded client for every outgoing request', () => {
  test('no other file can open a connection', () => {
    expect(SOURCES.length).toBeGreaterThan(100)
    for (const name of SOURCES.filter((one) => !REACH_OUT.includes(one))) {
      const source = readFileSync(join('src', name), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
      expect(source.includes('import(toolModule)'), name).toBe(LOADS_TOOLS.includes(name))
      expect(source.includes('import(taskModule)'), name).toBe(name === 'tools/pool-thread.ts')
      expect(source.includes('import(definitionModule)'), name).toBe(name === LOADS_DEFINITIONS)
      expect(OPENS_CONNECTIONS.exec(source)?.[0], name).toBeUndefined()
      expect(source.includes("import('oidc-provider')"), name).toBe(name === IMPORTS_OIDC_PROVIDER)
      expect(source.includes("import('nodemailer"), name).toBe(name === IMPORTS_NODEMAILER)
      if (name === IMPORTS_NODEMAILER)
        for (const option of ['disableFileAccess: true', 'disableUrlAccess: true'])
          expect(source).toContain(option)
      if (name === IMPORTS_OIDC_PROVIDER) expect(source).toContain('fetch: documentFetch(broker)')
      for (const [, names = ''] of source.matchAll(NAMED_IMPORTS))
        for (const one of names.split(',').map((each) => each.replace(/^\s*type /, '').trim()))
          if (one !== '') expect(one, name).toMatch(OPENS_NOTHING)
    }
  })

  test('the lint refuses a file that opens connections, in every folder', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gatepass-lint-'))
    try {
      const { vcs: _, ...settings } = JSON.parse(await readFile('biome.json', 'utf8'))
      await writeFile(join(folder, 'biome.json'), JSON.stringify(settings))
      const folders = [...new Set(SOURCES.map((name) => dirname(name)))]
      const files = folders.map((name) => join('src', name, 'sneaky.ts'))
      const sneaky = [
        "import { request } from 'undici'",
        "import { get } from 'node:https'",
        "import { connect } from 'node:net'",
        "import * as http from 'node:http'",
        "export const all = () => [request, get, connect, http, fetch('x'), new WebSocket('x')]",
      ].join('\n')
      for (const file of files) {
        await mkdir(dirname(join(folder, file)), { recursive: true })
        await writeFile(join(folder, file), sneaky)
      }
      const lines = await lint(folder)
      for (const file of files) {
        const found = lines.filter((line) => line.includes(`${join(folder, file)},`))
        expect(found.filter((line) => line.includes('noRestrictedImports')).length, file).toBe(4)
        expect(found.filter((line) => line.includes('noRestrictedGlobals')).length, file).toBe(2)
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})

/** One line for each fault. */
function lint(folder: string): Promise<string[]> {
  const biome = join(process.cwd(), 'node_modules/.bin/biome')
  const { promise, resolve } = Promise.withResolvers<string[]>()
  execFile(
    biome,
    ['lint', '--reporter=github', '--max-diagnostics=none', 'src'],
    { cwd: folder },
    (_, stdout) => resolve(stdout.split('\n')),
  )
  return promise
}
