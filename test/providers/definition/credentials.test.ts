import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { BrokerError } from '../../../src/domain/errors.ts'
import type { Sealed } from '../../../src/domain/sealed.ts'
import {
  applyProviderPatch,
  parseProviderCreate,
  providerToWire,
} from '../../../src/operations/providers/provider-wire.ts'
import { definitionJsonSchema } from '../../../src/providers/definition/json-schema.ts'
import { writeDefined } from '../../../src/providers/definition/provider-types.ts'
import { readDefinition } from '../../../src/providers/definition/read-definition.ts'
import { identityOf } from '../../../src/providers/identity.ts'
import type { ProviderEntry } from '../../../src/providers/provider-entry.ts'

const credentials = {
  fields: {
    domain: { label: 'Domain', pattern: '[a-z0-9-]{1,63}', example: 'acme' },
    api_key: { label: 'API key', secret: true, help_url: 'https://support.freshdesk.com/keys' },
  },
  place: { basic: { username: '{{api_key}}', password: 'X' } },
  test_request: { endpoint: 'https://{{domain}}.freshdesk.com/api/v2/agents/me' },
  account: { id: ['$.id'], name: ['$.contact.email'] },
  api: { base_url: 'https://{{domain}}.freshdesk.com/api/v2' },
}
const freshdesk = (more: object = {}) => ({
  id: 'freshdesk',
  name: 'Freshdesk',
  type: 'credentials',
  owner: 'either',
  credentials: { ...credentials, ...more },
})

/** Basic with two fields, one of which is part of no URL. */
const twilio = {
  fields: {
    account_sid: { label: 'Account SID', pattern: 'AC[0-9a-f]{32}' },
    auth_token: { label: 'Auth token', secret: true, max: 64 },
  },
  place: { basic: { username: '{{account_sid}}', password: '{{auth_token}}' } },
  test_request: { endpoint: 'https://api.twilio.com/2010-04-01/Accounts.json' },
  api: { base_url: 'https://api.twilio.com' },
}
/** A login that makes a token of the fields. */
const bluesky = {
  fields: {
    identifier: { label: 'Handle', example: 'ada.bsky.social' },
    password: { label: 'App password', secret: true },
  },
  place: { bearer: '{{access_token}}' },
  token_request: {
    endpoint: 'https://bsky.social/xrpc/com.atproto.server.createSession',
    request_content_type: 'application/json',
    params: { identifier: '{{identifier}}', password: '{{password}}' },
    response_map: { access_token: '$.accessJwt' },
  },
  api: { base_url: 'https://bsky.social/xrpc' },
}

const entryOf = (body: unknown): ProviderEntry => ({
  ...parseProviderCreate(body).entry,
  uid: 'prov_1',
  projectId: 'proj_1',
  clientSecret: 'sealed' as Sealed,
  createdAt: 1000,
  updatedAt: 2000,
})
const shown = (entry: ProviderEntry) => providerToWire(entry, 'https://g.test/cb', false)

function faultsOf(work: () => unknown) {
  try {
    work()
  } catch (error) {
    if (error instanceof BrokerError) return error.faults ?? []
    throw error
  }
  return []
}

describe('a definition of typed credentials', () => {
  test('is read from a file, and allowed by the JSON Schema', () => {
    const { provider } = readDefinition(freshdesk())
    expect(provider).toMatchObject({
      displayName: 'Freshdesk',
      owner: 'either',
      credentials: { fields: { api_key: { secret: true, max: 4096 } }, place: credentials.place },
      variables: { domain: { askUser: true, value: 'acme' } },
      testRequest: { endpoint: 'https://acme.freshdesk.com/api/v2/agents/me', method: 'GET' },
      api: { hosts: ['*.freshdesk.com'], baseUrlTemplate: credentials.api.base_url },
    })
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
      definitionJsonSchema('https://g.test/schemas/provider.json'),
    )
    expect(validate(freshdesk()), JSON.stringify(validate.errors)).toBe(true)
    expect(validate(freshdesk({ keys: {} }))).toBe(false)
  })

  test.each([
    ['Basic with a host part', credentials],
    ['Basic with two fields', twilio],
    ['a session login', bluesky],
    [
      'two headers',
      {
        ...twilio,
        fields: { api_key: { secret: true }, application_key: { secret: true } },
        place: { headers: { 'dd-api-key': '{{api_key}}', 'dd-application-key': '{{application_key}}' } },
      },
    ],
    ['a key in the query', { ...twilio, place: { query: { key: '{{auth_token}}' } }, in_url: true }],
    ['a key in the path', { ...twilio, place: { path: '/v3/bot{{auth_token}}' }, in_url: true }],
    [
      'a host of the operator',
      {
        ...twilio,
        variables: { host: { pattern: '[a-z0-9.-]+', value: 'git.example.com', label: 'Host' } },
        test_request: { endpoint: 'https://{{host}}/api/v4/user' },
        api: { base_url: 'https://{{host}}/api/v4' },
      },
    ],
  ])('is written as it was read: %s', (_, sent) => {
    const { provider } = readDefinition({ id: 'one', name: 'One', credentials: sent })
    const written = writeDefined(provider)
    expect(readDefinition({ id: 'one', name: 'One', ...written }).provider).toEqual(provider)
    expect(written).toMatchObject({ type: 'credentials', credentials: { place: sent.place } })
  })

  test.each([
    ['no member of its own', { credentials: undefined }, 'credentials'],
    ['the members of another type', { oauth2: {} }, 'oauth2'],
    ['offline access', { offline_access: {} }, 'offline_access'],
    ['another type', { type: 'oauth2', oauth2: undefined }, 'credentials'],
  ])('is refused with %s', (_, more, path) => {
    expect(faultsOf(() => readDefinition({ ...freshdesk(), ...more }))).toMatchObject([{ path }])
  })

  test.each([
    'bot{{api_key}}',
    '/bot{{api_key}}/',
    '/../{{api_key}}',
    '/a%2F{{api_key}}',
    '/{{api_key}}?x=1',
    '/{{domain}}/{{api_key}}',
  ])('is refused with the path %s: it has more than segments of letters and secrets', (path) => {
    expect(faultsOf(() => readDefinition(freshdesk({ place: { path }, in_url: true })))).toMatchObject([
      { path: 'credentials.place.path' },
    ])
  })

  const withFields = (fields: object) => ({ fields: { ...credentials.fields, ...fields } })
  test.each([
    [
      'a field that every object has',
      { fields: { ...credentials.fields, constructor: { label: 'C' } } },
      'credentials.fields.constructor',
    ],
    ['no secret', { fields: { domain: credentials.fields.domain } }, 'credentials.fields'],
    [
      'more than 10 fields',
      withFields(Object.fromEntries([...'abcdefghi'].map((name) => [name, {}]))),
      'credentials.fields',
    ],
    [
      'a name that has a meaning',
      withFields({ access_token: { secret: true } }),
      'credentials.fields.access_token',
    ],
    [
      'a secret in a URL',
      { api: { base_url: 'https://api.freshdesk.com/bot{{api_key}}' } },
      'credentials.api.base_url',
    ],
    [
      'a URL field without a pattern',
      withFields({ domain: { example: 'acme' } }),
      'credentials.fields.domain.pattern',
    ],
    [
      'a user who decides the domain',
      { test_request: { endpoint: 'https://{{domain}}/me' } },
      'credentials.test_request.endpoint',
    ],
    [
      'a user who decides the API',
      { api: { base_url: 'https://{{domain}}/api' } },
      'credentials.api.base_url',
    ],
    [
      'a user who decides a domain of the registry',
      { api: { base_url: 'https://{{domain}}.co.uk' } },
      'credentials.api.base_url',
    ],
    [
      'two places',
      { place: { bearer: '{{api_key}}', headers: { 'x-key': '{{api_key}}' } } },
      'credentials.place',
    ],
    ['no secret in its place', { place: { bearer: '{{domain}}' } }, 'credentials.place'],
    ['an unknown field in its place', { place: { bearer: '{{key}}' } }, 'credentials.place.bearer'],
    ['a key in the URL unasked', { place: { query: { key: '{{api_key}}' } } }, 'credentials.place.query'],
    ['a key in the path unasked', { place: { path: '/bot{{api_key}}' } }, 'credentials.place.path'],
    [
      'a token of a login in the path',
      {
        token_request: { endpoint: 'https://x.freshdesk.com/login', params: { k: '{{api_key}}' } },
        place: { path: '/{{access_token}}' },
        in_url: true,
      },
      'credentials.place.path',
    ],
    ['in_url without a key in the URL', { in_url: true }, 'credentials.in_url'],
    ['no check', { test_request: undefined }, 'credentials.test_request'],
    [
      'http',
      { test_request: { endpoint: 'http://acme.freshdesk.com/me' } },
      'credentials.test_request.endpoint',
    ],
    [
      'a host in the private network',
      { api: { base_url: 'https://169.254.169.254/latest' } },
      'credentials.api.base_url',
    ],
    ['a wrong expression', { account: { id: ['id'] } }, 'credentials.account.id.0'],
    [
      'a help page that is a script',
      withFields({ api_key: { secret: true, help_url: 'javascript:alert(1)' } }),
      'credentials.fields.api_key.help_url',
    ],
    [
      'a secret in the URL of the login',
      {
        token_request: {
          endpoint: 'https://x.freshdesk.com/login',
          method: 'GET',
          params: { k: '{{api_key}}' },
        },
        place: { bearer: '{{access_token}}' },
      },
      'credentials.token_request.method',
    ],
  ])('is refused with %s', (_, more, path) => {
    expect(faultsOf(() => readDefinition(freshdesk(more)))).toMatchObject([{ path }])
  })
})

describe('an entry of typed credentials', () => {
  const body = { id: 'freshdesk', type: 'credentials', owner: 'either', credentials }

  test('is answered with its settings, and without `oauth2`', () => {
    const answer = shown(entryOf(body))
    expect(answer).toMatchObject({
      type: 'credentials',
      owner: 'either',
      credentials: { ...credentials, api: { ...credentials.api, hosts: ['*.freshdesk.com'] } },
    })
    expect(answer).not.toHaveProperty('oauth2')
  })

  test('names its type by its member alone, and can be sent back', () => {
    const { type: _, ...untyped } = body
    const entry = entryOf(untyped)
    expect(applyProviderPatch(entry, { credentials: shown(entry).credentials }).entry.provider).toEqual(
      entry.provider,
    )
  })

  test('changes the members that are sent', () => {
    const fields = { ...credentials.fields, api_key: { secret: true, label: 'Key' } }
    const { entry } = applyProviderPatch(entryOf(body), { credentials: { fields } })
    expect(shown(entry).credentials).toMatchObject({ ...credentials, fields })
  })

  test('sends no key to the host of a variable that was changed', () => {
    const own = {
      ...twilio,
      variables: { host: { pattern: '[a-z0-9.-]+', value: 'git.example.com' } },
      test_request: { endpoint: 'https://{{host}}/api/v4/user' },
      api: { base_url: 'https://{{host}}/api/v4' },
    }
    const before = entryOf({ id: 'git', credentials: own })
    const change = { credentials: { variables: { host: { value: 'code.example.com' } } } }
    const { provider } = applyProviderPatch(before, change).entry
    expect(provider.api?.hosts).toEqual(['code.example.com'])
    expect(identityOf(provider, undefined)).not.toBe(identityOf(before.provider, undefined))
  })

  test.each([
    ['the members of another type', { oauth2: { client_id: 'x' } }, 'oauth2'],
    ['another type', { type: 'oauth2' }, 'type'],
  ])('refuses %s', (_, change, path) => {
    expect(faultsOf(() => applyProviderPatch(entryOf(body), change))).toMatchObject([
      { path, code: 'conflict' },
    ])
  })

  test('is another provider with another place or host, and the same with other labels', () => {
    const identity = (more: object) =>
      identityOf(entryOf({ ...body, credentials: { ...credentials, ...more } }).provider, undefined)
    const same = identity({})
    const relabelled = { ...credentials.fields, api_key: { secret: true, label: 'Key' } }
    expect(identity({ fields: relabelled })).toBe(same)
    expect(identity({ test_request: { endpoint: 'https://{{domain}}.freshdesk.com/api/v2/me' } })).toBe(same)
    expect(identity({ place: { bearer: '{{api_key}}' } })).not.toBe(same)
    expect(identity({ api: { base_url: 'https://{{domain}}.freshservice.com/api' } })).not.toBe(same)
    expect(identity({ fields: { ...credentials.fields, extra: { secret: true } } })).not.toBe(same)
  })
})
