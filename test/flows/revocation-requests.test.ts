import { describe, expect, test } from 'vitest'
import { click, type OAuth2, type Scene, startScene } from './fixtures.ts'

/** A connection of `u1` at a provider that revokes like this, deleted: the outcome, and what the provider was asked. */
async function revoke(scene: Scene, revocation_request: OAuth2) {
  const changed = await scene.call('PATCH', '/v1/admin/auth_providers/demo', {
    oauth2: { revocation_request: { endpoint: scene.as.revocationUrl, ...revocation_request } },
  })
  expect(changed.status, JSON.stringify(changed.body)).toBe(200)
  const token = (await scene.connect()).body.context.token as string
  const [connection] = (await scene.call('GET', '/v1/connections?user_id=u1')).body.items
  const { body } = await scene.call('DELETE', `/v1/connections/${connection.id}`)
  const refreshToken = scene.as.secrets().find((one) => one.startsWith('rt_'))
  return { token, refreshToken, outcome: body.revocation, requests: scene.as.requestsTo('/revoke'), changed }
}

const start = () => startScene({ oauth2: { revocation_request: undefined } })

describe('revocation', () => {
  test('by DELETE with the token in a JSON body and the client id in the path (GitHub)', async () => {
    await using scene = await start()
    const { as } = scene
    const { token, changed } = await revoke(scene, {
      endpoint: `${as.url}/applications/{{client_id}}/token`,
      method: 'DELETE',
      auth_method: 'client_secret_basic',
      request_content_type: 'application/json',
      token_parameter: 'access_token',
      revokes: 'access_token',
    })
    expect(changed.body.oauth2.revocation_request).toMatchObject({
      endpoint: `${as.url}/applications/{{client_id}}/token`,
      method: 'DELETE',
      token_parameter: 'access_token',
      revokes: 'access_token',
    })
    const asked = as.requestsTo(`/applications/${as.clientId}/token`)
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatchObject({ method: 'DELETE', json: { access_token: token } })
    expect(asked[0]?.headers.authorization).toMatch(/^Basic /)
  })

  test('by DELETE as the token’s bearer, without a body (Zendesk, Facebook)', async () => {
    await using scene = await start()
    const { token, requests } = await revoke(scene, {
      method: 'DELETE',
      auth_method: 'bearer_access_token',
      token_parameter: '',
    })
    expect(requests).toHaveLength(1)
    expect(requests[0]).toMatchObject({ method: 'DELETE', params: {} })
    expect(requests[0]?.headers.authorization).toBe(`Bearer ${token}`)
    expect(requests[0]?.headers).not.toHaveProperty('content-type')
  })

  test('by POST as the token’s bearer, without a body (Dropbox)', async () => {
    await using scene = await start()
    const { requests } = await revoke(scene, { auth_method: 'bearer_access_token', token_parameter: '' })
    expect(requests).toMatchObject([{ method: 'POST', params: {} }])
    expect(requests[0]?.headers).not.toHaveProperty('content-type')
  })

  test('by JSON members of other names (Miro)', async () => {
    await using scene = await start()
    const { as } = scene
    const { token, refreshToken, requests } = await revoke(scene, {
      auth_method: 'none',
      request_content_type: 'application/json',
      token_parameter: 'accessToken',
      params: { clientId: '{{client_id}}', clientSecret: '{{client_secret}}' },
    })
    const client = { clientId: as.clientId, clientSecret: as.clientSecret }
    expect(requests.map(({ json }) => json)).toEqual([
      { ...client, accessToken: refreshToken },
      { ...client, accessToken: token },
    ])
  })

  test('of the refresh token alone, by the standard’s parameters (Mollie)', async () => {
    await using scene = await start()
    const { refreshToken, outcome, requests } = await revoke(scene, {
      method: 'DELETE',
      auth_method: 'client_secret_basic',
      revokes: 'refresh_token',
    })
    expect(outcome).toBe('revoked')
    expect(requests.map(({ method, params }) => ({ method, params }))).toEqual([
      { method: 'DELETE', params: { token: refreshToken, token_type_hint: 'refresh_token' } },
    ])
  })

  test.each([
    ['{"ok":false,"error":"token_revoked"}', 'failed'],
    ['{"ok":true,"revoked":true}', 'revoked'],
    ['', 'revoked'],
  ])('is what a response with 200 says, not its status alone (Slack): %s', async (body, expected) => {
    await using scene = await start()
    scene.as.behaviour.revocation = { body }
    const { outcome } = await revoke(scene, { auth_method: 'bearer_access_token' })
    expect(outcome).toBe(expected)
  })

  test.each<[string, OAuth2]>([
    [
      'a host that the client id decides',
      { revocation_request: { endpoint: 'https://{{client_id}}.test/' } },
    ],
    ['a token in a URL', { revocation_request: { method: 'GET' } }],
    ['DELETE as a token request', { token_request: { method: 'DELETE' } }],
    ['a token of another kind', { revocation_request: { revokes: 'id_token' } }],
  ])('refuses %s', async (_, oauth2) => {
    await using scene = await startScene()
    expect((await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2 })).status).toBe(400)
  })

  test('the client id may be in the path of the authorization endpoint (Nuvemshop)', async () => {
    await using scene = await startScene()
    const authorize_request = { endpoint: `${scene.as.url}/apps/{{client_id}}/authorize` }
    await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2: { authorize_request } })
    await click((await scene.authorize()).body.url)
    expect(scene.as.requestsTo(`/apps/${scene.as.clientId}/authorize`)).toHaveLength(1)
  })
})
