import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runHere } from './gatepass.ts'

// `gatepass providers test --simulate`: no server, no database of the installation, no network.

const folder = mkdtempSync(join(tmpdir(), 'gatepass-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

const run = (...args: readonly string[]) =>
  runHere(
    { GATEPASS_DATABASE_URL: `file:${join(folder, 'none.db')}` },
    ...['providers', 'test', ...args, '--simulate'],
  )

test('runs the main job of a definition of the catalogue, step by step', async () => {
  const { code, stdout, stderr } = await run('github')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/github +simulated/)
  for (const step of ['definition', 'consent refused', 'consent', 'call', 'refresh', 'revocation'])
    expect(stdout).toMatch(new RegExp(`✓.* ${step} `))
  expect(readdirSync(folder)).toEqual([])
})

test('types keys where the definition asks for them', async () => {
  const { code, stdout } = await run('freshdesk')
  expect(code, stdout).toBe(0)
  for (const step of ['definition', 'wrong key', 'key', 'call', 'key refused', 'deletion'])
    expect(stdout).toMatch(new RegExp(`✓.* ${step} `))
})

test('runs a definition of a file, and says what of it fails', async () => {
  const file = join(folder, 'acme.json')
  const write = (oauth2: object) => writeFileSync(file, JSON.stringify({ id: 'acme', name: 'Acme', oauth2 }))
  const endpoints = {
    authorize_request: { endpoint: 'https://acme.example.com/authorize' },
    token_request: { endpoint: 'https://acme.example.com/token' },
  }
  write(endpoints)
  const { code, stdout } = await run('acme', '--file', file, '--scopes', 'read', '--json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ id: 'acme', ok: true, steps: expect.any(Array) })
  write({ ...endpoints, token_request: { endpoint: 'http://acme.example.com/token' } })
  const failed = await run('acme', '--file', file)
  expect(failed).toMatchObject({ code: 1, stdout: expect.stringMatching(/✗.* definition .*https/) })
  rmSync(file)
})

test('allows http where GATEPASS_ALLOWED_HOSTS does, and shows each fault of a definition on a line', async () => {
  const file = join(folder, 'inner.json')
  const at = (name: string) => ({ endpoint: `http://10.1.2.3/${name}` })
  const oauth2 = { authorize_request: at('authorize'), token_request: at('token') }
  writeFileSync(file, JSON.stringify({ id: 'inner', name: 'Inner', oauth2 }))
  const args = ['providers', 'test', 'inner', '--simulate', '--file', file] as const
  const allowed = await runHere({ GATEPASS_ALLOWED_HOSTS: '10.0.0.0/8' }, ...args)
  expect(allowed, allowed.stdout).toMatchObject({ code: 0 })
  const refused = await runHere({}, ...args)
  expect(refused.code).toBe(1)
  const lines = refused.stdout.split('\n').filter((line) => line.includes('has to be https'))
  expect(lines).toEqual([
    expect.stringContaining('oauth2.authorize_request.endpoint'),
    expect.stringContaining('oauth2.token_request.endpoint'),
  ])
  rmSync(file)
})

test.each(['test', 'add'])('providers %s refuses of a file what a start refuses of it', async (command) => {
  const file = join(folder, 'registered.json')
  const oauth2 = {
    authorize_request: { endpoint: 'https://acme.example.com/authorize' },
    token_request: { endpoint: 'https://acme.example.com/token' },
  }
  const registration = { url: 'http://acme.example.com/apps' }
  writeFileSync(file, JSON.stringify({ id: 'acme', name: 'Acme', registration, oauth2 }))
  const { code, stdout, stderr } = await runHere(
    { GATEPASS_DATABASE_URL: `file:${join(folder, 'none.db')}` },
    ...['providers', command, 'acme', '--file', file],
    ...(command === 'add' ? ['--client-id', 'x', '--public'] : []),
  )
  expect(code).not.toBe(0)
  expect(stdout + stderr).toMatch(/registration\.url .*https/)
  rmSync(file)
})

test('runs a definition of a YAML file, as providers add takes it', async () => {
  const file = join(folder, 'acme.yaml')
  const request = (name: string) => `  ${name}_request:\n    endpoint: https://acme.example.com/${name}\n`
  writeFileSync(file, `id: acme\noauth2:\n${request('authorize')}${request('token')}`)
  const { code, stderr } = await run('acme', '--file', file)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  rmSync(file)
})

test.each([['--user', 'ada'], ['--no-open'], ['--revoke']])(
  'refuses %s, which goes with --live',
  async (...args) => {
    expect(await run('github', ...args)).toMatchObject({ code: 2, stderr: expect.stringContaining('--live') })
  },
)

test('names the nearest provider of the catalogue', async () => {
  expect(await run('gihub')).toMatchObject({
    code: 3,
    stderr: expect.stringMatching(/Did you mean "github"/),
  })
})
