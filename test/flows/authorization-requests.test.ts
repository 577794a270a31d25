import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { UserAgent } from '../user-agent.ts'
import { type OAuth2, type Scene, startScene } from './fixtures.ts'

// What a server wants otherwise in the authorization request and its response.

let scene: Scene
beforeAll(async () => {
  scene = await startScene()
})
afterAll(() => scene[Symbol.asyncDispose]())

const change = (oauth2: OAuth2) => scene.call('PATCH', '/v1/admin/auth_providers/demo', { oauth2 })

/** The URL to which the click leads. */
async function authorizationUrl(user_id: string) {
  const browser = new UserAgent()
  const { url } = (await scene.authorize({ user_id })).body
  const page = await browser.submitForm(await browser.get(url), {}, { until: () => true })
  return { browser, location: new URL(page.hops[0]?.location ?? 'about:blank') }
}

describe('an authorization request', () => {
  test('may end in a fragment (WeChat)', async () => {
    const authorize_request = { fragment: 'wechat_redirect' }
    expect((await change({ authorize_request })).body.oauth2.authorize_request.fragment).toBe(
      'wechat_redirect',
    )
    const { location } = await authorizationUrl('fragment')
    expect(location.href).toMatch(/[?&]state=[^&#]+.*#wechat_redirect$/)
    expect((await change({ authorize_request: { fragment: null } })).status).toBe(200)
    expect((await authorizationUrl('no fragment')).location.hash).toBe('')
  })

  test('may have its S256 challenge in hexadecimal (TikTok’s desktop clients)', async () => {
    const pkce = { enabled: true, code_challenge_method: 'S256', code_challenge_encoding: 'hex' }
    expect((await change({ pkce })).body.oauth2.pkce).toEqual(pkce)
    scene.as.behaviour.requirePkce = 'ignore'
    scene.as.requests.length = 0
    await scene.connect({ user_id: 'hex' })
    const { code_verifier = '' } = scene.as.tokenRequests()[0]?.params ?? {}
    const [asked] = scene.as.requestsTo('/authorize')
    expect(asked?.query).toMatchObject({
      code_challenge: createHash('sha256').update(code_verifier).digest('hex'),
      code_challenge_method: 'S256',
    })
    scene.as.behaviour.requirePkce = 'none'
    expect((await change({ pkce: { code_challenge_encoding: null } })).body.oauth2.pkce).not.toHaveProperty(
      'code_challenge_encoding',
    )
  })

  test('keeps PKCE where the server requires it (X, Airtable, Canva)', async () => {
    expect((await change({ pkce: { required: true } })).body.oauth2.pkce).toMatchObject({ required: true })
    const off = await change({ pkce: { enabled: false } })
    expect(off.status).toBe(400)
    expect(off.body.message).toContain('oauth2.pkce.required')
    expect((await change({ pkce: { enabled: false, required: null } })).body.oauth2.pkce).toEqual({
      enabled: false,
      code_challenge_method: 'S256',
    })
    expect((await change({ pkce: { enabled: true } })).status).toBe(200)
  })

  test('leaves the query of a token endpoint as it is (BambooHR)', async () => {
    const { as } = scene
    await change({ token_request: { endpoint: `${as.tokenUrl}?request=token` } })
    as.requests.length = 0
    expect((await scene.connect({ user_id: 'query' })).body.status).toBe('completed')
    const [exchange] = as.tokenRequests()
    expect(exchange?.search).toBe('?request=token')
    expect(exchange?.form).toMatchObject({ grant_type: 'authorization_code' })
    await change({ token_request: { endpoint: as.tokenUrl } })
  })

  test('may have its state under another name, as its response (Crisp)', async () => {
    expect((await change({ state_parameter: 'payload' })).body.oauth2.state_parameter).toBe('payload')
    const { browser, location } = await authorizationUrl('state')
    const state = location.searchParams.get('payload') ?? ''
    expect(state).not.toBe('')
    expect(location.searchParams.has('state')).toBe(false)
    const answered = await browser.get(location)
    const callback = new URL(answered.response.headers.get('location') ?? '')
    callback.searchParams.delete('state')
    const unanswered = await browser.get(callback)
    expect(unanswered.status).toBe(400)
    callback.searchParams.set('payload', state)
    const forged = new URL(callback)
    forged.searchParams.set('payload', `${state.slice(0, -4)}AAAA`)
    expect((await browser.get(forged)).status).toBe(400)
    expect((await browser.follow(callback)).status).toBe(200)
    const [connection] = (await scene.call('GET', '/v1/connections?user_id=state')).body.items
    expect(connection).toMatchObject({ status: 'active' })
    expect((await change({ state_parameter: null })).status).toBe(200)
  })

  test.each<[string, OAuth2]>([
    ['a fragment that begins another part', { authorize_request: { fragment: 'a b' } }],
    ['a fragment of a token request', { token_request: { fragment: 'x' } }],
    ['an unknown encoding', { pkce: { code_challenge_encoding: 'base32' } }],
    ['hexadecimal for plain', { pkce: { code_challenge_method: 'plain', code_challenge_encoding: 'hex' } }],
    ['the state as the code', { state_parameter: 'code' }],
    ['one name for two', { state_parameter: 'auth', code_parameter: 'auth' }],
    ['a token to revoke in a token request', { token_request: { revokes: 'access_token' } }],
    ['a token parameter in a refresh', { refresh_request: { token_parameter: 'token' } }],
    ['a token parameter in the user info', { user_info_request: { token_parameter: '' } }],
  ])('with %s is refused', async (_, oauth2) => {
    const refused = await change(oauth2)
    expect(refused.status).toBe(400)
    expect(refused.body.message).toMatch(/oauth2\./)
  })
})
