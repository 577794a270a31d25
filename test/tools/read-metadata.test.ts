import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import type { Warning } from '../../src/tools/metadata/metadata-member.ts'
import { readToolMetadata, type ToolMetadata } from '../../src/tools/metadata/read-metadata.ts'

const options = { allowsHttp: (url: URL) => url.hostname === 'localhost' }

/** Valid metadata of a tool, with the members a test is about. */
function metadata(said: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: 'notes-reader',
    version: '1.2.3',
    description: 'Reads the notes of a user.',
    tool_set: '',
    parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    result: { type: 'object', properties: { text: { type: 'string' } } },
    ...said,
  }
}

/** An `oauth` entry of a server that is not in the catalogue, without optional members. */
function entry(said: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: 'Notes',
    authorizationUrl: 'https://notes.example/authorize',
    tokenUrl: 'https://notes.example/token',
    ...said,
  }
}

function google(said: Record<string, unknown> = {}): Record<string, unknown> {
  const hosts = {
    authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUrl: 'https://oauth2.googleapis.com/token',
  }
  return entry({ name: 'Mail', ...hosts, ...said })
}

function microsoft(said: Record<string, unknown> = {}): Record<string, unknown> {
  const base = 'https://login.microsoftonline.com/common/oauth2/v2.0'
  return entry({ authorizationUrl: `${base}/authorize`, tokenUrl: `${base}/token`, ...said })
}

function read(value: unknown): { tool: ToolMetadata; warnings: readonly Warning[] } {
  const reading = readToolMetadata(value, options)
  if (reading.outcome === 'refused') throw new Error(reading.reason)
  for (const schema of [reading.tool.inputSchema, reading.tool.outputSchema ?? {}])
    new Ajv2020({ strict: false, logger: false }).compile(schema)
  return reading
}

function readEntry(said: Record<string, unknown>) {
  const { tool, warnings } = read(metadata({ oauth: [said] }))
  const [only] = tool.oauth
  if (only === undefined || tool.oauth.length > 1) throw new Error('one entry was expected')
  return { entry: only, warnings, paths: warnings.map(({ path }) => path) }
}

function refusal(value: unknown): string {
  const reading = readToolMetadata(value, options)
  return reading.outcome === 'refused' ? reading.reason : 'it was read'
}

describe('a tool', () => {
  test('is read whole, without a warning, when nothing departs', () => {
    const { tool, warnings } = read(metadata())
    expect(warnings).toEqual([])
    expect(tool).toEqual({
      title: 'notes-reader',
      name: 'notes-reader',
      namespace: 'local',
      version: '1.2.3',
      description: 'Reads the notes of a user.',
      inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      outputSchema: { type: 'object', properties: { text: { type: 'string' } } },
      secrets: [],
      oauth: [],
      document: metadata(),
    })
  })

  test.each([
    ['Notes/Daily Reader', 'Notes_Daily_Reader'],
    ["It's 100% done!", 'It_s_100_done'],
    ['v3.1 reader-x', 'v3.1_reader-x'],
    ['_private_', 'private'],
    ['メモ', 'tool_99fa5c96'],
    ['n'.repeat(200), 'n'.repeat(128)],
  ])('named %s is called %s, with a warning', (title, name) => {
    const { tool, warnings } = read(metadata({ name: title }))
    expect(tool).toMatchObject({ title, name })
    expect(warnings).toEqual([{ path: 'name', message: expect.stringContaining(name) }])
  })

  test.each([
    [undefined, undefined, false],
    ['', undefined, false],
    ['1.0.0-rc.1+5', '1.0.0-rc.1+5', false],
    ['1', '1.0.0', true],
    ['1.2', '1.2.0', true],
    [2, '2.0.0', true],
    ['v1.2.3', '1.2.3', true],
    ['latest', undefined, true],
    ['1.2.3.4', undefined, true],
    [{}, undefined, true],
  ])('of version %j is of version %s', (version, expected, isWarned) => {
    const { tool, warnings } = read(metadata({ version }))
    expect(tool.version).toBe(expected)
    expect(warnings.map(({ path }) => path)).toEqual(isWarned ? ['version'] : [])
  })

  test.each([
    [undefined, 'local', false],
    [null, 'local', false],
    ['notes_app', 'notes_app', false],
    ['Notes App', 'notes_app', true],
    [7, 'local', true],
  ])('of the tool set %j is in the namespace %s', (toolSet, namespace, isWarned) => {
    const { tool, warnings } = read(metadata({ tool_set: toolSet }))
    expect(tool.namespace).toBe(namespace)
    expect(warnings).toHaveLength(isWarned ? 1 : 0)
  })

  test.each(['Deno', 'Python'])('is read from the form a node stores (%s)', (type) => {
    const { name, parameters, ...rest } = metadata({
      version: '1',
      parameters: { type: 'object', properties: {} },
    })
    const inner = { ...rest, name, input_args: parameters, js_code: 'export const run = 1' }
    const stored = { type, content: [{ ...inner, oauth: [entry({ clientSecret: 's3cret' })] }, true] }
    const { tool, warnings } = read(stored)
    expect(tool).toMatchObject({
      name: 'notes-reader',
      version: '1.0.0',
      oauth: [{ clientSecret: 's3cret' }],
    })
    expect(tool.document).toEqual({ type, content: [{ ...inner, oauth: [entry()] }, true] })
    expect(warnings.map(({ path }) => path)).toEqual(['content[0].version'])
  })

  test.each([
    ['texts', ['local:::x:::y', 'local:::__official_shinkai:::search:::1.0.0'], '"y", "search"'],
    ['names', ['y'], '"y"'],
    ['objects', [{ name: 'local:::x:::y', version: '1' }], '"y"'],
    ['many', ['a', 'b', 'c', 'd', 'e', 'f', 'g'], '"a", "b", "c", "d", "e", 2 more'],
  ])('that calls other tools, given as %s, is taken with a warning', (_, tools, names) => {
    expect(read(metadata({ tools })).warnings).toEqual([
      { path: 'tools', message: expect.stringContaining(`It calls other tools (${names})`) },
    ])
  })

  test('whose stored code asks for a token that no entry has is taken with a warning', () => {
    const code = 'await getAccessToken(\'Gmail\'); await getAccessToken( "NOTES" )'
    for (const said of [
      { js_code: code },
      { py_code: code.replaceAll('getAccessToken', 'get_access_token') },
    ])
      expect(read(metadata({ ...said, oauth: [entry()] })).warnings).toEqual([
        {
          path: 'oauth',
          message: expect.stringContaining('asks for the token of "Gmail", and its entries are "Notes"'),
        },
      ])
    expect(read(metadata({ js_code: "getAccessToken('notes')", oauth: [entry()] })).warnings).toEqual([])
  })

  test('keeps every other member of its document, known or not', () => {
    const document = metadata({
      runner: 'any',
      operating_system: ['linux'],
      sqlTables: [{ name: 't', definition: 'CREATE TABLE t (id)' }],
      sqlQueries: [],
      tools: ['local:::x:::y'],
      configurations: { properties: { color: { type: 'string', default: 'red' } } },
      surprise: { deep: [1] },
    })
    expect(read(document).tool.document).toEqual(document)
  })

  test('whose document is read again is read the same', () => {
    const first = read(
      metadata({ name: 'A b', oauth: [google()], parameters: { properties: { a: 'string' } } }),
    )
    expect(read(first.tool.document)).toEqual(first)
  })

  test('warns where two spellings of one member differ', () => {
    const { warnings } = read(
      metadata({ homePage: 'https://a.example', homepage: 'https://b.example', sql_tables: [] }),
    )
    expect(warnings).toEqual([{ path: 'homePage', message: expect.stringContaining('homepage') }])
  })
})

describe('refused, with the reason', () => {
  const deep = (levels: number): unknown => (levels === 0 ? {} : { not: deep(levels - 1) })

  test.each<[string, unknown, RegExp]>([
    ['null', null, /an object; this is null/],
    ['an array', [metadata()], /this is an array/],
    ['a string', 'tool', /this is a string/],
    ['no name', metadata({ name: undefined }), /`name` is missing/],
    ['a blank name', metadata({ name: ' ' }), /`name` is missing/],
    [
      'an agent by agent_id',
      { name: 'Helper', agent_id: 'helper', tools: [] },
      /agent_id.*agent and not a tool/,
    ],
    ['an agent by its provider', { name: 'Helper', llm_provider_id: 'x' }, /agent and not a tool/],
    ['a stored agent', { type: 'Agent', content: [{ name: 'Helper' }, true] }, /agent and not a tool/],
    ['another stored form', { type: 'Rust', content: [{ name: 'x' }, true] }, /"Rust".*"Deno" and "Python"/],
    ['an empty stored form', { type: 'Deno', content: [] }, /content\[0\] is missing/],
    ['too deep a document', metadata({ parameters: deep(64) }), /deeper than 64 levels/],
    ['far too deep a document', metadata({ extra: deep(5_000) }), /deeper than 64 levels/],
    ['oauth that is text', metadata({ oauth: 'google' }), /oauth is a string.*list/],
    ['an entry that is text', metadata({ oauth: ['google'] }), /oauth\[0\] is a string/],
    ...[
      'http://json-schema.org/draft-04/schema#',
      'https://json-schema.org/draft/2019-09/schema',
      'https://json-schema.org/draft-07/schema',
      'https://example.com/mine',
    ].map((dialect): [string, unknown, RegExp] => [
      `parameters in the dialect ${dialect}`,
      metadata({ parameters: { $schema: dialect, type: 'object' } }),
      /^parameters\.\$schema: .*draft-07/,
    ]),
  ])('%s', (_, value, reason) => {
    expect(refusal(value)).toMatch(reason)
  })

  test('or read, but never thrown at, whatever stands in whatever place', () => {
    const values: unknown[] = [
      null,
      true,
      0,
      -1.5,
      '',
      'x',
      [],
      [[]],
      [null],
      {},
      { a: null },
      { type: {} },
      { $ref: 1 },
      { properties: 1 },
      { toString: 1 },
    ]
    const members = [
      ...Object.keys(metadata()),
      'oauth',
      'configurations',
      'config',
      'homePage',
      'type',
      'content',
    ]
    const entryMembers = [
      ...Object.keys(entry()),
      'version',
      'scopes',
      'clientId',
      'pkceType',
      'refreshToken',
    ]
    for (const value of values) {
      const documents = [
        value,
        { type: 'Deno', content: [value] },
        ...members.map((name) => metadata({ [name]: value })),
        ...members.map((name) =>
          metadata({ [name]: { properties: value, items: value, allOf: value, $defs: value } }),
        ),
        ...entryMembers.map((name) => metadata({ oauth: [entry({ [name]: value })] })),
      ]
      for (const document of documents)
        expect(['read', 'refused']).toContain(readToolMetadata(document, options).outcome)
    }
  })

  test.each([
    [{ name: 'Helper', agent_id: 'helper' }, 'Helper'],
    [{ type: 'Rust', content: [{ name: 'Inner' }, true] }, 'Inner'],
    [null, '(no name)'],
  ])('under the name it has: %j', (value, name) => {
    expect(readToolMetadata(value, options)).toMatchObject({ outcome: 'refused', name })
  })

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['no name', entry({ name: '' }), /name is missing/],
    ['OAuth 1.0', entry({ version: '1.0' }), /version is "1.0"/],
    ['the implicit grant', entry({ responseType: 'token' }), /responseType is "token"/],
    ['an unknown PKCE method', entry({ pkceType: 'S512' }), /pkceType is "S512".*"S256" or "plain"/],
    ['no PKCE', entry({ pkceType: 'none' }), /pkceType is "none"/],
    ['a wrong-typed PKCE method', entry({ pkceType: true }), /pkceType is a boolean/],
    [
      'plain for a public client',
      entry({ pkceType: 'plain', clientId: 'id' }),
      /without a secret is public and needs "S256"/,
    ],
    ['XML', entry({ requestTokenContentType: 'text/xml' }), /requestTokenContentType is "text\/xml"/],
    [
      'another header scheme',
      entry({ requestTokenAuthHeader: 'Bearer' }),
      /requestTokenAuthHeader is "Bearer"/,
    ],
    ['no authorization URL', entry({ authorizationUrl: null }), /authorizationUrl is missing/],
    ['no token URL', entry({ tokenUrl: '' }), /tokenUrl is missing/],
    [
      'a fragment',
      entry({ authorizationUrl: 'https://notes.example/a#b' }),
      /authorizationUrl has a fragment/,
    ],
    ['an empty fragment', entry({ tokenUrl: 'https://notes.example/t#' }), /tokenUrl has a fragment/],
    ['plain http', entry({ tokenUrl: 'http://notes.example/t' }), /tokenUrl uses plain http/],
    [
      'userinfo',
      entry({ authorizationUrl: 'https://u:hunter2@notes.example/a' }),
      /holds a user name or password/,
    ],
    [
      'empty userinfo',
      entry({ authorizationUrl: 'https://@notes.example/a' }),
      /holds a user name or password/,
    ],
    [
      'javascript:',
      entry({ authorizationUrl: 'javascript:alert(1)' }),
      /authorizationUrl is not an https URL/,
    ],
    ['a relative URL', entry({ tokenUrl: '/token' }), /tokenUrl is not an https URL/],
    ['white space in a URL', entry({ tokenUrl: ' https://notes.example/t' }), /tokenUrl is not an https URL/],
    ['scopes of another kind', entry({ scopes: 7 }), /scopes is a number/],
    ['a scope of another kind', entry({ scopes: ['a', {}] }), /scopes\[1\] is an object/],
    ['a wrong-typed secret', entry({ clientSecret: { value: 'hunter2' } }), /clientSecret is an object/],
  ])('an entry with %s', (_, said, reason) => {
    const refused = refusal(metadata({ oauth: [said] }))
    expect(refused).toMatch(reason)
    expect(refused).toMatch(/^oauth\[0\]/)
    expect(refused).not.toContain('hunter2')
  })
})

describe('an oauth entry', () => {
  test.each([[undefined], [null], [''], [[]]])('%j means that no authorization is needed', (oauth) => {
    expect(read(metadata({ oauth })).tool.oauth).toEqual([])
  })

  test('of an unknown server is what the RFCs say', () => {
    const { entry: only, paths } = readEntry(entry())
    const request = {
      endpoint: 'https://notes.example/token',
      method: 'POST',
      params: {},
      authMethod: 'client_secret_post',
      requestContentType: 'application/x-www-form-urlencoded',
      responseContentType: 'application/json',
    }
    expect(only).toEqual({
      name: 'Notes',
      scopes: [],
      provider: {
        displayName: 'Notes',
        pkce: 'S256',
        scopeSeparator: ' ',
        defaultScopes: [],
        authorizationRequest: { endpoint: 'https://notes.example/authorize', params: {} },
        tokenRequest: request,
        refreshRequest: request,
        tokenTypes: [],
        account: { id: expect.arrayContaining(['$.sub']), name: expect.arrayContaining(['$.email']) },
      },
    })
    expect(paths).toEqual([])
  })

  test.each([[''], [null]])('takes %j for "default" in every optional member', (unsaid) => {
    const optional = [
      'version',
      'responseType',
      'pkceType',
      'refreshToken',
      'scopes',
      'redirectUrl',
      'clientId',
    ]
    const more = [
      'clientSecret',
      'requestTokenAuthHeader',
      'requestTokenContentType',
      'request_token_auth_header',
    ]
    const said = Object.fromEntries([...optional, ...more].map((name) => [name, unsaid]))
    expect(readEntry(entry(said))).toEqual(readEntry(entry()))
  })

  test('is read in snake case as in camel case', () => {
    const camel = {
      pkceType: 'plain',
      clientId: 'id',
      clientSecret: 's',
      redirectUrl: 'https://r.example/cb',
    }
    const more = {
      requestTokenAuthHeader: 'basic',
      requestTokenContentType: 'application/json',
      responseType: 'code',
    }
    const said = entry({ ...camel, ...more })
    const snake = Object.entries(said).map(([name, value]) => [
      name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`),
      value,
    ])
    expect(readEntry(Object.fromEntries(snake))).toEqual(readEntry(said))
    expect(readEntry(said).entry).toMatchObject({
      clientId: 'id',
      clientSecret: 's',
      redirectUrl: 'https://r.example/cb',
    })
  })

  test.each([
    ['basic', '', 'client_secret_basic', []],
    ['', 'basic', 'client_secret_basic', []],
    ['basic', 'Basic', 'client_secret_basic', ['oauth[0].requestTokenAuthHeader']],
    ['basic', 'Bearer', 'client_secret_basic', ['oauth[0].requestTokenAuthHeader']],
  ])('with header %j and snake case %j shows the client by %s', (camel, snake, authMethod, warned) => {
    const { entry: only, paths } = readEntry(
      entry({ requestTokenAuthHeader: camel, request_token_auth_header: snake }),
    )
    expect(only.provider.tokenRequest?.authMethod).toBe(authMethod)
    expect(paths).toEqual(warned)
  })

  test.each([
    ['S256', 'S256'],
    ['s256', 'S256'],
    ['plain', 'plain'],
    ['PLAIN', 'plain'],
    [undefined, 'S256'],
  ])('with pkceType %j uses %s', (pkceType, pkce) => {
    expect(readEntry(entry({ pkceType })).entry.provider.pkce).toBe(pkce)
  })

  test('that is incomplete or has a secret may say plain', () => {
    expect(
      readEntry(entry({ pkceType: 'plain', clientId: 'id', clientSecret: 's' })).entry.provider.pkce,
    ).toBe('plain')
    expect(readEntry(entry({ pkceType: 'plain', clientId: '' })).entry.clientId).toBeUndefined()
  })

  test.each([
    ['application/x-www-form-urlencoded', 'application/x-www-form-urlencoded'],
    ['Application/X-WWW-Form-Urlencoded; charset=utf-8', 'application/x-www-form-urlencoded'],
    ['application/json', 'application/json'],
    ['application/JSON;charset=utf-8', 'application/json'],
    [undefined, 'application/x-www-form-urlencoded'],
  ])('with content type %j writes %s, for a refresh too', (requestTokenContentType, contentType) => {
    const { provider } = readEntry(entry({ requestTokenContentType })).entry
    expect(provider.tokenRequest?.requestContentType).toBe(contentType)
    expect(provider.refreshRequest).toEqual(provider.tokenRequest)
  })

  test.each([['basic'], ['Basic'], ['BASIC']])(
    'with header %j shows the client by HTTP Basic',
    (requestTokenAuthHeader) => {
      const { provider } = readEntry(entry({ requestTokenAuthHeader })).entry
      expect(provider.tokenRequest?.authMethod).toBe('client_secret_basic')
    },
  )

  test.each([
    [['read,activity:read'], ['read,activity:read'], []],
    [['a b', ' c ', 'a b'], ['a b', ' c ', 'a b'], []],
    [['', null, 'x'], ['x'], []],
    ['read write', ['read write'], ['oauth[0].scopes']],
  ])('keeps the scopes %j byte for byte', (scopes, expected, warned) => {
    const { entry: only, paths } = readEntry(entry({ scopes }))
    expect(only.scopes).toEqual(expected)
    expect(only.provider.defaultScopes).toEqual(expected)
    expect(paths).toEqual(warned)
  })

  test('keeps its URLs byte for byte, with their query', () => {
    const said = {
      authorizationUrl: 'HTTPS://Notes.Example:443/a?tenant=%7e1&x',
      tokenUrl: 'https://notes.example/t?v=2',
    }
    const { provider } = readEntry(entry(said)).entry
    expect(provider.authorizationRequest?.endpoint).toBe(said.authorizationUrl)
    expect(provider.tokenRequest?.endpoint).toBe(said.tokenUrl)
  })

  test('may use plain http where that is allowed', () => {
    const said = { authorizationUrl: 'http://localhost:9/a', tokenUrl: 'http://localhost:9/t' }
    expect(readEntry(entry(said)).entry.provider.tokenRequest?.endpoint).toBe(said.tokenUrl)
  })

  test.each([['2.0'], [2], [undefined]])('may say OAuth version %j', (version) => {
    expect(readEntry(entry({ version })).entry.name).toBe('Notes')
  })

  test('that stands alone as an object is read, with a warning', () => {
    const { tool, warnings } = read(metadata({ oauth: entry() }))
    expect(tool.oauth).toHaveLength(1)
    expect(warnings.map(({ path }) => path)).toEqual(['oauth'])
  })

  test('beside another provider is one of two', () => {
    const { tool, warnings } = read(metadata({ oauth: [entry(), google()] }))
    expect(tool.oauth.map(({ name }) => name)).toEqual(['Notes', 'Mail'])
    expect(warnings).toEqual([{ path: 'oauth[1]', message: expect.stringContaining('access_type=offline') }])
  })

  test('of the name of another is kept when they differ, and left out when not', () => {
    const other = entry({ name: 'NOTES', scopes: ['write'] })
    const { tool, warnings } = read(metadata({ oauth: [entry(), other, entry()] }))
    expect(tool.oauth.map(({ name }) => name)).toEqual(['Notes', 'NOTES'])
    expect(warnings.map(({ path }) => path)).toEqual(['oauth[1].name', 'oauth[2]'])
  })
})

describe('an oauth entry of a provider in the catalogue', () => {
  test('takes from it what the file cannot say', () => {
    const { provider } = readEntry(google({ requestTokenAuthHeader: 'basic', scopes: ['openid'] })).entry
    expect(provider).toMatchObject({
      displayName: 'Mail',
      issuer: 'https://accounts.google.com',
      userInfoRequest: { endpoint: expect.stringContaining('userinfo') },
      revocationRequest: { endpoint: 'https://oauth2.googleapis.com/revoke' },
      defaultScopes: ['openid'],
      authorizationRequest: { params: {} },
      tokenRequest: { authMethod: 'client_secret_basic' },
    })
  })

  test('follows it in PKCE, fixed parameters and the scope separator', () => {
    const base = 'https://api.notion.com/v1/oauth'
    const notion = readEntry(entry({ authorizationUrl: `${base}/authorize`, tokenUrl: `${base}/token` }))
      .entry.provider
    expect(notion).toMatchObject({ pkce: 'none', authorizationRequest: { params: { owner: 'user' } } })
    const told = entry({
      authorizationUrl: `${base}/authorize?owner=x`,
      tokenUrl: `${base}/token`,
      pkceType: 'S256',
    })
    expect(readEntry(told).entry.provider).toMatchObject({
      pkce: 'S256',
      authorizationRequest: { params: {} },
    })
    const strava = {
      authorizationUrl: 'https://www.strava.com/oauth/authorize',
      tokenUrl: 'https://www.strava.com/oauth/token',
    }
    expect(readEntry(entry(strava)).entry.provider.scopeSeparator).toBe(',')
  })

  test('shares only one host with it: nothing is taken', () => {
    const { provider } = readEntry(google({ tokenUrl: 'https://evil.example/token' })).entry
    expect(provider.issuer).toBeUndefined()
    expect(provider.userInfoRequest).toBeUndefined()
  })

  test.each([
    ['true', { access_type: 'offline', prompt: 'consent' }, []],
    ['True', { access_type: 'offline', prompt: 'consent' }, []],
    [true, { access_type: 'offline', prompt: 'consent' }, []],
    [false, {}, []],
    ['false', {}, []],
    [undefined, { access_type: 'offline', prompt: 'consent' }, ['oauth[0]']],
    ['', { access_type: 'offline', prompt: 'consent' }, ['oauth[0]']],
    [null, { access_type: 'offline', prompt: 'consent' }, ['oauth[0]']],
    ['1//a-refresh-token', {}, ['oauth[0].refreshToken']],
  ])('with refreshToken %j asks as it wants it', (refreshToken, params, warned) => {
    const { entry: only, paths } = readEntry(google({ refreshToken }))
    expect(only.provider.authorizationRequest?.params).toEqual(params)
    expect(paths).toEqual(warned)
  })

  test('asks for its offline scope without the tool needing it', () => {
    const missing = readEntry(microsoft({ refreshToken: 'true', scopes: ['Mail.Read'] })).entry
    expect(missing.scopes).toEqual(['Mail.Read'])
    expect(missing.provider.authorizationRequest?.params).toEqual({
      scope: expect.stringMatching(/\{\{scopes\}\}.* offline_access$/),
    })
    const said = readEntry(microsoft({ refreshToken: 'true', scopes: ['Mail.Read', 'offline_access'] })).entry
    expect(said.provider.authorizationRequest?.params).toEqual({})
  })

  test('keeps what its URL already asks for', () => {
    const authorizationUrl = 'https://accounts.google.com/o/oauth2/v2/auth?access_type=online'
    const { provider } = readEntry(google({ refreshToken: 'true', authorizationUrl })).entry
    expect(provider.authorizationRequest).toEqual({
      endpoint: authorizationUrl,
      params: { prompt: 'consent' },
    })
  })

  describe('such as X', () => {
    const x = (said: Record<string, unknown> = {}) =>
      entry({
        authorizationUrl: 'https://twitter.com/i/oauth2/authorize',
        tokenUrl: 'https://api.x.com/2/oauth2/token',
        scopes: ['tweet.read'],
        ...said,
      })

    test('left open: the secret by Basic, a refresh token asked for, and the warning says so', () => {
      const { entry: only, warnings } = readEntry(x({ requestTokenAuthHeader: '', refreshToken: '' }))
      expect(only.provider).toMatchObject({
        pkce: 'S256',
        tokenRequest: { authMethod: 'client_secret_basic', endpoint: 'https://api.x.com/2/oauth2/token' },
        refreshRequest: { authMethod: 'client_secret_basic' },
        authorizationRequest: { params: { scope: expect.stringMatching(/ offline\.access$/) } },
      })
      expect(warnings).toEqual([
        { path: 'oauth[0]', message: expect.stringMatching(/HTTP Basic.*offline\.access/) },
      ])
    })

    test('as a public client that says plain uses S256, and is told of no secret', () => {
      const { entry: only, warnings } = readEntry(
        x({ pkceType: 'plain', clientId: 'a-public-client', clientSecret: '' }),
      )
      expect(only.provider).toMatchObject({ pkce: 'S256', publicClients: true })
      const said = warnings.map(({ message }) => message).join(' ')
      expect(said).toContain('PKCE with S256 in place of plain')
      expect(said).not.toMatch(/set|give/)
    })

    test('with a secret and plain stays with plain', () => {
      const said = { pkceType: 'plain', clientId: 'c', clientSecret: 's' }
      expect(readEntry(x(said)).entry.provider.pkce).toBe('plain')
    })
  })

  test('asks Slack for a user token, and takes it out of where it stands', () => {
    const slack = entry({
      authorizationUrl: 'https://slack.com/oauth/v2/authorize',
      tokenUrl: 'https://slack.com/api/oauth.v2.access',
    })
    expect(readEntry(slack).entry.provider).toMatchObject({
      pkce: 'none',
      authorizationRequest: { params: { user_scope: '{{scopes}} {{existing_scopes}}' } },
      tokenRequest: { responseMap: { access_token: '$.authed_user.access_token' } },
    })
  })

  test('names the token types it takes', () => {
    expect(readEntry(entry({ tokenTypes: ['User', ' bot'] })).entry.provider.tokenTypes).toEqual([
      'user',
      'bot',
    ])
  })

  test('is warned of where its token endpoint is on another host', () => {
    const { warnings } = readEntry(entry({ tokenUrl: 'https://elsewhere.example/token' }))
    expect(warnings).toEqual([
      { path: 'oauth[0].tokenUrl', message: expect.stringContaining('elsewhere.example') },
    ])
    const { warnings: none } = readEntry(google({ refreshToken: 'true' }))
    expect(none).toEqual([])
  })

  test('adds nothing for an unknown server', () => {
    expect(readEntry(entry({ refreshToken: 'true' })).entry.provider.authorizationRequest?.params).toEqual({})
  })
})

describe('a schema', () => {
  const object = (properties: unknown, more: Record<string, unknown> = {}) => ({
    type: 'object',
    properties,
    ...more,
  })
  const none = { type: 'object', properties: {} }

  test.each<[string, unknown, unknown, string[]]>([
    ['absent', undefined, none, []],
    ['null', null, none, []],
    ['an empty array', [], none, []],
    ['a string', 'any text', none, ['parameters']],
    ['without a type', { properties: { a: { type: 'string' } } }, object({ a: { type: 'string' } }), []],
    ['without properties', { type: 'object', properties: null }, none, []],
    ['of another type', { type: 'array' }, none, ['parameters.type']],
    [
      'a wrong-typed default',
      object({ a: { type: 'integer', default: '993' } }),
      object({ a: { type: 'integer', default: '993' } }),
      ['parameters.properties.a.default'],
    ],
    [
      'a right default',
      object({ a: { type: ['string', 'null'], default: null } }),
      object({ a: { type: ['string', 'null'], default: null } }),
      [],
    ],
    [
      'required inside properties',
      object({ a: {}, required: ['a'] }),
      object({ a: {} }, { required: ['a'] }),
      ['parameters.properties.required'],
    ],
    [
      'required in both places',
      object({ a: {}, b: {}, required: ['b'] }, { required: ['a'] }),
      object({ a: {}, b: {} }, { required: ['a', 'b'] }),
      ['parameters.properties.required'],
    ],
    [
      'type inside properties',
      { properties: { a: {}, type: 'object' } },
      object({ a: {} }),
      ['parameters.properties.type'],
    ],
    [
      'required on a property',
      object({ a: { type: 'string', required: true } }),
      object({ a: { type: 'string' } }, { required: ['a'] }),
      ['parameters.properties.a.required'],
    ],
    [
      'a property called required',
      object({ required: { type: 'boolean' } }),
      object({ required: { type: 'boolean' } }),
      [],
    ],
    [
      'a property beside properties',
      object({ a: {} }, { limit: { type: 'number' }, required: ['a'] }),
      object({ a: {}, limit: { type: 'number' } }, { required: ['a'] }),
      ['parameters.limit'],
    ],
    [
      'a property beside, named like a keyword',
      object({ a: {} }, { title: { type: 'string' } }),
      object({ a: {}, title: { type: 'string' } }),
      ['parameters.title'],
    ],
    [
      'unknown words',
      object({ a: { type: 'string', order: 1, name: 'A' } }),
      object({ a: { type: 'string', order: 1, name: 'A' } }),
      [],
    ],
    [
      'a type for a schema',
      object({ a: 'string', b: 7 }),
      object({ a: { type: 'string' }, b: {} }),
      ['parameters.properties.a', 'parameters.properties.b'],
    ],
    [
      'type any',
      object({ a: { type: 'any', description: 'd' } }),
      object({ a: { description: 'd' } }),
      ['parameters.properties.a.type'],
    ],
    [
      'type bigint',
      object({ a: { type: 'bigint' } }),
      object({ a: { type: 'integer' } }),
      ['parameters.properties.a.type'],
    ],
    ['an unknown type', object({ a: { type: 'date' } }), object({ a: {} }), ['parameters.properties.a.type']],
    ['a union', object({ a: { type: ['string', 'null'] } }), object({ a: { type: ['string', 'null'] } }), []],
    [
      'nullable',
      object({ a: { type: 'string', nullable: true } }),
      object({ a: { type: ['string', 'null'] } }),
      [],
    ],
    [
      'nullable choices',
      object({ a: { type: 'string', enum: ['x'], nullable: true } }),
      object({ a: { type: ['string', 'null'], enum: ['x', null] } }),
      [],
    ],
    [
      'not nullable',
      object({ a: { type: 'string', nullable: false } }),
      object({ a: { type: 'string' } }),
      [],
    ],
    [
      'a tuple',
      object({ a: { type: 'array', items: [{ type: 'string' }, {}], additionalItems: false } }),
      object({ a: { type: 'array', prefixItems: [{ type: 'string' }, {}], items: false } }),
      ['parameters.properties.a.items'],
    ],
    [
      'dependencies of draft-07',
      object({ a: {}, b: {} }, { dependencies: { a: ['b'], b: { required: ['a'] } } }),
      object(
        { a: {}, b: {} },
        { dependentRequired: { a: ['b'] }, dependentSchemas: { b: { required: ['a'] } } },
      ),
      ['parameters.dependencies'],
    ],
    [
      'a reference out of it',
      object({ a: { $ref: '#/result/properties/b' } }),
      object({ a: {} }),
      ['parameters.properties.a.$ref'],
    ],
    [
      'a reference to elsewhere',
      object({ a: { $ref: 'https://x.example/s.json', title: 'T' } }),
      object({ a: { title: 'T' } }),
      ['parameters.properties.a.$ref'],
    ],
    [
      'a reference within',
      object({ a: { $ref: '#/definitions/n%20m' } }, { definitions: { 'n m': { type: 'string' } } }),
      object({ a: { $ref: '#/definitions/n%20m' } }, { definitions: { 'n m': { type: 'string' } } }),
      [],
    ],
    [
      'recursion',
      object({ kids: { type: 'array', items: { $ref: '#' } } }),
      object({ kids: { type: 'array', items: { $ref: '#' } } }),
      [],
    ],
    [
      'references in a circle',
      object({ a: { $ref: '#/properties/b' }, b: { allOf: [{ $ref: '#/properties/a' }] } }),
      object({ a: {}, b: { allOf: [{}] } }),
      ['parameters.properties.a.$ref', 'parameters.properties.b.allOf[0].$ref'],
    ],
    [
      'an id',
      object({ a: {} }, { $schema: 'http://json-schema.org/draft-07/schema#', $id: 'x', id: 'y' }),
      object({ a: {} }),
      ['parameters.$id', 'parameters.id'],
    ],
    [
      'a pattern that is none',
      object({ a: { pattern: '[' } }),
      object({ a: {} }),
      ['parameters.properties.a.pattern'],
    ],
    [
      'keywords of wrong types',
      object({ a: { minimum: '1', enum: [], maxLength: -1 } }, { required: 'a' }),
      object({ a: {} }),
      [
        'parameters.properties.a.minimum',
        'parameters.properties.a.enum',
        'parameters.properties.a.maxLength',
        'parameters.required',
      ],
    ],
    [
      'names that objects have anyway',
      object({ constructor: { type: 'string' }, toString: {} }),
      object({ constructor: { type: 'string' }, toString: {} }),
      [],
    ],
  ])('%s', (_, parameters, expected, warned) => {
    const { tool, warnings } = read(metadata({ parameters }))
    expect(tool.inputSchema).toEqual(expected)
    expect(warnings.map(({ path }) => path)).toEqual(warned)
  })

  test('a reference with half of a surrogate pair leads to no schema', () => {
    const parameters = object({ a: { $ref: '#/definitions/\ud83d' } }, { definitions: { '\ud83d': {} } })
    expect(readToolMetadata(metadata({ parameters }), options)).toMatchObject({
      outcome: 'read',
      warnings: [{ path: 'parameters.properties.a.$ref' }],
    })
  })

  test.each<[string, unknown, unknown, string[]]>([
    ['absent', undefined, undefined, []],
    ['of any type', { type: 'any' }, undefined, ['result.type']],
    ['of a string', { type: 'string' }, { type: 'string' }, []],
    ['without a type', { properties: { a: {} } }, { type: 'object', properties: { a: {} } }, []],
  ])('of a result: %s', (_, result, expected, warned) => {
    const { tool, warnings } = read(metadata({ result }))
    expect(tool.outputSchema).toEqual(expected)
    expect(warnings.map(({ path }) => path)).toEqual(warned)
  })

  test('of the configuration is read for its warnings', () => {
    const configurations = { properties: { port: { type: 'integer', default: '993' }, required: ['port'] } }
    expect(read(metadata({ configurations })).warnings.map(({ path }) => path)).toEqual([
      'configurations.properties.required',
      'configurations.properties.port.default',
    ])
    expect(read(metadata({ configurations: [] })).warnings).toEqual([])
  })
})

describe('secrets', () => {
  const configured = (key: string) =>
    metadata({ configurations: { properties: { [key]: { type: 'string' } } } })

  test.each([
    ['api_key', 'API_KEY'],
    ['apiKey', 'API_KEY'],
    ['searchEngineApiKey', 'SEARCH_ENGINE_API_KEY'],
    ['NOTES_API_KEY', 'NOTES_API_KEY'],
    ['privateKey', 'PRIVATE_KEY'],
    ['bot_token', 'BOT_TOKEN'],
    ['IMAP Password', 'IMAP_PASSWORD'],
    ['clientsecret', 'CLIENTSECRET'],
    ['openAIKey', 'OPEN_AI_KEY'],
  ])('the configuration key %s declares %s', (key, secret) => {
    expect(read(configured(key)).tool.secrets).toEqual([secret])
  })

  test.each([
    ['max_tokens'],
    ['maxToken'],
    ['token_address'],
    ['api_key_name'],
    ['public_key'],
    ['username'],
    ['key'],
    [''],
  ])('the configuration key %j declares none', (key) => {
    expect(read(configured(key)).tool.secrets).toEqual([])
  })

  test('are declared once, and by the stored form too', () => {
    const config = [{ BasicConfig: { key_name: 'apiKey', type: 'string', key_value: 'hunter2' } }]
    const properties = { api_key: {}, API_KEY: {}, color: {} }
    expect(read(metadata({ config, configurations: { properties } })).tool.secrets).toEqual(['API_KEY'])
  })

  test('stay in no document, warning or reason', () => {
    const oauth = [
      entry({
        clientId: 'id',
        clientSecret: 'hunter2',
        client_secret: 'hunter2-b',
        access_token: 'hunter2',
        refreshToken: 'hunter2',
      }),
    ]
    const configurations = {
      properties: {
        api_key: { type: 'integer', default: 'hunter2', enum: ['hunter2'], description: 'Yours.' },
        account: { type: 'object', properties: { password: { default: 'hunter2' }, port: { default: 993 } } },
        color: { type: 'string', default: 'red' },
      },
      required: ['api_key'],
    }
    const config = [
      { BasicConfig: { key_name: 'bot_token', key_value: 'hunter2' } },
      { key_name: 'color', key_value: 'red' },
    ]
    const reading = read(metadata({ oauth, configurations, config }))
    expect(reading.tool.oauth[0]?.clientSecret).toBe('hunter2')
    const { oauth: _, ...kept } = reading.tool
    expect(JSON.stringify([kept, reading.warnings])).not.toContain('hunter2')
    expect(reading.tool.document).toMatchObject({
      oauth: [entry({ clientId: 'id' })],
      configurations: {
        properties: {
          api_key: { type: 'integer', description: 'Yours.' },
          account: { properties: { password: {}, port: { default: 993 } } },
          color: { default: 'red' },
        },
        required: ['api_key'],
      },
      config: [{ BasicConfig: { key_name: 'bot_token' } }, { key_name: 'color', key_value: 'red' }],
    })
  })

  test("leave a tool's parameters alone", () => {
    const parameters = { type: 'object', properties: { clientSecret: { type: 'string', default: '' } } }
    expect(read(metadata({ parameters })).tool.document.parameters).toEqual(parameters)
  })
})
