import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { BrokerError } from '../../../src/domain/errors.ts'
import { definitionJsonSchema } from '../../../src/providers/definition/json-schema.ts'
import { readDefinition } from '../../../src/providers/definition/read-definition.ts'

const at = (path: string) => `https://{{subdomain}}.zendesk.com${path}`

/** A definition with every member of its own. */
const zendesk = () => ({
  $schema: 'https://gatepass.example/schemas/provider.json',
  id: 'zendesk',
  name: 'Zendesk',
  description: 'Customer support.',
  also_known_as: ['zendesk-support'],
  category: 'support',
  oauth2: {
    variables: { subdomain: { label: 'Subdomain', pattern: '[a-z0-9-]{1,63}', example: 'acme' } },
    authorize_request: { endpoint: at('/oauth/authorizations/new') },
    token_request: { endpoint: at('/oauth/tokens'), request_content_type: 'application/json' },
    refresh_request: { endpoint: at('/oauth/tokens') },
    user_info_request: { endpoint: at('/api/v2/users/me.json'), triggers: { on_token_grant: true } },
    account: { id: ['$.user.id'], name: ['$.user.email'] },
    default_scopes: ['read'],
    public_clients: false,
    api: { base_url: at('/api/v2') },
  },
  offline_access: { params: { access_type: 'offline' }, scopes: ['offline_access'] },
  other_endpoints: { token: ['https://{{subdomain}}.zendesk.com/oauth2/tokens'] },
  registration: {
    url: 'https://support.zendesk.com/oauth',
    steps: ['Open Admin Center'],
    fields: { redirect_uri: 'Redirect URLs', client_id: 'Unique identifier' },
  },
  scopes: { read: 'Read your tickets, users and settings' },
  documentation: 'https://developer.zendesk.com/api-reference',
  sources: ['https://developer.zendesk.com/documentation'],
  checked: '2026-11-22',
  verified: true,
  logo: 'zendesk',
})

const minimal = (oauth2: object = {}, more: object = {}) => ({
  id: 'my-erp',
  name: 'My ERP',
  oauth2: {
    authorize_request: { endpoint: 'https://erp.example/authorize' },
    token_request: { endpoint: 'https://erp.example/token' },
    ...oauth2,
  },
  ...more,
})

function faultsOf(value: unknown) {
  try {
    readDefinition(value)
  } catch (error) {
    if (error instanceof BrokerError) return error.faults ?? []
    throw error
  }
  return []
}

describe('a definition', () => {
  test('gives the provider, and what a catalogue says of it', () => {
    const { id, provider, offlineAccess, endpoints, facts } = readDefinition(zendesk())
    expect(id).toBe('zendesk')
    expect(provider).toMatchObject({
      displayName: 'Zendesk',
      variables: { subdomain: { value: 'acme', isExample: true } },
      account: { id: ['$.user.id'], name: ['$.user.email'] },
      defaultScopes: ['read'],
      publicClients: false,
      authorizationRequest: {
        endpoint: 'https://acme.zendesk.com/oauth/authorizations/new',
        params: { response_type: 'code', scope: '{{scopes}} {{existing_scopes}}' },
      },
      refreshRequest: { params: { grant_type: 'refresh_token' } },
    })
    expect(offlineAccess).toEqual(zendesk().offline_access)
    expect(endpoints).toMatchObject({
      authorization: ['https://{subdomain}.zendesk.com/oauth/authorizations/new'],
      token: [
        'https://{subdomain}.zendesk.com/oauth2/tokens',
        'https://{subdomain}.zendesk.com/oauth/tokens',
      ],
    })
    const { oauth2: _, $schema: __, offline_access: ___, other_endpoints: ____, ...said } = zendesk()
    expect(facts).toEqual(said)
  })

  test('needs no more than an id, a name and two endpoints, and is then as the RFCs have it', () => {
    const { provider } = readDefinition(minimal())
    expect(provider).toMatchObject({ pkce: 'S256', scopeSeparator: ' ', defaultScopes: [], tokenTypes: [] })
    expect(provider.refreshRequest).toBeUndefined()
    expect(provider.fromIssuer).toBeUndefined()
  })

  test('that has an issuer and no endpoints leaves them to its metadata; one that has both asks nothing', () => {
    const issuer = 'https://erp.example'
    const left = readDefinition({ id: 'erp', name: 'ERP', oauth2: { issuer } })
    expect(left.provider.fromIssuer).toContain('token')
    expect(readDefinition(minimal({ issuer })).provider.fromIssuer).toBeUndefined()
  })

  test('keeps the scopes where its own parameters have them', () => {
    const params = { user_scope: '{{scopes}} {{existing_scopes}}' }
    const authorize_request = { endpoint: 'https://erp.example/authorize', params }
    const read = readDefinition(minimal({ authorize_request })).provider.authorizationRequest?.params
    expect(read).toMatchObject(params)
    expect(read).not.toHaveProperty('scope')
  })

  test.each<[string, object, string, RegExp]>([
    ['no member of it', { nmae: 'x' }, 'nmae', /did you mean name\?/],
    ['an unknown member of oauth2', { oauth2: { tokn_request: {} } }, 'oauth2.tokn_request', /token_request/],
    [
      'an unknown category',
      minimal({}, { category: 'suport' }),
      'category',
      /must be one of .*; did you mean "support"\?$/,
    ],
    [
      'an unknown auth method',
      minimal({
        token_request: { endpoint: 'https://erp.example/token', auth_method: 'client_secret_bsic' },
      }),
      'oauth2.token_request.auth_method',
      /did you mean client_secret_basic\?$/,
    ],
    [
      'an unknown format of expiry',
      minimal({ token_request: { endpoint: 'https://erp.example/token', expiration_format: 'iso8601' } }),
      'oauth2.token_request.expiration_format',
      /did you mean "iso_8601"\?$/,
    ],
    [
      'a parameter that cannot be renamed',
      minimal({ token_request: { endpoint: 'https://x.example/t', parameter_names: { clientid: 'key' } } }),
      'oauth2.token_request.parameter_names.clientid',
      /did you mean .*client_id\?/,
    ],
    [
      'an endpoint by http',
      minimal({ token_request: { endpoint: 'http://erp.example/t' } }),
      'oauth2.token_request.endpoint',
      /https/,
    ],
    [
      'an unknown role',
      minimal({}, { other_endpoints: { tokens: [] } }),
      'other_endpoints.tokens',
      /did you mean other_endpoints\.token\?/,
    ],
    [
      'an address with an unknown variable',
      minimal({}, { other_endpoints: { token: ['https://{{tenant}}.erp.example/token'] } }),
      'other_endpoints.token.0',
      /\{\{tenant\}\}/,
    ],
    ['a page that is no URL', minimal({}, { documentation: 'erp.example' }), 'documentation', /https URL/],
    ['a date in another form', minimal({}, { checked: '22.11.2026' }), 'checked', /2026-11-22/],
    ['an expression that is none', minimal({ account: { id: ['user.id'] } }), 'oauth2.account.id.0', /./],
    [
      'a variable with neither example nor value',
      minimal({ variables: { region: { pattern: '[a-z]+' } } }),
      'oauth2.variables.region.example',
      /required/,
    ],
    [
      'a variable with two sets of values',
      minimal({ variables: { region: { pattern: '[a-z]+', one_of: ['eu'], value: 'eu' } } }),
      'oauth2.variables.region.one_of',
      /pattern/,
    ],
    [
      'a value that is not one of the few',
      minimal({ variables: { region: { one_of: ['europe', 'america'], value: 'amerika' } } }),
      'oauth2.variables.region.value',
      /one of europe, america; did you mean america\?/,
    ],
    [
      'a client of the environment',
      minimal({ environment_client: true }),
      'oauth2.environment_client',
      /not a known member/,
    ],
  ])(
    'with %s is refused, with the member, the reason and the nearest allowed value',
    (_, value, path, reason) => {
      const body = 'id' in value ? value : { ...minimal(), ...value }
      const fault = faultsOf(body).find((one) => one.path === path)
      expect(fault?.message, JSON.stringify(faultsOf(body))).toMatch(reason)
    },
  )

  test('is refused with all its faults at once', () => {
    const value = minimal({
      variables: { region: { one_of: ['eu'], value: 'eu' } },
      authorize_request: { endpoint: 'https://{{regoin}}.erp.example/authorize' },
      token_request: { endpoint: 'ftp://erp.example/token', auth_method: 'x', response_map: { scope: 'x(' } },
      kept_values: { tenant: { from: 'token_response', pattern: '(' } },
      refresh_request: { endpoint: 'https://erp.example/token', params: { tenant: '{{tenant}}' } },
    })
    expect(faultsOf(value).map(({ path }) => path)).toEqual([
      'oauth2.kept_values.tenant.pattern', // and not the refresh request, which only names it
      'oauth2.authorize_request.endpoint',
      'oauth2.token_request.endpoint',
      'oauth2.token_request.auth_method',
      'oauth2.token_request.response_map',
    ])
  })
})

describe('the JSON Schema of definitions', () => {
  const schema = definitionJsonSchema('https://gatepass.example/schemas/provider.json')
  const accepts = new Ajv2020({ strict: false, allErrors: true }).compile(schema)

  test('accepts what is read, and refuses what no member has', () => {
    for (const value of [zendesk(), minimal()])
      expect(accepts(JSON.parse(JSON.stringify(value))), JSON.stringify(accepts.errors)).toBe(true)
    expect(accepts({ ...minimal(), nmae: 'x' })).toBe(false)
    expect(accepts({ ...minimal(), name: undefined })).toBe(false)
    expect(accepts(minimal({ tokn_request: {} }))).toBe(false)
    expect(accepts(minimal({}, { category: 'suport' }))).toBe(false)
  })

  test('describes its members for editors', () => {
    expect(schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'https://gatepass.example/schemas/provider.json',
      properties: {
        oauth2: { properties: { variables: { description: expect.stringContaining('parts of the URLs') } } },
      },
    })
  })
})
