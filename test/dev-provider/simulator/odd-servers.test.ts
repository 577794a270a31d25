import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SimulatedEntry } from '../../../src/dev-provider/simulator/job.ts'
import { runMainJob } from '../../../src/dev-provider/simulator/main-job.ts'
import { startSimulated } from './world.ts'

// Servers that no other test knows, described by data alone, and a simulator that notices what is otherwise.

let simulated: Awaited<ReturnType<typeof startSimulated>>
beforeAll(async () => {
  simulated = await startSimulated()
})
afterAll(() => simulated[Symbol.asyncDispose]())

const endpoint = (path: string) => `https://odd.example.com/${path}`
const BASE = {
  authorize_request: { endpoint: endpoint('authorize') },
  token_request: { endpoint: endpoint('token') },
  refresh_request: { endpoint: endpoint('token') },
  user_info_request: { endpoint: endpoint('me'), triggers: { on_token_grant: true } },
  revocation_request: { endpoint: endpoint('revoke') },
  api: { base_url: 'https://api.odd.example.com/v1' },
}

const RENEWAL = {
  endpoint: endpoint('renew'),
  method: 'GET',
  auth_method: 'none',
  least_age: 86_400,
  params: { grant_type: 'odd_renewal', access_token: '{{access_token}}' },
}

const run = (oauth2: object, more: Partial<SimulatedEntry> = {}) =>
  runMainJob(simulated, {
    scopes: ['a.read', 'b.write'],
    ...more,
    body: { id: 'odd', oauth2: { ...BASE, ...oauth2 } },
  })

const token = (more: object) => ({
  token_request: { ...BASE.token_request, ...more },
  refresh_request: { ...BASE.refresh_request, ...more },
})

describe('servers whose oddities no code knows', () => {
  test.each<[string, object]>([
    ['as the RFCs have it', {}],
    ['pushed authorization requests', { pushed_authorization_request: { endpoint: endpoint('par') } }],
    [
      'pushed authorization requests with Basic and other names',
      {
        pushed_authorization_request: { endpoint: endpoint('par') },
        authorize_request: { endpoint: endpoint('authorize'), parameter_names: { scope: 'perms' } },
        ...token({ auth_method: 'client_secret_basic' }),
      },
    ],
    [
      'signed requests, pushed',
      {
        pushed_authorization_request: { endpoint: endpoint('par') },
        request_object: {},
        ...token({ auth_method: 'private_key_jwt' }),
        revocation_request: { endpoint: endpoint('revoke'), auth_method: 'private_key_jwt' },
      },
    ],
    [
      'signed requests',
      {
        request_object: {},
        ...token({ auth_method: 'client_secret_jwt' }),
        revocation_request: { endpoint: endpoint('revoke'), auth_method: 'client_secret_jwt' },
      },
    ],
    [
      'tokens that are bound to a key, requests pushed and signed',
      {
        dpop: { algorithm: 'ES256' },
        pushed_authorization_request: { endpoint: endpoint('par') },
        request_object: {},
        ...token({ auth_method: 'private_key_jwt' }),
        revocation_request: { endpoint: endpoint('revoke'), auth_method: 'private_key_jwt' },
      },
    ],
    [
      'tokens that are bound to an Ed25519 key, which user info and revocation carry',
      {
        dpop: { algorithm: 'EdDSA', optional: true },
        revocation_request: {
          endpoint: endpoint('token'),
          method: 'DELETE',
          auth_method: 'bearer_access_token',
          token_parameter: '',
        },
      },
    ],
    ['Basic, decoded', token({ auth_method: 'client_secret_basic' })],
    [
      'Basic, not decoded, JSON',
      token({ auth_method: 'client_secret_basic_unencoded', request_content_type: 'application/json' }),
    ],
    [
      'client and code under other names',
      {
        code_parameter: 'grantCode',
        authorize_request: {
          endpoint: endpoint('authorize'),
          parameter_names: { client_id: 'appKey', scope: 'perms' },
        },
        ...token({ parameter_names: { client_id: 'appKey', client_secret: 'appSecret' } }),
      },
    ],
    [
      'tokens in a nested object of an array',
      token({
        response_map: {
          access_token: '$.result[0].token',
          refresh_token: '$.result[0].renewal',
          expires_in: '$.result[0].ttl',
          scope: "join('$.result[0].perms', ' ')",
        },
      }),
    ],
    ['a form as the answer', token({ response_content_type: 'application/x-www-form-urlencoded' })],
    ['lifetimes in milliseconds', token({ expiration_format: 'relative_milliseconds' })],
    ['a date of expiry', token({ expiration_format: 'iso_8601' })],
    [
      'a Unix time of expiry under another name',
      token({ expiration_format: 'absolute_unix_timestamp', response_map: { expires_in: '$.valid_until' } }),
    ],
    ['tokens that are JWTs', token({ expiration_format: 'access_token_jwt' })],
    ['no lifetime at all', { default_expires_in: 900 }],
    [
      'an odd type of token, commas, a strict rotation',
      { token_types: ['bot'], scope_delimiter: ',', strict_rotation: true },
    ],
    [
      'no PKCE, and a query in its endpoints',
      {
        pkce: { enabled: false },
        authorize_request: { endpoint: endpoint('go?step=authorize') },
        token_request: { endpoint: endpoint('go?step=token') },
        refresh_request: { endpoint: endpoint('go?step=token') },
      },
    ],
    [
      'plain PKCE, the client id in the path',
      {
        pkce: { enabled: true, code_challenge_method: 'plain' },
        authorize_request: { endpoint: endpoint('apps/{{client_id}}/authorize') },
      },
    ],
    [
      'headers in every request and in place of Authorization',
      {
        ...token({ headers: { 'X-Client': '{{client_id}}', 'X-Version': '7' } }),
        api: { ...BASE.api, headers: { 'X-Odd-Token': '{{access_token}}', 'X-Client': '{{client_id}}' } },
      },
    ],
    [
      'a host that only the token response tells',
      {
        kept_values: { shard: { from: 'token_response', at: '$.home.shard', pattern: 'eu[0-9]{2}' } },
        api: { base_url: 'https://{{shard}}.odd.example.com/api', hosts: ['*.odd.example.com'] },
      },
    ],
    [
      'a company in the callback, in a header',
      {
        kept_values: { company: { from: 'authorization_response', at: 'companyId', pattern: '[0-9]{5}' } },
        api: { ...BASE.api, headers: { 'X-Company': '{{company}}' } },
      },
    ],
    [
      'introspection instead of expires_in',
      {
        token_introspection_request: {
          endpoint: endpoint('introspect'),
          auth_method: 'client_secret_basic',
          params: { token: '{{access_token}}' },
          triggers: { on_token_grant: true, on_token_refresh: true },
        },
      },
    ],
    [
      'revocation by DELETE with the token as Bearer',
      {
        revocation_request: {
          endpoint: endpoint('token'),
          method: 'DELETE',
          auth_method: 'bearer_access_token',
          token_parameter: '',
        },
      },
    ],
    [
      'scopes under other names, and only the widest',
      { scope_aliases: { 'a.read': 'https://odd.example.com/a' }, scope_implies: { all: ['b.write'] } },
    ],
    [
      'user info by POST, in a map, with another word for Bearer',
      {
        user_info_request: {
          endpoint: endpoint('graphql'),
          method: 'POST',
          request_content_type: 'application/json',
          params: { query: '{ me { id mail } }' },
          auth_header_value_format: 'odd {{access_token}}',
          response_map: { sub: '$.data.me.id', email: '$.data.me.mail' },
          triggers: { on_token_grant: true },
        },
      },
    ],
    [
      'the client by a header of its own',
      token({ auth_method: 'none', headers: { 'X-Secret': '{{client_secret}}' } }),
    ],
    [
      'a subdomain for each account',
      {
        variables: { account: { pattern: '[a-z]{3,20}', value: 'acme' } },
        authorize_request: { endpoint: 'https://{{account}}.odd.example.com/authorize' },
        api: { base_url: 'https://{{account}}.odd.example.com/api' },
      },
    ],
    [
      'a response by form_post, and a fragment',
      {
        authorize_request: {
          endpoint: endpoint('authorize'),
          params: { response_mode: 'form_post' },
          fragment: 'odd_redirect',
        },
      },
    ],
    [
      'errors in 200 under another member',
      token({ error_response: { at: '$.errcode', success: ['0'], codes: { 40163: 'invalid_grant' } } }),
    ],
    ['a rotation with a grace', { rotation: { kind: 'grace', grace_seconds: 60 } }],
    [
      'a token that is exchanged',
      {
        refresh_request: undefined,
        exchange_request: {
          endpoint: endpoint('long-lived'),
          auth_method: 'none',
          params: {
            grant_type: 'odd_exchange',
            client_secret: '{{client_secret}}',
            access_token: '{{access_token}}',
          },
        },
      },
    ],
    [
      'a token that is exchanged and renewed at one endpoint',
      {
        refresh_request: undefined,
        exchange_request: {
          endpoint: endpoint('long-lived'),
          auth_method: 'bearer_access_token',
          params: { grant_type: 'odd_exchange' },
        },
        renewal_request: { ...RENEWAL, endpoint: endpoint('long-lived') },
      },
    ],
    [
      'a token host of the authorization response',
      {
        kept_values: {
          home: {
            from: 'authorization_response',
            at: 'home-server',
            one_of: ['https://eu.odd.example.com', 'https://us.odd.example.com'],
          },
        },
        token_request: { endpoint: '{{home}}/token' },
        refresh_request: { endpoint: '{{home}}/token' },
      },
    ],
    [
      'a subdomain that each user gives',
      {
        variables: { account: { label: 'Account', pattern: '[a-z]{3,20}', example: 'acme', ask: 'user' } },
        authorize_request: { endpoint: 'https://{{account}}.odd.example.com/authorize' },
        ...token({ endpoint: 'https://{{account}}.odd.example.com/token' }),
        api: { base_url: 'https://{{account}}.odd.example.com/api', hosts: ['*.odd.example.com'] },
      },
    ],
    [
      'a client that signs a JWT',
      { ...token({ auth_method: 'private_key_jwt' }), revocation_request: undefined },
    ],
    [
      'a client secret that is a JWT',
      {
        ...token({ auth_method: 'signed_client_secret' }),
        client_assertion: { algorithm: 'ES256', audience: 'https://odd.example.com' },
        revocation_request: undefined,
      },
    ],
    [
      'a client that signs with its secret',
      { ...token({ auth_method: 'client_secret_jwt' }), revocation_request: undefined },
    ],
  ])('%s', async (_, oauth2) => {
    const { ok, steps } = await run(oauth2)
    expect(steps.filter((one) => !one.ok)).toEqual([])
    expect(ok).toBe(true)
  })
})

describe('the simulator notices', () => {
  const otherwise = (
    member: 'token_request' | 'refresh_request' | 'user_info_request' | 'revocation_request',
    more: object,
  ) => ({
    [member]: { ...BASE[member], ...more },
  })
  test.each<[string, object, string, RegExp]>([
    [
      'another client authentication',
      otherwise('token_request', { auth_method: 'client_secret_basic' }),
      'consent',
      /does not authenticate the client by client_secret_basic/,
    ],
    [
      'tokens that have to be bound to a key',
      { dpop: { algorithm: 'ES256' } },
      'consent refused',
      /lacks the parameter dpop_jkt/,
    ],
    [
      'a missing parameter',
      otherwise('token_request', { params: { audience: 'x' } }),
      'consent',
      /lacks the parameter audience/,
    ],
    [
      'a parameter under another name',
      otherwise('token_request', { parameter_names: { code: 'grant' } }),
      'consent',
      /lacks the parameter grant/,
    ],
    [
      'another media type',
      otherwise('token_request', { request_content_type: 'application/json' }),
      'consent',
      /content type/,
    ],
    [
      'PKCE that the server does not know',
      { pkce: { enabled: false, code_challenge_method: 'S256' } },
      'consent refused',
      /code_challenge, which the definition does not name/,
    ],
    [
      'a missing header',
      otherwise('user_info_request', { method: 'GET', headers: { 'x-version': '7' } }),
      'consent',
      /header x-version/,
    ],
    [
      'another method',
      otherwise('user_info_request', { method: 'POST' }),
      'consent',
      /is a GET instead of a POST/,
    ],
    ['another separator of scopes', { scope_delimiter: ',' }, 'consent refused', /parameter scope/],
    ['another endpoint', otherwise('token_request', { endpoint: endpoint('elsewhere') }), 'consent', /./],
    [
      'another expiry',
      otherwise('token_request', { expiration_format: 'relative_milliseconds' }),
      'consent',
      /expires in/,
    ],
    [
      'a nested token',
      otherwise('token_request', { response_map: { access_token: '$.data.token' } }),
      'consent',
      /./,
    ],
    ['an account elsewhere', { account: { id: ['$.person.key'] } }, 'consent', /the account is/],
    [
      'another refresh',
      otherwise('refresh_request', { params: { type: 'refresh' } }),
      'refresh',
      /lacks the parameter type/,
    ],
    [
      'another revocation',
      otherwise('revocation_request', { token_parameter: 'accessToken' }),
      'revocation',
      /lacks the parameter accessToken/,
    ],
    [
      'another host of the API',
      { api: { base_url: 'https://x.example', hosts: ['x.example'] } },
      'call',
      /./,
    ],
  ])('%s', async (_, plays, step, detail) => {
    const { ok, steps } = await run({}, { plays: { ...plays } })
    expect(ok).toBe(false)
    expect(steps.at(-1)).toMatchObject({ step, ok: false, detail: expect.stringMatching(detail) })
  })
})

test('a token without a refresh token is renewed, by the declared request', async () => {
  const renewed = { refresh_request: undefined, renewal_request: RENEWAL }
  const { steps } = await run(renewed)
  expect(steps.slice(-3)).toEqual([
    { step: 'refresh', ok: true, detail: 'the access token is renewed' },
    { step: 'refresh refused', ok: true, detail: 'a refused refresh asks for a new consent' },
    { step: 'revocation', ok: true, detail: 'revoked' },
  ])
  const plays = { renewal_request: { ...RENEWAL, params: { ...RENEWAL.params, version: '7' } } }
  const otherwise = await run(renewed, { plays })
  expect(otherwise.steps.at(-1)).toMatchObject({
    step: 'refresh',
    ok: false,
    detail: expect.stringContaining('lacks the parameter version'),
  })
})
