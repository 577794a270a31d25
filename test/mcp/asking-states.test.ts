import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { waiting } from '../fixtures/asking-tools.ts'
import { type Gatepass, startGatepass, testClock } from '../gatepass.ts'
import { freshDatabase } from '../postgres.ts'
import { eventsOf, exchange, legacy, modern, openSession, type RawOptions, send } from './raw.ts'

const environment = { GATEPASS_TOOLS: fileURLToPath(new URL('../fixtures/asking-tools.ts', import.meta.url)) }
const clock = testClock(Math.floor(Date.now() / 1000))
const FORMS = { elicitation: { form: {} } }

/** Two nodes on one file. */
let first: Gatepass
let second: Gatepass
beforeAll(async () => {
  const options = { environment, mode: 'development', now: clock } as const
  first = await startGatepass(options)
  second = await startGatepass({ ...options, databasePath: first.databasePath })
})
afterAll(async () => {
  await first.close()
  await second.close()
})

const ORDER = { name: 'Asking_Order', arguments: { what: 'tea' } }

async function call(
  node: Gatepass,
  params: Record<string, unknown>,
  { capabilities = FORMS, ...options }: RawOptions & { readonly capabilities?: object } = {},
) {
  const { body, headers } = modern('tools/call', params, capabilities)
  return exchange(node, body, { ...options, headers })
}

/** The first question of the tool, and its answer as the client sends it. */
async function asked(node: Gatepass, params: Record<string, unknown>, options?: RawOptions) {
  const { result } = (await call(node, params, options)).body
  expect(result).toMatchObject({ resultType: 'input_required' })
  const [key = ''] = Object.keys(result.inputRequests)
  const retry = (content: object) => ({
    ...params,
    requestState: result.requestState,
    inputResponses: { [key]: { action: 'accept', content } },
  })
  return { result, retry }
}

describe('the state of a call that asks', () => {
  test.each([
    ['another user', { user: 'eve' }, {}],
    ['another tool', {}, { name: 'Asking_AskThenWait', arguments: {} }],
    ['other arguments', {}, { arguments: { what: 'coffee' } }],
    ['a changed state', {}, { requestState: 'v1.AAAA.BBBB' }],
  ])('is of no use to %s, and says nothing', async (_, options, changed) => {
    const { retry } = await asked(first, ORDER)
    const stolen = await call(second, { ...retry({ size: 'small' }), ...changed }, options)
    expect(stolen.body.error).toMatchObject({ code: -32_602, message: 'Invalid or expired requestState' })
    const next = await call(second, retry({ size: 'small' }))
    expect(next.body.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { 'question-2': { params: { message: 'How many?' } } },
    })
  })

  test('asks again where the answer is missing, and gives the same result again to the same retry', async () => {
    const { retry, result } = await asked(first, ORDER, { user: 'rita' })
    const again = await call(second, { ...ORDER, requestState: result.requestState }, { user: 'rita' })
    expect(again.body.result.inputRequests).toEqual(result.inputRequests)
    const { result: two } = (await call(second, retry({ size: 'large' }), { user: 'rita' })).body
    const last = {
      ...ORDER,
      requestState: two.requestState,
      inputResponses: { 'question-2': { action: 'accept', content: { count: 1 } } },
    }
    const results = [await call(first, last, { user: 'rita' }), await call(second, last, { user: 'rita' })]
    for (const { body } of results) expect(body.result.content[0].text).toContain('"runs":1')
  })

  test('ends after 600 s: the tool hears of a cancel', async () => {
    const { retry } = await asked(first, ORDER)
    clock.advance(601)
    expect((await call(second, retry({ size: 'small' }))).body.error).toMatchObject({ code: -32_602 })
    await vi.waitFor(async () => {
      const { body } = await first.call('GET', '/v1/executions?user_id=ada&limit=1')
      expect(JSON.stringify(body.items[0])).toContain('Order')
    }, 300_000)
  })
})

test('a client that closes the stream of its retry cancels the run, whichever node it has reached', async () => {
  const user = 'carl'
  const params = { name: 'Asking_AskThenWait', arguments: {} }
  const { retry } = await asked(first, params, { user })
  const logged = second.logLines.length
  const leaving = new AbortController()
  const { body, headers } = modern('tools/call', retry({ go: true }), FORMS)
  const closed = send(second, body, { user, headers, signal: leaving.signal }).catch(() => 'closed')
  await vi.waitFor(() => expect(waiting).toContain(user), 300_000)
  leaving.abort()
  expect(await closed).toBe('closed')
  await vi.waitFor(() => expect(waiting).not.toContain(user), 300_000)
  expect(second.logLines.slice(logged).filter((line) => line.includes('a request failed'))).toEqual([])
})

test('a client of 2025 is asked on the stream of its call, and only its own answer is taken, by any node', async () => {
  const capabilities = { elicitation: {} }
  const session = await openSession(first, { capabilities })
  const ofEve = await openSession(second, { capabilities, user: 'eve' })
  const opened = await send(first, legacy('tools/call', ORDER), { headers: session })
  const events = opened.body?.pipeThrough(new TextDecoderStream()).getReader()
  const next = async () => eventsOf((await events?.read())?.value ?? '')[0]
  const question = await next()
  expect(question).toMatchObject({
    method: 'elicitation/create',
    params: { message: 'Which size?', requestedSchema: { required: ['size'] } },
  })
  const reply = (action: string, content?: object) => ({
    jsonrpc: '2.0',
    id: question.id,
    result: { action, content },
  })
  const stolen = await send(second, reply('accept', { size: 'large' }), { headers: ofEve, user: 'eve' })
  expect([stolen.status, await stolen.text()]).toEqual([202, ''])
  await send(second, reply('decline'), { headers: session })
  expect((await next()).result.content).toEqual([{ type: 'text', text: '{"decline":"size"}' }])
})

test('log lines come to a client that asks for them, from its level on', async () => {
  const level = (one: string) => ({ _meta: { 'io.modelcontextprotocol/logLevel': one } })
  const linesAt = async (one: string) => {
    const options = { user: `log-${one}` }
    const { result, retry } = await asked(first, ORDER, options)
    expect(result).toBeDefined()
    const { result: two } = (await call(first, retry({ size: 'large' }), options)).body
    const inputResponses = { 'question-2': { action: 'accept', content: { count: 1 } } }
    const { messages } = await call(
      first,
      { ...ORDER, ...level(one), requestState: two.requestState, inputResponses },
      options,
    )
    return messages.filter(({ method }) => method === 'notifications/message').map(({ params }) => params)
  }
  expect(await linesAt('info')).toEqual([{ level: 'info', data: 'orders' }])
  expect(await linesAt('error')).toEqual([])
})

test('an owner’s calls that wait are bounded', async () => {
  const calls = await Promise.all(Array.from({ length: 25 }, () => call(second, ORDER, { user: 'many' })))
  const refused = calls.filter(({ body }) => body.result.isError === true)
  expect(refused.length).toBeGreaterThanOrEqual(5)
  expect(JSON.stringify(refused[0]?.body)).toContain('are waiting for answers already')
})

test('on PostgreSQL too any node takes the answer', async () => {
  await using database = await freshDatabase()
  const options = {
    environment: { ...environment, GATEPASS_DATABASE_URL: database.url },
    mode: 'development',
  } as const
  await using one = await startGatepass(options)
  await using other = await startGatepass(options)
  const { retry } = await asked(one, ORDER, { user: 'pia' })
  const { result } = (await call(other, retry({ size: 'small' }), { user: 'pia' })).body
  const inputResponses = { 'question-2': { action: 'accept', content: { count: 4 } } }
  const last = await call(
    other,
    { ...ORDER, requestState: result.requestState, inputResponses },
    { user: 'pia' },
  )
  expect(JSON.parse(last.body.result.content[0].text)).toMatchObject({ size: 'small', count: 4, runs: 1 })
})

// last, because the first node goes on with a process that others take for dead
test('a run whose process is dead has an outcome that is not known, and that is said', async () => {
  const user = 'dora'
  const params = { name: 'Asking_AskThenWait', arguments: {} }
  const { retry } = await asked(first, params, { user })
  const file = new Database(first.databasePath)
  const processOf = file.prepare('select process_id from suspended_calls order by id desc limit 1').pluck()
  await first.broker.store.processes.leave(String(processOf.get()))
  file.close()
  const { result } = (await call(second, retry({ go: true }), { user })).body
  expect(result).toMatchObject({
    isError: true,
    content: [{ type: 'text', text: expect.stringContaining('not known whether') }],
  })
})
