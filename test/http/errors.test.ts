import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findJsonFault } from '../../src/http/endpoint/json-fault.ts'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import { propertyRuns } from '../property-runs.ts'

// What a refusal says: sentences for people, codes for programs, and where it is wrong.

let gatepass: Gatepass

beforeAll(async () => {
  gatepass = await startGatepass()
  await gatepass.call('POST', '/v1/tools/import', {
    name: 'Send Mail',
    version: '1.0.0',
    description: 'd',
    parameters: {},
  })
  await gatepass.call('POST', '/v1/admin/auth_providers', {
    id: 'github',
    provider_id: 'github',
    oauth2: { client_id: 'c', client_secret: 's' },
  })
  await gatepass.call('POST', '/v1/workers', {
    id: 'mailer',
    http: { uri: 'http://127.0.0.1:1', secret: 's' },
  })
})

afterAll(async () => {
  await gatepass.close()
})

const faults = async (method: string, path: string, body?: unknown) => {
  const answer = await gatepass.call(method, path, body)
  expect([answer.status, answer.body.name], JSON.stringify(answer.body)).toEqual([400, 'invalid_request'])
  for (const { message } of answer.body.errors) expect(answer.body.message).toContain(message)
  return answer.body.errors
}

test.each([
  [
    'what is missing',
    ['POST', '/v1/auth/confirm_user', {}],
    [
      { path: 'flow_id', code: 'missing', message: 'flow_id is missing.' },
      { path: 'user_id', code: 'missing', message: 'user_id is missing.' },
    ],
  ],
  [
    'what is missing in a query',
    ['GET', '/v1/auth/status'],
    [{ path: 'id', code: 'missing', message: 'id is missing.' }],
  ],
  [
    'another type',
    ['POST', '/v1/tools/execute', { tool_name: 5, input: [] }],
    [
      { path: 'tool_name', code: 'wrong_type', message: 'tool_name must be text.' },
      { path: 'input', code: 'wrong_type', message: 'input must be an object.' },
    ],
  ],
  [
    'no number',
    ['GET', '/v1/tools?limit=many'],
    [{ path: 'limit', code: 'invalid', message: 'limit must be a whole number.' }],
  ],
  [
    'no whole number',
    ['GET', '/v1/tools?offset=1.5'],
    [{ path: 'offset', code: 'invalid', message: 'offset must be a whole number.' }],
  ],
  [
    'too small',
    ['GET', '/v1/tools?offset=-1'],
    [{ path: 'offset', code: 'too_small', message: 'offset must be at least 0.' }],
  ],
  [
    'too large',
    ['GET', '/v1/auth/status?id=x&wait=60'],
    [{ path: 'wait', code: 'too_large', message: 'wait must be at most 59.' }],
  ],
  [
    'too short',
    ['POST', '/v1/auth/confirm_user', { flow_id: 'f', user_id: '' }],
    [{ path: 'user_id', code: 'too_short', message: 'user_id must not be empty.' }],
  ],
  [
    'too long',
    ['POST', '/v1/admin/secrets/KEY', { value: 'x'.repeat(5001) }],
    [{ path: 'value', code: 'too_long', message: 'value must have at most 5000 characters.' }],
  ],
  [
    'one of several',
    ['GET', '/v1/executions?type=odd'],
    [{ path: 'type', code: 'not_one_of', message: 'type must be one of "immediate", "scheduled".' }],
  ],
  [
    'a body that is no object',
    ['POST', '/v1/auth/confirm_user', []],
    [{ path: '', code: 'wrong_type', message: 'The body must be an object.' }],
  ],
  [
    'one of two',
    ['POST', '/v1/auth/authorize', { user_id: 'u', auth_requirement: {} }],
    [{ path: 'auth_requirement', code: 'invalid', message: 'auth_requirement needs `provider_id` or `id`.' }],
  ],
  [
    'within a list',
    ['POST', '/v1/tools/run_chain', { steps: [{ toolId: 'a' }, { toolId: 'b', usePrevious: 1 }] }],
    [
      {
        path: 'steps.1.usePrevious',
        code: 'wrong_type',
        message: 'steps.1.usePrevious must be true or false.',
      },
    ],
  ],
  [
    'a time',
    ['GET', '/v1/admin/audit?since=yesterday'],
    [
      {
        path: 'since',
        code: 'invalid',
        message: 'since must be a date and time such as 2026-11-21T00:00:00Z.',
      },
    ],
  ],
] as const)('%s is said as a sentence, with a code and a path', async (_, [method, path, body], expected) => {
  expect(await faults(method, path, body)).toEqual(expected)
})

test('nothing says what the library that checks it would say', async () => {
  for (const [method, path, body] of [
    ['POST', '/v1/auth/authorize', { auth_requirement: 5, user_id: null, next_uri: {} }],
    ['POST', '/v1/workers', { id: 'w', openapi: { authorization: 5, request: { authorization: [7] } } }],
    ['POST', '/v1/code/execute', { code: 1, limits: { timeout_ms: -1, memory_mb: 'x' } }],
    ['PATCH', '/v1/connections/x', { default: false }],
    ['GET', '/v1/tools?include_format=xml'],
  ] as const) {
    const told = JSON.stringify(await faults(method, path, body))
    expect(told).not.toMatch(/Invalid input|expected|received|NaN|undefined|unrecognized/i)
  }
})

describe('broken JSON', () => {
  const send = async (text: string) => {
    const response = await fetch(new URL('/v1/tools/execute', gatepass.url), {
      method: 'POST',
      headers: { authorization: gatepass.apiKey, 'content-type': 'application/json' },
      body: text,
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  test.each([
    ['{"tool_name": "x",}', 1, 19],
    ['{\n  "tool_name": "x"\n  "input": {}\n}', 3, 3],
    ['{"a": hunter2}', 1, 7],
    ["{'a': 1}", 1, 2],
    ['{"a": 01}', 1, 7],
    ['{"a": "b\nc"}', 1, 9],
    ['{"a": "\\x"}', 1, 8],
    ['{"a": [1, 2}', 1, 12],
    ['{"a": 1', 1, 8],
    ['{"a"', 1, 5],
    ['{"a": tru}', 1, 7],
    ['{"a": NaN}', 1, 7],
    ['{} x', 1, 4],
    ['[1,]', 1, 4],
    ['"abc', 1, 5],
  ])('%j is refused at line %d, column %d', async (text, line, column) => {
    const { status, body } = await send(text)
    expect(status).toBe(400)
    expect(body).toMatchObject({
      name: 'invalid_request',
      errors: [{ path: '', code: 'invalid_json', line, column }],
    })
    expect(body.message).toContain(`line ${line}, column ${column}`)
    expect(JSON.stringify(body)).not.toContain('hunter2')
  })

  test('every text that is JSON passes the search for a fault, and no other', async () => {
    fc.assert(
      fc.property(
        fc.json(),
        fc.nat(),
        fc.constantFrom('', ',', '}', '"', '0', ' ', '\\', '\u0001'),
        (json, at, piece) => {
          const place = at % (json.length + 1)
          const text = json.slice(0, place) + piece + json.slice(place + (at % 2))
          const isJson = (() => {
            try {
              JSON.parse(text)
              return true
            } catch {
              return false
            }
          })()
          return (findJsonFault(text) === undefined) === isJson
        },
      ),
      { numRuns: propertyRuns({ rare: 5 }) },
    )
  })

  test('a fault at the end of a large body is found at once', async () => {
    const began = performance.now()
    const { body } = await send(`{"a":[${'"x\\n",'.repeat(500_000)}]}`)
    expect(body).toMatchObject({ errors: [{ code: 'invalid_json', column: 3_000_007 }] })
    expect(performance.now() - began).toBeLessThan(60_000) // a search from the start for each character takes hours
  })
})

test('a method that a path does not take is 405 with those it takes', async () => {
  for (const [method, path, allow] of [
    ['GET', '/v1/tools/execute', 'POST'],
    ['GET', '/v1/tools/run', 'POST'],
    ['PUT', '/v1/tools/execute', 'POST'],
    ['PUT', '/v1/tools/any', 'DELETE, GET, HEAD'],
    ['GET', '/v1/auth/authorize', 'POST'],
    ['PUT', '/v1/connections/x', 'DELETE, GET, HEAD, PATCH'],
    ['POST', '/v1/tools', 'GET, HEAD'],
    ['DELETE', '/v1/workers', 'GET, HEAD, POST'],
  ] as const) {
    const answer = await gatepass.call(method, path)
    expect([answer.status, answer.body.name, answer.headers.get('allow')], `${method} ${path}`).toEqual([
      405,
      'method_not_allowed',
      allow,
    ])
  }
})

test('a worker that does not exist is 404, also if its id is a word of another path', async () => {
  for (const [method, body] of [['GET'], ['PATCH', {}], ['DELETE']] as const) {
    const answer = await gatepass.call(method, '/v1/workers/test', body)
    expect([answer.status, answer.body.name], method).toEqual([404, 'not_found'])
  }
})

test('HEAD is answered like GET where nothing is found', async () => {
  const headers = { authorization: `Bearer ${gatepass.apiKey}` }
  for (const path of ['/v1/auth/status?id=auth_unknown', '/v1/tools/unknown'])
    for (const method of ['GET', 'HEAD']) {
      const { status } = await fetch(`${gatepass.url}${path}`, { method, headers })
      expect(status, `${method} ${path}`).toBe(404)
    }
})

describe('what only a flow can find wrong is said in the same way', () => {
  test.each([
    [
      'another origin',
      [
        'POST',
        '/v1/auth/authorize',
        { user_id: 'u', auth_requirement: { id: 'github' }, next_uri: 'https://elsewhere.example/' },
      ],
      { path: 'next_uri', code: 'not_allowed' },
    ],
    [
      'no time',
      ['POST', '/v1/tools/execute', { tool_name: 'Send Mail', input: {}, run_at: 'tomorrow' }],
      { path: 'run_at', code: 'invalid' },
    ],
    [
      'nobody’s consent',
      ['POST', '/v1/tools/requirements', { tool_names: ['Send Mail'], authorize: true }],
      { path: 'user_id', code: 'missing' },
    ],
    [
      'nothing before the first step',
      ['POST', '/v1/tools/run_chain', { steps: [{ toolId: 'Send Mail', args: {}, usePrevious: true }] }],
      { path: 'steps.0.usePrevious', code: 'not_allowed' },
    ],
    [
      'an endpoint without https',
      [
        'PATCH',
        '/v1/admin/auth_providers/github',
        { oauth2: { token_request: { endpoint: 'http://elsewhere.example/token' } } },
      ],
      { path: 'oauth2.token_request.endpoint', code: 'invalid' },
    ],
    ['no filter', ['GET', '/v1/tools?filter=%7B'], { path: 'filter', code: 'invalid_json' }],
    ['the whole', ['POST', '/v1/tools/import', []], { path: '', code: 'too_short' }],
  ] as const)('%s', async (_, [method, path, body], fault) => {
    const answer = await gatepass.call(method, path, body)
    expect([answer.status, answer.body.name], JSON.stringify(answer.body)).toEqual([400, 'invalid_request'])
    expect(answer.body.errors).toEqual([{ ...fault, message: answer.body.message }])
  })
})

test('/openapi.json says that bodies have no other members, and leaves answers open', async () => {
  const { body } = await gatepass.call('GET', '/openapi.json', undefined, { key: null })
  const { requestBody, responses } = body.paths['/v1/tools/execute'].post
  const ajv = new Ajv2020({ strict: false })
  const check = (schema: object) => ajv.compile({ ...schema, components: body.components })
  const asked = check(requestBody.content['application/json'].schema)
  const call = { tool_name: 'Send_Mail', user_id: 'ada', input: { any: { thing: 1 } } }
  expect([asked(call), asked({ ...call, inputs: {} })]).toEqual([true, false])
  const authorize = check(
    body.paths['/v1/auth/authorize'].post.requestBody.content['application/json'].schema,
  )
  const need = { user_id: 'ada', auth_requirement: { id: 'github', oauth2: { scopes: ['repo'] } } }
  expect(authorize(need)).toBe(true)
  expect(authorize({ ...need, auth_requirement: { id: 'github', scopes: ['repo'] } })).toBe(false)
  const refusal = check(responses.default.content['application/json'].schema)
  expect(refusal({ name: 'not_found', message: 'There is none.', yet: 'to come' })).toBe(true)
})

test('/openapi.json describes the faults', async () => {
  const { body } = await gatepass.call('GET', '/openapi.json', undefined, { key: null })
  expect(Object.keys(body.components.schemas.ErrorBody.properties).toSorted()).toEqual([
    'cause',
    'errors',
    'message',
    'name',
    'requires_authorization',
  ])
  expect(body.components.schemas.ErrorBody.properties.errors.items.required.toSorted()).toEqual([
    'code',
    'message',
    'path',
  ])
})

describe('what does not exist is answered with what may have been meant', () => {
  test.each([
    ['POST', '/v1/tools/execute', { tool_name: 'Send_Mial' }, 404, /Did you mean "[^"]*Send/],
    ['GET', '/v1/tools/Sendmail', undefined, 404, /Did you mean "[^"]*Send/],
    [
      'POST',
      '/v1/auth/authorize',
      { user_id: 'u', auth_requirement: { id: 'gihtub' } },
      400,
      /Did you mean "github"\?/,
    ],
    ['GET', '/v1/admin/auth_providers/gitub', undefined, 404, /Did you mean "github"\?/],
    ['GET', '/v1/workers/mailr', undefined, 404, /Did you mean "mailer"\?/],
    ['POST', '/v1/tools/import?worker_id=maler', { name: 'x' }, 404, /Did you mean "mailer"\?/],
  ] as const)('%s %s %j', async (method, path, body, status, meant) => {
    const answer = await gatepass.call(method, path, body)
    expect(answer.status).toBe(status)
    expect(answer.body.message).toMatch(meant)
  })

  test('of another project’s there is nothing to guess', async () => {
    const key = await gatepass.makeKey('admin', 'elsewhere')
    const { body } = await gatepass.call('GET', '/v1/workers/mailr', undefined, { key })
    expect(body.message).not.toContain('mailer')
  })
})
