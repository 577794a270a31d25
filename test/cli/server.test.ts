import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startFakeWorker } from '../fake-worker.ts'
import { type Scene, startScene } from '../flows/fixtures.ts'
import { install, runHere } from './gatepass.ts'

// Commands on a server alone: no database and no master key in their settings.

const folder = mkdtempSync(join(tmpdir(), 'gatepass-remote-'))
let scene: Scene
beforeAll(async () => {
  scene = await startScene()
})
afterAll(async () => {
  await scene[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const run = (args: readonly string[], environment: Readonly<Record<string, string>> = asAdmin()) =>
  runHere(environment, ...args)

function asAdmin(): Record<string, string> {
  const database = { GATEPASS_DATABASE_URL: `file:${join(folder, 'not-there', 'x.db')}` }
  return { GATEPASS_URL: scene.gatepass.url, GATEPASS_API_KEY: scene.gatepass.apiKey, ...database }
}

async function json(...args: readonly string[]) {
  const { code, stdout, stderr } = await run([...args, '--json'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

/** Runs a command with this as its standard input, which is no terminal. */
async function piping<T>(input: string, command: () => Promise<T>): Promise<T> {
  const stdin = vi.spyOn(process, 'stdin', 'get')
  stdin.mockReturnValue(Readable.from([`${input}\n`]) as unknown as typeof process.stdin)
  try {
    return await command()
  } finally {
    stdin.mockRestore()
  }
}

const TOOL = { name: 'Remote Tool', description: 'Is imported from afar.', version: '1.0.0', parameters: {} }

function toolFile(name: string, tool: object = TOOL): string {
  const file = join(folder, name)
  writeFileSync(file, JSON.stringify(tool))
  return file
}

describe('with --url and --key, and no database', () => {
  test('keys and projects are made, listed, rotated and revoked', async () => {
    const made = await json('keys', 'create', '--role', 'caller', '--name', 'agent', '--expires', '90d')
    expect(made).toMatchObject({ key: expect.stringMatching(/^gp_/), project: 'default', role: 'caller' })
    expect((await json('keys', 'list')).items).toContainEqual(expect.objectContaining({ id: made.id }))
    const rotated = await json('keys', 'rotate', made.id)
    expect(rotated.replaces.id).toBe(made.id)
    expect(await json('keys', 'revoke', rotated.id)).toEqual({ id: rotated.id, revoked: true })
    await json('projects', 'create', 'afar')
    expect((await json('projects')).items.map(({ name }: { name: string }) => name)).toContain('afar')
    const first = await json('keys', 'create', '--role', 'admin', '--project', 'afar')
    expect(first.project).toBe('afar')
    const itsOwn = await run(['keys', 'list', '--url', scene.gatepass.url, '--key', first.key, '--json'], {})
    expect(JSON.parse(itsOwn.stdout).items).toMatchObject([{ id: first.id, project: 'afar' }])
  })

  test('tools are imported, listed, shown and deleted', async () => {
    const file = toolFile('remote-tool.json')
    const dry = await json('import', file, '--dry-run')
    expect(dry.items).toMatchObject([{ result: 'created', tool_id: 'local:Remote_Tool:1.0.0' }])
    expect((await json('tools', '--query', 'afar')).items).toEqual([])
    const oauth = {
      name: 'afar',
      authorizationUrl: 'https://afar.example/authorize',
      tokenUrl: 'https://afar.example/token',
    }
    const needy = toolFile('needy-tool.json', { ...TOOL, name: 'Needy Tool', oauth: [oauth] })
    const { stdout } = await run(['import', needy, '--dry-run'])
    expect(stdout).toMatch(/redirect URI +known after the import/)
    expect((await json('import', file)).items).toMatchObject([{ result: 'created' }])
    expect((await json('tools', '--query', 'afar')).items).toMatchObject([
      { tool_id: 'local:Remote_Tool:1.0.0' },
    ])
    expect((await run(['tools', 'show', 'Remote Tool'])).stdout).toContain('Is imported from afar.')
    expect(await json('tools', 'delete', 'Remote Tool')).toMatchObject({ deleted: true })
    expect(await run(['tools', 'show', 'Remote Tool'])).toMatchObject({ code: 3, stdout: '' })
  })

  test('an MCP server takes the secret that is piped in, and an HTTP API says where its secrets go', async () => {
    const add = ['workers', 'add', 'm', '--secret']
    const added = () => json(...add, '--mcp', 'https://mcp.example.com/mcp')
    expect(await piping('a-secret-of-32-characters-or-more', added)).toMatchObject({ id: 'm', type: 'mcp' })
    const refused = await run([...add, '--openapi', 'https://api.example.com/openapi.json'])
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('gatepass secrets set') })
    expect((await run(['workers', 'show', 'm'])).stdout).toMatch(/ at +https:\/\/mcp\.example\.com\/mcp\n/)
    await json('workers', 'delete', 'm')
  })

  test('providers, secrets, policies, runs, connections and the audit trail are read and changed', async () => {
    const { items } = await json('providers')
    expect(items.map(({ id }: { id: string }) => id)).toContain('demo')
    expect((await json('providers', 'show', 'demo')).oauth2.redirect_uri).toContain('/callback/')
    expect((await run(['providers', 'show', 'demo'])).stdout).toMatch(
      /redirect URI +\S+\/callback\/.*token endpoint +http.*client id +\S+\n +client secret +set\n/s,
    )
    expect(await json('providers', 'delete', 'demo')).toEqual({ id: 'demo', deleted: true })
    const zendesk = toolFile('zendesk.json', {
      oauth2: {
        client_id: 'abc',
        client_secret: 'def',
        variables: { subdomain: { label: 'Subdomain', pattern: '[a-z0-9-]+', example: 'acme' } },
        authorize_request: { endpoint: 'https://{{subdomain}}.zendesk.example/oauth/authorizations/new' },
        token_request: { endpoint: 'https://{{subdomain}}.zendesk.example/oauth/tokens' },
      },
    })
    const add = ['providers', 'add', 'zendesk', '--file', zendesk]
    expect((await run(add)).stderr).toContain('Subdomain, such as acme')
    expect((await run([...add, '--variable', 'subdomain'])).code).toBe(2)
    const added = await json(...add, '--variable', 'subdomain=acme')
    expect(added.oauth2.variables.subdomain.value).toBe('acme')
    const { stdout } = await run(['providers', 'set', 'zendesk', '--variable', 'subdomain=acme-2'])
    expect(stdout).toMatch(/Subdomain +acme-2/)
    // an option for another member asks for no client
    expect(await json('providers', 'set', 'zendesk', '--description', 'the help desk')).toMatchObject({
      description: 'the help desk',
      oauth2: { client_id: 'abc' },
    })
    expect((await run(['providers'])).stdout).toMatch(/^zendesk +active +abc +set .*the help desk +user$/m)
    const client = ['--client-id', 'ghi', '--public']
    const set = await json('providers', 'set', 'zendesk', '--variable', 'subdomain=acme-3', ...client)
    expect(set.oauth2).toMatchObject({ client_id: 'ghi', client_secret: { exists: false } })
    expect(set.oauth2.variables.subdomain.value).toBe('acme-3')
    const kept = await piping('a-secret', () => json('providers', 'set', 'zendesk'))
    expect(kept.oauth2).toMatchObject({ client_id: 'ghi', client_secret: { exists: true } })
    expect((await run(['providers', 'add', 'github', '--public'])).stderr).toContain(
      'give it with --client-id',
    )
    expect((await run(['connect', 'githb', '--user', 'ada'])).stderr).toContain(
      'The catalogue has "github": gatepass providers add github',
    )
    expect(await run(['providers', 'set', 'zendesk', '--file', zendesk, ...client])).toMatchObject({
      code: 2,
    })
    const other = ['providers', 'add', 'other', '--file', zendesk, '--variable', 'subdomain=acme']
    expect(await run([...other, ...client])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('leave out --client-id and --public'),
    })
    const consumer = ['providers', 'add', 'discogs', '--client-id', 'consumer']
    const discogs = await piping('a-secret', () => json(...consumer))
    expect(discogs.oauth1).toMatchObject({ client_id: 'consumer', client_secret: { exists: true } })
    const again = await piping('b-secret', () => json('providers', 'set', 'discogs', '--client-id', 'other'))
    expect(again.oauth1).toMatchObject({ client_id: 'other', client_secret: { exists: true } })
    expect((await run(['providers'])).stdout).toMatch(/^discogs +active +other +set .*\/callback\//m)
    expect((await run(['providers', 'show', 'discogs'])).stdout).toMatch(
      /authorization endpoint +https:\/\/discogs\.com\/.*client id +other/s,
    )
    const policy = { id: 'no-leaks', effect: 'deny', match: { uses: ['proxy'] } }
    const file = toolFile('policy.json', policy)
    expect((await json('policies', 'set', file)).items).toMatchObject([policy])
    const off = toolFile('policy.json', { ...policy, enabled: false })
    expect((await json('policies', 'set', off)).items).toMatchObject([{ ...policy, enabled: false }])
    expect((await json('policies')).items).toMatchObject([{ ...policy, enabled: false }])
    expect(await json('policies', 'delete', 'no-leaks')).toMatchObject({ deleted: true })
    expect(await json('runs')).toEqual({ items: [] })
    expect(await json('connections')).toEqual({ items: [] })
    expect(await json('secrets')).toEqual({ items: [] })
    const { items: entries } = await json('audit', 'list', '--action', 'policy.deleted')
    expect(entries).toMatchObject([{ subject: 'no-leaks', actor: { kind: 'api_key' } }])
    const exported = await run(['audit', 'export', '--action', 'policy.deleted'])
    expect(JSON.parse(exported.stdout)).toMatchObject({ subject: 'no-leaks' })
  })

  test('of a key file only the client and its key are taken', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const private_key = String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
    const definition = toolFile('robot.json', {
      oauth2: {
        grant: { type: 'jwt_bearer' },
        token_request: { endpoint: 'https://idp.example/token' },
        assertion: { algorithm: 'RS256', subject: '', claims: { scope: '{{scopes}}' } },
      },
    })
    const key = {
      type: 'service_account',
      client_email: 'robot@acme.iam',
      private_key_id: 'f00d',
      private_key,
      token_uri: 'https://evil.example/token',
      universe_domain: 'evil.example',
    }
    const add = ['providers', 'add', 'robot', '--file', definition, '--key-file', toolFile('key.json', key)]
    const added = await json(...add)
    expect(added.oauth2).toMatchObject({
      client_id: 'robot@acme.iam',
      client_secret: { exists: true },
      assertion: { algorithm: 'RS256', key_id: 'f00d', subject: '', claims: { scope: '{{scopes}}' } },
      token_request: { endpoint: 'https://idp.example/token' },
    })
    expect(JSON.stringify(added)).not.toMatch(/evil|PRIVATE/)
    const next = toolFile('next.json', { ...key, private_key_id: 'beef' })
    expect((await json('providers', 'set', 'robot', '--key-file', next)).oauth2.assertion).toMatchObject({
      key_id: 'beef',
      claims: { scope: '{{scopes}}' },
    })
    const lacking = toolFile('lacking.json', { client_email: 'robot@acme.iam' })
    const refused = await run(['providers', 'set', 'robot', '--key-file', lacking])
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('private_key') })
    expect((await run(['providers', 'set', 'robot', '--key-file', next, '--client-id', 'x'])).code).toBe(2)
    await json('providers', 'delete', 'robot')
  })

  test('workers are added from a file, listed and deleted', async () => {
    await using worker = await startFakeWorker({ secret: 'shared-secret' })
    const file = toolFile('worker.json', { http: { uri: worker.url, secret: 'shared-secret' } })
    expect(await json('workers', 'add', 'afar', '--file', file)).toMatchObject({ id: 'afar', type: 'http' })
    expect((await run(['workers'])).stdout).toMatch(new RegExp(`^afar +http +${worker.url} +active`, 'm'))
    const both = await run(['workers', 'add', 'other', '--file', file, '--secret'])
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('--secret needs an address') })
    expect(await json('workers', 'delete', 'afar')).toEqual({ id: 'afar', deleted: true })
  })

  test('the doctor tells what the running server finds by its own settings', async () => {
    const { stdout } = await run(['doctor', '--json'], {
      ...asAdmin(),
      GATEPASS_PUBLIC_URL: 'http://elsewhere',
    })
    const { checks } = JSON.parse(stdout)
    const messages = checks.map(
      ({ name, message }: { name: string; message: string }) => `${name}: ${message}`,
    )
    expect(messages).toContain(`settings: complete for production; public URL ${scene.gatepass.url}`)
    expect(messages).toContain(
      'settings: GATEPASS_USER_VERIFIER is open: anyone who opens a link can complete it, and MCP clients cannot call this server.',
    )
    expect(messages).toContain(`server: answers at ${scene.gatepass.url}`)
    const reader = await scene.gatepass.makeKey('readonly')
    expect(await run(['doctor', '--key', reader])).toMatchObject({ code: 4, stdout: '' })
  })

  test('the doctor checks the settings of this shell for --production, although GATEPASS_URL names a server', async () => {
    const { code, stdout } = await run(['doctor', '--production', '--json'])
    expect(code).toBe(1)
    const { checks } = JSON.parse(stdout)
    expect(checks).toContainEqual(
      expect.objectContaining({ status: 'failed', fix: 'Set GATEPASS_MASTER_KEY in the environment.' }),
    )
    const both = await run(['doctor', '--production', '--url', scene.gatepass.url])
    expect(both).toMatchObject({ code: 2, stdout: '' })
  })

  test('nothing is opened or made where the command runs', () => {
    expect(existsSync(join(folder, 'not-there'))).toBe(false)
  })
})

describe('exit codes say what kind of failure it was', () => {
  const cases: readonly (readonly [string, readonly string[], number])[] = [
    ['a command that is none', ['token2'], 2],
    ['an option that is missing', ['token', 'demo'], 2],
    ['an empty user', ['connect', 'demo', '--user', ''], 2],
    ['an empty user of a token', ['token', 'demo', '--user', ' '], 2],
    ['an address that is none', ['tools', '--url', 'gatepass.example.com/x'], 2],
    ['a file that is not there', ['import', 'nowhere.json'], 3],
    ['a path that the system refuses', ['import', 'x'.repeat(5000)], 3],
    ['a tool that is not there', ['tools', 'show', 'nowhere'], 3],
    ['a provider that is not there', ['token', 'nowhere', '--user', 'ada'], 3],
    ['a key that is none', ['tools', '--key', 'gp_nobody'], 4],
    ['a user who has approved nothing', ['token', 'other', '--user', 'ada'], 5],
    ['a server that is not there', ['tools', '--url', 'http://127.0.0.1:1'], 6],
  ]
  test.each(cases)('%s', async (_, args, expected) => {
    if (args.includes('other'))
      await scene.gatepass.call('POST', '/v1/admin/auth_providers', {
        id: 'other',
        provider_id: 'github',
        oauth2: { client_id: 'a', client_secret: 'b' },
      })
    const { code, stdout, stderr } = await run(args)
    expect({ code, stdout }).toEqual({ code: expected, stdout: '' })
    expect(stderr).toMatch(expected === 2 ? /\S/ : /^[^\n]+\n$/)
    expect(stderr).not.toContain(scene.gatepass.apiKey)
  })
})

test('the command that asks for consent names the server of --url', async () => {
  const oauth2 = { client_id: 'a', client_secret: 'b' }
  await scene.gatepass.call('POST', '/v1/admin/auth_providers', {
    id: 'asked',
    provider_id: 'github',
    oauth2,
  })
  const { url, apiKey } = scene.gatepass
  const { code, stderr } = await run(['token', 'asked', '--user', 'ada', '--url', url], {
    GATEPASS_API_KEY: apiKey,
  })
  expect({ code, stderr }).toEqual({
    code: 5,
    stderr: expect.stringContaining(`connect asked --user ada --url ${url}\n`),
  })
})

test('an export that breaks off prints what came, and fails with one line', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    response.write('{"seq":1}\n', () => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // of a server that listens on a port
  try {
    const { code, stdout, stderr } = await run(['audit', 'export', '--url', `http://127.0.0.1:${port}`])
    expect({ code, stdout }).toEqual({ code: 6, stdout: '{"seq":1}\n' })
    expect(stderr).toMatch(/^The response from \S+ broke off, [^\n]+\n$/)
  } finally {
    server.close()
  }
})

test('an import leaves out packages and hidden folders', async () => {
  const project = join(folder, 'project')
  for (const inner of ['node_modules/some-package', '.git', 'tools'])
    mkdirSync(join(project, inner), { recursive: true })
  writeFileSync(join(project, 'node_modules/some-package/tool.json'), JSON.stringify(TOOL))
  writeFileSync(join(project, '.git/tool.json'), JSON.stringify(TOOL))
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'app', version: '1.0.0' }))
  writeFileSync(join(project, 'tools/tool.json'), JSON.stringify({ ...TOOL, name: 'The Only One' }))
  const { items } = await json('import', project)
  expect(items.map(({ name, result }: { name: string; result: string }) => [name, result])).toEqual([
    ['app', 'refused'],
    ['The Only One', 'created'],
  ])
})

test('an import goes on after a file that is refused as a whole', async () => {
  const tools = join(folder, 'some-deep')
  mkdirSync(tools)
  const deep = JSON.parse(`${'['.repeat(70)}${']'.repeat(70)}`)
  for (const [name, more] of [
    ['a', {}],
    ['b', { parameters: { deep } }],
    ['c', {}],
  ] as const)
    writeFileSync(join(tools, `${name}.json`), JSON.stringify({ ...TOOL, name: `Deep ${name}`, ...more }))
  const { items } = await json('import', tools)
  expect(items.map(({ file, result }: { file: string; result: string }) => [file, result])).toEqual([
    [expect.stringMatching(/a\.json$/), 'created'],
    [expect.stringMatching(/b\.json$/), 'refused'],
    [expect.stringMatching(/c\.json$/), 'created'],
  ])
  expect(items[1].reason).toMatch(/deeper than 64/)
})

test('a reader that has read enough ends no command with an error', async () => {
  await using gatepass = await install()
  const many = Array.from({ length: 300 }, (_, i) => ({ ...TOOL, name: `Tool Number ${i}` }))
  writeFileSync(join(gatepass.directory, 'many.json'), JSON.stringify(many))
  const { code, stdout, stderr } = await gatepass.pipe('head -n 1', 'import', 'many.json', '--verbose')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout.trim().split('\n')).toHaveLength(1)
  const listed = await gatepass.run('tools', '--json')
  expect(JSON.parse(listed.stdout).items).toHaveLength(300)
  const summary = await gatepass.run('import', 'many.json')
  expect(summary.stdout).toMatch(/300 accepted \(300 unchanged\), 0 refused, 300 names respelled\n$/)
  expect(readdirSync(gatepass.directory)).not.toContain('core')
})
