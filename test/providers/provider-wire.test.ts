import { describe, expect, test } from 'vitest'
import type { Sealed } from '../../src/domain/sealed.ts'
import { providerResponseSchema } from '../../src/operations/providers/provider-schema.ts'
import {
  applyProviderPatch,
  parseProviderCreate,
  providerToWire,
} from '../../src/operations/providers/provider-wire.ts'
import { tokenRequestIn } from '../../src/providers/provider-endpoints.ts'
import type { ProviderEntry } from '../../src/providers/provider-entry.ts'

const authorize_request = {
  endpoint: 'https://hub.test/authorize',
  params: {
    response_type: 'code',
    client_id: '{{client_id}}',
    redirect_uri: '{{redirect_uri}}',
    scope: '{{scopes}} {{existing_scopes}}',
  },
}
const token_request = {
  endpoint: 'https://hub.test/token',
  auth_method: 'client_secret_basic',
  params: { grant_type: 'authorization_code', redirect_uri: '{{redirect_uri}}' },
  response_map: { access_token: '$.access_token', scope: "join('$.scopes',' ')" },
}
const refresh_request = {
  endpoint: 'https://hub.test/token',
  auth_method: 'client_secret_basic',
  params: { grant_type: 'refresh_token', refresh_token: '{{refresh_token}}' },
}
const user_info_request = {
  endpoint: 'https://hub.test/me',
  triggers: { on_token_grant: true, on_token_refresh: false },
}
const oauth2 = {
  client_id: 'abc',
  client_secret: 's3',
  scope_delimiter: ',',
  pkce: { enabled: true, code_challenge_method: 'S256' },
  authorize_request,
  token_request,
  refresh_request,
  user_info_request,
}
const created = (more: object = {}) => ({ id: 'acme-hub', type: 'oauth2', oauth2: { ...oauth2, ...more } })

function entry(body: unknown = created()): ProviderEntry {
  return {
    ...parseProviderCreate(body).entry,
    uid: 'prov_1',
    projectId: 'proj_1',
    clientSecret: 'sealed' as Sealed,
    createdAt: 1000,
    updatedAt: 2000,
  }
}

describe('creating a provider', () => {
  test('reads every block', () => {
    const { entry, clientSecret } = parseProviderCreate(
      created({
        issuer: 'https://hub.test',
        token_types: ['Bot', ''],
        revocation_request: { endpoint: 'https://hub.test/revoke' },
        token_introspection_request: {
          endpoint: 'https://hub.test/introspect',
          params: { token: '{{access_token}}' },
          triggers: { on_token_refresh: true },
        },
      }),
    )
    expect(clientSecret).toBe('s3')
    expect(entry).toEqual({
      id: 'acme-hub',
      name: 'acme-hub',
      status: 'active',
      source: 'admin',
      clientId: 'abc',
      provider: {
        displayName: 'acme-hub',
        issuer: 'https://hub.test',
        fromIssuer: ['iss', 'end_session'],
        pkce: 'S256',
        scopeSeparator: ',',
        defaultScopes: [],
        authorizationRequest: authorize_request,
        tokenRequest: {
          endpoint: 'https://hub.test/token',
          method: 'POST',
          authMethod: 'client_secret_basic',
          params: token_request.params,
          requestContentType: 'application/x-www-form-urlencoded',
          responseContentType: 'application/json',
          responseMap: token_request.response_map,
        },
        refreshRequest: expect.objectContaining({ authMethod: 'client_secret_basic' }),
        userInfoRequest: expect.objectContaining({
          method: 'GET',
          authMethod: 'bearer_access_token',
          triggers: { onTokenGrant: true, onTokenRefresh: false },
        }),
        introspectionRequest: expect.objectContaining({
          method: 'POST',
          authMethod: 'client_secret_basic',
          expirationFormat: 'absolute_unix_timestamp',
          triggers: { onTokenGrant: false, onTokenRefresh: true },
        }),
        revocationRequest: expect.objectContaining({ endpoint: 'https://hub.test/revoke' }),
        tokenTypes: ['bot', ''],
        account: expect.anything(),
      },
    })
  })

  test.each([
    [
      'nothing said, secret in the parameters',
      undefined,
      { client_secret: '{{client_secret}}' },
      'none',
      true,
    ],
    ['none, secret under a name of its own', 'none', { secret_key: '{{ client_secret }}' }, 'none', true],
    ['nothing said, no secret in the parameters', undefined, {}, 'client_secret_post', false],
    ['an empty text', '', {}, 'client_secret_post', false],
    ['Basic', 'client_secret_basic', {}, 'client_secret_basic', false],
    ['Basic and the secret', 'client_secret_basic', { s: '{{client_secret}}' }, 'client_secret_basic', false],
    [
      'the body and the secret',
      'client_secret_post',
      { s: '{{client_secret}}' },
      'client_secret_post',
      false,
    ],
  ])('shows the client in one way: %s', (_, auth_method, params, authMethod, secretKept) => {
    const body = created({ token_request: { endpoint: 'https://hub.test/token', auth_method, params } })
    const tokenRequest = tokenRequestIn(parseProviderCreate(body).entry.provider)
    expect(tokenRequest.authMethod).toBe(authMethod)
    expect(Object.values(tokenRequest.params).some((value) => value.includes('secret'))).toBe(secretKept)
  })

  test.each([
    [undefined, 'S256'],
    [null, 'S256'],
    [{}, 'S256'],
    [{ code_challenge_method: 'plain' }, 'plain'],
    [{ enabled: false }, 'none'],
    [{ enabled: false, code_challenge_method: 'S512' }, 'none'],
    [{ enabled: true }, 'S256'],
    [{ enabled: true, code_challenge_method: 'S256' }, 'S256'],
    [{ enabled: true, code_challenge_method: 'plain' }, 'plain'],
  ])('pkce %j is %s', (pkce, expected) => {
    expect(parseProviderCreate(created({ pkce })).entry.provider.pkce).toBe(expected)
  })

  test('without a refresh request refresh tokens are never used', () => {
    const { provider } = parseProviderCreate(created({ refresh_request: undefined })).entry
    expect(provider).not.toHaveProperty('refreshRequest')
  })

  test('takes what is left out from the catalogue', () => {
    const { entry } = parseProviderCreate({
      id: 'my-google',
      provider_id: 'Google',
      oauth2: { client_id: 'abc' },
    })
    expect(entry).toMatchObject({ wellKnownId: 'google', clientId: 'abc' })
    expect(entry.provider).toMatchObject({
      displayName: 'Google',
      issuer: 'https://accounts.google.com',
      pkce: 'S256',
    })
    expect(entry.provider.authorizationRequest?.params).toMatchObject({
      access_type: 'offline',
      prompt: 'consent',
    })
    expect(entry.provider.account.id).toEqual(['$.sub'])
  })

  test('an id of the catalogue is enough; the client comes later', () => {
    const { entry } = parseProviderCreate({ id: 'gh', provider_id: 'github' })
    expect(entry.provider.tokenRequest?.endpoint).toBe('https://github.com/login/oauth/access_token')
    expect(entry).not.toHaveProperty('clientId')
  })

  test('what the catalogue knows of one server says nothing of another', () => {
    const { provider } = parseProviderCreate({ ...created(), provider_id: 'github' }).entry
    expect(provider).not.toHaveProperty('issuer')
    expect(provider.account.id).toContain('$.sub')
  })

  const block = (name: string, more: object) =>
    created({ [name]: { endpoint: 'https://hub.test/x', ...more } })
  const endpoint = (url: string) => block('token_request', { endpoint: url })
  const triggers = {}
  test.each([
    ['no body', undefined, /^The body /],
    ['no id', { oauth2 }, /^id\b/],
    ['an id that no path takes', { ...created(), id: 'a/b' }, /^id\b/],
    ['an id of dots', { ...created(), id: '..' }, /^id\b/],
    ['a long id', { ...created(), id: 'a'.repeat(101) }, /^id\b/],
    ['a long description', { ...created(), description: 'a'.repeat(1001) }, /^description /],
    ['a long external id', { ...created(), external_id: 'a'.repeat(51) }, /^external_id /],
    ['another type', { ...created(), type: 'saml' }, /^type /],
    ['another status', { ...created(), status: 'asleep' }, /^status /],
    ['no oauth2', { id: 'a' }, /^oauth2\.authorize_request is required/],
    ['no client id', { id: 'a', oauth2: { authorize_request, token_request } }, /^oauth2\.client_id /],
    ['no token request', created({ token_request: null }), /^oauth2\.token_request is required/],
    [
      'an id that the catalogue lacks',
      { id: 'a', provider_id: 'acme' },
      /^oauth2\.authorize_request is required/,
    ],
    ['another scope delimiter', created({ scope_delimiter: ';' }), /^oauth2\.scope_delimiter /],
    [
      'another PKCE method',
      created({ pkce: { enabled: true, code_challenge_method: 'S512' } }),
      /code_challenge_method has to be S256/,
    ],
    [
      'an endpoint that is no URL',
      endpoint('nonsense'),
      /^oauth2\.token_request\.endpoint is not an absolute URL/,
    ],
    [
      'a script for an endpoint',
      endpoint('javascript:alert(1)'),
      /^oauth2\.token_request\.endpoint has to be https/,
    ],
    ['a file for an endpoint', endpoint('file:///etc/passwd'), /endpoint has to be https/],
    ['plain http', endpoint('http://hub.test/token'), /endpoint has to be https/],
    ['a user name in an endpoint', endpoint('https://a@127.0.0.1/'), /endpoint must not hold a user name/],
    ['a fragment in an endpoint', endpoint('https://hub.test/#'), /endpoint must not hold a fragment/],
    [
      'a long endpoint',
      endpoint(`https://hub.test/${'a'.repeat(1000)}`),
      /^oauth2\.token_request\.endpoint /,
    ],
    ['an issuer that is no URL', created({ issuer: 'hub' }), /^oauth2\.issuer /],
    [
      'tokens by GET',
      block('token_request', { method: 'GET' }),
      /^oauth2\.token_request\.method has to be POST/,
    ],
    ['refresh by GET', block('refresh_request', { method: 'GET' }), /^oauth2\.refresh_request\.method /],
    [
      'introspection by GET',
      block('token_introspection_request', { method: 'GET', triggers }),
      /^oauth2\.token_introspection_request\.method /,
    ],
    [
      'a token in the URL',
      block('user_info_request', { triggers, params: { t: '{{access_token}}' } }),
      /^oauth2\.user_info_request\.params /,
    ],
    ['no triggers', block('user_info_request', {}), /^oauth2\.user_info_request\.triggers /],
    [
      'an unknown placeholder',
      block('token_request', { params: { a: '{{nope}}' } }),
      /^oauth2\.token_request\.params\.a has the placeholder/,
    ],
    [
      'a secret in the authorization request',
      block('authorize_request', { params: { a: '{{client_secret}}' } }),
      /^oauth2\.authorize_request\.params\.a /,
    ],
    [
      'an empty redirect URI',
      block('token_request', { params: { redirect_uri: ' ' } }),
      /^oauth2\.token_request\.params\.redirect_uri must not be empty/,
    ],
    [
      'a bad expression',
      block('token_request', { response_map: { scope: 'eval(1)' } }),
      /^oauth2\.token_request\.response_map has a fault: scope /,
    ],
    [
      'another auth method',
      block('token_request', { auth_method: 'self_signed_tls_client_auth' }),
      /^oauth2\.token_request\.auth_method has to be one of none, client_secret_basic/,
    ],
    [
      'Bearer at the token endpoint',
      block('token_request', { auth_method: 'bearer_access_token' }),
      /auth_method/,
    ],
    [
      'a header without a token',
      block('user_info_request', { triggers, auth_header_value_format: 'Bearer' }),
      /auth_header_value_format has to hold/,
    ],
    [
      'a header of two lines',
      block('user_info_request', { triggers, auth_header_value_format: 'a\r\nb: {{access_token}}' }),
      /auth_header_value_format/,
    ],
    [
      'a long header',
      block('user_info_request', { triggers, auth_header_value_format: 'a'.repeat(201) }),
      /auth_header_value_format/,
    ],
  ])('refuses %s', (_, body, message) => {
    expect(() => parseProviderCreate(body)).toThrow(
      expect.objectContaining({ code: 'invalid_request', message: expect.stringMatching(message) }),
    )
  })

  test('takes plain http where the operator allows it', () => {
    const body = created({ token_request: { ...token_request, endpoint: 'http://localhost:9000/token' } })
    const allowsHttp = (url: URL) => url.host === 'localhost:9000'
    const { provider } = parseProviderCreate(body, { allowsHttp }).entry
    expect(provider.tokenRequest?.endpoint).toBe('http://localhost:9000/token')
  })
})

describe('showing a provider', () => {
  test('gives back what was posted, never the secret', () => {
    const wire = providerToWire(entry(), 'https://g.test/callback/prov_1', true)
    const { client_secret: _, ...posted } = oauth2
    expect(wire).toMatchObject({
      id: 'acme-hub',
      type: 'oauth2',
      status: 'active',
      binding: { id: 'proj_1', type: 'project' },
      created_at: '1970-01-01T00:16:40.000Z',
      updated_at: '1970-01-01T00:33:20.000Z',
      oauth2: {
        ...posted,
        client_secret: { exists: true, editable: true, binding: 'project' },
        redirect_uri: 'https://g.test/callback/prov_1',
      },
    })
    expect(JSON.stringify(wire)).not.toMatch(/s3|sealed/)
    expect(providerResponseSchema.parse(wire)).toEqual(wire)
  })

  test('what is shown can be posted again', () => {
    const { oauth2: shown } = providerToWire(entry(), 'https://g.test/cb', false)
    const again = parseProviderCreate({ id: 'acme-hub', oauth2: { ...shown, client_secret: undefined } })
    expect(again.entry.provider).toEqual(entry().provider)
  })
})

describe('patching a provider', () => {
  test.each([
    ['nothing', {}, {}],
    ['its status', { status: 'inactive' }, { status: 'inactive' }],
    ['its description', { description: 'Hub' }, { description: 'Hub' }],
    ['its well-known id', { provider_id: 'GitHub' }, { wellKnownId: 'github' }],
    ['its client', { oauth2: { client_id: 'new' } }, { clientId: 'new' }],
  ])('changes %s alone', (_, body, change) => {
    expect(applyProviderPatch(entry(), body).entry).toEqual({ ...entry(), ...change })
  })

  test('a block keeps what the patch leaves out', () => {
    const { provider } = applyProviderPatch(entry(), {
      oauth2: {
        token_request: { endpoint: 'https://hub.test/token2' },
        user_info_request: { triggers: { on_token_refresh: true } },
      },
    }).entry
    expect(provider).toEqual({
      ...entry().provider,
      tokenRequest: { ...entry().provider.tokenRequest, endpoint: 'https://hub.test/token2' },
      userInfoRequest: {
        ...entry().provider.userInfoRequest,
        triggers: { onTokenGrant: true, onTokenRefresh: true },
      },
    })
  })

  test('null takes a block away', () => {
    const { provider } = applyProviderPatch(entry(), { oauth2: { refresh_request: null } }).entry
    expect(provider).not.toHaveProperty('refreshRequest')
  })

  test.each([
    ['kept', {}, 'sealed', undefined],
    ['replaced', { client_secret: 'new' }, undefined, 'new'],
    ['taken away by an empty text', { client_secret: '' }, undefined, undefined],
    ['taken away by null', { client_secret: null }, undefined, undefined],
  ])('the secret is %s', (_, said, sealed, clear) => {
    const patched = applyProviderPatch(entry(), { oauth2: said })
    expect(patched.entry.clientSecret).toBe(sealed)
    expect(patched.clientSecret).toBe(clear)
  })

  test('an issuer does not outlive its server', () => {
    const google = entry({ id: 'g', provider_id: 'google' })
    const moved = { oauth2: { authorize_request: { endpoint: 'https://evil.test/auth' } } }
    expect(applyProviderPatch(google, moved).entry.provider).not.toHaveProperty('issuer')
    expect(applyProviderPatch(google, { oauth2: { issuer: null } }).entry.provider).not.toHaveProperty(
      'issuer',
    )
  })

  test.each([
    ['another id', { id: 'other' }, /^id never changes/],
    ['no token request', { oauth2: { token_request: null } }, /^oauth2\.token_request is required/],
    [
      'a new block without an endpoint',
      { oauth2: { revocation_request: { method: 'POST' } } },
      /^oauth2\.revocation_request\.endpoint is required/,
    ],
    [
      'a bad endpoint',
      { oauth2: { token_request: { endpoint: 'http://hub.test' } } },
      /^oauth2\.token_request\.endpoint /,
    ],
  ])('refuses %s', (_, body, message) => {
    expect(() => applyProviderPatch(entry(), body)).toThrow(
      expect.objectContaining({ code: 'invalid_request', message: expect.stringMatching(message) }),
    )
  })
})

describe("where users' tokens may go", () => {
  const api = { base_url: 'https://api.hub.test/v1', hosts: ['*.files.hub.test'] }
  const apiOf = (said: object) => entry(created(said)).provider.api
  const shown = (one: ProviderEntry) => providerToWire(one, 'https://g.test/cb', true).oauth2?.api

  test("is said with the hosts in their own form, the base URL's among them", () => {
    const said = {
      ...api,
      hosts: ['API.hub.test', 'hub.test:443'],
      auth_header_value_format: 'token {{access_token}}',
    }
    expect(apiOf({ api: said })).toEqual({
      baseUrl: 'https://api.hub.test/v1',
      hosts: ['api.hub.test', 'hub.test'],
      authorization: 'token {{access_token}}',
    })
    expect(shown(entry(created({ api: said })))).toEqual({ ...said, hosts: ['api.hub.test', 'hub.test'] })
    expect(apiOf({})).toBeUndefined()
  })

  test('is known of a provider of the catalogue, but for another server under its name', () => {
    const github = { id: 'github', provider_id: 'github' }
    expect(entry(github).provider.api?.hosts).toContain('api.github.com')
    const authorize_request = { endpoint: 'https://github.acme.test/authorize' }
    expect(entry({ ...github, oauth2: { client_id: 'a', authorize_request } }).provider.api).toBeUndefined()
  })

  test('changes by what is said, and goes by null or with its server', () => {
    const before = entry(created({ api }))
    const patched = (said: object) => applyProviderPatch(before, { oauth2: said }).entry
    expect(patched({ client_id: 'other' }).provider.api).toEqual(before.provider.api)
    expect(shown(patched({ api: { base_url: null } }))).toEqual({
      hosts: ['api.hub.test', '*.files.hub.test'],
    })
    expect(shown(patched({ api: { hosts: ['up.hub.test'] } }))).toEqual({
      base_url: api.base_url,
      hosts: ['api.hub.test', 'up.hub.test'],
    })
    expect(patched({ api: null }).provider.api).toBeUndefined()
    const elsewhere = { ...authorize_request, endpoint: 'https://other.test/authorize' }
    expect(patched({ authorize_request: elsewhere }).provider.api).toBeUndefined()
  })

  test.each<[object, string]>([
    [{ hosts: ['*.test'] }, 'oauth2.api.hosts.0'],
    [{ hosts: ['a.test', 'https://b.test'] }, 'oauth2.api.hosts.1'],
    [{ hosts: [] }, 'oauth2.api needs'],
    [{ base_url: 'http://api.hub.test' }, 'oauth2.api.base_url'],
    [{ base_url: 'https://u:p@api.hub.test' }, 'oauth2.api.base_url'],
    [{ base_url: 'https://api.hub.test/?a=b' }, 'oauth2.api.base_url'],
    [{ base_url: 'https://127.0.0.1' }, 'oauth2.api.base_url'],
    [{ ...api, auth_header_value_format: 'Bearer' }, 'oauth2.api.auth_header_value_format'],
  ])('%j is refused', (said, path) => {
    expect(() => parseProviderCreate(created({ api: said }))).toThrow(path)
  })
})
