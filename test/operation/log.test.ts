import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createLog, type ServerLog } from '../../src/log.ts'
import { inContext } from '../../src/services/request-context.ts'

/** The lines that a log has written, once it is closed. */
async function lines(write: (log: ServerLog) => void, level: 'debug' | 'info' = 'info') {
  const folder = mkdtempSync(join(tmpdir(), 'gatepass-log-'))
  try {
    const fd = openSync(join(folder, 'log'), 'a')
    const log = createLog(level, { to: fd })
    write(log)
    await log.close()
    const text = readFileSync(join(folder, 'log'), 'utf8')
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('a line for a terminal is text, without control characters', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatepass-log-'))
  const log = createLog('warn', { to: openSync(join(folder, 'log'), 'a'), as: 'text' })
  log.warn({ reason: 'access_denied', why: 'The user\ndeclined.' }, 'an authorization\u001b failed')
  await log.close()
  expect(readFileSync(join(folder, 'log'), 'utf8')).toBe(
    'warn   an authorization  failed  reason=access_denied  why="The user\\ndeclined."\n',
  )
  rmSync(folder, { recursive: true })
})

test('a line is one JSON object with its level, time, process and message', async () => {
  const [line, ...more] = await lines((log) => log.warn({ provider: 'github' }, 'a refresh failed'))
  expect(line).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    pid: process.pid,
    provider: 'github',
    message: 'a refresh failed',
  })
  expect(more).toEqual([])
})

test('every line of a request names it, also what is logged after an await', async () => {
  const [before, within, after] = await lines((log) => {
    log.info({}, 'before')
    inContext({ actor: { kind: 'system' }, requestId: 'req-1' }, async () => {
      log.info({}, 'within')
    })
    log.info({}, 'after')
  })
  expect(within.requestId).toBe('req-1')
  for (const other of [before, after]) expect(other).not.toHaveProperty('requestId')
})

test('what is below the level is not written', async () => {
  expect(await lines((log) => log.debug({}, 'nothing'))).toEqual([])
  expect(await lines((log) => log.debug({}, 'something'), 'debug')).toHaveLength(1)
})

const SECRET = 'planted-S3cret.value~1234567890'

/** Members of what is logged somewhere, and names that others give to secrets. */
const SECRET_MEMBERS = [
  'authorization',
  'Authorization',
  'proxy-authorization',
  'access_token',
  'accessToken',
  'ACCESS_TOKEN',
  'refresh_token',
  'refreshToken',
  'id_token',
  'subject_token',
  'token',
  'tokens',
  'code',
  'codeVerifier',
  'code_verifier',
  'state',
  'nonce',
  'client_secret',
  'clientSecret',
  'client_assertion',
  'secret',
  'secrets',
  'password',
  'key',
  'apiKey',
  'x-api-key',
  'masterKey',
  'GATEPASS_MASTER_KEY',
  'cookie',
  'set-cookie',
  'flow_id',
]

test.each(SECRET_MEMBERS)('a member %s is never written, at whatever depth', async (name) => {
  let deep: Record<string, unknown> = { [name]: SECRET }
  const about: Record<string, unknown>[] = [deep]
  for (let depth = 0; depth < 12; depth++) {
    deep = depth % 2 === 0 ? { inner: deep } : { list: [deep, { [name]: [SECRET] }] }
    about.push(deep)
  }
  const written = await lines((log) => {
    for (const one of about) log.error(one, 'planted')
    log.error({ [name]: { of: SECRET } }, 'planted')
  })
  expect(written).toHaveLength(about.length + 1)
  expect(JSON.stringify(written)).not.toContain('planted-S3cret')
})

test.each([
  ['a bearer token', `Authorization: Bearer ${SECRET}`],
  ['a basic credential', `sent Basic ${Buffer.from(SECRET).toString('base64')}`],
  ['the query of a callback', `GET /callback/prov_1?code=${SECRET}&state=${SECRET}&scope=read`],
  ['a token response', `{"access_token":"${SECRET}","expires_in":3600,"refresh_token": "${SECRET}"}`],
  ['a form body', `grant_type=refresh_token&refresh_token=${SECRET}&client_secret=${SECRET}`],
  ['an API key', 'with gp_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'],
  ['an API key that looks like Arcade’s', 'with arc_gp_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG'],
  ['a JWT', 'got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P'],
])('%s within a text is never written', async (_, text) => {
  const [line] = await lines((log) => log.warn({ why: text, nested: { list: [text] } }, `it said ${text}`))
  const written = JSON.stringify(line)
  for (const secret of [
    'planted-S3cret',
    Buffer.from(SECRET).toString('base64'),
    'gp_0123456789',
    'dozjgNryP4J3',
  ])
    expect(written).not.toContain(secret)
  expect(written).toContain('[redacted]')
})

test('words that only stand near a secret are written as they are', async () => {
  const [line] = await lines((log) =>
    log.warn(
      { breaker: 'open', hasSecret: false },
      'The server wants Basic authentication, not a bearer token; Bearer tokens-of-4da4f4',
    ),
  )
  expect(line).toMatchObject({
    breaker: 'open',
    hasSecret: false,
    message: 'The server wants Basic authentication, not a bearer token; Bearer [redacted]',
  })
})

test('of an error the kind and the place are written, and neither its message nor the body it was caused by', async () => {
  class TokenFault extends Error {
    override name = 'TokenFault'
    body = { access_token: SECRET }
    code = 'ECONNRESET'
  }
  const cause = Object.assign(new TokenFault(`answered ${SECRET}`), { response: { body: SECRET } })
  const error = new Error(`refused with ${SECRET}`, { cause: new Error(SECRET, { cause }) })
  const other = new Error('x', { cause: { body: SECRET } })
  const [first, second, third] = await lines((log) => {
    log.error({ error, deep: { er: [error] } }, 'failed')
    log.error({ error: other }, 'failed')
    log.error(error, 'failed')
  })
  expect(JSON.stringify([first, second, third])).not.toContain('planted-S3cret')
  expect(first.error).toMatchObject({
    name: 'Error',
    cause: { name: 'Error', cause: { name: 'TokenFault', errno: 'ECONNRESET' } },
  })
  expect(first.error.at[0]).toContain('log.test.ts')
  expect(third.error).toEqual(first.error)
  expect(second.error.cause).toBe('object')
})

test('what cannot be written as JSON spoils no line', async () => {
  const circle: Record<string, unknown> = { url: new URL(`https://x.example/a?code=${SECRET}`) }
  circle.self = circle
  const about = {
    circle,
    big: 10n,
    when: new Date(0),
    bytes: Buffer.from(SECRET),
    headers: new Headers({ authorization: SECRET }),
    map: new Map([['token', SECRET]]),
    nothing: undefined,
    get thrower() {
      throw new Error(SECRET)
    },
    toJSON: () => ({ leaked: SECRET }),
  }
  const [line] = await lines((log) => log.info(about, 'odd'))
  expect(JSON.stringify(line)).not.toContain('planted-S3cret')
  expect(line).toMatchObject({
    big: '10',
    when: '1970-01-01T00:00:00.000Z',
    bytes: '[Buffer]',
    headers: '[Headers]',
    map: '[Map]',
    thrower: '[unreadable]',
    message: 'odd',
  })
  expect(line.circle.url).toBe('https://x.example/a')
})

const LOGGING = `
import { createLog } from '${new URL('../../src/log.ts', import.meta.url)}'
const log = createLog('info')
let longest = 0
let last = performance.now()
for (let round = 0; round < 50; round++) {
  await new Promise((resolve) => setTimeout(resolve, 20))
  longest = Math.max(longest, performance.now() - last)
  last = performance.now()
  for (let i = 0; i < 500; i++) log.info({ text: 'x'.repeat(1000) }, 'on and on')
}
await log.close()
process.stdout.write(JSON.stringify({ longest, dropped: log.dropped }))
process.exit(0)
`

test('a reader that stands still holds up nothing: lines are dropped and counted, and the process can end', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', LOGGING], {
    stdio: ['ignore', 'pipe', 'pipe'], // standard error is never read
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
  })
  // what it has written may be read after its end
  const [[code], said] = await Promise.all([once(child, 'exit'), textOf(child.stdout)])
  expect(code).toBe(0)
  const { longest, dropped } = JSON.parse(said)
  expect(dropped).toBeGreaterThan(1000)
  expect(longest).toBeLessThan(60_000) // one that waits for the reader waits for ever
})

test('a log on a full disk goes on, and the lines that are lost are counted', async () => {
  const full = openSync('/dev/full', 'a')
  const log = createLog('info', { to: full })
  log.info({}, 'one')
  await new Promise((resolve) => setTimeout(resolve, 50))
  log.info({}, 'two')
  await log.close()
  expect(log.dropped).toBeGreaterThan(0)
  log.info({}, 'after the end')
})
