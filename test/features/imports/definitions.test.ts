import { describe, expect, test } from 'vitest'
import type { ImportedProvider } from '../../../src/features/imports/definitions/imported.ts'
import {
  type DocumentSource,
  importDocument,
} from '../../../src/features/imports/definitions/read-document.ts'

// Small documents in the shapes of other products, written for these tests.

function read(document: string | object, from?: DocumentSource): readonly ImportedProvider[] {
  const text = typeof document === 'string' ? document : JSON.stringify(document)
  return importDocument(text, { from }).items
}

function only(document: object, from?: DocumentSource): ImportedProvider {
  const [item] = read(document, from)
  if (item === undefined) throw new Error('nothing was read')
  return item
}

const nango = (members: object) =>
  only({
    acme: {
      display_name: 'Acme',
      auth_mode: 'OAUTH2',
      authorization_url: 'https://acme.example.com/oauth/authorize',
      token_url: 'https://acme.example.com/oauth/token',
      ...members,
    },
  })

describe('Nango', () => {
  test('an entry of plain OAuth 2 is carried over whole', () => {
    const item = nango({
      categories: ['crm'],
      docs: 'https://docs.example.com/acme',
      scope_separator: ',',
      disable_pkce: true,
      token_request_auth_method: 'basic',
      body_format: 'json',
      default_scopes: ['read', 'offline'],
      authorization_params: { response_type: 'code', access_type: 'offline', prompt: 'consent' },
      token_params: { grant_type: 'authorization_code', audience: 'api' },
      refresh_params: { grant_type: 'refresh_token' },
      refresh_url: 'https://acme.example.com/oauth/refresh',
      proxy: {
        base_url: 'https://api.acme.example.com/v2',
        headers: { 'acme-version': '2026-01-01', 'acme-client': '${clientId}' },
        retry: { at: 'x' },
      },
      webhook_routing_script: 'acmeWebhooks',
    })
    expect(item).toEqual({
      name: 'acme',
      carried: 'whole',
      notes: [],
      definition: {
        id: 'acme',
        name: 'Acme',
        verified: false,
        oauth2: {
          scope_delimiter: ',',
          pkce: { enabled: false },
          authorize_request: {
            endpoint: 'https://acme.example.com/oauth/authorize',
            params: { access_type: 'offline', prompt: 'consent' },
          },
          token_request: {
            endpoint: 'https://acme.example.com/oauth/token',
            auth_method: 'client_secret_basic',
            request_content_type: 'application/json',
            params: { audience: 'api' },
          },
          refresh_request: {
            endpoint: 'https://acme.example.com/oauth/refresh',
            auth_method: 'client_secret_basic',
            request_content_type: 'application/json',
          },
          default_scopes: ['read', 'offline'],
          api: {
            base_url: 'https://api.acme.example.com/v2',
            headers: { 'acme-version': '2026-01-01', 'acme-client': '{{client_id}}' },
          },
        },
      },
    })
  })

  test('values that people give become variables, with their patterns, choices and defaults', () => {
    const url = (path: string) =>
      `https://\${connectionConfig.accountHost}.example.com/\${connectionConfig.tenantId}/${path}`
    const { carried, definition } = nango({
      authorization_url: url('authorize'),
      token_url: url('token'),
      connection_config: {
        accountHost: {
          type: 'string',
          title: 'Account',
          pattern: '^[a-z]+$',
          example: 'blue',
          prefix: 'https://',
        },
        tenantId: { type: 'string', title: 'Tenant', enum: ['eu', 'us'], default_value: 'eu' },
      },
    })
    expect(carried).toBe('whole')
    expect(definition?.oauth2).toMatchObject({
      variables: {
        account_host: { label: 'Account', pattern: '^[a-z]+$', example: 'blue' },
        tenant_id: { label: 'Tenant', one_of: ['eu', 'us'], value: 'eu' },
      },
      token_request: { endpoint: 'https://{{account_host}}.example.com/{{tenant_id}}/token' },
    })
  })

  test('values and formats may have names that every object has', () => {
    const url = (path: string) => `https://\${connectionConfig.constructor}.example.com/${path}`
    const connection_config = { constructor: { title: 'Account', format: 'toString', example: 'blue' } }
    const urls = { authorization_url: url('authorize'), token_url: url('token') }
    expect(nango({ ...urls, connection_config }).definition?.oauth2).toMatchObject({
      variables: { constructor: { label: 'Account', example: 'blue' } },
      token_request: { endpoint: 'https://{{constructor}}.example.com/token' },
    })
  })

  test('an alternative that is the same URL with a fixed host is the default of the variable', () => {
    const url = (path: string) =>
      `https://\${connectionConfig.hostname}/${path} || https://login.example.com/${path}`
    const { carried, definition } = nango({
      authorization_url: url('authorize'),
      token_url: url('token'),
      connection_config: { hostname: { type: 'string', title: 'Host', format: 'hostname', optional: true } },
    })
    expect(carried).toBe('whole')
    expect(definition?.oauth2?.variables).toMatchObject({ hostname: { value: 'login.example.com' } })
  })

  test('values that the provider tells are kept; a host of theirs gets tokens only below a fixed domain', () => {
    const { definition, notes } = nango({
      redirect_uri_metadata: ['companyId'],
      token_response_metadata: ['dc'],
      connection_config: {
        companyId: { type: 'string', pattern: '^[0-9]{1,20}$' },
        dc: { type: 'string', pattern: '^[a-z]{2}[0-9]+$', automated: true },
      },
      proxy: {
        base_url: 'https://${connectionConfig.dc}.api.example.com',
        headers: { 'acme-company': '${connectionConfig.companyId}' },
      },
    })
    expect(notes).toEqual([])
    expect(definition?.oauth2).toMatchObject({
      kept_values: {
        company_id: { from: 'authorization_response', at: 'companyId', pattern: '^[0-9]{1,20}$' },
        dc: { from: 'token_response', at: '$.dc', pattern: '^[a-z]{2}[0-9]+$' },
      },
      callback_members: { companyId: '^[0-9]{1,20}$' },
      api: {
        base_url: 'https://{{dc}}.api.example.com',
        hosts: ['*.api.example.com'],
        headers: { 'acme-company': '{{company_id}}' },
      },
    })
  })

  test('headers of requests to the API are carried over, in any case, the token in a format of its own too', () => {
    const headers = { 'Acme-Version': '2026-01-01', Authorization: 'Acme-token ${accessToken}' }
    const { carried, definition } = nango({ proxy: { base_url: 'https://api.example.com', headers } })
    expect(carried).toBe('whole')
    expect(definition?.oauth2).toMatchObject({
      api: {
        headers: { 'acme-version': '2026-01-01' },
        auth_header_value_format: 'Acme-token {{access_token}}',
      },
    })
  })

  test.each<[string, object, string, RegExp]>([
    [
      'code that runs after the consent',
      { post_connection_script: 'acmeAfter' },
      'post_connection_script',
      /code of Nango/,
    ],
    [
      'a separator that we do not have',
      { scope_separator: '+' },
      'scope_separator',
      /neither a space nor a comma/,
    ],
    [
      'a parameter with a value of the connection',
      { token_params: { resource: 'https://${connectionConfig.env}' } },
      'token_params.resource',
      /value of the connection/,
    ],
    ['a fragment', { authorization_url_fragment: 'x' }, 'authorization_url_fragment', /no such member/],
    ['a member with a name that every object has', { valueOf: 'x' }, 'valueOf', /no such member/],
    [
      'a header with such a name for a value',
      { proxy: { base_url: 'https://api.example.com', headers: { 'x-key': '${constructor}' } } },
      'proxy.headers.x-key',
      /cannot have/,
    ],
    [
      'a base URL of any host',
      {
        proxy: { base_url: '${connectionConfig.instance_url}' },
        token_response_metadata: ['instance_url'],
        connection_config: { instance_url: { pattern: '^https://.*$' } },
      },
      'proxy.base_url',
      /name the hosts/,
    ],
    [
      'a value without a pattern',
      {
        proxy: { base_url: 'https://${connectionConfig.dc}.api.example.com' },
        token_response_metadata: ['dc'],
      },
      'proxy.base_url.dc',
      /without a usable pattern/,
    ],
    [
      'a pattern that RE2 does not take',
      {
        authorization_url: 'https://${connectionConfig.host}/a',
        token_url: 'https://${connectionConfig.host}/t',
        connection_config: { host: { pattern: '^(?!evil).*$' } },
      },
      'connection_config.host',
      /any host or label/,
    ],
    [
      'a header with the secret',
      { proxy: { base_url: 'https://api.example.com', headers: { 'x-key': '${clientId}:${clientSecret}' } } },
      'proxy.headers.x-key',
      /cannot have/,
    ],
    [
      'an Authorization of more than the token',
      {
        proxy: {
          base_url: 'https://api.example.com',
          headers: { authorization: '${clientId}:${accessToken}' },
        },
      },
      'proxy.headers.authorization',
      /more than the access token/,
    ],
    [
      'a state under another name',
      { authorization_url_replacements: { 'state=': 'customField=' } },
      'authorization_url_replacements',
      /state keeps its name/,
    ],
  ])('%s is left out and named', (_, members, member, reason) => {
    const item = nango(members)
    expect(item.carried).toBe('part')
    expect(item.notes).toContainEqual({ member, reason: expect.stringMatching(reason) })
  })

  test('names of parameters, the code’s name and a missing response_type are carried over', () => {
    const { carried, definition } = nango({
      authorization_url_replacements: { client_id: 'client_key', response_type: '' },
      authorization_code_param_in_callback: 'auth_code',
    })
    expect(carried).toBe('whole')
    expect(definition?.oauth2).toMatchObject({
      authorize_request: { parameter_names: { client_id: 'client_key' }, params: { response_type: '' } },
      code_parameter: 'auth_code',
    })
  })

  test('an alias has what it leaves out from the other entry', () => {
    const base = {
      auth_mode: 'OAUTH2',
      display_name: 'Base',
      authorization_url: 'https://base.example.com/a',
      token_url: 'https://base.example.com/t',
    }
    const items = read({ base, other: { alias: 'base', display_name: 'Other' }, lost: { alias: 'nowhere' } })
    expect(items.map(({ carried }) => carried)).toEqual(['whole', 'whole', 'none'])
    expect(items[1]?.definition).toMatchObject({
      id: 'other',
      name: 'Other',
      oauth2: items[0]?.definition?.oauth2,
    })
  })

  test('client credentials are a grant of the entry’s own client', () => {
    const { carried, definition } = nango({
      auth_mode: 'OAUTH2_CC',
      authorization_url: undefined,
      token_params: { grant_type: 'client_credentials', audience: 'api' },
      token_request_auth_method: 'basic',
      default_scopes: ['read'],
      credentials: { clientId: { title: 'Client' } },
    })
    expect(carried).toBe('whole')
    expect(definition?.oauth2).toEqual({
      grant: { type: 'client_credentials' },
      default_scopes: ['read'],
      token_request: {
        endpoint: 'https://acme.example.com/oauth/token',
        auth_method: 'client_secret_basic',
        params: { audience: 'api' },
      },
    })
    const other = nango({ auth_mode: 'OAUTH2_CC', token_params: { grant_type: 'password' } })
    expect([other.carried, other.notes[0]?.reason]).toEqual(['none', 'a grant of its own kind'])
  })

  test('the account of a client is a variable of the entry, in its parameters', () => {
    const machine = (token_params: object, more: object = {}) =>
      nango({
        auth_mode: 'OAUTH2_CC',
        authorization_url: undefined,
        token_params,
        connection_config: {
          accountId: { title: 'Account ID' },
          audience: { title: 'Audience', example: 'https://api.example.com/x' },
          team: { title: 'Team', optional: true },
          told: { automated: true },
        },
        ...more,
      })
    const zoom = machine({
      grant_type: 'account_credentials',
      account_id: '${connectionConfig.accountId}',
      audience: 'to ${connectionConfig.audience}',
    })
    expect([zoom.carried, zoom.notes]).toEqual(['whole', []])
    expect(zoom.definition?.oauth2).toMatchObject({
      grant: { type: 'account_credentials' },
      variables: {
        account_id: { label: 'Account ID', pattern: '.{1,255}' },
        audience: { example: 'https://api.example.com/x' },
      },
      token_request: { params: { account_id: '{{account_id}}', audience: 'to {{audience}}' } },
    })
    const other = machine(
      { team: '${connectionConfig.team}', area: '${connectionConfig.told} || eu', x: '${apiKey}' },
      {
        token_expires_in_ms: 900_000,
        token_headers: { accept: 'application/json', 'x-version': '2', host: 'evil.example' },
        token_request_auth_method: 'private_key_jwt',
      },
    )
    expect(other.notes.map(({ member }) => member)).toEqual([
      'token_params.team',
      'token_params.area',
      'token_params.x',
      'token_headers.host',
    ])
    expect(other.definition?.oauth2).toMatchObject({
      default_expires_in: 900,
      token_request: {
        auth_method: 'private_key_jwt',
        params: { area: 'eu' },
        headers: { 'x-version': '2' },
      },
    })
  })

  describe('what people type', () => {
    const typed = (members: object) =>
      only({
        acme: {
          display_name: 'Acme',
          auth_mode: 'API_KEY',
          proxy: {
            base_url: 'https://api.acme.example.com/v1/',
            headers: { authorization: 'Bearer ${apiKey}', 'acme-version': '2' },
          },
          credentials: { apiKey: { title: 'Key', pattern: '^[a-f0-9]{32}$' } },
          ...members,
        },
      })

    test('an API key is carried over whole, its form left open', () => {
      const verification = { method: 'GET', endpoints: ['/me?full=1', '/other'] }
      const { proxy } = { proxy: { base_url: 'https://api.acme.example.com/v1/', verification } }
      const headers = { authorization: 'Bearer ${apiKey}', 'acme-version': '2' }
      expect(typed({ proxy: { ...proxy, headers } })).toEqual({
        name: 'acme',
        carried: 'whole',
        notes: [],
        definition: {
          id: 'acme',
          name: 'Acme',
          type: 'credentials',
          owner: 'either',
          credentials: {
            fields: { api_key: { label: 'Key', secret: true } },
            place: { bearer: '{{api_key}}' },
            test_request: { endpoint: 'https://api.acme.example.com/v1/me', params: { full: '1' } },
            api: { base_url: 'https://api.acme.example.com/v1', headers: { 'acme-version': '2' } },
          },
          verified: false,
        },
      })
    })

    test('user name and password, where one of them is hidden and fixed', () => {
      const { definition, carried } = typed({
        auth_mode: 'BASIC',
        proxy: { base_url: 'https://${connectionConfig.subdomain}.acme.example.com' },
        credentials: {
          username: { title: 'API key', pattern: '^[a-z]+$' },
          password: { default_value: 'X', hidden: true },
        },
        connection_config: { subdomain: { title: 'Subdomain', pattern: '^[a-z0-9-]+$', example: 'shop' } },
      })
      expect(carried).toBe('whole')
      expect(definition?.credentials).toEqual({
        fields: {
          subdomain: { label: 'Subdomain', pattern: '^[a-z0-9-]+$', example: 'shop' },
          username: { label: 'API key', secret: true },
        },
        place: { basic: { username: '{{username}}', password: 'X' } },
        unchecked: true,
        api: { base_url: 'https://{{subdomain}}.acme.example.com' },
      })
    })

    test('an administrator, and no user, gives a whole host', () => {
      const { definition } = typed({
        proxy: { base_url: 'https://${connectionConfig.host}/api', headers: { 'X-Key': '${apiKey}' } },
        connection_config: { host: { title: 'Host', format: 'hostname', example: 'acme.example.com' } },
      })
      expect(definition?.credentials).toMatchObject({
        variables: { host: { label: 'Host', example: 'acme.example.com' } },
        fields: { api_key: { secret: true } },
        place: { headers: { 'X-Key': '{{api_key}}' } },
      })
    })

    test('a second key in a header is a secret, an account beside Basic is none', () => {
      const two = typed({
        proxy: {
          base_url: 'https://api.acme.example.com',
          headers: { 'x-key': '${apiKey}', 'x-app': '${connectionConfig.applicationKey}' },
        },
        connection_config: { applicationKey: { title: 'Application key' } },
      })
      expect(two.definition?.credentials).toMatchObject({
        fields: { api_key: { secret: true }, application_key: { secret: true } },
        place: { headers: { 'x-key': '{{api_key}}', 'x-app': '{{application_key}}' } },
      })
      const beside = typed({
        auth_mode: 'BASIC',
        proxy: {
          base_url: 'https://api.acme.example.com',
          headers: { 'x-firm': '${connectionConfig.firm}' },
        },
        credentials: undefined,
        connection_config: { firm: { title: 'Firm' } },
      })
      expect(beside.definition?.credentials).toMatchObject({
        fields: { username: {}, password: { secret: true }, firm: { label: 'Firm' } },
        place: { basic: { username: '{{username}}', password: '{{password}}' } },
        api: { headers: { 'x-firm': '{{firm}}' } },
      })
    })

    test('a key in the query', () => {
      const { definition } = typed({
        proxy: { base_url: 'https://api.acme.example.com', query: { key: '${apiKey}' } },
      })
      expect(definition?.credentials).toMatchObject({
        place: { query: { key: '{{api_key}}' } },
        in_url: true,
      })
    })

    test('a login that makes a token', () => {
      const { definition, carried } = typed({
        auth_mode: 'TWO_STEP',
        token_url: 'https://api.acme.example.com/login',
        token_params: { user: '${credentials.username}', password: '${credentials.password}', app: 'x' },
        token_headers: { 'content-type': 'application/json', accept: 'application/json' },
        token_response: {
          token: 'data.token',
          token_expiration: 'data.expires',
          token_expiration_strategy: 'expireIn',
        },
        proxy: { base_url: 'https://api.acme.example.com' },
        credentials: { username: { title: 'User' }, password: { title: 'Password' } },
      })
      expect(carried).toBe('whole')
      expect(definition?.credentials).toMatchObject({
        fields: { username: { label: 'User' }, password: { secret: true } },
        place: { bearer: '{{access_token}}' },
        token_request: {
          endpoint: 'https://api.acme.example.com/login',
          request_content_type: 'application/json',
          params: { user: '{{username}}', password: '{{password}}', app: 'x' },
          headers: { accept: 'application/json' },
          response_map: { access_token: '$.data.token', expires_in: '$.data.expires' },
        },
      })
    })

    const headers = { authorization: 'Bearer ${apiKey}' }
    const base_url = 'https://api.acme.example.com'
    test.each([
      ['a check by POST', { method: 'POST', endpoints: ['/x'] }, /may change something/],
      ['a check with the key in its URL', { endpoints: ['/keys/${credentials.apiKey}'] }, /puts a secret/],
      ['a check elsewhere', { endpoints: ['/x'], base_url_override: 'https://x.example' }, /another host/],
    ])('%s is left out and named', (_, verification, reason) => {
      const { carried, definition, notes } = typed({ proxy: { base_url, headers, verification } })
      expect([carried, notes[0]?.reason]).toEqual(['part', expect.stringMatching(reason)])
      expect(definition?.credentials).toMatchObject({ unchecked: true })
      expect(definition?.credentials).not.toHaveProperty('test_request')
    })

    test.each([
      ['a header that is computed', { headers: { 'x-sig': '${sha256(${apiKey})}' } }, /computed/],
      ['no place of the key', {}, /no place/],
      ['two places', { headers: { 'x-key': '${apiKey}' }, query: { key: '${apiKey}' } }, /two places/],
      [
        'a private host',
        { base_url: 'https://10.0.0.1', headers: { 'x-key': '${apiKey}' } },
        /10\.0\.0\.1|private/,
      ],
    ])('%s is not carried over', (_, proxy, reason) => {
      const { carried, notes } = typed({ proxy: { base_url, ...proxy } })
      expect([carried, notes[0]?.reason]).toEqual(['none', expect.stringMatching(reason)])
    })

    const login = {
      auth_mode: 'TWO_STEP',
      token_url: 'https://api.acme.example.com/login',
      token_params: { password: '${credentials.password}' },
      token_response: { token: 'token' },
      proxy: { base_url },
      credentials: { password: {} },
    }
    test.each([
      ['a secret in its URL', { token_url: 'https://acme.example.com/?k=${credentials.password}' }, /secret/],
      ['several requests', { additional_steps: [{}] }, /several/],
      ['a nested body', { token_params: { a: { b: '${credentials.password}' } } }, /body of its own form/],
      ['an answer that is the token', { token_response: { token: '' } }, /whole answer/],
      ['XML', { body_format: 'xml' }, /XML/],
    ])('a login with %s is not carried over', (_, members, reason) => {
      const { carried, notes } = typed({ ...login, ...members })
      expect([carried, notes[0]?.reason]).toEqual(['none', expect.stringMatching(reason)])
    })
  })

  test('OAUTH1 becomes an entry that signs its requests', () => {
    const acme = {
      auth_mode: 'OAUTH1',
      display_name: 'Acme',
      request_url: 'https://acme.example.com/oauth/request',
      request_http_method: 'GET',
      authorization_url: 'https://acme.example.com/oauth/authorize',
      authorization_params: { perms: 'read' },
      token_url: 'https://acme.example.com/oauth/token',
      signature_method: 'HMAC-SHA1',
      proxy: { base_url: 'https://api.acme.example.com' },
    }
    const { carried, definition, notes } = only({ acme })
    expect([carried, notes]).toEqual(['whole', []])
    expect(definition).toEqual({
      id: 'acme',
      name: 'Acme',
      type: 'oauth1',
      oauth1: {
        temporary_request: { endpoint: 'https://acme.example.com/oauth/request', method: 'GET' },
        authorize_request: {
          endpoint: 'https://acme.example.com/oauth/authorize',
          params: { perms: 'read' },
        },
        token_request: { endpoint: 'https://acme.example.com/oauth/token' },
        signature_method: 'HMAC-SHA1',
        api: { base_url: 'https://api.acme.example.com' },
      },
      verified: false,
    })
    expect(only({ acme: { ...acme, signature_method: 'MD5' } }).carried).toBe('none')
    expect(only({ acme: { ...acme, request_url: undefined } }).carried).toBe('none')
  })

  test.each([
    ['TBA', /OAuth 1/],
    ['JWT', /without a user’s code/],
    ['SOMETHING_NEW', /unknown kind/],
    ['constructor', /unknown kind/],
  ])('%s is not carried over', (auth_mode, reason) => {
    expect(only({ acme: { auth_mode } })).toEqual({
      name: 'acme',
      carried: 'none',
      notes: [{ member: 'auth_mode', reason: expect.stringMatching(reason) }],
    })
  })

  test.each([
    ['plain http', 'http://acme.example.com/token'],
    ['a private address', 'https://10.0.0.1/token'],
    ['a script', 'javascript:alert(1)'],
    ['credentials', 'https://user:pw@acme.example.com/token'],
  ])('a token URL with %s is refused as in any definition', (_, token_url) => {
    const item = nango({ token_url })
    expect(item.carried).toBe('none')
    expect(item.definition).toBeUndefined()
    expect(item.notes[0]?.member).toBe('oauth2.token_request.endpoint')
  })
})

describe('grant', () => {
  const entry = {
    authorize_url: 'https://acme.example.com/a',
    access_url: 'https://acme.example.com/t',
    oauth: 2,
  }

  test('what grant does where it is silent: commas, the secret in the body, no PKCE', () => {
    expect(only({ acme: entry })).toEqual({
      name: 'acme',
      carried: 'whole',
      notes: [],
      definition: {
        id: 'acme',
        name: 'acme',
        verified: false,
        oauth2: {
          scope_delimiter: ',',
          pkce: { enabled: false },
          authorize_request: { endpoint: 'https://acme.example.com/a' },
          token_request: { endpoint: 'https://acme.example.com/t' },
          refresh_request: { endpoint: 'https://acme.example.com/t' },
        },
      },
    })
  })

  test('an application’s own settings, without its client', () => {
    const own = {
      ...entry,
      key: 'client-id',
      secret: 'client-secret',
      scope: ['openid', 'email'],
      scope_delimiter: ' ',
      pkce: true,
      token_endpoint_auth_method: 'client_secret_basic',
      custom_params: { access_type: 'offline' },
    }
    const item = only({ defaults: { origin: 'http://localhost' }, acme: own })
    expect(item).toMatchObject({
      carried: 'whole',
      definition: {
        oauth2: {
          default_scopes: ['openid', 'email'],
          authorize_request: { params: { access_type: 'offline' } },
          token_request: { auth_method: 'client_secret_basic' },
        },
      },
    })
    expect(item.definition?.oauth2).not.toHaveProperty('pkce')
    expect(JSON.stringify(item)).not.toMatch(/client-id|client-secret/)
  })

  test('[subdomain] is a variable; OAuth 1 is not carried over', () => {
    const items = read({
      acme: { ...entry, authorize_url: 'https://[subdomain].acme.example.com/a' },
      old: { ...entry, oauth: 1, request_url: 'https://old.example.com/r' },
    })
    expect(items).toMatchObject([
      {
        carried: 'part',
        definition: { oauth2: { variables: { subdomain: {} } } },
        notes: [{ member: 'subdomain' }],
      },
      { carried: 'none', notes: [{ member: 'oauth', reason: 'OAuth 1' }] },
    ])
  })
})

describe('Arcade', () => {
  const yaml = `
auth:
  providers:
    - id: acme-hub
      description: The hub
      enabled: true
      type: oauth2
      client_id: \${env:ACME_CLIENT_ID}
      client_secret: \${env:ACME_CLIENT_SECRET}
      oauth2:
        scope_delimiter: " "
        authorize_request:
          endpoint: https://hub.example.com/authorize
          params:
            response_type: code
            client_id: "{{client_id}}"
            redirect_uri: "{{redirect_uri}}"
            scope: "{{scopes}} {{existing_scopes}}"
        token_request:
          endpoint: https://hub.example.com/token
          auth_method: client_secret_basic
          response_map: {access_token: "$.data.token"}
    - id: default-google
      type: oauth2
      provider_id: google
      client_id: x
    - id: secret-host
      oauth2:
        authorize_request: {endpoint: "\${env:HOST}/authorize"}
        token_request: {endpoint: "https://hub.example.com/token"}
`
  test('blocks are those of our API; the client stays out, and PKCE is off unless it is on', () => {
    const items = read(yaml)
    expect(items[0]).toMatchObject({
      name: 'acme-hub',
      carried: 'whole',
      definition: {
        id: 'acme-hub',
        oauth2: {
          pkce: { enabled: false },
          token_request: { response_map: { access_token: '$.data.token' } },
        },
      },
    })
    expect(JSON.stringify(items)).not.toContain('CLIENT_SECRET')
    expect(items[1]).toMatchObject({
      carried: 'none',
      notes: [{ reason: expect.stringMatching(/providers add google/) }],
    })
    expect(items[2]).toMatchObject({
      carried: 'none',
      notes: [{ reason: expect.stringMatching(/environment/) }],
    })
  })
})

describe('documents that are refused', () => {
  const bomb = `a: &a [x, x, x, x, x, x, x, x, x]\n${'bcdefghi'
    .split('')
    .map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[index]}`).join(', ')}]`)
    .join('\n')}\nauth_mode: OAUTH2`
  const members = (count: number) => Array.from({ length: count }, (_, i) => `,"a${i}":0`).join('')
  test.each<[string, string, RegExp]>([
    ['a YAML bomb', bomb, /aliases/],
    ['a cycle', 'a: &a {b: *a, auth_mode: OAUTH2}', /aliases/],
    ['no YAML', 'a: [', /neither JSON nor YAML/],
    ['another shape', '{"openapi": "3.1.0", "paths": {}}', /none that is read/],
    ['a list', '- a', /not an object/],
    ['too long a text', 'x'.repeat(9 * 1024 * 1024), /longer/],
    ['too many lines', 'a:\n'.repeat(600_000), /more than/],
    ['too many providers', `{"a": {"auth_mode": "OAUTH2"}${members(10_000)}}`, /more than 10000 providers/],
    [
      'too many providers of Arcade',
      `{"auth": {"providers": [0${',0'.repeat(10_000)}]}}`,
      /more than 10000 providers/,
    ],
  ])('%s', (_, text, message) => {
    expect(() => importDocument(text)).toThrow(message)
  })

  test('two names that make one id: the first counts', () => {
    const entry = {
      authorize_url: 'https://acme.example.com/a',
      access_url: 'https://acme.example.com/t',
      oauth: 2,
    }
    expect(read({ 'Acme One': entry, 'acme-one': entry }).map(({ carried }) => carried)).toEqual([
      'whole',
      'none',
    ])
  })
})
