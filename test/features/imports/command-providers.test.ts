import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readDefinition } from '../../../src/providers/definition/read-definition.ts'
import { runHere } from '../../cli/gatepass.ts'
import {
  type FakeAuthorizationServer,
  startFakeAuthorizationServer,
} from '../../fake-authorization-server.ts'
import { answerJson, type Loopback, listen } from '../../loopback.ts'

// `gatepass providers import`: files of other products, an issuer, an MCP server.

const folder = mkdtempSync(join(tmpdir(), 'gatepass-import-'))
let as: FakeAuthorizationServer
let mcp: Loopback
beforeAll(async () => {
  as = await startFakeAuthorizationServer()
  mcp = await listen((req, res) => {
    const metadata = `${mcp.url}/.well-known/oauth-protected-resource/mcp`
    if (req.url === '/.well-known/oauth-protected-resource/mcp')
      return answerJson(res, 200, {
        resource: `${mcp.url}/mcp`,
        authorization_servers: [as.url],
        scopes_supported: ['notes.read'],
      })
    if (req.url !== '/mcp') return answerJson(res, 404, {})
    return answerJson(res, 401, {}, { 'www-authenticate': `Bearer resource_metadata="${metadata}"` })
  })
})
afterAll(async () => {
  await as.close()
  await mcp.close()
  rmSync(folder, { recursive: true })
})

const run = (...args: readonly string[]) =>
  runHere({ GATEPASS_ALLOWED_HOSTS: '127.0.0.1' }, 'providers', 'import', ...args)

async function json(...args: readonly string[]) {
  const { stdout, stderr, code } = await run(...args, '--json')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

function file(name: string, content: object): string {
  const path = join(folder, name)
  writeFileSync(path, JSON.stringify(content))
  return path
}

const entry = {
  authorize_url: 'https://acme.example.com/a',
  access_url: 'https://acme.example.com/t',
  oauth: 2,
}

describe('a file', () => {
  const source = file('oauth.json', { acme: entry, beta: entry, old: { ...entry, oauth: 1 } })

  test('becomes definitions, one file each, that are read as any other', async () => {
    const to = join(folder, 'all')
    const { source: product, counts, files } = await json(source, '--to', to)
    expect({ product, counts }).toEqual({ product: 'grant', counts: { all: 3, whole: 2, part: 0, none: 1 } })
    expect(readdirSync(to).sort()).toEqual(['acme.json', 'beta.json'])
    expect(files).toContainEqual({ path: join(to, 'acme.json'), result: 'written' })
    const written = JSON.parse(readFileSync(join(to, 'acme.json'), 'utf8'))
    expect(readDefinition(written)).toMatchObject({ id: 'acme', provider: { scopeSeparator: ',' } })
  })

  test('never replaces a file without --force, writes nothing in a dry run, and may be limited to names', async () => {
    const to = join(folder, 'some')
    await json(source, '--to', to, '--dry-run')
    expect(() => readdirSync(to)).toThrow(/ENOENT/)
    await json(source, '--to', to, '--only', 'acme')
    expect(readdirSync(to)).toEqual(['acme.json'])
    writeFileSync(join(to, 'acme.json'), 'mine')
    expect((await json(source, '--to', to)).files).toContainEqual({
      path: join(to, 'acme.json'),
      result: 'exists',
    })
    expect(readFileSync(join(to, 'acme.json'), 'utf8')).toBe('mine')
    await json(source, '--to', to, '--force')
    expect(readFileSync(join(to, 'acme.json'), 'utf8')).toContain('"id": "acme"')
    expect(await run(source, '--only', 'akme')).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/no provider "akme"/),
    })
  })

  test('with two names that make one id has a definition of the first alone, also with --force', async () => {
    const to = join(folder, 'twins')
    const other = { ...entry, access_url: `${entry.access_url}/x` }
    const twins = file('twins.json', { 'acme-x': entry, acme_x: other })
    const { items, files } = await json(twins, '--to', to, '--force')
    expect(files).toEqual([{ path: join(to, 'acme-x.json'), result: 'written' }])
    expect(readFileSync(join(to, 'acme-x.json'), 'utf8')).not.toContain(other.access_url)
    expect(items).toMatchObject([{ carried: 'whole' }, { name: 'acme_x', carried: 'none' }])
  })

  test('whose folder cannot be made says so in one line', async () => {
    const { code, stderr } = await run(source, '--to', source)
    expect(code).toBe(1)
    expect(stderr).toMatch(/^The folder ".+" cannot be created \(.+\)\.\n$/)
  })

  test('is reported for people: each provider, what was left out, and why', async () => {
    const { stdout, code } = await run(source)
    expect(code).toBe(0)
    expect(stdout).toMatch(/3 of grant: 2 carried over whole, 0 in part, 1 not at all/)
    expect(stdout).toMatch(/old\n +oauth: OAuth 1/)
    expect(stdout).toMatch(/Nothing was written/)
    const many = file('many.json', {
      ...Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`acme-${at}`, entry])),
      old: { ...entry, oauth: 1 },
    })
    expect((await run(many)).stdout).toMatch(/Not carried over\nPROVIDERS +REASON\n1 +OAuth 1/)
  })

  test('of which nothing can be made is a failure', async () => {
    expect(await run(file('old.json', { old: { ...entry, oauth: 1 } }))).toMatchObject({ code: 1 })
    expect(await run(file('other.json', { openapi: '3.1.0' }))).toMatchObject({ code: 2 })
  })
})

describe('a URL', () => {
  test('of an issuer: what its metadata says', async () => {
    const { source, items } = await json(as.url)
    expect(source).toBe('issuer')
    expect(items).toMatchObject([
      {
        carried: 'whole',
        definition: {
          oauth2: {
            issuer: as.url,
            authorize_request: { endpoint: as.authorizationUrl },
            token_request: { endpoint: as.tokenUrl, auth_method: 'client_secret_basic' },
            revocation_request: { endpoint: as.revocationUrl },
            user_info_request: { endpoint: as.userInfoUrl },
          },
        },
      },
    ])
  })

  test('of an MCP server: the authorization server that it names, with tokens for that server alone', async () => {
    const { source, items } = await json(`${mcp.url}/mcp`)
    expect(source).toBe('mcp')
    const params = { resource: `${mcp.url}/mcp` }
    expect(items).toMatchObject([
      {
        carried: 'whole',
        definition: {
          oauth2: {
            issuer: as.url,
            authorize_request: { endpoint: as.authorizationUrl, params },
            token_request: { params },
            refresh_request: { params },
            default_scopes: ['notes.read'],
            api: { base_url: `${mcp.url}/mcp` },
          },
        },
      },
    ])
  })

  test('of neither is a failure that says what was looked for; a private host is not reached', async () => {
    await using nothing = await listen((_, res) => answerJson(res, 404, {}))
    const { code, stderr, stdout } = await run(nothing.url)
    expect(code).toBe(1)
    expect(stdout + stderr).toMatch(/metadata/)
    const refused = await runHere({}, 'providers', 'import', as.url)
    expect(refused.code).not.toBe(0)
    expect(refused.stderr).toMatch(/not be reached|GATEPASS_ALLOWED_HOSTS/)
  })
})
