import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, testClock } from '../../gatepass.ts'
import { approve, providerBody, startWorld, type World } from '../../http/world.ts'

// Chains on tools in the process; test/http/runs.test.ts has what every way of running a tool has.

const RUN_TOOLS = fileURLToPath(new URL('../../fixtures/run-tools.ts', import.meta.url))
const environment = { GATEPASS_TOOLS: RUN_TOOLS }

let world: World
let made = 0
const fresh = (what: string) => `${what}-${++made}`

beforeAll(async () => {
  world = await startWorld({ gatepass: { environment } })
  await world.call('POST', '/v1/admin/auth_providers', providerBody('other', world.as))
})
afterAll(() => world[Symbol.asyncDispose]())

const chain = (steps: readonly object[], more: object = {}): Promise<Answer> =>
  world.call('POST', '/v1/tools/run_chain', { steps, ...more })
const timesRun = async (key: string) =>
  (await world.call('POST', '/v1/tools/run', { toolId: 'Run.Ran', args: { key } })).body.structured

async function connect(userId: string, sub: string) {
  const { account } = world.as
  world.as.account = { ...account, sub }
  const need = {
    auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } },
    user_id: userId,
    account: 'new',
  }
  await approve((await world.call('POST', '/v1/auth/authorize', need)).body.url)
  world.as.account = account
}

describe('a chain that waits for consent', () => {
  const paused = async (key: string, user_id: string) => {
    const steps = [
      { toolId: 'Run:Count', args: { key } },
      { toolId: 'Run:Acts', args: { key: `${key}-acts` } },
      { toolId: 'Run:Add', args: { a: 1, key: `${key}-last` }, usePrevious: true },
    ]
    const { status, body } = await chain(steps, { user_id })
    expect([status, body.status]).toEqual([200, 'requires_authorization'])
    return { ...body, given: steps }
  }
  const resume = (handle: string, user_id: string, more: object = {}, key?: string) =>
    world.call(
      'POST',
      '/v1/tools/run_chain',
      { resume: handle, user_id, ...more },
      key === undefined ? {} : { key },
    )

  test('names the step; resumed, it repeats no finished one', async () => {
    const [key, user] = [fresh('resumed'), fresh('user')]
    const waiting = await paused(key, user)
    expect(waiting).toMatchObject({
      requires_authorization: {
        step: 1,
        toolId: 'Run:Acts',
        id: expect.stringMatching(/^auth_/),
        url: expect.stringContaining('/connect/'),
        scopes: ['read'],
        status: 'pending',
      },
      resume: expect.stringMatching(/^chain_/),
    })
    expect(waiting.steps.map(({ toolId }: { toolId: string }) => toolId)).toEqual([
      'Run:Count',
      'Run:Acts',
      'Run:Add',
    ])
    await approve(waiting.requires_authorization.url)
    const { status, body } = await resume(waiting.resume, user)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      status: 'completed',
      structured: { sum: 1 },
      steps: [
        { status: 'completed', structured: { times: 1 } },
        { status: 'completed', structured: { times: 1, user } },
        { status: 'completed' },
      ],
    })
    expect(await timesRun(key)).toBe(1)
    expect(await resume(waiting.resume, user)).toMatchObject({ status: 404, body: { name: 'not_found' } })
  })

  test('resumed too soon it waits again, by another handle', async () => {
    const [key, user] = [fresh('early'), fresh('user')]
    const waiting = await paused(key, user)
    const again = (await resume(waiting.resume, user)).body
    expect(again).toMatchObject({ status: 'requires_authorization', requires_authorization: { step: 1 } })
    expect(again.resume).not.toBe(waiting.resume)
    expect((await resume(waiting.resume, user)).status).toBe(404)
    await approve(again.requires_authorization.url)
    expect((await resume(again.resume, user)).body.status).toBe('completed')
    expect(await timesRun(key)).toBe(1)
  })

  test("is its user's and its project's alone, with its own steps; a refusal does not use it up", async () => {
    const [key, user] = [fresh('own'), fresh('user')]
    const { resume: handle, requires_authorization, given: steps } = await paused(key, user)
    await approve(requires_authorization.url)
    const stranger = await world.gatepass.makeKey('admin', 'stranger')
    expect((await resume(handle, 'somebody-else')).status).toBe(404)
    expect((await world.call('POST', '/v1/tools/run_chain', { resume: handle })).status).toBe(404)
    expect((await resume(handle, user, {}, stranger)).status).toBe(404)
    expect(await resume(handle, user, { steps: steps.slice(1) })).toMatchObject({
      status: 400,
      body: { name: 'invalid_request' },
    })
    expect((await resume(handle, user, { accounts: { nobody: 'x' } })).status).toBe(400)
    expect((await resume(handle, user, { steps })).body.status).toBe('completed')
  })

  test('resumed twice at once goes on once', async () => {
    const [key, user] = [fresh('race'), fresh('user')]
    const waiting = await paused(key, user)
    await approve(waiting.requires_authorization.url)
    const both = await Promise.all([resume(waiting.resume, user), resume(waiting.resume, user)])
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 404])
    expect(await timesRun(`${key}-acts`)).toBe(1)
  })

  test('is resumed also while another request to resume it is refused', async () => {
    const [key, user] = [fresh('beside'), fresh('user')]
    const { resume: handle, requires_authorization, given: steps } = await paused(key, user)
    await approve(requires_authorization.url)
    const wrong = { steps: steps.slice(1) }
    const answers = await Promise.all([
      resume(handle, user, wrong),
      resume(handle, user, { accounts: { unknown: 'x' } }),
      resume(handle, user),
    ])
    expect(answers.map(({ status }) => status)).toEqual([expect.any(Number), expect.any(Number), 200])
    expect(await timesRun(`${key}-acts`)).toBe(1)
    expect((await resume(handle, user)).status).toBe(404)
  })

  test('expires in a day, and its steps lie sealed in the database', async () => {
    const clock = testClock()
    await using own = await startWorld({ gatepass: { environment, now: clock } })
    const steps = [{ toolId: 'Run:Acts', args: { key: 'what-nobody-may-read' } }]
    const pause = async () =>
      (await own.call('POST', '/v1/tools/run_chain', { steps, user_id: 'ada' })).body.resume
    const [inTime, late] = [await pause(), await pause()]
    const files = await Promise.all(
      ['', '-wal'].map((suffix) =>
        readFile(`${own.gatepass.databasePath}${suffix}`).catch(() => Buffer.alloc(0)),
      ),
    )
    expect(Buffer.concat(files).includes(inTime)).toBe(true)
    expect(Buffer.concat(files).includes('what-nobody-may-read')).toBe(false)
    const again = (handle: string) =>
      own.call('POST', '/v1/tools/run_chain', { resume: handle, user_id: 'ada' })
    clock.advance(24 * 3600 - 1)
    expect((await again(inTime)).status).toBe(200)
    clock.advance(2)
    expect((await again(late)).status).toBe(404)
  })

  test('goes on with the accounts it was called with', async () => {
    const user_id = fresh('user')
    await connect(user_id, 'u-1')
    await connect(user_id, 'u-2')
    const steps = [{ toolId: 'Run:ActsElsewhere' }, { toolId: 'Run:Acts' }]
    const { body } = await chain(steps, { user_id, accounts: { demo: 'u-2' } })
    expect(body.requires_authorization).toMatchObject({ step: 0, toolId: 'Run:ActsElsewhere' })
    await approve(body.requires_authorization.url)
    const resumed = await resume(body.resume, user_id)
    expect(resumed.body).toMatchObject({ status: 'completed', structured: { account: 'u-2' } })
    expect(await chain(steps, { user_id, accounts: { nobody: 'x' } })).toMatchObject({
      status: 400,
      body: { name: 'invalid_request', message: expect.stringContaining('nobody') },
    })
  })
})

test('a chain has 50 steps at most', async () => {
  const steps = Array.from({ length: 51 }, () => ({ toolId: 'Run:Strict' }))
  expect((await chain(steps)).status).toBe(400)
  expect((await chain(steps.slice(1))).body.status).toBe('completed')
})
