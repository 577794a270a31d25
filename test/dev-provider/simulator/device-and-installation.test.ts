import { describe, expect, test } from 'vitest'
import { withSimulation } from '../../../src/cli/simulation.ts'
import type { JobResult } from '../../../src/dev-provider/simulator/job.ts'
import { runMainJob } from '../../../src/dev-provider/simulator/main-job.ts'

// Servers at which users enter a code or install the client, and a simulator that notices what is otherwise.

const endpoint = (path: string) => `https://odd.example.com/${path}`
const API = { base_url: 'https://api.odd.example.com/v1' }

async function run(oauth2: object, plays: object = {}, scopes = ['a:read', 'b:write']): Promise<JobResult> {
  let result: JobResult | undefined
  await withSimulation({ environment: {} }, async (gatepass) => {
    result = await runMainJob(gatepass, { plays, scopes, body: { id: 'odd', oauth2: { ...oauth2 } } })
  })
  if (result === undefined) throw new Error('the job has not run')
  return result
}

const DEVICE = {
  grant: { type: 'device_code' },
  device_authorization_request: { endpoint: endpoint('device') },
  token_request: { endpoint: endpoint('token') },
  refresh_request: { endpoint: endpoint('token') },
  user_info_request: { endpoint: endpoint('me'), triggers: { on_token_grant: true } },
  api: API,
}

describe('a code that users enter', () => {
  test.each<[string, object]>([
    ['as the RFC has it', DEVICE],
    [
      'a refresh endpoint of its own, and the secret in the body',
      {
        ...DEVICE,
        token_request: { endpoint: endpoint('token'), auth_method: 'client_secret_post' },
        refresh_request: { endpoint: endpoint('refresh'), auth_method: 'client_secret_post' },
      },
    ],
    [
      'the page in another member, at another host (Google)',
      {
        ...DEVICE,
        verification_hosts: ['www.google.com'],
        device_authorization_request: {
          endpoint: endpoint('device'),
          response_map: { verification_uri: '$.verification_url' },
        },
      },
    ],
    [
      'Basic, scopes joined by commas, errors of its own',
      {
        ...DEVICE,
        scope_delimiter: ',',
        verification_hosts: ['*.odd.example'],
        token_request: {
          endpoint: endpoint('token'),
          auth_method: 'client_secret_basic',
          error_response: {
            at: '$.errcode',
            codes: { 1: 'authorization_pending', 2: 'slow_down', 3: 'access_denied' },
          },
        },
      },
    ],
    ['tokens bound to a key', { ...DEVICE, dpop: { algorithm: 'ES256' } }],
    ['the account in an ID token', { ...DEVICE, user_info_request: undefined, default_scopes: ['openid'] }],
  ])('%s', async (_, oauth2) => {
    const { ok, steps } = await run(oauth2)
    expect(steps.filter((step) => !step.ok)).toEqual([])
    expect(ok).toBe(true)
    expect(steps.map(({ step }) => step)).toEqual([
      ...['definition', 'consent refused', 'code expired', 'consent'],
      ...['call', 'refresh', 'refresh refused', 'revocation'],
    ])
  })

  test.each<[string, object, RegExp]>([
    ['another separator of scopes', { scope_delimiter: ',' }, /another value of the parameter scope/],
    [
      'a page in another member',
      {
        device_authorization_request: {
          endpoint: endpoint('device'),
          response_map: { verification_uri: '$.verification_url' },
        },
      },
      /no code|shows no code/,
    ],
    ['a page at a host that is not named', { verification_hosts: ['evil.example'] }, /shows no code/],
    [
      'another client authentication',
      { device_authorization_request: { endpoint: endpoint('device'), auth_method: 'client_secret_basic' } },
      /client_secret_basic/,
    ],
  ])('%s is noticed', async (_, plays, detail) => {
    const { ok, steps } = await run(DEVICE, plays)
    expect(ok).toBe(false)
    expect(steps.at(-1)).toMatchObject({
      step: 'consent refused',
      ok: false,
      detail: expect.stringMatching(detail),
    })
  })
})

const TENANTS = {
  authorize_request: { endpoint: endpoint('authorize') },
  token_request: { endpoint: endpoint('token') },
  user_info_request: { endpoint: endpoint('me'), triggers: { on_token_grant: true } },
  choices_request: { endpoint: endpoint('sites'), detail: '$.url' },
  kept_values: { site: { from: 'choice', at: '$.id', pattern: '[0-9a-f]{8}' } },
  api: { ...API, headers: { 'x-site': '{{site}}' } },
}

describe('a choice of the tenant', () => {
  test.each<[string, object]>([
    ['as Atlassian has it', {}],
    [
      'in the answer that names the account',
      { choices_request: { endpoint: endpoint('me'), at: '$.sites' } },
    ],
    ['without a name of the person', { user_info_request: undefined, account: { id: [], name: [] } }],
    ['tokens bound to a key', { dpop: { algorithm: 'ES256' } }],
  ])('%s', async (_, more) => {
    const { ok, steps } = await run({ ...TENANTS, ...more })
    expect(steps.filter((step) => !step.ok)).toEqual([])
    expect(ok).toBe(true)
    expect(steps.map(({ step }) => step)).toContain('choice')
  })

  test.each<[string, object]>([
    ['another list', { choices_request: { ...TENANTS.choices_request, at: '$.sites' } }],
    [
      'another member of the id',
      { choices_request: { ...TENANTS.choices_request, id: '$.key' }, kept_values: {} },
    ],
    [
      'another header of the list',
      { choices_request: { ...TENANTS.choices_request, headers: { 'x-api': '2' } } },
    ],
  ])('%s is noticed', async (_, plays) => {
    const { ok, steps } = await run(TENANTS, plays)
    expect(ok).toBe(false)
    expect(steps.at(-1)).toMatchObject({ step: 'choice', ok: false })
  })
})

const INSTALLATION = {
  grant: { type: 'installation' },
  variables: { slug: { pattern: '[a-z-]+', value: 'gatepass-test' } },
  authorize_request: { endpoint: endpoint('authorize') },
  token_request: { endpoint: endpoint('token') },
  installations_request: {
    endpoint: endpoint('user/installations'),
    at: '$.installations',
    id: '$.id',
    name: '$.account.login',
    scopes: '$.permissions',
  },
  installation_token_request: {
    endpoint: endpoint('app/installations/{{installation_id}}/access_tokens'),
    params: { permissions: '{{scope_members}}' },
    response_map: { access_token: '$.token', expires_in: '$.expires_at', scope: '$.permissions' },
    expiration_format: 'iso_8601',
  },
  installation_uri: endpoint('apps/{{slug}}/installations/new'),
  assertion: { algorithm: 'RS256', subject: '', audience: '' },
  scope_implies: { 'b:write': ['b:read'] },
  api: API,
}

describe('an installation of the client', () => {
  test.each<[string, object]>([
    ['as GitHub has it', {}],
    ['without a page on which the client is installed', { installation_uri: undefined }],
    [
      'an assertion with another lifetime, for an audience',
      { assertion: { lifetime: 120, algorithm: 'RS256' } },
    ],
    [
      'a list without scopes',
      { installations_request: { ...INSTALLATION.installations_request, scopes: null } },
    ],
    ['no API', { api: undefined }],
  ])('%s', async (_, more) => {
    const { ok, steps } = await run({ ...INSTALLATION, ...more })
    expect(steps.filter((step) => !step.ok)).toEqual([])
    expect(ok).toBe(true)
    expect(steps.map(({ step }) => step)).toEqual([
      ...['definition', 'consent refused', 'consent', 'call'],
      ...['next token', 'choice', 'removed', 'disconnect'],
    ])
  })

  test.each<[string, object, string]>([
    [
      'another lifetime of the assertion',
      { assertion: { ...INSTALLATION.assertion, lifetime: 60 } },
      'consent',
    ],
    ['another issuer', { assertion: { ...INSTALLATION.assertion, issuer: '12345' } }, 'consent'],
    [
      'other permissions',
      {
        installation_token_request: {
          ...INSTALLATION.installation_token_request,
          params: { repositories: 'hello' },
        },
      },
      'consent',
    ],
    [
      'another list',
      { installations_request: { ...INSTALLATION.installations_request, at: '$.items' } },
      'consent',
    ],
    ['another page for the installation', { installation_uri: endpoint('install') }, 'consent'],
  ])('%s is noticed', async (_, plays, step) => {
    const { ok, steps } = await run(INSTALLATION, plays)
    expect(ok).toBe(false)
    expect(steps.at(-1)).toMatchObject({ step, ok: false })
  })
})
