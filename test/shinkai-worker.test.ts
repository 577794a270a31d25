import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { approve, oauthEntry, startWorld, type World } from './http/world.ts'
import { answerJson, bearerOf, type Loopback, listen, type RecordedRequest, record } from './loopback.ts'
import { freePort } from './ports.ts'

// Unmodified Shinkai tools, imported and run by examples/shinkai-worker with a user's consent.

const SECRET = 'worker-secret-of-the-tests'
const EXAMPLE = join(import.meta.dirname, '../examples/shinkai-worker')

let world: World
let api: Loopback
let worker: ChildProcess
let folder: string
let port: number
const calls: RecordedRequest[] = []

/** Writes a tool with this code. */
function writeTool(name: string, file: string, code: string, more: object = {}): void {
  mkdirSync(join(folder, name))
  writeFileSync(join(folder, name, file), code)
  const parameters = { type: 'object', properties: {}, required: [] }
  const said = { name, version: '1.0.0', description: name, parameters, oauth: [], ...more }
  writeFileSync(join(folder, name, 'metadata.json'), JSON.stringify(said))
}

const metadataOf = (name: string) => JSON.parse(readFileSync(join(folder, name, 'metadata.json'), 'utf8'))

beforeAll(async () => {
  world = await startWorld()
  api = await listen(async (req, res) => {
    const request = await record(req)
    calls.push(request)
    answerJson(res, 200, { login: 'ada', token: bearerOf(request.headers) })
  })
  folder = mkdtempSync(join(tmpdir(), 'shinkai-test-'))
  cpSync(join(EXAMPLE, 'tools'), folder, { recursive: true })
  const profile = metadataOf('profile')
  const { clientId, clientSecret, authorizationUrl, tokenUrl } = oauthEntry('Github', world.as)
  Object.assign(profile.oauth[0], { clientId, clientSecret, authorizationUrl, tokenUrl, scopes: ['read'] })
  profile.configurations.properties.apiUrl.default = `${api.url}/user`
  writeFileSync(join(folder, 'profile', 'metadata.json'), JSON.stringify(profile))

  const oauth = profile.oauth
  writeTool(
    'stranger',
    'tool.ts',
    `import { getAccessToken } from './shinkai-local-support.ts'
     import { shinkaiLlmPromptProcessor } from './shinkai-local-tools.ts'
     enum Kind { Wrong = 'Gmail' }
     export async function run() {
       console.log('reaches', typeof shinkaiLlmPromptProcessor)
       return await getAccessToken(Kind.Wrong)
     }`,
    { oauth },
  )
  writeTool(
    'inside',
    'tool.py',
    `import os
from shinkai_local_support import get_access_token

async def run(config, inputs):
    token = await get_access_token('github')
    def shows(path):
        return token in open(path, errors='replace').read()
    return {'got': len(token) > 0, 'cmdline': shows('/proc/self/cmdline'), 'environ': shows('/proc/self/environ'),
            'secret': 'WORKER_SECRET' in os.environ}`,
    { oauth },
  )
  // it blocks its process without taking a processor
  writeTool(
    'forever',
    'tool.ts',
    `export async function run() { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0) }`,
  )
  writeTool('wide', 'tool.ts', `export async function run() { return 'x'.repeat(3_000_000) }`)
  writeTool(
    'loud',
    'tool.ts',
    `export async function run() {
       for (let i = 0; i < 20_000; i++) {
         console.log('loud', i)
         // each of the first lines arrives by itself
         if (i < 20) await new Promise((resolve) => setTimeout(resolve, 2))
       }
       return 1
     }`,
  )
  writeTool(
    'reader',
    'tool.ts',
    `export async function run() { return await Deno.readTextFile('/etc/passwd') }`,
  )
  writeTool(
    'spoof',
    'tool.ts',
    `export async function run() { console.log('{"value": "spoofed"}'); return 'real' }`,
  )

  writeTool(
    'writer',
    'tool.ts',
    `import { getHomePath } from './shinkai-local-support.ts'
     export async function run() {
       const home = await getHomePath()
       await Deno.mkdir(home + '/more')
       await Deno.writeFile(home + '/more/picture.png', new Uint8Array([137, 80, 255]))
       await Deno.writeTextFile(home + '/report.csv', 'a,b')
       await Deno.writeTextFile(home + '/zeros.bin', '0'.repeat(300_000))
       return { path: home + '/report.csv' }
     }`,
  )
  writeTool(
    'linker',
    'tool.py',
    `import os
from shinkai_local_support import get_home_path

async def run(config, inputs):
    home = await get_home_path()
    os.symlink('/etc/passwd', home + '/passwd')
    os.mkfifo(home + '/pipe')
    return {'home': home}`,
  )

  port = await freePort()
  worker = spawn(process.execPath, [join(EXAMPLE, 'worker.ts'), folder], {
    env: { ...process.env, WORKER_SECRET: SECRET, PORT: String(port), TOOL_TIMEOUT_MS: '15000' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise((resolve) => worker.stdout?.once('data', resolve))
  const http = { uri: `http://127.0.0.1:${port}`, secret: SECRET, timeout: 60, retry: 0 }
  const { body } = await world.call('POST', '/v1/workers', { id: 'shinkai', http })
  expect(body.sync_error).toBeUndefined()
  const names = [
    'profile',
    'word-count',
    'stranger',
    'inside',
    'forever',
    'wide',
    'loud',
    'reader',
    'spoof',
    'writer',
    'linker',
  ]
  const imported = await world.call('POST', '/v1/tools/import?worker_id=shinkai', names.map(metadataOf))
  expect(imported.body.items.map(({ result }: { result: string }) => result)).toEqual(
    names.map(() => 'created'),
  )
})
afterAll(async () => {
  worker.kill()
  rmSync(folder, { recursive: true, force: true })
  await world[Symbol.asyncDispose]()
  await api.close()
})

/** The imported tool: the worker lists another of the same name, which has no metadata. */
const idOf = (name: string) => `local:${name}:1.0.0`

async function run(tool_name: string, input: object = {}, user_id = 'ada') {
  return (await world.execute(idOf(tool_name), { input, user_id }, 'arcade')).body
}

async function consented(tool_name: string, user_id = 'ada'): Promise<void> {
  const { body } = await world.call('POST', '/v1/tools/authorize', { tool_name: idOf(tool_name), user_id })
  if (body.url) await approve(body.url)
}

describe('a Shinkai tool', () => {
  test('in TypeScript waits for consent, and then has this user’s token, its configuration and a home', async () => {
    const name = 'Account_Profile'
    const asked = await world.execute(idOf(name), { user_id: 'bob' })
    expect(asked.body.output.requires_authorization.scopes).toEqual(['read'])
    expect(calls).toEqual([])
    await world.call('POST', '/v1/admin/secrets/API_KEY', { value: 'the-key-of-the-tool' })
    const tokens = new Set<string>()
    for (const user of ['ada', 'bob']) {
      await consented(name, user)
      const { output } = await run(name, {}, user)
      expect(output.value.profile).toMatchObject({ login: 'ada' })
      expect(output.logs).toMatchObject([{ message: 'The profile was read.' }])
      const headers = calls.at(-1)?.headers ?? {}
      expect(headers['x-api-key']).toBe('the-key-of-the-tool')
      const token = bearerOf(headers) ?? ''
      expect(world.as.isLive(token)).toBe(true)
      expect(JSON.stringify(output)).not.toContain(token)
      tokens.add(token)
    }
    expect(tokens.size).toBe(2)
  })

  test('in Python is given objects of its own classes', async () => {
    expect((await run('Word_Count', { text: 'one two  three' })).output.value).toEqual({
      words: 3,
      home: true,
    })
  })

  test('gets no token by a name that its metadata has not', async () => {
    await consented('stranger')
    const { output } = await run('stranger')
    expect(output.error.message).toBe('OAuth configuration not found for provider: Gmail')
    expect(output.logs[0].message).toContain('reaches function')
  })

  test('has its token neither in arguments nor in what other processes read of its environment', async () => {
    await consented('inside')
    expect((await run('inside')).output.value).toEqual({
      got: true,
      cmdline: false,
      environ: false,
      secret: false,
    })
  })

  test.each([
    ['forever', /did not end within 15 seconds/],
    ['wide', /answered more than/],
    ['reader', /restricted|permission|denied/i],
  ])('is kept within bounds: %s', async (name, why) => {
    expect((await run(name)).output.error.message).toMatch(why)
  })

  test('gives the files that it wrote with its result: small ones whole, no links', async () => {
    const { path, __created_files__: files } = (await run('writer')).output.value
    const folder = path.replace(/\/report\.csv$/, '')
    expect(files).toEqual([
      { path: `${folder}/more/picture.png`, size: 3, mimeType: 'image/png', blob: 'iVD/' },
      { path, size: 3, mimeType: 'text/csv', text: 'a,b' },
      { path: `${folder}/zeros.bin`, size: 300_000, mimeType: 'application/octet-stream' },
    ])
    expect(existsSync(folder)).toBe(false)
    expect(Object.keys((await run('linker')).output.value)).toEqual(['home'])
  })

  test('may print what it likes: no more than 32 kB is kept, and it is no result', async () => {
    const { output } = await run('loud')
    expect(output.value).toBe(1)
    expect(output.logs).toHaveLength(1)
    expect(output.logs[0].message).toMatch(/^loud 0\nloud 1\nloud 2\n/)
    expect(output.logs[0].message.length).toBeLessThanOrEqual(32 * 1024)
    expect((await run('spoof')).output.value).toBe('real')
  })
})
