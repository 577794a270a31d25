import { createHash } from 'node:crypto'
import { EmbeddedJWK, type JWTPayload, jwtVerify } from 'jose'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { testClock } from '../gatepass.ts'
import { answerJson, type Loopback, listen, type RecordedRequest, record } from '../loopback.ts'
import { approve, startWorld, type World } from './world.ts'

// RFC 9449 section 7: requests to an API with a token that is bound to a key, by the proxy and by HTTP tools.

interface ProofApi extends Loopback {
  /** Requests with a valid proof, and how each was answered. */
  readonly seen: { readonly request: RecordedRequest; readonly proof: JWTPayload; readonly status: number }[]
  /** Proofs need this nonce. */
  nonce: string | undefined
  /** Every request is refused with this error. */
  error: string | undefined
}

/** An API that checks each proof by RFC 9449 section 4.3. */
async function startProofApi(): Promise<ProofApi> {
  const seen: ProofApi['seen'] = []
  const server = await listen(async (req, res) => {
    const request = await record(req)
    const token = /^DPoP (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
    const { payload: proof } = await jwtVerify(String(request.headers.dpop), EmbeddedJWK, {
      typ: 'dpop+jwt',
      currentDate: new Date(clock() * 1000),
      maxTokenAge: 60,
    })
    expect(proof).toMatchObject({
      htm: request.method,
      htu: api.url + request.path,
      ath: createHash('sha256').update(token).digest('base64url'),
    })
    const isStale = api.nonce !== undefined && proof.nonce !== api.nonce
    const error = api.error ?? (isStale ? 'use_dpop_nonce' : undefined)
    seen.push({ request, proof, status: error === undefined ? 200 : 401 })
    const nonce = api.nonce === undefined ? {} : { 'dpop-nonce': api.nonce }
    if (error === undefined) return answerJson(res, 200, { length: request.body.length }, nonce)
    const challenge = `Bearer realm="x", DPoP error="${error}", algs="ES256"`
    return answerJson(res, 401, { error }, { 'www-authenticate': challenge, ...nonce })
  })
  const api: ProofApi = Object.assign(server, { seen, nonce: undefined, error: undefined })
  return api
}

const clock = testClock()
let api: ProofApi
let world: World

beforeEach(async () => {
  api = await startProofApi()
  world = await startWorld({
    as: { tokenMembers: { token_type: 'DPoP' }, now: () => clock() * 1000 },
    gatepass: { now: clock },
  })
  await world.call('PATCH', '/v1/admin/auth_providers/demo', {
    oauth2: { dpop: {}, user_info_request: null, api: { base_url: `${api.url}/v1` } },
  })
  const need = { auth_requirement: { id: 'demo', oauth2: { scopes: ['read'] } }, user_id: 'ada' }
  await approve((await world.call('POST', '/v1/auth/authorize', need)).body.url)
  clock.advance(60) // a token that was just received would not be refreshed
})
afterEach(async () => {
  await world[Symbol.asyncDispose]()
  await api.close()
})

async function send(method: string, path: string, body?: BodyInit, headers = {}) {
  const response = await fetch(`${world.gatepass.url}/proxy/demo${path}`, {
    method,
    headers: { authorization: `Bearer ${world.gatepass.apiKey}`, 'x-gatepass-user': 'ada', ...headers },
    ...(body !== undefined && { body }),
  })
  return { status: response.status, headers: response.headers, json: await response.json() }
}

const statuses = () => api.seen.map(({ status }) => status)
const nonces = () => api.seen.map(({ proof }) => proof.nonce)
const refreshes = () => world.as.tokenRequests('refresh_token').length

describe('the proxy', () => {
  test('proves each request anew, and drops the proof of the caller', async () => {
    for (const path of ['/a?q=1', '/a?q=2'])
      expect(await send('GET', path, undefined, { DPoP: 'of-the-caller' })).toMatchObject({ status: 200 })
    expect(statuses()).toEqual([200, 200])
    expect(new Set(api.seen.map(({ proof }) => proof.jti)).size).toBe(2)
    expect(refreshes()).toBe(0)
  })

  test('repeats a request once with the nonce that the API asks for, and uses it from then on', async () => {
    api.nonce = 'n-1'
    const first = await send('POST', '/a', 'x'.repeat(200 * 1024))
    expect(first).toMatchObject({ status: 200, json: { length: 200 * 1024 } })
    expect(first.headers.get('dpop-nonce')).toBeNull()
    await send('GET', '/a')
    api.nonce = 'n-2'
    await send('GET', '/a')
    expect(nonces()).toEqual([undefined, 'n-1', 'n-1', 'n-1', 'n-2'])
    expect(new Set(api.seen.map(({ proof }) => proof.jti)).size).toBe(5)
    expect(refreshes()).toBe(0)
  })

  test('does not repeat a large body, and says that the same request may succeed', async () => {
    api.nonce = 'n-1'
    const large = 'x'.repeat(300 * 1024)
    const first = await send('POST', '/a', large)
    expect(first.status).toBe(401)
    expect(first.headers.get('x-gatepass-token')).toBe('replaced')
    expect(statuses()).toEqual([401])
    expect((await send('POST', '/a', large)).status).toBe(200)
  })

  test.each([
    ['a nonce that is never right', 'use_dpop_nonce', 2],
    ['a proof that is refused', 'invalid_dpop_proof', 1],
  ])('passes on the refusal of %s, and refreshes no token for it', async (_, error, requests) => {
    api.nonce = 'n-1'
    api.error = error
    const { status, headers } = await send('GET', '/a')
    expect(status).toBe(401)
    expect(headers.get('x-gatepass-token')).toBeNull()
    expect(api.seen).toHaveLength(requests)
    expect(refreshes()).toBe(0)
  })
})

describe('a tool', () => {
  const document = {
    openapi: '3.1.0',
    info: { title: 'Things', version: '1' },
    paths: {
      '/things/{id}': {
        get: {
          operationId: 'getThing',
          parameters: [
            { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'DPoP', in: 'header', required: true, schema: { type: 'string' } },
          ],
          security: [{ demo: ['read'] }],
          responses: { 200: { description: 'ok' } },
        },
      },
    },
    components: {
      securitySchemes: {
        demo: {
          type: 'oauth2',
          flows: {
            clientCredentials: { tokenUrl: 'https://login.example.com/token', scopes: { read: 'Read' } },
          },
        },
      },
    },
  }

  test('that is an HTTP request has a proof, and is repeated with a nonce', async () => {
    const openapi = { document: { ...document, servers: [{ url: api.url }] }, namespace: 'things' }
    const added = await world.call('POST', '/v1/workers', { id: 'things', openapi })
    expect(added.status, JSON.stringify(added.body)).toBe(201)
    api.nonce = 'n-1'
    const input = { id: 'a' }
    const { body } = await world.execute('things.getThing', { input, user_id: 'ada' })
    expect(body.output).toMatchObject({ value: { length: 0 } })
    expect(nonces()).toEqual([undefined, 'n-1'])
    expect(api.seen[0]?.request.path).toBe('/things/a')
    expect(refreshes()).toBe(0)
  })

  test('of another worker is not run, and is told about the proxy', async () => {
    const { body } = await world.execute('Demo.WhoAmI', { user_id: 'ada' })
    const { message, developer_message } = body.output.error
    expect(developer_message).toMatch(/^TOOL_REQUIREMENTS_NOT_MET/)
    expect(message).toContain('/proxy/demo')
    expect(world.worker.invocations).toHaveLength(0)
  })
})
