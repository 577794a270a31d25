import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { startGatepass } from '../gatepass.ts'
import { freePort } from '../ports.ts'
import { sandbox, WORKER_SECRET } from './fixtures.ts'

const CALL = { execution_id: 'tc_1', tool: { name: 'Profile', toolkit: 'Sandbox', version: '1.0.0' } }

async function bearer(claims: Record<string, unknown> = { aud: 'worker', ver: '1' }, secret = WORKER_SECRET) {
  const signed = new SignJWT(claims).setProtectedHeader({ alg: 'HS256' })
  return { authorization: `Bearer ${await signed.sign(new TextEncoder().encode(secret))}` }
}

function worker() {
  const { state, ...rest } = sandbox()
  const invoke = async (call: unknown) => {
    const headers = { ...(await bearer()), 'content-type': 'application/json' }
    return state.app.request('/worker/tools/invoke', { method: 'POST', headers, body: JSON.stringify(call) })
  }
  return { state, ...rest, invoke }
}

describe('worker', () => {
  test('is well, and lists its tool to the broker', async () => {
    const { state } = worker()
    const health = await state.app.request('/worker/health')
    expect(await health.json()).toEqual({ status: 'ok', tool_count: '1' })
    const catalogue = await state.app.request('/worker/tools', { headers: await bearer() })
    expect(await catalogue.json()).toEqual([
      expect.objectContaining({
        fully_qualified_name: 'Sandbox.Profile',
        requirements: expect.objectContaining({
          authorization: expect.objectContaining({ id: 'sandbox', oauth2: { scopes: ['profile:read'] } }),
        }),
      }),
    ])
  })

  test.each([
    ['no claims', {}, WORKER_SECRET],
    ['another audience', { aud: 'x', ver: '1' }, WORKER_SECRET],
    ['a numeric version', { aud: 'worker', ver: 1 }, WORKER_SECRET],
    ['another secret', { aud: 'worker', ver: '1' }, 'another-secret-another-secret-12'],
    ['an expiry gone by', { aud: 'worker', ver: '1', exp: 999_999 }, WORKER_SECRET],
  ])('refuses a JWT with %s', async (_, claims, secret) => {
    const { state } = worker()
    const headers = await bearer(claims, secret)
    expect((await state.app.request('/worker/tools', { headers })).status).toBe(401)
    expect((await state.app.request('/worker/tools/invoke', { method: 'POST', headers })).status).toBe(401)
  })

  test('refuses a call without a JWT', async () => {
    const { state } = worker()
    expect((await state.app.request('/worker/tools')).status).toBe(401)
  })

  test('greets the account of the token that it was given, and tells nothing of the token', async () => {
    const { approved, invoke } = worker()
    const { access_token: token } = await approved()
    const context = { user_id: 'u', authorization: { token, user_info: {} }, secrets: [], metadata: [] }
    const response = await invoke({ ...CALL, inputs: {}, context })
    const answer = await response.json()
    expect(answer).toEqual({
      execution_id: 'tc_1',
      finished_at: expect.any(String),
      duration: expect.any(Number),
      success: true,
      output: { value: { message: 'Hello Ada Lovelace', email: 'ada@sandbox.example' } },
    })
    const greeted = await invoke({ ...CALL, inputs: { greeting: 'Good morning' }, context })
    expect(await greeted.json()).toMatchObject({
      output: { value: { message: 'Good morning Ada Lovelace' } },
    })
  })

  test.each([
    ['no token', {}, {}, 'UPSTREAM_RUNTIME_AUTH_ERROR'],
    ['a stale token', {}, { authorization: { token: 'stale' } }, 'UPSTREAM_RUNTIME_AUTH_ERROR'],
    ['a greeting that is no string', { greeting: 1 }, {}, 'TOOL_RUNTIME_BAD_INPUT_VALUE'],
  ])('answers %s with a tool error', async (_, inputs, context, kind) => {
    const response = await worker().invoke({ ...CALL, inputs, context })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ success: false, output: { error: { kind } } })
  })

  test('knows no other tool, and no other body', async () => {
    const { invoke } = worker()
    expect((await invoke({ ...CALL, tool: { name: 'Other', toolkit: 'Sandbox' } })).status).toBe(404)
    expect((await invoke('?')).status).toBe(400)
  })
})

test('development mode goes on with its worker after a rotation of the master key', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gatepass-'))
  const port = await freePort()
  const [before = '', after = ''] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64'))
  try {
    for (const keys of [before, `${after},${before}`]) {
      await using gatepass = await startGatepass({
        mode: 'development',
        environment: { GATEPASS_MASTER_KEY: keys },
        databasePath: join(folder, 'gatepass.db'),
        port,
      })
      const { body } = await gatepass.call('GET', '/v1/workers/sandbox')
      expect(body.sync_error).toBeUndefined()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
