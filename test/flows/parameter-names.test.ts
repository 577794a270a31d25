import { describe, expect, test } from 'vitest'
import { type OAuth2, type Scene, startScene } from './fixtures.ts'

const token = (as: Scene['as'], parameter_names: object) => ({
  endpoint: as.tokenUrl,
  auth_method: 'client_secret_post',
  parameter_names,
})

async function change(scene: Scene, oauth2: OAuth2) {
  const changed = await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2 })
  expect(changed.status, JSON.stringify(changed.body)).toBe(200)
  return changed.body.oauth2
}

describe('parameters under other names', () => {
  test('in the authorization request, the token request and the refresh (TikTok client_key)', async () => {
    await using scene = await startScene()
    const { as } = scene
    const names = { client_id: 'client_key' }
    as.behaviour.parameterNames = names
    const oauth2 = await change(scene, {
      authorize_request: { parameter_names: names },
      token_request: token(as, names),
      refresh_request: token(as, names),
    })
    expect(oauth2.authorize_request.parameter_names).toEqual(names)
    expect(oauth2.token_request.parameter_names).toEqual(names)
    expect((await scene.connect()).body.status).toBe('completed')
    scene.clock.advance(4000)
    expect((await scene.authorize()).body.status).toBe('completed')
    for (const { search } of as.requestsTo('/authorize')) {
      expect(new URLSearchParams(search).get('client_key')).toBe(as.clientId)
      expect(search).not.toContain('client_id=')
    }
    expect(as.tokenRequests()).toHaveLength(2)
    for (const { body } of as.tokenRequests()) {
      expect(body).toContain('client_key=')
      expect(body).not.toContain('client_id=')
    }
  })

  test('in a JSON body, the secret and the grant among them (DingTalk)', async () => {
    await using scene = await startScene()
    const { as } = scene
    const names = { client_id: 'clientId', client_secret: 'clientSecret', grant_type: 'grantType' }
    as.behaviour.parameterNames = names
    const json = { ...token(as, names), request_content_type: 'application/json' }
    await change(scene, {
      token_request: json,
      authorize_request: { parameter_names: { client_id: 'clientId' } },
    })
    expect((await scene.connect()).body.status).toBe('completed')
    const [exchange] = as.tokenRequests()
    expect(exchange?.json).toMatchObject({ clientId: as.clientId, clientSecret: as.clientSecret })
    expect(exchange?.json).not.toHaveProperty('client_secret')
  })

  test.each(['auth_code', 'authCode', 'spapi_oauth_code'])(
    'the code of the authorization response (Alipay, DingTalk, Amazon): %s',
    async (code_parameter) => {
      await using scene = await startScene({ oauth2: { code_parameter } })
      const { id, browser, callback } = await scene.approve()
      callback.searchParams.set(code_parameter, callback.searchParams.get('code') ?? '')
      callback.searchParams.set('code', 'of another kind')
      await browser.get(callback.href)
      expect((await scene.status(id)).body.status).toBe('completed')
    },
  )

  test('a response with the code under the standard name, or with two codes, is refused then', async () => {
    await using scene = await startScene({ oauth2: { code_parameter: 'auth_code' } })
    const standard = await scene.approve()
    await standard.browser.get(standard.callback.href)
    expect((await scene.status(standard.id)).body).toMatchObject({ reason: 'provider_bad_response' })
    const twice = await scene.approve()
    for (const _ of [1, 2])
      twice.callback.searchParams.append('auth_code', twice.callback.searchParams.get('code') ?? '')
    await twice.browser.get(twice.callback.href)
    expect((await scene.status(twice.id)).body).toMatchObject({ reason: 'provider_bad_response' })
    expect(scene.as.tokenRequests()).toEqual([])
  })

  test('a code is kept from tools under any name', async () => {
    await using scene = await startScene({
      oauth2: { code_parameter: 'auth_code', callback_members: { auth_code: '.*' } },
    })
    const { id, browser, callback } = await scene.approve()
    callback.searchParams.set('auth_code', callback.searchParams.get('code') ?? '')
    await browser.get(callback.href)
    const { body } = await scene.status(id)
    expect(body.status).toBe('completed')
    expect(JSON.stringify(body)).not.toContain(callback.searchParams.get('auth_code'))
  })

  test.each<[string, OAuth2]>([
    ['the state', { authorize_request: { parameter_names: { state: 'payload' } } }],
    ['a parameter as the state', { authorize_request: { parameter_names: { scope: 'state' } } }],
    ['two by one name', { authorize_request: { parameter_names: { scope: 'a', client_id: 'a' } } }],
    ['the code as the state', { code_parameter: 'state' }],
  ])('%s is refused', async (_, oauth2) => {
    await using scene = await startScene()
    expect((await scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2 })).status).toBe(400)
  })
})
