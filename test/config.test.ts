import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Config } from '../src/config.ts'
import { ConfigError } from '../src/config-error.ts'
import { effectiveSettings } from '../src/diagnosis/effective-settings.ts'
import { createLog } from '../src/log.ts'
import { openBroker } from '../src/open-broker.ts'
import { builtIn } from '../src/providers/catalogue/registry.ts'
import { readConfig } from '../src/read-config.ts'

/** As code sees it that does not keep to the types. */
type Changeable = Pick<Config, never> & {
  port?: number
  more?: number
  readonly allowedHosts: string[]
  readonly nextOrigins: Set<string>
  readonly masterKeys: Buffer[]
  readonly verifier: { issuer?: string; readonly client?: { clientId: string } }
  readonly providerClients: Map<string, { clientSecret?: string }>
}

const KEY = Buffer.alloc(32, 7).toString('base64')
const OLDER = Buffer.alloc(32, 8).toString('base64')

/** What `serve` cannot do without. */
const NEEDED = {
  GATEPASS_MASTER_KEY: KEY,
  GATEPASS_PUBLIC_URL: 'https://gatepass.example.test',
  GATEPASS_USER_VERIFIER: 'https://app.example.test/verify',
}

const serve = (environment: Record<string, string | undefined> = {}) =>
  readConfig({ ...NEEDED, ...environment }, 'serve')

function faultsOf(read: () => Config): readonly string[] {
  try {
    read()
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
  return []
}

describe('a setting', () => {
  test.each<[string, unknown]>([
    ['host', '127.0.0.1'],
    ['port', 8400],
    ['database', { kind: 'sqlite', path: 'gatepass.db' }],
    ['apiKey', undefined],
    ['allowedHosts', []],
    ['trustedProxies', []],
    ['nextOrigins', new Set(['https://gatepass.example.test', 'https://app.example.test'])],
    ['authorizationTtlSeconds', 600],
    ['connectPage', 'show'],
    ['requestsPerSecond', 0],
    ['maxPending', 100_000],
    ['maxWaiters', 20_000],
    ['cacheBytes', 128_000_000],
    [
      'mcp',
      {
        project: 'default',
        registration: 'on',
        clientDocuments: 'on',
        clientHosts: [],
        origins: new Set(),
        isLoopbackOnly: true,
      },
    ],
    ['logLevel', 'info'],
    ['development', false],
    ['providerClients', new Map()],
  ])('that is not there has its default: %s', (name, expected) => {
    expect(Object.entries(serve()).find(([key]) => key === name)?.[1]).toEqual(expected)
  })

  test.each<[string, string, Partial<Record<keyof Config, unknown>>]>([
    ['HOST', '0.0.0.0', { host: '0.0.0.0' }],
    ['PORT', '1', { port: 1 }],
    ['PORT', ' 65535 ', { port: 65_535 }],
    ['PUBLIC_URL', 'https://broker.example.test/', { publicUrl: new URL('https://broker.example.test') }],
    ['PUBLIC_URL', 'http://127.0.0.1:8080', { publicUrl: new URL('http://127.0.0.1:8080') }],
    ['PUBLIC_URL', 'http://gatepass.localhost', { publicUrl: new URL('http://gatepass.localhost') }],
    ['PUBLIC_URL', 'http://[::1]:8080', { publicUrl: new URL('http://[::1]:8080') }],
    ['DATABASE_URL', 'file:data/broker.db', { database: { kind: 'sqlite', path: 'data/broker.db' } }],
    ['DATABASE_URL', 'file:/var/lib/broker.db', { database: { kind: 'sqlite', path: '/var/lib/broker.db' } }],
    [
      'DATABASE_URL',
      'file:///var/lib/broker.db',
      { database: { kind: 'sqlite', path: '/var/lib/broker.db' } },
    ],
    ...['postgres://ada:p%40ss@db:5432/gatepass?sslmode=verify-full', 'postgresql://localhost/gatepass'].map(
      (url): [string, string, object] => ['DATABASE_URL', url, { database: { kind: 'postgres', url } }],
    ),
    ['MASTER_KEY', KEY, { masterKeys: [Buffer.alloc(32, 7)] }],
    ['MASTER_KEY', `${OLDER} , ${KEY}`, { masterKeys: [Buffer.alloc(32, 8), Buffer.alloc(32, 7)] }],
    ['MASTER_KEY', KEY.replace('=', ''), { masterKeys: [Buffer.alloc(32, 7)] }],
    ['API_KEY', '0123456789abcdef', { apiKey: '0123456789abcdef' }],
    ['USER_VERIFIER', 'open', { verifier: { kind: 'open' } }],
    [
      'USER_VERIFIER',
      'http://localhost:3000/verify',
      { verifier: { kind: 'caller', url: new URL('http://localhost:3000/verify') } },
    ],
    [
      'ALLOWED_HOSTS',
      'localhost, 10.0.0.0/8,[::1]:80',
      { allowedHosts: ['localhost', '10.0.0.0/8', '[::1]:80'] },
    ],
    [
      'TRUSTED_PROXIES',
      '10.0.0.0/8, 192.0.2.7,fd00::/8',
      { trustedProxies: ['10.0.0.0/8', '192.0.2.7', 'fd00::/8'] },
    ],
    [
      'NEXT_URIS',
      'https://one.example.test/path, http://localhost:3000',
      {
        nextOrigins: new Set([
          'https://gatepass.example.test',
          'https://app.example.test',
          'https://one.example.test',
          'http://localhost:3000',
        ]),
      },
    ],
    ['AUTHORIZATION_TTL', '60', { authorizationTtlSeconds: 60 }],
    ['CONNECT_PAGE', 'pass', { connectPage: 'pass' }],
    ['RATE_LIMIT', '50', { requestsPerSecond: 50 }],
    ['MAX_PENDING', '10', { maxPending: 10 }],
    ['MAX_WAITERS', '10', { maxWaiters: 10 }],
    ['CACHE_SIZE', '1MB', { cacheBytes: 1_000_000 }],
    ['CACHE_SIZE', '64GB', { cacheBytes: 64_000_000_000 }],
    ['MCP_PROJECT', 'acme', { mcp: { project: 'acme' } }],
    [
      'MCP_ORIGINS',
      'https://chat.example.test, chrome-extension://abc',
      { mcp: { origins: new Set(['https://chat.example.test', 'chrome-extension://abc']) } },
    ],
    [
      'MCP_ORIGINS',
      'https://Chat.example.test:443, http://intern.example.test:8080',
      { mcp: { origins: new Set(['https://chat.example.test', 'http://intern.example.test:8080']) } },
    ],
    ['LOG_LEVEL', 'debug', { logLevel: 'debug' }],
    ['LOG_LEVEL', '', { logLevel: 'info' }],
  ])('is read: GATEPASS_%s=%s', (name, value, expected) => {
    expect(serve({ [`GATEPASS_${name}`]: value })).toMatchObject(expected)
  })

  test.each([
    ['PORT', '0'],
    ['PORT', '65536'],
    ['PORT', '84oo'],
    ['PORT', '8400.5'],
    ['PORT', '-1'],
    ['PUBLIC_URL', 'gatepass.example.test'],
    ['PUBLIC_URL', 'http://gatepass.example.test'],
    ['PUBLIC_URL', 'http://10.0.0.1:8080'],
    ['PUBLIC_URL', 'http://127.0.0.1.example.test'],
    ['PUBLIC_URL', 'http://localhost.example.test'],
    ['PUBLIC_URL', 'ftp://gatepass.example.test'],
    ['PUBLIC_URL', 'https://gatepass.example.test/broker'],
    ['PUBLIC_URL', 'https://gatepass.example.test/?a=b'],
    ['PUBLIC_URL', 'https://user:password@gatepass.example.test'],
    ['DATABASE_URL', 'gatepass.db'],
    ['DATABASE_URL', 'file:'],
    ['DATABASE_URL', 'mysql://localhost/gatepass'],
    ['DATABASE_URL', 'postgres://localhost'],
    ['DATABASE_URL', 'postgres://ada:pa/ss@localhost/gatepass'],
    ['MASTER_KEY', 'too short'],
    ['MASTER_KEY', ','],
    ['MASTER_KEY', Buffer.alloc(31).toString('base64')],
    ['MASTER_KEY', Buffer.alloc(33).toString('base64')],
    ['MASTER_KEY', `${KEY},not-a-key`],
    ['MASTER_KEY', 'file:/nowhere/gatepass.key'],
    ['API_KEY', '0123456789abcde'],
    ['USER_VERIFIER', 'closed'],
    ['USER_VERIFIER', 'http://app.example.test/verify'],
    ['USER_VERIFIER', 'javascript:alert(1)'],
    ['USER_VERIFIER', 'https://app.example.test/verify?tenant=1'],
    ['USER_VERIFIER', 'https://app.example.test/verify#top'],
    ['USER_VERIFIER', 'https://user:password@app.example.test/verify'],
    ['USER_VERIFIER', 'oidc:http://login.example.test'],
    ['USER_VERIFIER', 'oidc:'],
    ['USER_VERIFIER', 'oidc:javascript:alert(1)'],
    ['USER_VERIFIER', 'oidc:https://login.example.test?tenant=1'],
    ['USER_VERIFIER', 'oidc:https://login.example.test#top'],
    ['USER_VERIFIER', 'oidc:https://user:password@login.example.test'],
    ['ALLOWED_HOSTS', 'localhost,http://10.0.0.1'],
    ['ALLOWED_HOSTS', '10.0.0.0/33'],
    ...['proxy.example.test', '10.0.0.0/33', '10.0.0.0/8/8', '10.0.0.1:80', '0.0.0.0/0', '::/0'].map(
      (value): [string, string] => ['TRUSTED_PROXIES', value],
    ),
    ['NEXT_URIS', 'app.example.test'],
    ['NEXT_URIS', 'javascript:alert(1)'],
    ['CACHE_SIZE', '128'],
    ['CACHE_SIZE', '128 MB'],
    ['CACHE_SIZE', '128mb'],
    ['CACHE_SIZE', '0MB'],
    ['CACHE_SIZE', '65GB'],
    ['AUDIT_RETENTION', '400'],
    ['AUDIT_RETENTION', '23h'],
    ['AUDIT_ARCHIVE', 'none'],
    ['AUTHORIZATION_TTL', '0'],
    ['AUTHORIZATION_TTL', '86401'],
    ['AUTHORIZATION_TTL', '10m'],
    ['CONNECT_PAGE', 'skip'],
    ['LOG_LEVEL', 'verbose'],
    ['PACKS', '/no/such/folder'],
  ])('that cannot be read stops the start, by its name: GATEPASS_%s=%s', (name, value) => {
    const faults = faultsOf(() => serve({ GATEPASS_OIDC_CLIENT_ID: 'x', [`GATEPASS_${name}`]: value }))
    expect(faults).toHaveLength(1)
    expect(faults[0]).toMatch(new RegExp(`^GATEPASS_${name} `))
  })

  test('is not printed when it is secret', () => {
    const faults = faultsOf(() => serve({ GATEPASS_MASTER_KEY: 'sesame-open', GATEPASS_API_KEY: 'sesame' }))
    expect(faults).toHaveLength(2)
    expect(faults.join()).not.toContain('sesame')
  })

  test('is never changed later', () => {
    const environment: Record<string, string> = {
      GATEPASS_ALLOWED_HOSTS: 'db.internal',
      GATEPASS_NEXT_URIS: 'https://app.example.com',
      GATEPASS_PROVIDER_GITHUB_CLIENT_ID: 'id',
      GATEPASS_USER_VERIFIER: 'oidc:https://issuer.example.com',
      GATEPASS_OIDC_CLIENT_ID: 'id',
    }
    const config = serve(environment)
    const before = inspect(config, { depth: null })
    environment.GATEPASS_ALLOWED_HOSTS = '10.0.0.0/8'
    const changes: Record<string, (changed: Changeable) => unknown> = {
      'a member': (changed) => {
        changed.port = 1
      },
      'a new member': (changed) => {
        changed.more = 1
      },
      'a host': (changed) => changed.allowedHosts.push('0.0.0.0/0'),
      'an origin': (changed) => changed.nextOrigins.add('https://evil.example'),
      'no origins': (changed) => changed.nextOrigins.clear(),
      'a master key': (changed) => {
        changed.masterKeys[0] = Buffer.alloc(32)
      },
      'the verifier': (changed) => {
        changed.verifier.issuer = 'https://evil.example'
      },
      'the client of the verifier': (changed) => {
        if (changed.verifier.client) changed.verifier.client.clientId = 'x'
      },
      'a client of a provider': (changed) => changed.providerClients.set('GATEPASS_PROVIDER_X', {}),
      'the secret of a provider': (changed) => {
        for (const client of changed.providerClients.values()) client.clientSecret = 'x'
      },
    }
    for (const [what, change] of Object.entries(changes))
      expect(() => change(config as unknown as Changeable), what).toThrow(TypeError)
    expect(inspect(config, { depth: null })).toBe(before)
  })
})

test('all faults are named at once', () => {
  const broken = {
    GATEPASS_PORT: 'x',
    GATEPASS_LOG_LEVEL: 'x',
    GATEPASS_API_KEY: 'x',
    GATEPASS_NEXT_URIS: 'x',
  }
  const faults = faultsOf(() => readConfig(broken, 'serve'))
  expect(faults.map((fault) => fault.split(' ')[0]).sort()).toEqual([
    'GATEPASS_API_KEY',
    'GATEPASS_LOG_LEVEL',
    'GATEPASS_MASTER_KEY',
    'GATEPASS_NEXT_URIS',
    'GATEPASS_PORT',
    'GATEPASS_PUBLIC_URL',
    'GATEPASS_USER_VERIFIER',
  ])
  expect(() => readConfig(broken, 'serve')).toThrow(faults[3])
})

test.each(Object.keys(NEEDED))('`serve` has no default for %s, nor does an empty one do', (name) => {
  for (const value of [undefined, '', '  '])
    expect(faultsOf(() => serve({ [name]: value }))).toEqual([expect.stringMatching(`^${name} is missing: `)])
})

describe('a login by OpenID Connect', () => {
  const ISSUER = {
    GATEPASS_USER_VERIFIER: 'oidc:https://login.example.test/realms/a',
    GATEPASS_OIDC_CLIENT_ID: 'gatepass',
  }

  test('needs an issuer and a client id; the rest has a default', () => {
    expect(serve(ISSUER).verifier).toEqual({
      kind: 'oidc',
      issuer: 'https://login.example.test/realms/a',
      client: { clientId: 'gatepass' },
      scopes: ['openid'],
      claim: 'sub',
    })
  })

  test('asks for what its claim needs', () => {
    const environment = {
      ...ISSUER,
      GATEPASS_OIDC_CLIENT_SECRET: 'sesame',
      GATEPASS_OIDC_USER_CLAIM: 'email',
    }
    const { verifier } = serve(environment)
    expect(verifier).toMatchObject({
      client: { clientSecret: 'sesame' },
      claim: 'email',
      scopes: ['openid', 'email'],
    })
    expect(serve({ ...environment, GATEPASS_OIDC_SCOPES: 'openid  profile' }).verifier).toMatchObject({
      scopes: ['openid', 'profile'],
    })
  })

  test('all that is wrong with it is named at once', () => {
    const faults = faultsOf(() =>
      serve({
        GATEPASS_USER_VERIFIER: 'oidc:login.example.test',
        GATEPASS_OIDC_USER_CLAIM: 'two words',
        GATEPASS_OIDC_SCOPES: 'email',
      }),
    )
    expect(faults.map((fault) => fault.split(' ')[0])).toEqual([
      'GATEPASS_USER_VERIFIER',
      'GATEPASS_OIDC_CLIENT_ID',
      'GATEPASS_OIDC_USER_CLAIM',
      'GATEPASS_OIDC_SCOPES',
    ])
  })

  test.each([
    ['on this machine', 'serve', 'http://localhost:8080', 0],
    ['in development', 'development', 'http://issuer:8080', 0],
    ['over the network', 'serve', 'http://issuer:8080', 1],
  ] as const)('without TLS %s', (_, mode, issuer, count) => {
    const environment = { ...NEEDED, ...ISSUER, GATEPASS_USER_VERIFIER: `oidc:${issuer}` }
    const faults = count === 0 ? [] : faultsOf(() => readConfig(environment, mode))
    expect(faults).toHaveLength(count)
    if (count === 0) expect(readConfig(environment, mode).verifier).toMatchObject({ issuer })
  })
})

describe('an issuer whose tokens are taken at /mcp', () => {
  const LOGIN = 'https://login.example.test'
  const OIDC = { GATEPASS_USER_VERIFIER: `oidc:${LOGIN}`, GATEPASS_OIDC_CLIENT_ID: 'gatepass' }
  const OTHER = 'https://tokens.example.test'

  test('that verifies users too names them by the same claim', () => {
    const environment = { ...OIDC, GATEPASS_OIDC_USER_CLAIM: 'email', GATEPASS_MCP_ISSUER: LOGIN }
    expect(serve(environment).mcp.issuer).toEqual({ issuer: LOGIN, userClaim: 'email' })
    expect(
      serve({ ...environment, GATEPASS_MCP_USER_CLAIM: 'oid', GATEPASS_MCP_AUDIENCE: 'api://gatepass' }).mcp
        .issuer,
    ).toEqual({ issuer: LOGIN, userClaim: 'oid', audience: 'api://gatepass' })
  })

  test.each([
    [
      'of another login needs the claim of the same id',
      { ...OIDC, GATEPASS_MCP_ISSUER: OTHER },
      'MCP_USER_CLAIM',
    ],
    ['beside a page of the caller needs it too', { GATEPASS_MCP_ISSUER: OTHER }, 'MCP_USER_CLAIM'],
    [
      'needs a verifier',
      { GATEPASS_USER_VERIFIER: 'open', GATEPASS_MCP_ISSUER: OTHER, GATEPASS_MCP_USER_CLAIM: 'sub' },
      'MCP_ISSUER',
    ],
    [
      'must be https',
      { ...OIDC, GATEPASS_MCP_ISSUER: 'http://a.example.test', GATEPASS_MCP_USER_CLAIM: 'sub' },
      'MCP_ISSUER',
    ],
    [
      'is not Gatepass',
      { ...OIDC, GATEPASS_MCP_ISSUER: 'https://gatepass.example.test', GATEPASS_MCP_USER_CLAIM: 'sub' },
      'MCP_ISSUER',
    ],
    [
      'has one claim',
      { ...OIDC, GATEPASS_MCP_ISSUER: LOGIN, GATEPASS_MCP_USER_CLAIM: 'a b' },
      'MCP_USER_CLAIM',
    ],
    ['is there for its audience', { GATEPASS_MCP_AUDIENCE: 'x' }, 'MCP_AUDIENCE'],
    ['is there for its claim', { GATEPASS_MCP_USER_CLAIM: 'x' }, 'MCP_USER_CLAIM'],
    ['an origin has no path', { GATEPASS_MCP_ORIGINS: 'https://a.example.test/b' }, 'MCP_ORIGINS'],
    ['every origin is none', { GATEPASS_MCP_ORIGINS: '*' }, 'MCP_ORIGINS'],
    ['an origin has a host', { GATEPASS_MCP_ORIGINS: 'https://[::1' }, 'MCP_ORIGINS'],
  ])('%s', (_, environment: Record<string, string>, name) => {
    const faults = faultsOf(() => serve(environment))
    expect(faults).toEqual([expect.stringMatching(new RegExp(`^GATEPASS_${name} `))])
  })

  test('may differ where an operator says by which claim', () => {
    const environment = { ...OIDC, GATEPASS_MCP_ISSUER: OTHER, GATEPASS_MCP_USER_CLAIM: 'employee' }
    expect(serve(environment).mcp.issuer).toEqual({ issuer: OTHER, userClaim: 'employee' })
  })
})

describe('a variable that does not exist', () => {
  test.each([
    ['GATEPASS_MASTERKEY', 'GATEPASS_MASTER_KEY'],
    ['GATEPASS_PUBLICURL', 'GATEPASS_PUBLIC_URL'],
    ['GATEPASS_USER_VERIFER', 'GATEPASS_USER_VERIFIER'],
    ['GATEPASS_ALOWED_HOST', 'GATEPASS_ALLOWED_HOSTS'],
    ['GATEPASS_PROVIDER_GITHUB_CLIENTID', 'GATEPASS_PROVIDER_GITHUB_CLIENT_ID'],
    ['GATEPASS_PROVIDER_MY_CRM_CLIENT_SECERT', 'GATEPASS_PROVIDER_MY_CRM_CLIENT_SECRET'],
  ])('%s stops the start and names %s', (name, meant) => {
    const faults = faultsOf(() => serve({ [name]: 'x' }))
    expect(faults).toEqual([
      expect.stringMatching(new RegExp(`^${name} is not a setting.* Did you mean "${meant}"`)),
    ])
  })

  test.each([
    'GATEPASS_SOMETHING_ELSE_ENTIRELY',
    'GATEPASS_PROVIDER_',
    'GATEPASS_PROVIDER__CLIENT_ID',
    'GATEPASS_',
  ])('%s stops the start, also when nothing comes near and it is empty', (name) => {
    expect(faultsOf(() => serve({ [name]: '' }))).toEqual([
      expect.stringContaining(`${name} is not a setting`),
    ])
  })

  test.each([
    ['what commands read', { GATEPASS_URL: 'https://gatepass.example.com' }],
    ['what is not ours', { OTHER_MASTERKEY: 'x', GATEPASSES: '2' }],
    [
      'what Kubernetes sets beside a service of our name',
      {
        GATEPASS_SERVICE_HOST: '10.0.0.1',
        GATEPASS_SERVICE_PORT_HTTP: '8400',
        GATEPASS_PORT: 'tcp://10.0.0.1:8400',
        GATEPASS_PORT_8400_TCP_ADDR: '10.0.0.1',
      },
    ],
  ])('%s stops nothing', (_, environment) => {
    expect(serve(environment).port).toBe(8400)
  })
})

test('the client of a provider may stand in the environment', () => {
  const { providerClients } = serve({
    GATEPASS_PROVIDER_GITHUB_CLIENT_ID: ' id',
    GATEPASS_PROVIDER_GITHUB_CLIENT_SECRET: 'secret\r\n',
    GATEPASS_PROVIDER_MY_CRM_2_CLIENT_ID: 'crm',
    GATEPASS_PROVIDER_EMPTY_CLIENT_ID: '',
    GATEPASS_PROVIDER_BLANK_CLIENT_SECRET: ' ',
  })
  expect(Object.fromEntries(providerClients)).toEqual({
    GATEPASS_PROVIDER_GITHUB: { clientId: 'id', clientSecret: 'secret' },
    GATEPASS_PROVIDER_MY_CRM_2: { clientId: 'crm' },
  })
})

describe('the client of a provider that is not there', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatepass-names-'))
  })
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true })
  })

  const start = async (name: string) => {
    const config = serve({
      GATEPASS_DATABASE_URL: `file:${join(folder, 'gatepass.db')}`,
      [`GATEPASS_PROVIDER_${name}_CLIENT_ID`]: 'x',
    })
    const broker = await openBroker(config, { log: createLog('error') })
    return broker
  }

  test.each([
    ['GITUB', 'GITHUB'],
    ['SLCAK', 'SLACK'],
    ['MICROSOFT_POWERB', 'MICROSOFT_POWERBI'],
  ])('stops the start when %s was meant to be %s', async (said, meant) => {
    const error = await start(said).catch((error: unknown) => error)
    expect(error).toBeInstanceOf(ConfigError)
    expect((error as ConfigError).faults).toEqual([
      expect.stringContaining(
        `GATEPASS_PROVIDER_${said}_… names no provider. Did you mean "GATEPASS_PROVIDER_${meant}_…"`,
      ),
    ])
  })

  test.each(['MY_CRM', 'GITHUB_2', 'GITHUB_OF_THE_OTHERS', 'Z'])(
    '%s is kept for an entry that may be added',
    async (name) => {
      await (await start(name)).close()
    },
  )

  test('an entry of that name makes it known', async () => {
    const broker = await start('OTHER')
    const { id: projectId } = await broker.store.projects.ensure('default', 1)
    const provider = builtIn('github')?.provider
    if (provider === undefined) throw new Error('github is in the catalogue')
    const entry = {
      id: 'gitub',
      name: 'gitub',
      uid: 'prov_1',
      projectId,
      source: 'admin',
      status: 'active',
    } as const
    await broker.store.providers.add({ ...entry, provider, createdAt: 1, updatedAt: 1 })
    await broker.close()
    await (await start('GITUB')).close()
  })
})

describe('with files', () => {
  let folder: string
  let databasePath: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatepass-config-'))
    databasePath = join(folder, 'gatepass.db')
  })
  afterEach(() => rm(folder, { recursive: true }))

  const dev = (environment: Record<string, string> = {}) =>
    readConfig({ GATEPASS_DATABASE_URL: `file:${databasePath}`, ...environment }, 'development')

  test('a master key is read from the file it names', async () => {
    const path = join(folder, 'key')
    await writeFile(path, `${KEY}\n`)
    expect(serve({ GATEPASS_MASTER_KEY: `file:${path}` }).masterKeys).toEqual([Buffer.alloc(32, 7)])
    expect(serve({ GATEPASS_MASTER_KEY: `${OLDER},file:${path}` }).masterKeys).toHaveLength(2)
  })

  test('a file with something else in it is refused, and not printed', async () => {
    const path = join(folder, 'key')
    await writeFile(path, 'sesame')
    const faults = faultsOf(() => serve({ GATEPASS_MASTER_KEY: `file:${path}` }))
    expect(faults).toEqual([expect.stringMatching(/^GATEPASS_MASTER_KEY must be 32 bytes/)])
    expect(faults.join()).not.toContain('sesame')
  })

  test('development needs no setting: it makes a key of its own, which only its user may read', async () => {
    const config = dev()
    const path = `${databasePath}.key`
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(config.masterKeys).toEqual([Buffer.from(await readFile(path, 'utf8'), 'base64')])
    expect(config.masterKeys[0]).toHaveLength(32)
    expect(config).toMatchObject({ development: true, verifier: { kind: 'open' }, port: 8400 })
    expect(config.publicUrl.href).toBe('http://localhost:8400/')
    expect(config.allowedHosts).toEqual([
      ...['localhost:8400', '127.0.0.1:8401', '127.0.0.1:8402', '127.0.0.1:8403'],
    ])
    expect(dev().masterKeys).toEqual(config.masterKeys)
  })

  test('development makes no key while another setting is wrong', async () => {
    expect(faultsOf(() => dev({ GATEPASS_PORT: 'x' }))[0]).toMatch(/^GATEPASS_PORT /)
    await expect(stat(`${databasePath}.key`)).rejects.toThrow()
  })

  test('development makes no key for a database that was sealed with another', async () => {
    await writeFile(databasePath, 'something')
    expect(faultsOf(() => dev())).toEqual([expect.stringMatching(/^GATEPASS_MASTER_KEY is missing/)])
    await expect(stat(`${databasePath}.key`)).rejects.toThrow()
  })

  test('paths that the system cannot follow are named as the settings that have them', async () => {
    const circle = join(folder, 'circle')
    await symlink(circle, circle)
    const faults = faultsOf(() => serve({ GATEPASS_TOOLS: circle, GATEPASS_PROVIDERS: circle }))
    expect(faults).toEqual([
      expect.stringMatching(/^GATEPASS_TOOLS names .*circle, which is not a readable file/),
      expect.stringMatching(/^GATEPASS_PROVIDERS names .*circle, which is not a readable folder/),
    ])
    await symlink(databasePath, databasePath)
    expect(faultsOf(() => dev())).toEqual([expect.stringMatching(/^GATEPASS_MASTER_KEY is missing/)])
  })

  test('development takes the verifier of a container next door', () => {
    const { verifier } = dev({ GATEPASS_USER_VERIFIER: 'http://app:3000/verify' })
    expect(verifier).toEqual({ kind: 'caller', url: new URL('http://app:3000/verify') })
  })
})

describe('the console', () => {
  const issuer = {
    GATEPASS_DASHBOARD_ISSUER: 'https://login.example.test',
    GATEPASS_DASHBOARD_CLIENT_ID: 'console',
  }

  test('rules give a role in one project or in all', () => {
    const { dashboard } = serve({
      ...issuer,
      GATEPASS_DASHBOARD_ROLES:
        'groups=Platform Team admin on *, email=ada@example.test readonly on acme,sub=a=b admin, groups=sec approver:security on acme',
    })
    expect(dashboard).toMatchObject({ serve: 'on', issuer: { scopes: ['openid', 'email'] } })
    expect(dashboard.issuer?.rules).toEqual([
      { claim: 'groups', value: 'Platform Team', role: 'admin', project: '*' },
      { claim: 'email', value: 'ada@example.test', role: 'readonly', project: 'acme' },
      { claim: 'sub', value: 'a=b', role: 'admin', project: 'default' },
      { claim: 'groups', value: 'sec', role: 'approver', group: 'security', project: 'acme' },
    ])
  })

  test('shows the settings of its login without secrets', () => {
    const shown = effectiveSettings(
      serve({
        ...issuer,
        GATEPASS_DASHBOARD_CLIENT_SECRET: 'secret-of-the-client',
        GATEPASS_DASHBOARD_ROLES: 'groups=ops admin on *, groups=sec approver:security',
      }),
    )
    expect(Object.fromEntries(shown.map(({ name, value }) => [name, value]))).toMatchObject({
      GATEPASS_DASHBOARD: 'on',
      GATEPASS_DASHBOARD_CLIENT_ID: 'console',
      GATEPASS_DASHBOARD_CLIENT_SECRET: 'set',
      GATEPASS_DASHBOARD_ROLES: 'groups=ops admin on *, groups=sec approver:security on default',
    })
    expect(JSON.stringify(shown)).not.toContain('secret-')
  })

  test.each([
    ['1d', '1 day'],
    ['48h', '2 days'],
    ['36h', '36 hours'],
    [undefined, 'for ever'],
  ])('shows a retention of %s as %s', (retention, shown) => {
    const archive = retention && { GATEPASS_AUDIT_RETENTION: retention, GATEPASS_AUDIT_ARCHIVE: 'none' }
    expect(effectiveSettings(serve({ ...archive }))).toContainEqual({
      name: 'GATEPASS_AUDIT_RETENTION',
      value: shown,
    })
  })

  test.each<[string, Record<string, string>, string[]]>([
    [
      'an issuer without client and rules',
      { GATEPASS_DASHBOARD_ISSUER: 'https://a.test' },
      ['_CLIENT_ID', '_ROLES'],
    ],
    [
      'an issuer over plain http',
      { ...issuer, GATEPASS_DASHBOARD_ISSUER: 'http://a.test', GATEPASS_DASHBOARD_ROLES: 'sub=a admin' },
      ['_ISSUER'],
    ],
    ['an approver of no group', { ...issuer, GATEPASS_DASHBOARD_ROLES: 'sub=a approver' }, ['_ROLES']],
    ['an approver of an empty group', { ...issuer, GATEPASS_DASHBOARD_ROLES: 'sub=a approver:' }, ['_ROLES']],
    ['a group of another role', { ...issuer, GATEPASS_DASHBOARD_ROLES: 'sub=a admin:x' }, ['_ROLES']],
    ['a role that the console has not', { ...issuer, GATEPASS_DASHBOARD_ROLES: 'sub=a caller' }, ['_ROLES']],
    ['a rule without a claim', { ...issuer, GATEPASS_DASHBOARD_ROLES: 'ada admin' }, ['_ROLES']],
    [
      'scopes without openid',
      { ...issuer, GATEPASS_DASHBOARD_ROLES: 'sub=a admin', GATEPASS_DASHBOARD_SCOPES: 'groups' },
      ['_SCOPES'],
    ],
    ['a client without an issuer', { GATEPASS_DASHBOARD_CLIENT_ID: 'console' }, ['_CLIENT_ID']],
    ['a word that is neither on nor off', { GATEPASS_DASHBOARD: 'yes' }, ['']],
  ])('%s stops the start', (_, environment, names) => {
    const faults = faultsOf(() => serve(environment))
    expect(faults.map((fault) => fault.split(' ')[0])).toEqual(names.map((one) => `GATEPASS_DASHBOARD${one}`))
  })
})
