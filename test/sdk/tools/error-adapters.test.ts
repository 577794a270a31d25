import { createServer, type Server } from 'node:http'
import { Client } from '@microsoft/microsoft-graph-client'
import { graphql } from '@octokit/graphql'
import { RequestError } from '@octokit/request-error'
import { WebClient } from '@slack/web-api'
import axios from 'axios'
import { request as gaxios } from 'gaxios'
import { request as graphqlRequest } from 'graphql-request'
import ky from 'ky'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { errorDetails } from '../../../src/sdk/tools/error-details.ts'
import * as library from '../../../src/sdk/tools/index.ts'

// Each library throws at a real server; the adapters know its errors by their shape.

const ANSWERS: Readonly<
  Record<string, { status?: number; headers?: Record<string, string>; body: unknown }>
> = {
  '/slack/chat.postMessage': { body: { ok: false, error: 'channel_not_found' } },
  '/slack/auth.test': { body: { ok: false, error: 'token_revoked' } },
  '/slack/users.list': { status: 429, headers: { 'retry-after': '3' }, body: { ok: false } },
  '/slack/users.info': { status: 503, body: {} },
  '/google/limit': {
    status: 403,
    body: {
      error: {
        code: 403,
        message: 'slow',
        errors: [{ reason: 'rateLimitExceeded' }],
        status: 'PERMISSION_DENIED',
      },
    },
  },
  '/google/token': { status: 400, body: { error: 'invalid_grant' } },
  '/google/gone': { status: 404, body: { error: { code: 404, message: 'secret', status: 'NOT_FOUND' } } },
  '/v1.0/me': { status: 404, body: { error: { code: 'itemNotFound', message: 'secret' } } },
  '/v1.0/busy': {
    status: 400,
    headers: { 'retry-after': '4' },
    body: { error: { code: 'TooMany', message: '' } },
  },
  '/gql/graphql': { body: { data: null, errors: [{ message: 'secret', type: 'NOT_FOUND' }] } },
  '/gql': { body: { data: null, errors: [{ message: 'secret', extensions: { code: 'UNAUTHENTICATED' } }] } },
  '/busy': { status: 429, headers: { 'retry-after': '2' }, body: { secret: true } },
}

let server: Server
let base: string
beforeAll(async () => {
  server = createServer((req, res) => {
    if (req.url === '/silent') return
    const { status = 200, headers = {}, body } = ANSWERS[req.url ?? ''] ?? { status: 500, body: {} }
    res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  base = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
})
afterAll(() => new Promise((resolve) => server.close(resolve)))

const refused = 'http://127.0.0.1:2' // no process listens there, and fetch permits the port
const slack = (url = `${base}/slack/`) =>
  new WebClient('token', {
    slackApiUrl: url,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    logger: {
      ...console,
      debug() {},
      info() {},
      warn() {},
      error() {},
      setLevel() {},
      getLevel: () => 'error' as never,
      setName() {},
    },
  })
const graph = (baseUrl: string) =>
  Client.init({
    baseUrl: `${baseUrl}/`,
    authProvider: (done) => done(null, 'token'),
    customHosts: new Set(['127.0.0.1']),
    fetchOptions: {},
  })

const ADAPTERS = [
  new library.SlackErrorAdapter(),
  new library.GoogleErrorAdapter(),
  new library.MicrosoftGraphErrorAdapter(),
  new library.GraphQLErrorAdapter(),
]

async function thrownBy(run: () => unknown): Promise<unknown> {
  try {
    await run()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

describe('an error of a library', () => {
  test.each<[string, () => unknown, string | null, object]>([
    [
      'Slack: not found',
      () => slack().chat.postMessage({ channel: 'a', text: 'b' }),
      'slack',
      { kind: 'UPSTREAM_RUNTIME_NOT_FOUND', message: 'Slack refused the request: channel_not_found.' },
    ],
    [
      'Slack: token',
      () => slack().auth.test(),
      'slack',
      { kind: 'UPSTREAM_RUNTIME_AUTH_ERROR', statusCode: 401 },
    ],
    [
      'Slack: rate',
      () => slack().users.list({}),
      'slack',
      { kind: 'UPSTREAM_RUNTIME_RATE_LIMIT', retryAfterMs: 3000, canRetry: true },
    ],
    [
      'Slack: down',
      () => slack().users.info({ user: 'U1' }),
      'slack',
      { kind: 'UPSTREAM_RUNTIME_SERVER_ERROR', statusCode: 503 },
    ],
    [
      'Slack: network',
      () => slack(`${refused}/`).auth.test(),
      'slack',
      { kind: 'NETWORK_TRANSPORT_RUNTIME_UNREACHABLE', canRetry: true },
    ],
    [
      'Google: rate',
      () => gaxios({ url: `${base}/google/limit`, retry: false }),
      'google',
      { kind: 'UPSTREAM_RUNTIME_RATE_LIMIT', message: 'Google answered 403 (rateLimitExceeded).' },
    ],
    [
      'Google: grant',
      () => gaxios({ url: `${base}/google/token`, retry: false }),
      'google',
      { kind: 'UPSTREAM_RUNTIME_AUTH_ERROR', statusCode: 401 },
    ],
    [
      'Google: not found',
      () => gaxios({ url: `${base}/google/gone`, retry: false }),
      'google',
      { kind: 'UPSTREAM_RUNTIME_NOT_FOUND' },
    ],
    [
      'Google: network',
      () => gaxios({ url: refused, retry: false }),
      null,
      { kind: 'NETWORK_TRANSPORT_RUNTIME_UNREACHABLE', canRetry: true },
    ],
    [
      'Graph: not found',
      () => graph(base).api('/me').get(),
      'microsoft-graph',
      { kind: 'UPSTREAM_RUNTIME_NOT_FOUND', message: 'Microsoft Graph answered 404 (itemNotFound).' },
    ],
    [
      'Graph: wait',
      () => graph(base).api('/busy').get(),
      'microsoft-graph',
      { statusCode: 400, retryAfterMs: 4000 },
    ],
    [
      'Graph: network',
      () => graph(refused).api('/me').get(),
      'microsoft-graph',
      { kind: 'NETWORK_TRANSPORT_RUNTIME_UNREACHABLE' },
    ],
    [
      'graphql-request',
      () => graphqlRequest(`${base}/gql`, '{a}'),
      'graphql',
      {
        kind: 'UPSTREAM_RUNTIME_AUTH_ERROR',
        message: 'The GraphQL API refused the request (UNAUTHENTICATED).',
      },
    ],
    [
      'Octokit GraphQL',
      () => graphql('{a}', { baseUrl: `${base}/gql` }),
      'graphql',
      { kind: 'UPSTREAM_RUNTIME_NOT_FOUND' },
    ],
    [
      'axios',
      () => axios.get(`${base}/busy`),
      null,
      {
        kind: 'UPSTREAM_RUNTIME_RATE_LIMIT',
        retryAfterMs: 2000,
        message: expect.stringMatching(/^The API at 127\.0\.0\.1:\d+ answered 429\.$/),
      },
    ],
    [
      'axios: network',
      () => axios.get(refused),
      null,
      { kind: 'NETWORK_TRANSPORT_RUNTIME_UNREACHABLE', canRetry: true },
    ],
    [
      'ky',
      () => ky.get(`${base}/busy`, { retry: 0 }),
      null,
      { kind: 'UPSTREAM_RUNTIME_RATE_LIMIT', retryAfterMs: 2000 },
    ],
    [
      'Octokit',
      () =>
        Promise.reject(
          new RequestError('secret', 404, { request: { method: 'GET', url: `${base}/x`, headers: {} } }),
        ),
      null,
      { kind: 'UPSTREAM_RUNTIME_NOT_FOUND' },
    ],
    [
      'fetch: refused',
      () => fetch(refused),
      null,
      { kind: 'NETWORK_TRANSPORT_RUNTIME_UNREACHABLE', canRetry: true },
    ],
    [
      'fetch: no answer in time',
      () => fetch(`${base}/silent`, { signal: AbortSignal.timeout(1) }),
      null,
      { kind: 'NETWORK_TRANSPORT_RUNTIME_TIMEOUT', canRetry: false },
    ],
    [
      'a response that is thrown',
      async () => Promise.reject(await fetch(`${base}/busy`)),
      null,
      {
        kind: 'UPSTREAM_RUNTIME_RATE_LIMIT',
        retryAfterMs: 2000,
        developerMessage: 'Error: Too Many Requests',
      },
    ],
  ])('%s', async (_, run, slug, expected) => {
    const error = await thrownBy(run)
    const first = ADAPTERS.find((adapter) => adapter.fromException(error) !== null)
    expect(first?.slug ?? null).toBe(slug)
    const details = errorDetails(error, ADAPTERS)
    expect(details).toMatchObject(expected)
    expect(details.message).not.toContain('secret')
  })

  test.each([
    ['text'],
    [null],
    [undefined],
    [new TypeError('x is undefined')],
    [{ status: 200 }],
    [{ errors: ['a'] }],
  ])('%j is of none of them', (error) => {
    expect(ADAPTERS.some((adapter) => adapter.fromException(error) !== null)).toBe(false)
    expect(errorDetails(error, ADAPTERS).message).toBe('The tool has failed.')
  })

  test('is translated by the first adapter that knows it, and an adapter that throws knows none', () => {
    const adapter = (slug: string, fromException: () => library.ToolError | null) => ({ slug, fromException })
    const throws = adapter('a', () => {
      throw new Error('a fault of the adapter')
    })
    const none = adapter('b', () => null)
    const knows = (message: string) => adapter(message, () => new library.FatalToolError(message))
    const details = errorDetails(new Error('x'), [throws, none, knows('first'), knows('second')])
    expect(details).toMatchObject({ message: 'first', kind: 'TOOL_RUNTIME_FATAL' })
  })
})

test('gatepass/tools has what @gatepass/sdk/tools has', async () => {
  const built = await import(new URL('../../../bin/tools.js', import.meta.url).href)
  expect(Object.keys(built).sort()).toEqual(Object.keys(library).sort())
})
