import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { runProgram } from '../../src/cli/program.ts'
import { startFakeIssuer } from '../fake-issuer.ts'
import { startGatepass } from '../gatepass.ts'
import { answerJson, listen } from '../loopback.ts'
import { type Installation, install, type Outcome, runHere } from './gatepass.ts'

let gatepass: Installation
beforeEach(async () => {
  gatepass = await install()
})
afterEach(() => gatepass[Symbol.asyncDispose]())

const COMMANDS: readonly (readonly [string, string?])[] = [
  ['dev'],
  ['serve'],
  ['import'],
  ['connect'],
  ['token'],
  ['connections'],
  ['connections', 'delete'],
  ['connections', 'shared'],
  ['connections', 'add'],
  ['connections', 'change'],
  ['connections', 'test'],
  ['explain'],
  ['keys'],
  ['keys', 'create'],
  ['keys', 'list'],
  ['keys', 'rotate'],
  ['keys', 'revoke'],
  ['webhooks'],
  ['webhooks', 'list'],
  ['webhooks', 'show'],
  ['webhooks', 'add'],
  ['webhooks', 'set'],
  ['webhooks', 'rotate'],
  ['webhooks', 'test'],
  ['webhooks', 'deliveries'],
  ['webhooks', 'replay'],
  ['webhooks', 'delete'],
  ['policies'],
  ['policies', 'list'],
  ['policies', 'set'],
  ['policies', 'delete'],
  ['policies', 'dry-run'],
  ['approvals'],
  ['approvals', 'show'],
  ['approvals', 'approve'],
  ['approvals', 'deny'],
  ['standing-approvals'],
  ['standing-approvals', 'remove'],
  ['portal'],
  ['mcp-clients'],
  ['mcp-clients', 'delete'],
  ['toolsets'],
  ['toolsets', 'create'],
  ['mcp'],
  ['doctor'],
  ['rotate-key'],
  ['backup'],
  ['migrate'],
]

test.each(COMMANDS)('%s %s shows by example how it is used', async (...command) => {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const code = await runProgram(
    ['node', 'gatepass', ...command.filter((word) => word !== undefined), '--help'],
    { environment: {} },
  )
  const help = written.mock.calls.join('')
  written.mockRestore()
  expect(code).toBe(0)
  expect(help.match(/^ {2}\$ .*gatepass/gm)?.length).toBeGreaterThanOrEqual(2)
})

describe('serve', () => {
  test('names every fault at once and starts nothing', async () => {
    const env = { GATEPASS_DATABASE_URL: 'mysql://x', GATEPASS_PORT: 'many' }
    const { code, stdout, stderr } = await gatepass.runWith({ env }, 'serve')
    expect(code).toBe(2)
    expect(stdout).toBe('')
    for (const name of ['MASTER_KEY', 'USER_VERIFIER', 'PUBLIC_URL', 'DATABASE_URL', 'PORT'])
      expect(stderr).toContain(`GATEPASS_${name} `)
    expect(existsSync(join(gatepass.directory, 'x.db'))).toBe(false)
  })

  test('names the setting when it cannot listen there', async () => {
    const env = {
      GATEPASS_HOST: '192.0.2.1',
      GATEPASS_PUBLIC_URL: 'https://gatepass.example.test',
      GATEPASS_USER_VERIFIER: 'open',
      GATEPASS_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    }
    const { code, stderr } = await gatepass.runWith({ env }, 'serve')
    expect(code).toBe(1)
    expect(stderr).toContain('Check GATEPASS_HOST')
    expect(stderr).not.toMatch(/^ +at /m)
  })
})

describe('keys', () => {
  test('creates one for a project that is made with it, lists it and revokes it', async () => {
    const made = await gatepass.run('keys', 'create', '--project', 'acme', '--role', 'admin', '--json')
    expect(made).toMatchObject({ code: 0, stderr: '' })
    const created = JSON.parse(made.stdout)
    expect(created).toEqual({
      id: expect.stringMatching(/^key_/),
      key: expect.stringMatching(/^gp_[\w-]{43}$/),
      project: 'acme',
      role: 'admin',
    })

    const listed = await gatepass.runHere('keys', 'list', '--project', 'acme', '--json')
    expect(JSON.parse(listed.stdout).items).toMatchObject([{ id: created.id, role: 'admin' }])
    expect(listed.stdout).not.toContain(created.key)

    const revoke = ['keys', 'revoke', created.id, '--project', 'acme']
    expect(await gatepass.runHere(...revoke)).toMatchObject({ code: 0 })
    const again = await gatepass.runHere(...revoke)
    expect(again).toMatchObject({ code: 3, stdout: '', stderr: oneLine(created.id) })
    expect((await gatepass.runHere('keys', 'list', '--project', 'acme')).stdout).toContain('revoked 2')
  })

  test('takes a role only from the three', async () => {
    const { code, stderr } = await gatepass.runHere('keys', 'create', '--role', 'king')
    expect(code).toBeGreaterThan(0)
    expect(stderr).toContain('admin, caller, readonly')
  })
})

describe('before anything was started', () => {
  test('commands that look say so, and make no database', async () => {
    const outcomes = await Promise.all([
      gatepass.runHere('token', 'github', '--user', 'ada'),
      gatepass.runHere('connect', 'github', '--user', 'ada'),
      gatepass.runHere('connections'),
      gatepass.runHere('connections', 'delete', 'conn_1'),
      gatepass.runHere('keys', 'list'),
    ])
    for (const outcome of outcomes)
      expect(outcome).toEqual({ code: 2, stdout: '', stderr: oneLine('start Gatepass first') })
    expect(readdirSync(gatepass.directory)).toEqual([])
  })

  test('migrate makes the schema, and the second time says that it is there', async () => {
    const first = await gatepass.runHere('migrate', '--json')
    expect(JSON.parse(first.stdout).applied).toBeGreaterThan(0)
    const second = await gatepass.runHere('migrate')
    expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining('already up to date') })
  })
})

test('every list is printed, and nothing else, by a process of its own too', async () => {
  expect(await gatepass.runHere('projects', 'create', 'acme')).toMatchObject({ code: 0, stderr: '' })
  const nouns = [
    'tools',
    'runs',
    'providers',
    'workers',
    'secrets',
    'policies',
    'webhooks',
    'connections',
    'projects',
  ]
  const outcomes: Outcome[] = []
  for (const noun of nouns)
    outcomes.push(await gatepass[noun === 'tools' ? 'run' : 'runHere'](noun, '--json'))
  for (const [i, { code, stdout, stderr }] of outcomes.entries()) {
    expect({ code, stderr }, nouns[i]).toEqual({ code: 0, stderr: '' })
    const { items } = JSON.parse(stdout)
    expect(
      items.map(({ name }: { name: string }) => name),
      nouns[i],
    ).toEqual(nouns[i] === 'projects' ? ['default', 'acme'] : [])
  }
})

test('commands that may read the whole database have a lower priority than a server', async () => {
  const program =
    "import os from 'node:os'; process.on('exit', () => console.error(`niceness ${os.getPriority()}`))"
  const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(program)}` }
  const nicenessOf = async (...command: string[]) => {
    const { stderr } = await gatepass.runWith({ env }, ...command)
    return Number(/niceness (-?\d+)/.exec(stderr)?.[1])
  }
  const ofTest = getPriority()
  expect(await nicenessOf('tools', '--json')).toBe(ofTest)
  const low = Math.max(ofTest, constants.priority.PRIORITY_BELOW_NORMAL)
  expect(await nicenessOf('audit', 'verify')).toBe(low)
  expect(await nicenessOf('backup', '--to', join(gatepass.directory, 'backup.db'))).toBe(low)
})

describe('refusals are one line', () => {
  test('a database in a directory that is not there', async () => {
    const env = { GATEPASS_DATABASE_URL: 'file:/nowhere/at/all/x.db', GATEPASS_MASTER_KEY: MASTER_KEY }
    const outcome = await gatepass.runHereWith({ env }, 'migrate')
    expect(outcome).toEqual({ code: 6, stdout: '', stderr: oneLine('GATEPASS_DATABASE_URL') })
  })

  test('a database whose key is gone is not given another one', async () => {
    await gatepass.runHereWith(
      { env: { GATEPASS_MASTER_KEY: MASTER_KEY } },
      'keys',
      'create',
      '--role',
      'admin',
    )
    const outcome = await gatepass.runHere('keys', 'create', '--role', 'admin')
    expect(outcome).toEqual({ code: 2, stdout: '', stderr: oneLine('GATEPASS_MASTER_KEY') })
    expect(existsSync(join(gatepass.directory, 'x.db.key'))).toBe(false)
  })

  test('a provider, a project and a connection that are not there', async () => {
    await gatepass.runHere('keys', 'create', '--role', 'admin')
    const [provider, project, connection] = await Promise.all([
      gatepass.runHere('connect', 'nowhere', '--user', 'ada'),
      gatepass.runHere('connections', '--project', 'nobody'),
      gatepass.runHere('connections', 'delete', 'conn_1'),
    ])
    expect(provider).toEqual({ code: 3, stdout: '', stderr: oneLine('no provider or tool "nowhere"') })
    expect(project).toEqual({ code: 3, stdout: '', stderr: oneLine('keys create --project nobody') })
    expect(connection).toEqual({ code: 3, stdout: '', stderr: oneLine('"conn_1"') })
  })
})

describe('import', () => {
  test('takes a directory: the good one, not the agent, not the broken file', async () => {
    const tools = join(gatepass.directory, 'tools')
    mkdirSync(join(tools, 'more'), { recursive: true })
    writeFileSync(join(tools, 'good.json'), JSON.stringify(TOOL))
    writeFileSync(join(tools, 'more', 'agent.json'), JSON.stringify({ agent_id: 'a', name: 'Helper' }))
    writeFileSync(join(tools, 'more', 'broken.json'), '{"name": "s3cret", ')
    writeFileSync(join(tools, 'readme.txt'), 'not looked at')

    const { code, stdout, stderr } = await gatepass.runHere('import', tools, '--json')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const { items } = JSON.parse(stdout)
    expect(items).toMatchObject([
      {
        name: 'Star Counter',
        tool_id: 'local:Star_Counter:1.0.0',
        result: 'created',
        providers: [
          {
            id: 'github',
            redirect_uri: expect.stringContaining(`${gatepass.url}/callback/prov_`),
            missing: ['client_id', 'client_secret'],
          },
        ],
      },
      { name: 'Helper', result: 'refused', reason: expect.stringContaining('agent') },
      {
        name: join(tools, 'more', 'broken.json'),
        result: 'refused',
        reason: expect.stringContaining('not JSON'),
      },
    ])
    expect(stdout).not.toContain('s3cret')

    const again = await gatepass.runHere('import', tools)
    expect(again.stdout).toContain('= unchanged  Star Counter')
    expect(again.stdout).toContain('GATEPASS_PROVIDER_GITHUB_CLIENT_ID')
    expect(again.stdout).toContain('1 accepted (1 unchanged), 2 refused')
  })

  test('warns of a token that the code beside the metadata asks for, and no entry has', async () => {
    const folder = join(gatepass.directory, 'with-code')
    mkdirSync(folder)
    writeFileSync(join(folder, 'metadata.json'), JSON.stringify({ ...TOOL, name: 'Asker' }))
    writeFileSync(join(folder, 'tool.ts'), "await getAccessToken('Gmail'); await getAccessToken('gitHub')")
    const { stdout } = await gatepass.runHere('import', folder, '--dry-run', '--json')
    expect(JSON.parse(stdout).items[0].warnings).toContainEqual({
      path: 'oauth',
      message: expect.stringContaining('the token of "Gmail", and its entries are'),
    })
  })

  test('reports the files before one that the server could not take', async () => {
    const tools = join(gatepass.directory, 'several')
    mkdirSync(tools)
    for (const name of ['a', 'b', 'c']) writeFileSync(join(tools, `${name}.json`), JSON.stringify(TOOL))
    let requests = 0
    await using server = await listen((_, res) => {
      requests += 1
      if (requests > 1)
        return answerJson(res, 503, { name: 'store_unavailable', message: 'The database is away.' })
      answerJson(res, 200, {
        items: [
          { name: TOOL.name, tool_id: 'local:T:1.0.0', result: 'created', providers: [], warnings: [] },
        ],
      })
    })
    const settings = { GATEPASS_URL: server.url, GATEPASS_API_KEY: 'gp_key' }
    const { code, stdout, stderr } = await runHere(settings, 'import', tools, '--json')
    expect(JSON.parse(stdout).items).toMatchObject([{ file: join(tools, 'a.json'), result: 'created' }])
    expect(stderr).toContain('The database is away.')
    expect(stderr).toContain(join(tools, 'b.json'))
    expect({ code, requests }).toEqual({ code: 6, requests: 2 })
  })

  test('takes an array from standard input', async () => {
    const stdin = `\uFEFF${JSON.stringify([TOOL, { ...TOOL, name: 'Fork Counter' }])}`
    const { code, stdout } = await gatepass.runWith({ stdin }, 'import', '-')
    expect(code).toBe(0)
    expect(stdout).toContain('2 accepted (2 created), 0 refused')
  })

  test('exits with 1 when nothing was taken, and when there is nothing to take', async () => {
    const refused = await gatepass.runHereWith({ stdin: '[]' }, 'import', '-', '--json')
    expect(refused).toMatchObject({ code: 1, stderr: oneLine('Nothing was imported') })
    expect(JSON.parse(refused.stdout).items).toMatchObject([{ result: 'refused' }])
    const missing = await gatepass.runHere('import', join(gatepass.directory, 'nothing.json'))
    expect(missing).toEqual({ code: 3, stdout: '', stderr: oneLine('nothing.json') })
  })

  test('prints names from files without letting them steer the terminal', async () => {
    const stdin = JSON.stringify({ ...TOOL, name: 'Bell\u0007 \u001b[2JTool' })
    const { stdout } = await gatepass.runHereWith({ stdin }, 'import', '-', '--verbose')
    expect(stdout).toContain('Tool')
    expect(stdout.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
  })
})

describe('connect', () => {
  test('names what the provider still lacks', async () => {
    await importTool()
    const outcome = await gatepass.runHere('connect', 'github', '--user', 'ada', '--no-open')
    expect(outcome).toEqual({ code: 1, stdout: '', stderr: oneLine('GATEPASS_PROVIDER_GITHUB_CLIENT_ID') })
  })
})

describe('doctor', () => {
  test('names every fault of the production settings', async () => {
    const { code, stdout } = await gatepass.runHere('doctor', '--production', '--json')
    const { ok, checks } = JSON.parse(stdout)
    expect({ code, ok }).toEqual({ code: 1, ok: false })
    const failed = checks.filter((one: { status: string }) => one.status === 'failed')
    expect(failed.map((one: { message: string }) => one.message.split(' ')[0])).toEqual([
      'GATEPASS_PUBLIC_URL',
      'GATEPASS_USER_VERIFIER',
      'GATEPASS_MASTER_KEY',
    ])
  })

  test('sees a key file and a database that others can read, a provider without a client, and no server', async () => {
    await importTool()
    const key = join(gatepass.directory, 'x.db.key')
    chmodSync(key, 0o644)
    const database = join(gatepass.directory, 'x.db')
    expect(statSync(database).mode & 0o777).toBe(0o600)
    chmodSync(database, 0o640)
    const { code, stdout, stderr } = await gatepass.runHere('doctor', '--json')
    expect({ code, stderr }).toEqual({ code: 1, stderr: oneLine('failed') })
    const { checks } = JSON.parse(stdout)
    expect(checks).toContainEqual(
      expect.objectContaining({ name: 'master key', status: 'failed', fix: `chmod 600 ${key}` }),
    )
    expect(checks).toContainEqual(
      expect.objectContaining({ name: 'database', status: 'warning', fix: `chmod 600 ${database}` }),
    )
    expect(checks).toContainEqual(expect.objectContaining({ name: 'server', status: 'warning' }))
    expect(checks).toContainEqual(expect.objectContaining({ name: 'API keys', status: 'warning' }))
    expect(checks).toContainEqual(expect.objectContaining({ name: 'provider github' }))
  })

  test('looks whether the settings name the modules that tools run in', async () => {
    const GATEPASS_TOOLS = fileURLToPath(new URL('../kinds/tools-module.ts', import.meta.url))
    await using server = await startGatepass({ environment: { GATEPASS_TOOLS } })
    const env = {
      GATEPASS_DATABASE_URL: `file:${server.databasePath}`,
      GATEPASS_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    }
    const check = async (more: Record<string, string>) => {
      const { stdout } = await gatepass.runHereWith({ env: { ...env, ...more } }, 'doctor', '--json')
      const { checks } = JSON.parse(stdout)
      return checks.find(({ name }: { name: string }) => name === 'worker tools-module')
    }
    expect(await check({ GATEPASS_TOOLS })).toMatchObject({ status: 'ok' })
    expect(await check({})).toMatchObject({
      status: 'warning',
      fix: expect.stringContaining('GATEPASS_TOOLS'),
    })
  })

  test('asks the issuer of logins, and says what to register there', async () => {
    await using issuer = await startFakeIssuer()
    const env = {
      GATEPASS_USER_VERIFIER: `oidc:${issuer.issuer}`,
      GATEPASS_OIDC_CLIENT_ID: issuer.clientId,
      GATEPASS_ALLOWED_HOSTS: '127.0.0.1',
      GATEPASS_MASTER_KEY: MASTER_KEY,
    }
    const loginCheck = async (more: Record<string, string> = {}) => {
      const { stdout } = await gatepass.runHereWith({ env: { ...env, ...more } }, 'doctor', '--json')
      return JSON.parse(stdout).checks.find((one: { name: string }) => one.name === 'login')
    }
    const redirectUri = `${gatepass.url}/login/callback`
    expect(await loginCheck()).toMatchObject({ status: 'ok', message: expect.stringContaining(redirectUri) })
    expect(await loginCheck({ GATEPASS_ALLOWED_HOSTS: '' })).toMatchObject({
      status: 'failed',
      message: expect.stringContaining(redirectUri),
      fix: expect.stringContaining('GATEPASS_ALLOWED_HOSTS'),
    })
    expect(await loginCheck({ GATEPASS_USER_VERIFIER: `oidc:${issuer.issuer}/` })).toMatchObject({
      status: 'failed',
      fix: expect.stringContaining('exactly as it calls itself'),
    })
  })

  test('asks the issuer whose tokens are taken at /mcp for its keys', async () => {
    await using issuer = await startFakeIssuer()
    const env = {
      GATEPASS_USER_VERIFIER: 'https://app.example.test/verify',
      GATEPASS_MCP_ISSUER: issuer.issuer,
      GATEPASS_MCP_USER_CLAIM: 'employee',
      GATEPASS_ALLOWED_HOSTS: '127.0.0.1',
      GATEPASS_MASTER_KEY: MASTER_KEY,
    }
    const mcpCheck = async (more: Record<string, string> = {}) => {
      const { stdout } = await gatepass.runHereWith({ env: { ...env, ...more } }, 'doctor', '--json')
      return JSON.parse(stdout).checks.filter((one: { name: string }) => one.name === 'MCP')
    }
    expect(await mcpCheck()).toMatchObject([{ status: 'ok', message: expect.stringContaining('"employee"') }])
    issuer.behaviour.fails = { path: '/jwks', status: 404 }
    expect(await mcpCheck()).toMatchObject([{ status: 'failed', fix: expect.any(String) }])
  })

  test('says that the master key is not the one the database was sealed with', async () => {
    await gatepass.runHereWith(
      { env: { GATEPASS_MASTER_KEY: MASTER_KEY } },
      'keys',
      'create',
      '--role',
      'admin',
    )
    const env = { GATEPASS_MASTER_KEY: Buffer.alloc(32, 2).toString('base64') }
    const { code, stdout } = await gatepass.runHereWith({ env }, 'doctor', '--json')
    expect(code).toBe(1)
    expect(JSON.parse(stdout).checks).toContainEqual(
      expect.objectContaining({ name: 'master key', status: 'failed' }),
    )
  })
})

const MASTER_KEY = Buffer.alloc(32, 1).toString('base64')

const TOOL = {
  name: 'Star Counter',
  description: 'Counts stars.',
  author: 'Gatepass',
  version: '1.0.0',
  parameters: { type: 'object', properties: {}, required: [] },
  result: { type: 'object', properties: {}, required: [] },
  oauth: [
    {
      name: 'github',
      authorizationUrl: 'https://github.com/login/oauth/authorize',
      tokenUrl: 'https://github.com/login/oauth/access_token',
      clientId: '',
      clientSecret: '',
      scopes: ['repo'],
    },
  ],
}

async function importTool(): Promise<void> {
  const file = join(gatepass.directory, 'tool.json')
  writeFileSync(file, JSON.stringify(TOOL))
  expect(await gatepass.runHere('import', file)).toMatchObject({ code: 0 })
}

/** Exactly one line, with this in it. */
function oneLine(part: string) {
  const escaped = part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return expect.stringMatching(new RegExp(`^[^\\n]*${escaped}[^\\n]*\\n$`))
}
