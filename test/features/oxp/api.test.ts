import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digest } from '../../digest.ts'
import type { OxpTool } from '../../fake-oxp-server.ts'
import { startFakeWorker } from '../../fake-worker.ts'
import { gate } from '../../gate.ts'
import { type CallOptions, type Gatepass, startGatepass } from '../../gatepass.ts'
import { approve, metadata } from '../../http/world.ts'
import { faultsOf } from './oxp-schemas.ts'
import { type OxpWorld, startOxpWorld } from './oxp-world.ts'

// Gatepass as an OXP server. The tools behind it are those of another OXP server.

let world: OxpWorld
let names = 0
beforeAll(async () => {
  world = await startOxpWorld()
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
})

const fresh = (what: string) => `${what}-${++names}`

function ask(
  request: Record<string, unknown>,
  options: CallOptions = {},
  gatepass: Gatepass = world.gatepass,
) {
  return gatepass.call('POST', '/oxp/tools/call', { $schema: 'urn:oxp:1.0', request }, options)
}

/** The result of a call that is answered as the paper says. */
async function resultOf(request: Record<string, unknown>, options: CallOptions = {}) {
  const { status, body } = await ask(request, options)
  expect([status, faultsOf('answer', body)], JSON.stringify(body)).toEqual([200, []])
  return body.result
}

async function refusalOf(request: Record<string, unknown>) {
  const { status, body } = await ask(request)
  expect([status, faultsOf('refusal', body)], JSON.stringify(body)).toEqual([400, []])
  return body
}

/** Runs of a tool behind Gatepass with this text. */
const runsOf = (text: string) => world.server.calls.filter(({ call }) => call.input?.text === text)

describe('health', () => {
  test('needs no key', async () => {
    const { status, body, headers } = await world.call('GET', '/oxp/health', undefined, { key: null })
    expect([status, body, headers.get('oxp-version')]).toEqual([200, '', '1.0'])
  })

  test('is 503 without the database', async () => {
    const broken = await startGatepass()
    await broken.broker.store.close()
    expect((await broken.call('GET', '/oxp/health', undefined, { key: null })).status).toBe(503)
    await broken.close().catch(() => {}) // it is closed already
  })
})

describe('the API key', () => {
  test('is a bearer token, or the header OXP-API-Key below /oxp alone', async () => {
    const headers = { 'oxp-api-key': world.gatepass.apiKey }
    const get = (path: string, options: CallOptions) => world.call('GET', path, undefined, options)
    expect((await get('/oxp/tools', {})).status).toBe(200)
    expect((await get('/oxp/tools', { key: null, headers })).status).toBe(200)
    expect((await get('/v1/tools', { key: null, headers })).status).toBe(401)
    expect((await get('/oxp/tools', { key: null })).status).toBe(401)
    expect((await get('/oxp/tools', { key: 'wrong', headers })).status).toBe(401)
    expect((await ask({ tool_id: 'Oxp.Ring' }, { key: null, headers })).status).toBe(200)
  })

  test('of a lesser role may not call', async () => {
    const key = await world.gatepass.makeKey('readonly')
    expect((await world.call('GET', '/oxp/tools', undefined, { key })).status).toBe(200)
    expect((await ask({ tool_id: 'Oxp.Ring' }, { key })).status).toBe(403)
  })
})

describe('the tools', () => {
  test('are definitions as the paper has them, in `items` and in `tools`', async () => {
    await world.call('POST', '/v1/tools/import', metadata('X/Odd-name', { tool_set: 'odd.set', version: '' }))
    const { body } = await world.call('GET', '/oxp/tools')
    expect(faultsOf('tools', body)).toEqual([])
    expect(body.tools).toEqual(body.items)
    const of = (id: string) => body.items.find((one: { id: string }) => one.id === id)
    expect(of('Oxp.Digests@1.0.0')).toEqual({
      id: 'Oxp.Digests@1.0.0',
      name: 'Oxp_Digests',
      description: 'Answers the digest of each token, and for whom.',
      version: '1.0.0',
      input_schema: { type: 'object', properties: {} },
      output_schema: {},
      requirements: {
        authorization: [
          { id: 'files', oauth2: { scopes: ['read'] } },
          { id: 'mail', oauth2: { scopes: ['read', 'send'] } },
        ],
        user_id: true,
      },
    })
    expect(of('Oxp.Ring@1.0.0')).toMatchObject({ output_schema: null })
    expect(of('Oxp.Ring@1.0.0').requirements).toBeUndefined()
    expect(of('Oxp.NeedsSecret@1.0.0').requirements).toEqual({ secrets: [{ id: 'API_KEY' }] })
    expect(of('odd_set.X_Odd_name')).toMatchObject({ version: '0.0.0' })
  })

  test('have schemas without references: what a circle leads back to is anything', async () => {
    const node = {
      type: 'object',
      properties: { name: { $ref: '#/$defs/a~1b' }, next: { $ref: '#/$defs/node' }, $ref: { type: 'null' } },
      additionalProperties: false,
    }
    const input = {
      type: 'object',
      properties: {
        list: { description: 'The first', $ref: '#/$defs/node' },
        short: { $ref: '#/$defs/a~1b', maxLength: 3 },
        fixed: { const: { $ref: 'a value' } },
      },
      $defs: { node, 'a/b': { type: 'string' } },
    }
    const own = { name: 'Refers', input_schema: input, run: async () => ({ value: null }) }
    world.server.tools = [...world.server.tools, own]
    await world.call('PATCH', '/v1/workers/oxp', { enabled: true })
    const { body } = await world.call('GET', '/oxp/tools')
    const listed = body.items.find((one: { name: string }) => one.name === 'Oxp_Refers')
    const once = {
      ...node,
      properties: { name: { type: 'string' }, next: {}, $ref: { type: 'null' } },
    }
    expect(listed.input_schema).toEqual({
      type: 'object',
      properties: {
        list: { description: 'The first', ...once },
        short: { maxLength: 3, allOf: [{ type: 'string' }] },
        fixed: { const: { $ref: 'a value' } },
      },
    })
  })

  test('of another project are not there', async () => {
    const key = await world.gatepass.makeKey('caller', 'elsewhere')
    const { body } = await world.call('GET', '/oxp/tools', undefined, { key })
    expect(body).toEqual({ items: [], tools: [] })
    expect((await ask({ tool_id: 'Oxp.Ring' }, { key })).status).toBe(400)
  })
})

describe('a call', () => {
  test('lacks the consent of the user, then has it: one link, each token under its requirement', async () => {
    const user_id = fresh('user')
    const request = { tool_id: 'Oxp.Digests', call_id: fresh('call'), context: { user_id } }
    const { missing_requirements, message } = await refusalOf(request)
    const { authorization } = missing_requirements
    expect(authorization.map((one: { id: string }) => one.id)).toEqual(['files', 'mail'])
    expect(new Set(authorization.map((one: { url: string }) => one.url)).size).toBe(1)
    const [{ url, check_url }] = authorization
    expect(message).toContain(url)
    expect(check_url).toMatch(new RegExp(`^${world.gatepass.url}/v1/auth/status\\?id=auth_`))
    const status = async () => (await world.call('GET', check_url)).body.status
    expect(await status()).toBe('pending')
    expect((await refusalOf(request)).missing_requirements).toEqual(missing_requirements)

    await approve(url)
    expect(await status()).toBe('completed')
    const result = await resultOf(request)
    const [files, mail] = [await world.tokenOf('files', user_id), await world.tokenOf('mail', user_id)]
    expect(result).toMatchObject({
      call_id: request.call_id,
      success: true,
      value: { user_id, tokens: { files: digest(files), mail: digest(mail) } },
    })
  })

  test('lacks what one of two providers has not granted yet', async () => {
    const user_id = fresh('user')
    const need = { auth_requirement: { id: 'files', oauth2: { scopes: ['read'] } }, user_id }
    await approve((await world.call('POST', '/v1/auth/authorize', need)).body.url)
    const { missing_requirements } = await refusalOf({ tool_id: 'Oxp.Digests', context: { user_id } })
    expect(missing_requirements.authorization.map((one: { id: string }) => one.id)).toEqual(['mail'])
  })

  test('lacks a user, a secret', async () => {
    for (const tool_id of ['Oxp.Digests', 'Oxp.WhoAmI'])
      expect(await refusalOf({ tool_id })).toMatchObject({
        message: expect.stringContaining('context.user_id'),
        missing_requirements: { user_id: true },
      })
    const { message } = await refusalOf({ tool_id: 'Oxp.NeedsSecret' })
    expect(message).toContain('API_KEY')
  })

  test('brings its own token or secret, which is refused by its name alone', async () => {
    const own = [{ id: 'files', token: 'a-token-of-the-caller' }]
    const { message } = await refusalOf({
      tool_id: 'Oxp.Digests',
      context: { user_id: fresh('user'), authorization: own },
    })
    expect(message).toContain('"files"')
    expect(message).not.toContain('a-token-of-the-caller')
    const secrets = [{ id: 'API_KEY', value: 'v' }]
    expect((await refusalOf({ tool_id: 'Oxp.NeedsSecret', context: { secrets } })).message).toContain(
      'API_KEY',
    )
    const none = { authorization: [], secrets: [] }
    expect(await resultOf({ tool_id: 'Oxp.Ring', context: none })).toMatchObject({ success: true })
  })

  test('has input that the schema refuses', async () => {
    const { status, body } = await ask({ tool_id: 'Oxp.Echo', input: { text: 7 } })
    expect([status, faultsOf('invalid', body)]).toEqual([422, []])
    expect(body.parameter_errors).toEqual({ text: expect.any(String) })
    expect((await ask({ tool_id: 'Oxp.Echo' })).status).toBe(422)
  })

  test('whose tool ran is answered 200 whatever the tool says of itself, and runs once', async () => {
    await using demo = await startFakeWorker({ secret: 'worker-secret-of-the-test' })
    await world.call('POST', '/v1/workers', {
      id: 'lying',
      http: { uri: demo.url, secret: 'worker-secret-of-the-test' },
    })
    const says = [
      { kind: 'TOOL_REQUIREMENTS_NOT_MET' },
      { kind: 'TOOL_RUNTIME_BAD_INPUT_VALUE', extra: { parameter_errors: { text: 'no' } } },
    ]
    for (const [i, input] of says.entries()) {
      const call = { tool_id: 'Demo.Fail', call_id: `lying-${i}`, input }
      const answers = [await ask(call), await ask(call)]
      expect(answers.map(({ status }) => status)).toEqual([200, 200])
      expect(answers[0]?.body.result).toMatchObject({ success: false, error: { message: 'It failed.' } })
      expect(answers[1]?.body).toEqual(answers[0]?.body)
    }
    expect(demo.invocations).toHaveLength(says.length)
  })

  test('has input that only the server behind refuses', async () => {
    const parameter_errors = { text: 'too rude' }
    world.server.behaviour.raw = { status: 422, body: JSON.stringify({ message: 'No.', parameter_errors }) }
    const answer = await ask({ tool_id: 'Oxp.Echo', input: { text: 'rude' } })
    world.server.behaviour.raw = undefined
    expect(answer).toMatchObject({ status: 422, body: { parameter_errors } })
  })

  test('is answered with a value, null, or an error: 200', async () => {
    const { call_id, duration, ...echoed } = await resultOf({ tool_id: 'Oxp.Echo', input: { text: 'hi' } })
    expect([typeof call_id, typeof duration]).toEqual(['string', 'number'])
    expect(echoed).toEqual({
      success: true,
      value: { input: { text: 'hi' }, context: { authorization: [], secrets: [] } },
    })
    const ring = await resultOf({ tool_id: 'Oxp.Ring' })
    expect([ring.success, ring.value]).toEqual([true, null])
    expect(ring.call_id).not.toBe(call_id)
    const error = {
      message: 'Nobody there',
      developer_message: 'no bell',
      can_retry: true,
      retry_after_ms: 500,
    }
    expect(await resultOf({ tool_id: 'Oxp.Fail', input: error })).toEqual({
      call_id: expect.any(String),
      duration: expect.any(Number),
      success: false,
      error: { ...error, developer_message: 'TOOL_RUNTIME_RETRY: no bell' },
    })
  })

  test('takes `inputs` for `input`, but not both', async () => {
    const inputs = { text: 'plural' }
    expect((await resultOf({ tool_id: 'Oxp.Echo', inputs })).value.input).toEqual(inputs)
    const { message } = await refusalOf({ tool_id: 'Oxp.Echo', inputs, input: inputs })
    expect(message).toContain('send one')
  })

  test('without `request` around it is answered without `result`', async () => {
    const { status, body } = await world.call('POST', '/oxp/tools/call', { tool_id: 'Oxp.Ring' })
    expect([status, faultsOf('result', body)]).toEqual([200, []])
    expect(body).toMatchObject({ success: true, value: null })
  })

  test('is in the history', async () => {
    const user_id = fresh('user')
    await resultOf({ tool_id: 'Oxp.Ring', context: { user_id } })
    const runs = async () => (await world.call('GET', `/v1/executions?user_id=${user_id}`)).body.items
    await expect.poll(runs).toMatchObject([{ entry_point: 'oxp', execution_status: 'completed' }])
  })

  test.each([
    ['Oxp.Ring@1.0.0', 200],
    ['Oxp.Ring@1', 200],
    ['oxp.ring', 200],
    ['Oxp.Ring@2', 400],
    ['Oxp.Ring@1.0.1', 400],
    ['Oxp.Nothing', 400],
    ['Nothing', 400],
  ])('of %s is answered with %i', async (tool_id, status) => {
    expect((await ask({ tool_id })).status).toBe(status)
  })

  test('of a name and a version that OXP cannot write finds the tool as it is listed', async () => {
    const odd = metadata('Y/Strange-name', { tool_set: 'strange.set', version: '' })
    await world.call('POST', '/v1/tools/import', odd)
    for (const tool_id of ['strange_set.Y_Strange_name', 'strange_set.Y_Strange_name@0.0.0'])
      expect((await refusalOf({ tool_id })).message).toContain('Nothing runs the tool "Y/Strange-name"')
  })

  test.each<[string, unknown, Record<string, string>]>([
    ['no body', undefined, {}],
    ['a list', [], {}],
    ['neither a request nor a tool', { $schema: 'urn:oxp:1.0' }, {}],
    ['a request without a tool', { request: {} }, {}],
    ['input that is a list', { request: { tool_id: 'Oxp.Ring', input: [] } }, {}],
    ['a member beside its request', { request: { tool_id: 'Oxp.Ring' }, call_id: 'beside' }, {}],
    ['an empty call_id', { request: { tool_id: 'Oxp.Ring', call_id: '' } }, {}],
    ['another version', { $schema: 'urn:oxp:2.0', request: { tool_id: 'Oxp.Ring' } }, {}],
    ['another version in its header', { request: { tool_id: 'Oxp.Ring' } }, { 'oxp-version': '2.0' }],
  ])('with %s is refused with a message', async (_, body, headers) => {
    const answer = await world.call('POST', '/oxp/tools/call', body, { headers })
    expect(faultsOf('refusal', answer.body)).toEqual([])
    expect([400, 415]).toContain(answer.status)
  })
})

describe('call_id', () => {
  const echo = (text: string, call_id: string) => ({ tool_id: 'Oxp.Echo', call_id, input: { text } })

  test('makes the same call run once, also while the first is under way', async () => {
    const request = { tool_id: 'Oxp.Slow', call_id: fresh('call'), input: { ms: 300, text: fresh('slow') } }
    const results = await Promise.all([request, request, request, request].map((one) => resultOf(one)))
    results.push(await resultOf(request))
    expect(new Set(results.map((one) => JSON.stringify(one))).size).toBe(1)
    expect(results[0]).toMatchObject({ call_id: request.call_id, value: 'at last' })
    expect(runsOf(request.input.text)).toHaveLength(1)
  })

  test('holds over all nodes', async () => {
    await using other = await startGatepass({ databasePath: world.gatepass.databasePath })
    const text = fresh('nodes')
    const request = echo(text, fresh('call'))
    const [first, second] = await Promise.all([ask(request), ask(request, {}, other)])
    expect([first.status, second.status]).toEqual([200, 200])
    expect(second.body).toEqual(first.body)
    expect((await ask(request, {}, other)).body).toEqual(first.body)
    expect(runsOf(text)).toHaveLength(1)
  })

  test('of another request is refused', async () => {
    const call_id = fresh('call')
    await resultOf(echo(fresh('first'), call_id))
    for (const other of [echo(fresh('second'), call_id), { tool_id: 'Oxp.Ring', call_id }])
      expect((await refusalOf(other)).message).toContain('call_id was used for another request')
  })

  test('is its caller’s own, here and at the server behind', async () => {
    const key = await world.gatepass.makeKey('caller')
    const text = fresh('two keys')
    const request = echo(text, 'call-1')
    await resultOf(request)
    await resultOf(request, { key })
    const ids = runsOf(text).map(({ call }) => call.call_id)
    expect([ids.length, new Set(ids).size]).toEqual([2, 2])
  })

  test('is its user’s own at the server behind', async () => {
    const text = fresh('two users')
    const request = {
      tool_id: 'Oxp.Fail',
      call_id: fresh('call'),
      input: { message: 'No.', can_retry: true, text }, // after which the id is free for another request
    }
    for (const user_id of ['ada', 'bob']) await resultOf({ ...request, context: { user_id } })
    const ids = runsOf(text).map(({ call }) => call.call_id)
    expect([ids.length, new Set(ids).size]).toEqual([2, 2])
  })

  test('is free again after a failure that may be tried again, and kept after one that may not', async () => {
    for (const [can_retry, runs] of [
      [true, 2],
      [false, 1],
    ] as const) {
      const text = fresh('fails')
      const request = {
        tool_id: 'Oxp.Fail',
        call_id: fresh('call'),
        input: { message: 'No.', can_retry, text },
      }
      expect([(await resultOf(request)).success, (await resultOf(request)).success]).toEqual([false, false])
      expect(runsOf(text)).toHaveLength(runs)
    }
  })

  test('lets a caller that was cut off come back for the answer; without one the call ends', async () => {
    const cutOff = async (request: Record<string, unknown>, text: string) => {
      const stop = new AbortController()
      const asked = fetch(new URL('/oxp/tools/call', world.gatepass.url), {
        method: 'POST',
        headers: { authorization: world.gatepass.apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ request }),
        signal: stop.signal,
      })
      await expect.poll(() => runsOf(text).length).toBe(1)
      stop.abort()
      await expect(asked).rejects.toThrow()
    }
    const named = fresh('named')
    const request = { tool_id: 'Oxp.Slow', call_id: fresh('call'), input: { ms: 0, text: named } }
    const { tools } = world.server
    const { opened, open } = gate()
    const held: OxpTool['run'] = () => opened.then(() => ({ value: 'at last' }))
    world.server.tools = tools.map((tool) => (tool.name === 'Slow' ? { ...tool, run: held } : tool))
    await cutOff(request, named)
    const again = resultOf(request)
    open()
    expect(await again).toMatchObject({ success: true, value: 'at last' })
    expect(runsOf(named)).toHaveLength(1)
    world.server.tools = tools

    const unnamed = fresh('unnamed')
    const before = world.server.seen.abandoned
    await cutOff({ tool_id: 'Oxp.Slow', input: { ms: 60_000, text: unnamed } }, unnamed)
    await expect.poll(() => world.server.seen.abandoned).toBe(before + 1)
  })
})

test('one Gatepass runs the tools of another by OXP', async () => {
  await using far = await startGatepass()
  const key = await world.gatepass.makeKey('caller')
  const oxp = { uri: `${world.gatepass.url}/oxp`, api_key: key }
  const { body } = await far.call('POST', '/v1/workers', { id: 'near', oxp })
  expect(body.sync_error).toBeUndefined()
  expect(await far.call('GET', '/v1/workers/near/health')).toMatchObject({ body: { healthy: true } })
  const text = fresh('far')
  const run = await far.call('POST', '/v1/tools/execute', { tool_name: 'Oxp.Echo', input: { text } })
  expect(run.body.output.value.input).toEqual({ text })
  expect(runsOf(text)).toHaveLength(1)
})
