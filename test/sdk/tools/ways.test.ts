import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Serving } from '../../../src/sdk/tools/index.ts'
import { digest } from '../../digest.ts'
import { hubApp } from '../../fixtures/hub-app.ts'
import { approve, providerBody, startWorld, type World } from '../../http/world.ts'

// The same app by each way of running, called through the same Gatepass: P in its process, W as an HTTP worker.

const MODULE = fileURLToPath(new URL('../../fixtures/hub.ts', import.meta.url))
const SECRET = 'secret of the worker'
const WAYS = [
  { way: 'P', namespace: 'hub' },
  { way: 'W', namespace: 'wired' },
] as const

let world: World
let worker: Serving
const tokens: Record<string, string> = {}

beforeAll(async () => {
  world = await startWorld({ gatepass: { environment: { GATEPASS_TOOLS: MODULE } } })
  const { call } = world
  await call('POST', '/v1/admin/auth_providers', providerBody('other', world.as))
  worker = await hubApp('wired').serve({ as: 'worker', secret: SECRET, port: 0 })
  const http = { uri: worker.url, secret: SECRET, timeout: 60, retry: 0 }
  expect(await call('POST', '/v1/workers', { id: 'wired', http })).toMatchObject({ status: 201 })
  await call('POST', '/v1/admin/secrets/HUB_KEY', { value: 'a secret of the hub' })
  tokens.demo = await world.connect('ada')
})
afterAll(async () => {
  await worker.close()
  await world[Symbol.asyncDispose]()
})

describe.each(WAYS)('$way: a handler', ({ way, namespace }) => {
  const run = async (name: string, input: object = {}, more: object = {}) =>
    (await world.execute(`${namespace}.${name}`, { input, user_id: 'ada', ...more }, 'arcade')).body
  const resultOf = async (...of: Parameters<typeof run>) => {
    const { output } = await run(...of)
    expect(output.error).toBeUndefined()
    return output.value
  }

  test('is given input, secrets, metadata and who calls', async () => {
    const at = '2026-02-03T04:05:06Z'
    const given = await resultOf('Context', { at }, { metadata: { locale: 'de' } })
    expect(given).toEqual({
      year: 2026,
      n: 1,
      secret: digest('a secret of the hub'),
      undeclared: expect.stringContaining('requiresSecrets'),
      metadata: { locale: 'de' },
      userId: 'ada',
      sessionId: null,
      hasRequestId: true,
      authorization: null,
    })
  })

  test('publishes the input side of its schema, dates as text', async () => {
    const { body } = await world.call('GET', `/v1/tools/${namespace}:Context`)
    expect(body.toolkit).toMatchObject({ name: namespace, version: '1.2.3' })
    expect(body.input.parameters).toMatchObject([
      { name: 'at', required: false, value_schema: { val_type: 'string' } },
      { name: 'n', required: false, value_schema: { val_type: 'number' } },
    ])
    if (way === 'W') return // Arcade's parameters have no formats
    const formatted = (await world.call('GET', `/v1/formatted_tools?format=mcp&limit=100`)).body.items
    const context = formatted.find((one: { name: string }) => one.name === `${namespace}_Context`)
    expect(context.inputSchema.properties.at).toEqual({ type: 'string', format: 'date-time' })
  })

  test('is given the token of its provider', async () => {
    expect(await resultOf('WhoAmI')).toMatchObject({
      digest: digest(tokens.demo ?? ''),
      tokenType: 'bearer',
      scopes: ['read'],
      userInfo: expect.objectContaining({ sub: expect.any(String) }),
      extra: {},
      expiresAt: expect.any(String),
      names: ['demo'],
    })
    const { body } = await world.call('GET', `/v1/tools/${namespace}:WhoAmI`)
    expect(body.requirements.authorization).toMatchObject({ id: 'demo', oauth2: { scopes: ['read'] } })
  })

  test('is given the tokens of several providers by their names', async () => {
    const user_id = `both ${way}`
    const asked = await world.execute(`${namespace}.Both`, { user_id })
    await approve(asked.body.output.requires_authorization.url)
    const { demo, other } = await resultOf('Both', {}, { user_id })
    expect(demo).toMatch(/^[0-9a-f]{64}$/)
    expect(other).toMatch(/^[0-9a-f]{64}$/)
    expect(demo).not.toBe(other)
  })

  test('with anyOf is given the token that the user has granted', async () => {
    expect(await resultOf('Either')).toEqual({ digest: digest(tokens.demo ?? ''), names: ['demo'] })
    const asked = await world.execute(`${namespace}.Either`, { user_id: `either ${way}` })
    expect(asked.body.output.requires_authorization).toMatchObject({ status: 'pending' })
  })

  test('logs, reports progress and does steps', async () => {
    const { output } = await run('Talk')
    expect(output.value).toEqual({
      once: 4,
      aborted: false,
      circle: expect.stringContaining('cycle'),
    })
    expect(output.logs).toEqual([
      { level: 'info', message: 'one' },
      { level: 'warning', message: 'two' },
      { level: 'error', message: 'three' },
    ])
    const events = await streamed(`${namespace}:Talk`)
    const kinds = events.filter(({ data }) => data.total !== 1).map(({ kind }) => kind)
    expect(kinds).toEqual(way === 'P' ? ['progress', 'chunk', 'done'] : ['done'])
  })

  test('reads the resources and prompts of its app', async () => {
    expect(await resultOf('Library')).toEqual({
      list: [
        { uri: 'hub://motd', name: 'motd', mimeType: 'text/plain' },
        { uri: 'hub://bytes', name: 'hub://bytes' },
      ],
      templates: [{ uriTemplate: 'hub://users/{id}', name: 'user' }],
      read: [{ uri: 'hub://user', text: 'a b for ada' }],
      get: { uri: 'hub://motd', mimeType: 'text/plain', text: 'hello' },
      bytes: { uri: 'hub://bytes', blob: 'AQID' },
      missing: expect.stringContaining('hub://none'),
      roots: [],
      prompts: [
        {
          name: 'greet',
          description: 'Greets.',
          arguments: [{ name: 'name', description: 'Whom', required: true }],
        },
      ],
      prompt: {
        description: 'Greets.',
        messages: [{ role: 'user', content: { type: 'text', text: 'Greet Ada.' } }],
      },
      badPrompt: expect.stringContaining('"name"'),
    })
  })

  const named = (name: string) => (way === 'P' ? `${namespace}:${name}` : name)

  test('calls other tools', async () => {
    const { answered } = await resultOf('Outer', { call: named('Return'), args: { what: 'object' } })
    expect(answered).toEqual({ content: [{ type: 'text', text: '{"n":1}' }], structuredContent: { n: 1 } })
    const listed = await resultOf('Outer', { call: `${namespace}:Return`, args: { what: 'object' } })
    expect(listed.answered).toEqual(answered)
    const logged = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    const failed = await resultOf('Outer', { call: named('Fail'), args: { how: 'own' } })
    expect(logged).toHaveBeenCalledTimes(way === 'P' ? 0 : 1) // in Gatepass's process the inner run is recorded
    logged.mockRestore()
    expect(failed.answered).toMatchObject({
      content: [{ text: 'Refused.' }],
      isError: true,
      _meta: { arcade: { errorKind: 'UPSTREAM_RUNTIME_NOT_FOUND', statusCode: 404, canRetry: false } },
    })
    expect(JSON.stringify(failed.answered)).not.toContain('on purpose') // the message for operators
    const unknown = await resultOf('Outer', { call: 'Nowhere' })
    expect(unknown.answered).toMatchObject({ isError: true })
    const bad = await resultOf('Outer', { call: named('Return'), args: { what: 'unheard of' } })
    expect(bad.answered._meta.arcade.errorKind).toBe('TOOL_RUNTIME_BAD_INPUT_VALUE')
    expect((await resultOf('List')).includes(way === 'P' ? `${namespace}:Return:1.2.3` : 'Return')).toBe(true)
  })

  test('calls tools with its user’s token', async () => {
    const { answered } = await resultOf('Outer', { call: 'hub:WhoAmI' })
    if (way === 'P') expect(answered.structuredContent.digest).toBe(digest(tokens.demo ?? ''))
    else expect(answered).toMatchObject({ isError: true }) // this app has no client of Gatepass
  })

  test('calls tools that call tools, eight deep', async () => {
    const ended = await resultOf('Deep', { name: named('Deep') })
    expect(ended).toMatchObject({ depth: 8, content: [{ text: expect.stringContaining('More than 8') }] })
  })

  test.each([
    ['form', 'ui.elicit'],
    ['model', 'sampling.createMessage'],
  ])('has no MCP client for a %s, and is told so', async (what, member) => {
    const { output } = await run('Ask', { what })
    expect(output.error).toMatchObject({ kind: 'TOOL_RUNTIME_CONTEXT_REQUIRED', can_retry: false })
    expect(output.error.message).toContain(member)
  })

  test('may ask for no form that clients could not show', async () => {
    const { output } = await run('Ask', { what: 'nested form' })
    expect(output.error.developer_message).toContain('deep')
  })

  test('adds and removes tools while it is served', async () => {
    expect(await resultOf('Announce')).toBe('announced')
    if (way === 'W') await world.call('PATCH', '/v1/workers/wired', { enabled: true }) // reads the list again
    expect(await resultOf('Added')).toBe('added')
    expect(await resultOf('Announce', { remove: true })).toBe('announced')
    if (way === 'W') await world.call('PATCH', '/v1/workers/wired', { enabled: true })
    expect((await world.execute(`${namespace}.Added`)).status).toBe(404)
  })

  test.each([
    ['text', 'hello'],
    ['object', { n: 1 }],
    ['content', 'hello'],
    ['structured', { n: 1 }],
    ['image', { content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }] }],
    ['nothing', null],
  ])('returns %s', async (what, value) => {
    expect(await resultOf('Return', { what })).toEqual(value)
  })

  test('returns a failure', async () => {
    const { success, output } = await run('Return', { what: 'failure' })
    expect(success).toBe(false)
    expect(output.error).toMatchObject({ kind: 'TOOL_RUNTIME_FATAL', message: 'no such user' })
  })

  test.each([
    ['own', { kind: 'UPSTREAM_RUNTIME_NOT_FOUND', message: 'Refused.', status_code: 404 }],
    ['adapted', { kind: 'UPSTREAM_RUNTIME_VALIDATION_ERROR', message: 'Out of range.' }],
    [
      'axios',
      {
        kind: 'UPSTREAM_RUNTIME_RATE_LIMIT',
        message: 'The API at api.example.test answered 429.',
        can_retry: true,
        retry_after_ms: 2000,
      },
    ],
    ['mistake', { kind: 'TOOL_RUNTIME_FATAL', message: 'The tool has failed.', can_retry: false }],
  ])('fails: %s', async (how, error) => {
    const { success, output } = await run('Fail', { how })
    expect(success).toBe(false)
    expect(output.error).toMatchObject(error)
    expect(output.error.message).not.toContain('secret')
  })
})

describe('a missing consent of a tool that is called', () => {
  test('ends the outer call with its link, and the call runs after it', async () => {
    const input = { call: 'hub:WhoAmI' }
    const { body } = await world.execute('hub.Outer', { input, user_id: 'eve' })
    const { url, scopes } = body.output.requires_authorization
    expect(scopes).toEqual(['read'])
    await approve(url)
    const again = await world.execute('hub.Outer', { input, user_id: 'eve' })
    expect(again.body.output.value.answered.structuredContent.scopes).toEqual(['read'])
  })

  test('and a policy that forbids it, counts like that of any call', async () => {
    const rule = { id: 'no-names', effect: 'deny', match: { tools: ['hub:WhoAmI'], users: ['ada'] } }
    const { status } = await world.call('POST', '/v1/admin/policies', rule)
    expect(status).toBe(201)
    const { body } = await world.execute('hub.Outer', { input: { call: 'hub:WhoAmI' }, user_id: 'ada' })
    expect(body.output.value.answered).toMatchObject({
      isError: true,
      _meta: { arcade: { errorKind: 'CONTEXT_DENIED' } },
    })
    await world.call('DELETE', '/v1/admin/policies/no-names')
  })

  test('is recorded as a run of its own', async () => {
    const { body } = await world.call('GET', '/v1/executions?limit=100')
    const inner = body.items.filter((one: { entry_point: string }) => one.entry_point === 'tool')
    expect(inner.length).toBeGreaterThan(0)
  })
})

async function streamed(toolId: string) {
  const response = await fetch(`${world.gatepass.url}/v1/tools/run_stream`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.gatepass.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ toolId, args: {}, user_id: 'ada' }),
  })
  const text = await response.text()
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
}
