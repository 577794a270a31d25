import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Gatepass, ToolError } from '../../src/sdk/client/gatepass.ts'
import { approve } from '../http/world.ts'
import { type SdkWorld, startSdkWorld } from './sdk-world.ts'

let world: SdkWorld
let client: Gatepass

beforeAll(async () => {
  world = await startSdkWorld()
  client = world.client
})
afterAll(() => world[Symbol.asyncDispose]())

describe('execute', () => {
  test('answers a value as the tool gave it', async () => {
    expect(await client.tools.execute<{ sum: number }>('Run_Add', { a: 1, b: 2 })).toMatchObject({
      outcome: 'value',
      value: { sum: 3 },
      executionId: expect.stringMatching(/^exec_/),
      durationMs: expect.any(Number),
      finishedAt: expect.any(Date),
    })
    for (const answer of [null, 0, '', [1, [2]], [], { items: [1] }, { items: [1], more: true }])
      expect(await client.tools.execute('Run.Free', { answer })).toMatchObject({
        outcome: 'value',
        value: answer,
      })
  })

  test('answers a failure of the tool as an outcome with an error that can be thrown', async () => {
    const failed = await client.tools.execute('Demo.Fail', {
      kind: 'UPSTREAM_RUNTIME_RATE_LIMIT',
      message: 'Too fast.',
      developer_message: 'The API said 429.',
      can_retry: true,
      additional_prompt_content: 'Ask less often.',
      retry_after_ms: 1500,
    })
    if (failed.outcome !== 'error') throw new Error(failed.outcome)
    expect(failed.error).toBeInstanceOf(ToolError)
    expect(failed.error).toMatchObject({
      code: 'tool_error',
      kind: 'UPSTREAM_RUNTIME_RATE_LIMIT',
      message: 'Too fast.',
      developerMessage: 'The API said 429.',
      canRetry: true,
      additionalPromptContent: 'Ask less often.',
      retryAfterMs: 1500,
      executionId: failed.executionId,
    })
  })

  test('answers a missing consent with one link for all providers, and an artifact by reference', async () => {
    const missing = await client.tools.execute('Run_Both', {}, { user: 'e1' })
    if (missing.outcome !== 'requires_authorization') throw new Error(missing.outcome)
    await Promise.all([missing.authorization.wait(), approve(missing.authorization.url)])
    expect(await client.as('e1').tools.execute('Run_Both')).toMatchObject({ outcome: 'value' })

    expect(await client.tools.execute('Demo.Artifact')).toMatchObject({
      outcome: 'artifact',
      artifact: {
        url: 'https://files.example.test/report.csv',
        contentType: 'text/csv',
        size: 1234,
        description: 'A report',
      },
    })
  })
})

describe('run', () => {
  test('returns the value, and throws what else became of it', async () => {
    expect(await client.tools.run('Run.Add', { a: 1 })).toEqual({ sum: 1 })
    expect(await client.tools.run('Demo.Array')).toEqual([1, 'two', { three: 3 }])
    await expect(client.tools.run('Run.Fails')).rejects.toMatchObject({
      code: 'tool_error',
      kind: 'TOOL_RUNTIME_FATAL',
    })
    await expect(client.tools.run('Run.Acts', {}, { user: 'r1' })).rejects.toMatchObject({
      code: 'authorization_required',
      authorization: { status: 'pending' },
    })
    await expect(client.tools.run('Run.Ad', { a: 1 })).rejects.toMatchObject({
      code: 'not_found',
      status: 404,
      requestId: expect.any(String),
      message: expect.stringContaining('Run'),
    })
  })
})

test('a key of any letters: the repetition gets the first answer', async () => {
  const options = { idempotencyKey: 'welcome-李雷' }
  for (let times = 0; times < 2; times++)
    expect(await client.tools.run('Run.Count', { key: '李雷' }, options)).toEqual({ times: 1 })
})

describe('the catalogue', () => {
  test('lists tools with schemas and requirements, page by page or all', async () => {
    const names: string[] = []
    for await (const { name } of client.tools.list()) names.push(name)
    expect(names).toEqual(expect.arrayContaining(['Run_Add', 'Demo_Echo']))
    const page = await client.tools.list({ toolkit: 'Run' }).page({ offset: 1, limit: 2 })
    expect(page).toMatchObject({
      offset: 1,
      limit: 2,
      totalCount: names.filter((one) => one.startsWith('Run_')).length,
    })
    expect(page.items).toHaveLength(2)

    expect(await client.tools.get('Run.Both', { user: 'l1' })).toMatchObject({
      name: 'Run_Both',
      id: 'Run:Both',
      qualifiedName: 'Run.Both',
      inputSchema: { type: 'object', properties: { key: { type: 'string' } } },
      modelSchema: { type: 'object' },
      requirements: {
        met: false,
        authorizations: [
          { provider: 'demo', scopes: ['read'], status: 'active', consent: 'not_started' },
          { provider: 'other', scopes: ['read'], status: 'active', consent: 'not_started' },
        ],
        secrets: [],
        worker: { met: true, status: 'active' },
      },
    })
    expect(await client.tools.list({ tag: ['Maths', 'none'] }).toArray()).toHaveLength(1)
    const met = await client.as('l1').tools.list({ q: 'user', met: true, provider: 'demo' }).toArray()
    expect(met).toEqual([])
  })

  test('authorizes a tool before it is run', async () => {
    const authorization = await client.as('a1').tools.authorize('Run.Acts')
    expect(authorization.status).toBe('pending')
    await Promise.all([authorization.wait(), approve(authorization.url ?? '')])
    expect((await client.tools.authorize('Run.Acts', { user: 'a1' })).status).toBe('completed')
    expect((await client.tools.authorize('Run.Add')).status).toBe('completed')
  })
})
