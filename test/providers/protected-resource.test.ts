import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createOutgoing, type Outgoing } from '../../src/egress/outgoing.ts'
import {
  type ClientMetadata,
  clientMetadata,
  registerClient,
  usualAuthMethod,
} from '../../src/providers/client-registration.ts'
import { createDiscovery } from '../../src/providers/discovery.ts'
import { bearerChallenge, discoverProtectedResource } from '../../src/providers/protected-resource.ts'
import { answer, answerJson, listen } from '../loopback.ts'

let outgoing: Outgoing
beforeAll(() => {
  outgoing = createOutgoing({ allowedHosts: ['127.0.0.1'] })
})
afterAll(() => outgoing.close())

/** Starts a server that serves these documents, keyed by path. `{url}` in a document becomes the server's own URL. */
async function serving(documents: Readonly<Record<string, unknown>>) {
  const asked: string[] = []
  const server = await listen((req, res) => {
    asked.push(req.url ?? '')
    const document = documents[req.url ?? '']
    if (document === undefined) return answer(res, 404, 'text/plain', 'no')
    return answerJson(res, 200, JSON.parse(JSON.stringify(document).replaceAll('{url}', server.url)))
  })
  return Object.assign(server, { asked })
}

describe('a challenge', () => {
  test.each<[string | undefined, object]>([
    [undefined, {}],
    ['', {}],
    ['Basic realm="x"', {}],
    ['Bearer', {}],
    ['Bearer scope="a b  a"', { scopes: ['a', 'b'] }],
    ['bearer Scope=one, error=invalid_token', { scopes: ['one'], error: 'invalid_token' }],
    ['Bearer error="insufficient_scope", scope=""', { error: 'insufficient_scope', scopes: [] }],
    [
      'Basic realm="x", Bearer resource_metadata="https://a.test/m"',
      { resourceMetadata: 'https://a.test/m' },
    ],
    ['Bearer realm="a \\"scope=evil\\" b", scope="good"', { scopes: ['good'] }],
    ['Bearer scope="a", scope="b"', { scopes: ['a'] }],
    ['Bearer scope="fine b\u0000d"', { scopes: ['fine'] }],
    [`Bearer scope="${'x '.repeat(100_000)}"`, {}],
  ])('%j is read as %j', (field, said) => {
    expect(bearerChallenge(field?.slice(0, 300_000))).toEqual(said)
  })
})

describe('metadata of a protected resource', () => {
  const whole = {
    resource: '{url}/a/mcp',
    authorization_servers: ['{url}/as'],
    scopes_supported: ['x', 5, 'y z'],
  }
  const read = (url: string, resourceMetadata?: string) =>
    discoverProtectedResource(outgoing, new URL(url), {
      ...(resourceMetadata !== undefined && { resourceMetadata }),
    })

  test('is read at the URL in the challenge, then at the well-known URLs with and without the path', async () => {
    await using server = await serving({
      '/.well-known/oauth-protected-resource': { ...whole, resource: '{url}' },
    })
    expect(await read(`${server.url}/a/mcp`, `${server.url}/there`)).toEqual({
      resource: server.url,
      authorizationServers: [`${server.url}/as`],
      scopesSupported: ['x'],
    })
    expect(server.asked).toEqual([
      '/there',
      '/.well-known/oauth-protected-resource/a/mcp',
      '/.well-known/oauth-protected-resource',
    ])
  })

  test.each([
    ['/a/mcp', '{url}/a/mcp'],
    ['/a/mcp', '{url}/a/'],
    ['/a/mcp', '{url}/'],
    ['/a/mcp/', '{url}/a/mcp'],
  ])('at %s may describe the resource %s', async (path, resource) => {
    await using server = await serving({ '/there': { ...whole, resource } })
    expect((await read(`${server.url}${path}`, `${server.url}/there`)).resource).toBe(
      resource.replace('{url}', server.url),
    )
  })

  test.each([
    ['another path', '{url}/b'],
    ['half a path', '{url}/a/mc'],
    ['another host', 'https://a.test/a/mcp'],
    ['a query', '{url}/a/mcp?x=1'],
    ['a fragment', '{url}/a/mcp#x'],
    ['no URL', 'mcp'],
    ['no text', 5],
  ])('is refused if the resource that it describes is wrong: %s', async (_, resource) => {
    await using server = await serving({ '/there': { ...whole, resource } })
    await expect(read(`${server.url}/a/mcp`, `${server.url}/there`)).rejects.toThrow('it is of the resource')
  })
})

test('an issuer without metadata is refused with what each place answered, a redirect too', async () => {
  await using server = await listen((req, res) => {
    const moved = req.url === '/.well-known/openid-configuration'
    res.writeHead(moved ? 301 : 404, { location: '/elsewhere' }).end()
  })
  await expect(createDiscovery(outgoing, () => 1)(server.url)).rejects.toThrow(
    `${server.url} has no metadata at ${server.url}/.well-known/openid-configuration (answered with a redirect, which is not followed) nor at ${server.url}/.well-known/oauth-authorization-server (HTTP 404).`,
  )
})

describe('metadata of an issuer with a path', () => {
  test.each([
    '/a/.well-known/openid-configuration',
    '/.well-known/oauth-authorization-server/a',
    '/.well-known/openid-configuration/a',
  ])('is found at %s', async (place) => {
    const document = {
      issuer: '{url}/a',
      authorization_endpoint: '{url}/authorize',
      token_endpoint: '{url}/token',
      registration_endpoint: '{url}/register',
      code_challenge_methods_supported: ['S256'],
      client_id_metadata_document_supported: true,
      scopes_supported: ['x'],
    }
    await using server = await serving({ [place]: document })
    expect(await createDiscovery(outgoing, () => 1)(`${server.url}/a`)).toMatchObject({
      issuer: `${server.url}/a`,
      registration_endpoint: `${server.url}/register`,
      code_challenge_methods_supported: ['S256'],
      client_id_metadata_document_supported: true,
      scopes_supported: ['x'],
    })
  })
})

describe('a registration', () => {
  const metadata = clientMetadata({
    publicUrl: new URL('https://gatepass.test'),
    redirectUris: ['https://gatepass.test/callback/prov_1'],
    authMethod: 'none',
    scopes: ['a', 'b'],
  })

  test.each([
    ['a public client', { client_id: 'c' }, { client: { clientId: 'c' }, authMethod: 'none' }],
    [
      'a secret',
      { client_id: 'c', client_secret: 's' },
      { client: { clientId: 'c', clientSecret: 's' }, authMethod: 'client_secret_basic' },
    ],
    [
      'a secret for the body',
      { client_id: 'c', client_secret: 's', token_endpoint_auth_method: 'client_secret_post' },
      { client: { clientId: 'c', clientSecret: 's' }, authMethod: 'client_secret_post' },
    ],
    [
      'a secret that is not used',
      { client_id: 'c', client_secret: 's', token_endpoint_auth_method: 'none' },
      { client: { clientId: 'c' }, authMethod: 'none' },
    ],
    [
      'a secret, without the method that was asked for',
      { client_id: 'c', client_secret: 's' },
      { client: { clientId: 'c', clientSecret: 's' }, authMethod: 'client_secret_post' },
      { ...metadata, token_endpoint_auth_method: 'client_secret_post' },
    ],
  ])('gives %s', async (_, members, registration, asked: ClientMetadata = metadata) => {
    await using server = await serving({ '/register': members })
    expect(await registerClient(outgoing, `${server.url}/register`, asked)).toEqual(registration)
  })

  test.each([
    ['no client id', { client_secret: 's' }, 'without a client id'],
    ['a client id of control characters', { client_id: 'a\r\nb' }, 'without a client id'],
  ])('is refused with %s', async (_, members, message) => {
    await using server = await serving({ '/register': members })
    await expect(registerClient(outgoing, `${server.url}/register`, metadata)).rejects.toThrow(message)
  })

  test('that the server refuses names the error code', async () => {
    await using server = await listen((_, res) =>
      answerJson(res, 400, { error: 'invalid_redirect_uri', error_description: '<b>' }),
    )
    await expect(registerClient(outgoing, server.url, metadata)).rejects.toThrow(
      /\(HTTP 400, invalid_redirect_uri\)\.$/,
    )
  })

  test.each([
    [undefined, 'client_secret_basic'],
    [['client_secret_post', 'none'], 'none'],
    [['client_secret_post'], 'client_secret_post'],
    [['client_secret_basic', 'client_secret_post'], 'client_secret_post'],
    [['client_secret_basic'], 'client_secret_basic'],
    [['private_key_jwt'], 'client_secret_basic'],
  ])('at a server that supports %j asks for %s', (supported, way) => {
    expect(usualAuthMethod(supported ? { token_endpoint_auth_methods_supported: supported } : {})).toBe(way)
  })
})
