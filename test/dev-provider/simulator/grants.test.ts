import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runMainJob } from '../../../src/dev-provider/simulator/main-job.ts'
import { startSimulated } from './world.ts'

// Servers that give tokens to the client by itself, and a simulator that notices what is otherwise.

let simulated: Awaited<ReturnType<typeof startSimulated>>
beforeAll(async () => {
  simulated = await startSimulated()
})
afterAll(() => simulated[Symbol.asyncDispose]())

const endpoint = 'https://odd.example.com/token'
const ASSERTION = { algorithm: 'RS256', subject: '', claims: { scope: '{{scopes}}', box: true } }

const run = (oauth2: object, plays: object = {}) =>
  runMainJob(simulated, {
    plays,
    body: {
      id: 'odd',
      oauth2: {
        token_request: { endpoint },
        default_scopes: ['b.write', 'a.read'],
        api: { base_url: 'https://api.odd.example.com/v1' },
        ...oauth2,
      },
    },
  })

const clientCredentials = { grant: { type: 'client_credentials' } }
const jwtBearer = { grant: { type: 'jwt_bearer' }, assertion: ASSERTION }

const exchange = {
  grant: { type: 'token_exchange', subject: { connection: 'company' } },
  token_request: { endpoint, params: { audience: 'https://api.odd.example.com' } },
}

describe('tokens of the client itself', () => {
  test.each<[string, object]>([
    ['client credentials', clientCredentials],
    [
      'client credentials with Basic and an audience',
      {
        ...clientCredentials,
        token_request: {
          endpoint,
          auth_method: 'client_secret_basic',
          params: { audience: 'https://api.odd.example.com' },
        },
      },
    ],
    [
      'client credentials by a signed assertion',
      { ...clientCredentials, token_request: { endpoint, auth_method: 'private_key_jwt' } },
    ],
    [
      'account credentials, in JSON, with scopes joined by commas',
      {
        grant: { type: 'account_credentials' },
        scope_delimiter: ',',
        variables: { account_id: { pattern: '[a-z0-9]+', value: 'acc1' } },
        token_request: {
          endpoint,
          request_content_type: 'application/json',
          params: { account_id: '{{account_id}}' },
        },
      },
    ],
    ['JWT bearer', jwtBearer],
    ['JWT bearer with defaults', { grant: { type: 'jwt_bearer' }, default_expires_in: 7200 }],
    [
      'JWT bearer with ES256, by a client that authenticates too',
      {
        grant: { type: 'jwt_bearer' },
        assertion: { algorithm: 'ES256', key_id: 'k', audience: 'https://odd.example.com', lifetime: 60 },
        client_assertion: { algorithm: 'ES256' },
        token_request: { endpoint, auth_method: 'private_key_jwt' },
      },
    ],
    [
      'JWT bearer in the name of users',
      {
        grant: { type: 'jwt_bearer' },
        assertion: { algorithm: 'RS256', subject: '{{user_id}}' },
        impersonation: { pattern: '[a-z]+@acme\\.com' },
      },
    ],
    ['token exchange', exchange],
  ])('%s', async (_, oauth2) => {
    const { ok, steps } = await run(oauth2)
    expect(steps.filter((step) => !step.ok)).toEqual([])
    expect(ok).toBe(true)
    expect(steps.map(({ step }) => step)).toEqual([
      'definition',
      'token',
      'call',
      'next token',
      'client refused',
    ])
  })

  test.each<[string, object, object]>([
    ['another audience', jwtBearer, { assertion: { ...ASSERTION, audience: 'https://odd.example.com' } }],
    ['another claim', jwtBearer, { assertion: { ...ASSERTION, claims: { scope: 'c.admin', box: true } } }],
    ['a subject', jwtBearer, { assertion: { ...ASSERTION, subject: 'ada' } }],
    ['another lifetime', jwtBearer, { assertion: { ...ASSERTION, lifetime: 60 } }],
    [
      'another type of token',
      exchange,
      { token_request: { endpoint, params: { requested_token_type: 'urn:x' } } },
    ],
    ['another grant', clientCredentials, { grant: { type: 'account_credentials' } }],
    [
      'another parameter',
      clientCredentials,
      { token_request: { endpoint, params: { audience: 'https://api.odd.example.com' } } },
    ],
    [
      'another authentication',
      clientCredentials,
      { token_request: { endpoint, auth_method: 'client_secret_basic' } },
    ],
  ])('%s is noticed', async (_, oauth2, plays) => {
    const { ok, steps } = await run(oauth2, plays)
    expect(ok).toBe(false)
    expect(steps.at(-1)).toMatchObject({
      step: 'token',
      ok: false,
      detail: expect.stringMatching(/^the token request /),
    })
  })
})
