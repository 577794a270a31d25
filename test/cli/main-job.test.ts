import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sampleMetadata } from '../../src/dev-provider/sample-metadata.ts'
import { CHECKOUT_PROGRAM } from '../served.ts'
import { UserAgent } from '../user-agent.ts'
import { type Installation, install, type Started } from './gatepass.ts'

/** What a checkout runs. */
const FROM_SOURCES = { program: CHECKOUT_PROGRAM }

let gatepass: Installation
let server: Started
let apiKey: string
beforeAll(async () => {
  gatepass = await install()
  server = gatepass.startWith(FROM_SOURCES, 'dev', '--commands')
  apiKey = (await server.prints(/\b(gp_[\w-]{43})\b/))[1] ?? ''
  const file = join(gatepass.directory, 'sandbox-profile.json')
  writeFileSync(file, JSON.stringify(sampleMetadata(new URL(gatepass.url))))
  const imported = await gatepass.runHere('import', file, '--worker', 'sandbox', '--json')
  expect(JSON.parse(imported.stdout).items).toMatchObject([
    { result: 'created', providers: [{ missing: [] }] },
  ])
})
afterAll(() => gatepass[Symbol.asyncDispose]())

/** Runs `connect`, and answers the link as that user would in the browser. */
async function connect(user: string, answer: 'allow' | 'deny', ...args: readonly string[]) {
  const running = gatepass.start('connect', ...args, '--user', user, '--no-open', '--json')
  const [line] = await running.prints(/^\{.*\}$/m)
  const pending = JSON.parse(line)
  const agent = new UserAgent()
  const consent = await agent.submitForm(await agent.follow(pending.url))
  await agent.submitForm(consent, {}, { button: answer })
  const ended = await running.ended
  return { pending, ended, last: JSON.parse(ended.stdout.trim().split('\n').at(-1) ?? '') }
}

describe('beside a running server', () => {
  test('connects a user, hands out the token, lists the connection and deletes it', async () => {
    const missing = await gatepass.run('token', 'sandbox', '--user', 'ada')
    expect(missing).toMatchObject({ code: 5, stdout: '' })
    expect(missing.stderr).toMatch(/^[^\n]*gatepass connect sandbox --user ada\n$/)

    const { pending, ended, last } = await connect('ada', 'allow', 'sandbox', '--scopes', 'profile:read')
    expect(pending).toMatchObject({ status: 'pending', user_id: 'ada', scopes: ['profile:read'] })
    expect(ended).toMatchObject({ code: 0, stderr: '' })
    expect(last).toMatchObject({
      id: pending.id,
      status: 'completed',
      connections: [{ provider_id: 'sandbox', scopes: ['profile:read'] }],
    })

    const token = await gatepass.runWith(FROM_SOURCES, 'token', 'sandbox', '--user', 'ada')
    expect(token).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^\S+\n$/) })
    const json = JSON.parse((await gatepass.runHere('token', 'sandbox', '--user', 'ada', '--json')).stdout)
    expect(json).toEqual({
      access_token: token.stdout.trim(),
      token_type: expect.stringMatching(/^bearer$/i),
      expires_at: expect.any(String),
      scopes: ['profile:read'],
    })

    // as an operator's shell without the server's client settings
    const env = {
      GATEPASS_MASTER_KEY: `file:${join(gatepass.directory, 'x.db.key')}`,
      GATEPASS_USER_VERIFIER: 'open',
      GATEPASS_PUBLIC_URL: gatepass.url,
    }
    const unset = await gatepass.runHereWith({ env }, 'token', 'sandbox', '--user', 'ada')
    expect(unset).toMatchObject({ code: 1, stdout: '' })
    expect(unset.stderr).toContain('GATEPASS_PROVIDER_SANDBOX_CLIENT_ID')
    expect(await gatepass.runHere('token', 'sandbox', '--user', 'ada')).toMatchObject({ code: 0 })

    const listed = await gatepass.runHere('connections', '--user', 'ada', '--provider', 'sandbox', '--json')
    const [connection] = JSON.parse(listed.stdout).items
    expect(connection).toMatchObject({ id: last.connections[0].id, status: 'active', default: true })
    const table = await gatepass.runHere('connections')
    expect(table.stdout).toContain(connection.id)
    expect(listed.stdout + table.stdout + ended.stdout).not.toContain(token.stdout.trim())

    const covered = await gatepass.runHere('connect', 'Sandbox_Profile', '--user', 'ada', '--json')
    expect(JSON.parse(covered.stdout)).toMatchObject({
      status: 'completed',
      connections: [{ id: connection.id }],
    })

    const deleted = await gatepass.runHere('connections', 'delete', connection.id, '--json')
    expect(JSON.parse(deleted.stdout)).toEqual({ id: connection.id, revocation: 'unsupported' })
    expect(await gatepass.runHere('token', 'sandbox', '--user', 'ada')).toMatchObject({ code: 5 })
    const asked = await fetch(`${gatepass.url}/v1/connections`, { headers: { authorization: apiKey } })
    expect(await asked.json()).toMatchObject({ items: [] })
  })

  test('says why a user is not connected', async () => {
    const { ended, last } = await connect('bob', 'deny', 'Sandbox_Profile')
    expect(ended.code).toBe(5)
    expect(last).toMatchObject({ status: 'failed', reason: 'access_denied' })
    expect(ended.stderr).toMatch(/^bob is not connected \(access_denied\): [^\n]+\n$/)
  })

  test('refuses to connect where nothing or another installation answers', async () => {
    const other = { GATEPASS_PUBLIC_URL: 'http://localhost:9', GATEPASS_ALLOWED_HOSTS: 'localhost' }
    const nothing = await gatepass.runHereWith(
      { env: other },
      'connect',
      'sandbox',
      '--user',
      'eve',
      '--no-open',
    )
    expect(nothing).toMatchObject({ code: 6, stdout: '', stderr: expect.stringContaining('gatepass serve') })

    await using stranger = await install()
    const env = { GATEPASS_PUBLIC_URL: gatepass.url }
    const file = join(gatepass.directory, 'sandbox-profile.json')
    await stranger.runHereWith({ env }, 'import', file)
    const elsewhere = await stranger.runHereWith({ env }, 'connect', 'sandbox', '--user', 'eve', '--no-open')
    expect(elsewhere).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('a different database'),
    })
  })

  test('a key is accepted at once and refused once it is revoked', async () => {
    const made = await gatepass.runHere(
      'keys',
      'create',
      '--project',
      'default',
      '--role',
      'readonly',
      '--json',
    )
    const { id, key } = JSON.parse(made.stdout)
    const ask = async () =>
      (await fetch(`${gatepass.url}/v1/tools`, { headers: { authorization: key } })).status
    expect(await ask()).toBe(200)
    await gatepass.runHere('keys', 'revoke', id)
    expect(await ask()).toBe(401)
  })

  test('the doctor finds all well', async () => {
    const { code, stdout } = await gatepass.run('doctor', '--json')
    const { ok, checks } = JSON.parse(stdout)
    expect(checks.filter((one: { status: string }) => one.status !== 'ok')).toEqual([])
    expect({ code, ok }).toEqual({ code: 0, ok: true })
    expect(checks.map((one: { name: string }) => one.name)).toEqual(
      expect.arrayContaining([
        'database',
        'master key',
        'API keys',
        'server',
        'provider sandbox',
        'worker sandbox',
      ]),
    )
  })
})

test.runIf(process.platform === 'linux').each([
  ['starts with enough threads that names which are slow to resolve delay no others', {}, 16],
  ['starts with as many threads as the operator says', { UV_THREADPOOL_SIZE: '6' }, 6],
])('the program %s', async (_, more, threads) => {
  const counting = `
    import { readFile, readdirSync, readFileSync } from 'node:fs'
    const nameOf = (thread) => readFileSync('/proc/self/task/' + thread + '/comm', 'utf8').trim()
    const count = () => console.error(readdirSync('/proc/self/task').map(nameOf).filter((one) => one === 'libuv-worker').length)
    process.once('beforeExit', () => readFile('/proc/self/stat', count))`
  const hook = `data:text/javascript,${encodeURIComponent(counting)}`
  const args = ['--import', hook, CHECKOUT_PROGRAM, '--version']
  const { stderr } = await promisify(execFile)(process.execPath, args, {
    env: { PATH: process.env.PATH, ...more },
  })
  expect(stderr).toBe(`${threads}\n`)
})
