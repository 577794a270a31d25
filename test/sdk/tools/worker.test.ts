import { Hono } from 'hono'
import { SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { digest } from '../../digest.ts'
import { hubApp } from '../../fixtures/hub-app.ts'

const SECRET = 'secret of the worker'
const worker = hubApp('Hub').worker({ secret: SECRET })

async function tokenOf(
  claims: Record<string, unknown> = {},
  secret = SECRET,
  alg = 'HS256',
): Promise<string> {
  return new SignJWT({ aud: 'worker', ver: '1', ...claims })
    .setProtectedHeader({ alg, typ: 'JWT' })
    .sign(new TextEncoder().encode(secret.padEnd(alg === 'HS512' ? 64 : 0, '-')))
}

async function send(
  path: string,
  body?: unknown,
  token?: string,
  method = body === undefined ? 'GET' : 'POST',
) {
  const response = await worker.fetch(
    new Request(`https://tools.example${path}`, {
      method,
      headers: { authorization: `Bearer ${token ?? (await tokenOf())}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  )
  return { status: response.status, body: await response.json() }
}

const invoke = (tool: object, more: object = {}) => send('/worker/tools/invoke', { tool, ...more })

describe('a worker', () => {
  test('needs a secret', () => {
    expect(() => hubApp('Hub').worker({ secret: '' })).toThrow(TypeError)
  })

  test('tells its health without a token, and its tools only with one', async () => {
    const health = await worker.fetch(new Request('https://tools.example/worker/health'))
    expect(await health.json()).toEqual({ status: 'ok', tool_count: expect.stringMatching(/^\d+$/) })
    const without = await worker.fetch(new Request('https://tools.example/worker/tools'))
    expect(without.status).toBe(401)
    const { body } = await send('/worker/tools')
    expect(body.find((one: { name: string }) => one.name === 'WhoAmI')).toMatchObject({
      fully_qualified_name: 'Hub.WhoAmI',
      toolkit: { name: 'Hub', version: '1.2.3', description: 'Tools of the tests.' },
      requirements: {
        authorization: { id: 'demo', provider_type: 'oauth2', oauth2: { scopes: ['read'] } },
        secrets: [],
        metadata: [],
      },
      metadata: { behavior: { read_only: true } },
    })
  })

  test.each<[string, () => Promise<string>]>([
    ['another secret', () => tokenOf({}, 'another')],
    ['another audience', () => tokenOf({ aud: 'api' })],
    ['another version', () => tokenOf({ ver: '2' })],
    ['a version that is no text', () => tokenOf({ ver: 1 })],
    ['an end that has passed', () => tokenOf({ exp: 1000 })],
    [
      'an end that is no number',
      async () => (await tokenOf()).replace(/\.[^.]+\./, `.${btoa('{"aud":"worker","ver":"1","exp":"x"}')}.`),
    ],
    ['another algorithm', () => tokenOf({}, SECRET, 'HS512')],
    ['no signature', async () => `${btoa('{"alg":"none"}')}.${btoa('{"aud":"worker","ver":"1"}')}.`],
    ['no form of a token', async () => 'x'],
  ])('refuses a token with %s', async (_, token) => {
    expect((await send('/worker/tools', undefined, await token())).status).toBe(401)
  })

  test('accepts a token that has not ended', async () => {
    const token = await tokenOf({ exp: Math.floor(Date.now() / 1000) + 60 })
    expect((await send('/worker/tools', undefined, token)).status).toBe(200)
  })

  test.each([
    ['an unknown tool', { name: 'Nothing', toolkit: 'Hub' }, 404],
    ['another toolkit', { name: 'Return', toolkit: 'Other' }, 404],
    ['no tool', {}, 400],
  ])('answers a call of %s', async (_, tool, status) => {
    expect(await invoke(tool)).toMatchObject({ status, body: { error: expect.any(String) } })
  })

  test('answers other paths and methods', async () => {
    expect((await send('/worker/elsewhere')).status).toBe(404)
    expect((await send('/worker/tools', {})).status).toBe(405)
    expect((await send('/worker/tools/invoke')).status).toBe(405)
  })
})

describe('exchanges as Arcade’s engine has them', () => {
  test('a call with one token, user info, secrets and metadata as lists', async () => {
    const { status, body } = await send('/worker/tools/invoke', {
      run_id: 'r1',
      execution_id: 'tc_1',
      created_at: '2026-01-02T03:04:05Z',
      tool: { name: 'WhoAmI', toolkit: 'Hub', version: '1.2.3' },
      inputs: {},
      context: {
        user_id: 'u-42',
        authorization: { token: 'at_x', user_info: { sub: '9' } },
        secrets: [{ key: 'HUB_KEY', value: 'hub.test' }],
        metadata: [],
      },
    })
    expect(status).toBe(200)
    expect(body).toEqual({
      execution_id: 'tc_1',
      finished_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      duration: expect.any(Number),
      success: true,
      output: {
        value: {
          digest: digest('at_x'),
          tokenType: 'bearer',
          scopes: ['read'],
          userInfo: { sub: '9' },
          extra: {},
          names: ['demo'],
        },
      },
    })
  })

  test.each([
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['soon', undefined], // no date
    [1_800_000_000, undefined], // no text
  ])('a token that expires at %s is given with the expiry %s', async (expires_at, expiresAt) => {
    const { body } = await invoke(
      { name: 'WhoAmI', toolkit: 'Hub' },
      { context: { authorization: { token: 'at_x', expires_at } } },
    )
    expect(body.output.value.digest).toBe(digest('at_x'))
    expect(Object.hasOwn(body.output.value, 'expiresAt')).toBe(expiresAt !== undefined)
    expect(body.output.value.expiresAt).toBe(expiresAt)
  })

  test('a call with secrets as an object, names in other letters, and nulls', async () => {
    const { body } = await invoke(
      { name: 'context', toolkit: 'hub', version: null },
      {
        inputs: null,
        context: { user_id: null, authorization: null, secrets: { HUB_KEY: 'hub.test' }, metadata: null },
      },
    )
    expect(body.output.value).toMatchObject({ secret: digest('hub.test'), userId: null, hasRequestId: true })
  })

  test('a failure is 200, with a kind in capitals', async () => {
    const { status, body } = await invoke({ name: 'Fail', toolkit: 'Hub' }, { inputs: { how: 'own' } })
    expect({ status, success: body.success }).toEqual({ status: 200, success: false })
    expect(body.output.error).toMatchObject({
      kind: 'UPSTREAM_RUNTIME_NOT_FOUND',
      message: 'Refused.',
      can_retry: false,
      status_code: 404,
      developer_message: 'on purpose',
    })
  })

  test('what a call does not carry is missing, and names of Gatepass’s own settings are never read', async () => {
    process.env.GATEPASS_TEST_KEY = 'never'
    process.env.HUB_KEY = 'from the environment'
    try {
      const { body } = await invoke({ name: 'Context' })
      expect(body.output.value.secret).toBe(digest('from the environment'))
      const app = hubApp('Hub')
      app.tool('Peek', {
        input: { type: 'object' },
        requiresSecrets: ['GATEPASS_TEST_KEY'],
        handler: ({ getSecret }) => getSecret('GATEPASS_TEST_KEY'),
      })
      const response = await app.worker({ secret: SECRET }).fetch(
        new Request('https://tools.example/worker/tools/invoke', {
          method: 'POST',
          headers: { authorization: `Bearer ${await tokenOf()}` },
          body: JSON.stringify({ tool: { name: 'Peek' } }),
        }),
      )
      expect((await response.json()).output.error.kind).toBe('TOOL_REQUIREMENTS_NOT_MET')
    } finally {
      delete process.env.GATEPASS_TEST_KEY
      delete process.env.HUB_KEY
    }
    const { body } = await invoke({ name: 'WhoAmI' })
    expect(body.output.error).toMatchObject({ kind: 'TOOL_REQUIREMENTS_NOT_MET' })
  })
})

test.each([
  ['hono, by its path', new Hono().all('/worker/*', (c) => worker.fetch(c.req.raw)), '/worker/tools'],
  ['hono, mounted', new Hono().mount('/api', worker.fetch), '/api/worker/tools'],
  ['hono, mounted where the path begins', new Hono().mount('/worker', worker.fetch), '/worker/tools'],
  ['a Next.js route', { fetch: (request: Request) => worker.fetch(request) }, '/api/hub/worker/tools'],
])('a worker mounts in %s', async (_, app, path) => {
  const headers = { authorization: `Bearer ${await tokenOf()}` }
  const response = await app.fetch(new Request(`https://app.example${path}`, { headers }))
  expect(response.status).toBe(200)
})
