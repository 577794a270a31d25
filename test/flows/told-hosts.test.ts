import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FakeAuthorizationServer } from '../fake-authorization-server.ts'
import { type Gatepass, startGatepass } from '../gatepass.ts'
import { addProvider, startScene } from './fixtures.ts'

// Providers whose authorization response says which of their servers redeems the code. The test's server has two names.

const namesOf = ({ url }: FakeAuthorizationServer) => {
  const { port } = new URL(url)
  return { usual: `http://127.0.0.1:${port}`, other: `http://localhost:${port}` }
}

/** Zoho: `accounts-server` is the origin of the user's data centre. */
async function startZoho(told?: (as: FakeAuthorizationServer) => string) {
  const callbackExtras: Record<string, string> = {}
  const scene = await startScene({ as: { callbackExtras }, oauth2: false })
  const { usual, other } = namesOf(scene.as)
  if (told !== undefined) callbackExtras['accounts-server'] = told(scene.as)
  const at = (path: string) => ({ endpoint: `{{accounts_server}}${path}`, auth_method: 'client_secret_post' })
  await addProvider(scene.gatepass, scene.as, {
    kept_values: {
      accounts_server: { from: 'authorization_response', at: 'accounts-server', one_of: [usual, other] },
    },
    token_request: at('/token'),
    refresh_request: at('/token'),
    revocation_request: at('/revoke'),
    user_info_request: { endpoint: '{{accounts_server}}/userinfo', triggers: { on_token_grant: true } },
  })
  return scene
}

const hostsOf = ({ requests }: FakeAuthorizationServer) =>
  requests
    .filter(({ path }) => path !== '/authorize')
    .map(({ path, headers }) => [path, headers.host?.split(':')[0]])

describe('the server that the authorization response names (Zoho)', () => {
  test('redeems the code, and gets every later request of that connection', async () => {
    await using scene = await startZoho((as) => namesOf(as).other)
    expect((await scene.connect()).body.status).toBe('completed')
    scene.clock.advance(4000)
    expect((await scene.authorize()).body.status).toBe('completed')
    const [connection] = (await scene.call('GET', '/v1/connections?user_id=u1')).body.items
    const gone = await scene.call('DELETE', `/v1/connections/${connection.id}`)
    expect(gone.body.revocation).toBe('revoked')
    expect(hostsOf(scene.as)).toEqual([
      ['/token', 'localhost'],
      ['/userinfo', 'localhost'],
      ['/token', 'localhost'],
      ['/revoke', 'localhost'],
      ['/revoke', 'localhost'],
    ])
  })

  test.each([
    ['none of the provider’s', 'http://evil.example'],
    ['one that only begins like it', ''],
    ['none', undefined],
  ])('is %s: the code is sent nowhere', async (_, told) => {
    await using scene = await startZoho((as) => namesOf(as).usual)
    const { id, browser, callback } = await scene.approve()
    const { usual } = namesOf(scene.as)
    callback.searchParams.delete('accounts-server')
    if (told !== undefined) callback.searchParams.set('accounts-server', told || `${usual}@evil.example`)
    const page = await browser.follow(callback)
    expect(page.body).toContain('did not say')
    const { body } = await scene.status(id)
    expect(body).toMatchObject({ status: 'failed', reason: 'provider_bad_response' })
    expect(hostsOf(scene.as)).toEqual([])
  })

  test('is another one for another user', async () => {
    await using scene = await startZoho((as) => namesOf(as).other)
    await scene.connect({ user_id: 'u1' })
    const { id, browser, callback } = await scene.approve({ user_id: 'u2' })
    callback.searchParams.set('accounts-server', namesOf(scene.as).usual)
    await browser.follow(callback)
    expect((await scene.status(id)).body.status).toBe('completed')
    scene.clock.advance(4000)
    scene.as.requests.length = 0
    await scene.authorize({ user_id: 'u1' })
    await scene.authorize({ user_id: 'u2' })
    expect(hostsOf(scene.as)).toEqual([
      ['/token', 'localhost'],
      ['/token', '127.0.0.1'],
    ])
  })
})

describe('an endpoint names a value of the authorization response', () => {
  let gatepass: Gatepass
  beforeAll(async () => {
    gatepass = await startGatepass()
  })
  afterAll(() => gatepass.close())

  const from = 'authorization_response'
  const point = (pattern: string, more: object = {}) => ({ point: { from, pattern, ...more } })
  const example = { example: 'https://api.eu1.adobesign.com/' }

  test.each<[string, string, object, RegExp | undefined]>([
    [
      'Adobe Sign',
      '{{point}}oauth/v2/token',
      point('https://api\\.[a-z0-9]+\\.adobesign\\.com/', example),
      undefined,
    ],
    [
      'ShareFile',
      'https://{{subdomain}}.{{apicp}}/oauth/token',
      {
        subdomain: { from, pattern: '[a-z0-9-]{1,63}', example: 'acme' },
        apicp: { from, one_of: ['sharefile.com', 'sharefile.eu', 'securevdr.com'] },
      },
      undefined,
    ],
    [
      'Zoho',
      '{{point}}/oauth/v2/token',
      {
        point: {
          from,
          at: 'accounts-server',
          one_of: ['https://accounts.zoho.com', 'https://accounts.zoho.eu'],
        },
      },
      undefined,
    ],
    ['any value', '{{point}}oauth/token', point('.*', example), /does not fix a domain/],
    [
      'any value, under a name that every object has',
      'https://{{constructor}}.example.com/token',
      { constructor: { from, pattern: '.*', example: 'acme' } },
      /does not fix a domain/,
    ],
    [
      'any host below',
      '{{point}}oauth/token',
      point('https://api\\..*\\.adobesign\\.com/', example),
      /does not fix/,
    ],
    [
      'a class with a dot',
      '{{point}}oauth/token',
      point('https://[a-z0-9.]+\\.adobesign\\.com/', example),
      /does not fix/,
    ],
    ...['[0-z]', '[A-z0-9]', '[\\--z]', '[]a-z0-9]', '[a-z--9]'].map(
      (letters): [string, string, object, RegExp] => [
        `a class with more than letters, digits, _ and -: ${letters}`,
        '{{point}}oauth/token',
        point(`https://api\\.${letters}+\\.adobesign\\.com/`, example),
        /does not fix|not a regular expression/,
      ],
    ),
    ...['[a-z0-9-]', '[-a-z0-9]', '[\\w-]', '[a-z\\d\\-]'].map(
      (letters): [string, string, object, undefined] => [
        `letters, digits, _ and -: ${letters}`,
        '{{point}}oauth/token',
        point(`https://api\\.${letters}+\\.adobesign\\.com/`, example),
        undefined,
      ],
    ),
    [
      'a dot that is any character',
      '{{point}}oauth/token',
      point('https://api.[a-z0-9]+\\.adobesign\\.com/', example),
      /does not fix/,
    ],
    [
      'the last label',
      '{{point}}/token',
      point('https://api\\.[a-z]+', { example: 'https://api.x' }),
      /decide the domain/,
    ],
    [
      'what ends the domain',
      'https://{{point}}/token',
      point('[a-z]+', { example: 'x' }),
      /decide the domain/,
    ],
    [
      'what follows the domain',
      'https://sharefile.com{{point}}/token',
      point('[a-z]+', { example: 'x' }),
      /decide the domain/,
    ],
    [
      'alternatives',
      '{{point}}token',
      point('https://(a|b)\\.example\\.com/', { example: 'https://a.example.com/' }),
      /one_of/,
    ],
    [
      'a value without an example',
      'https://{{point}}.example.com/token',
      point('[a-z]+'),
      /kept_values\.point\.example is required/,
    ],
    [
      'an example that would not be kept',
      'https://{{point}}.example.com/token',
      point('[a-z]+', { example: '1' }),
      /not a value that would be kept/,
    ],
    [
      'a value of the token response',
      'https://{{point}}.example.com/token',
      { point: { from: 'token_response', pattern: '[a-z]+', example: 'a' } },
      /\{\{point\}\}/,
    ],
  ])('%s', async (_, endpoint, kept_values, fault) => {
    await gatepass.call('DELETE', '/v1/admin/auth_providers/x')
    const { status, body } = await gatepass.call('POST', '/v1/admin/auth_providers', {
      id: 'x',
      oauth2: {
        client_id: 'x',
        kept_values,
        authorize_request: { endpoint: 'https://secure.example.com/authorize' },
        token_request: { endpoint },
      },
    })
    expect(status, JSON.stringify(body)).toBe(fault === undefined ? 201 : 400)
    if (fault !== undefined) expect(body.message).toMatch(fault)
    else expect(body.oauth2).toMatchObject({ token_request: { endpoint } })
  })

  test('but not that of the authorization, which comes before it', async () => {
    const { status, body } = await gatepass.call('POST', '/v1/admin/auth_providers', {
      id: 'y',
      oauth2: {
        client_id: 'x',
        kept_values: { point: { from, one_of: ['https://a.example.com'] } },
        authorize_request: { endpoint: '{{point}}/authorize' },
        token_request: { endpoint: '{{point}}/token' },
      },
    })
    expect(status).toBe(400)
    expect(body.errors).toMatchObject([{ path: 'oauth2.authorize_request.endpoint' }])
  })

  test('and a later pattern that fixes no domain is refused', async () => {
    const kept = (pattern: string) => ({ point: { from, pattern, example: 'https://a.example.com' } })
    const made = await gatepass.call('POST', '/v1/admin/auth_providers', {
      id: 'z',
      oauth2: {
        client_id: 'x',
        kept_values: kept('https://[a-z]+\\.example\\.com'),
        authorize_request: { endpoint: 'https://a.example.com/authorize' },
        token_request: { endpoint: '{{point}}/token' },
      },
    })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    const oauth2 = { kept_values: kept('https://.*') }
    const refused = await gatepass.call('PATCH', '/v1/admin/auth_providers/z', { oauth2 })
    expect(refused.status).toBe(400)
    expect(refused.body.errors).toMatchObject([{ path: 'oauth2.token_request.endpoint' }])
  })
})
